//! Expressions: or, and, not, comparisons, sums, indices, functions, values.

use super::{Parser, Scope, nearest};
use crate::Value;
use crate::error::SpecError;
use crate::lex::Token;
use crate::syntax::{Binary, Expr, Function};

const COMPARISONS: [(&str, Binary); 6] = [
    ("==", Binary::Equal),
    ("!=", Binary::Unequal),
    ("<", Binary::Less),
    ("<=", Binary::LessEqual),
    (">", Binary::Greater),
    (">=", Binary::GreaterEqual),
];

impl Parser {
    pub(super) fn expression(&mut self, scope: &Scope) -> Result<Expr, SpecError> {
        self.nest()?;
        let mut left = self.conjunction(scope)?;
        while self.keyword("or") {
            left = Expr::Binary(Binary::Or, Box::new(left), Box::new(self.conjunction(scope)?));
        }
        self.depth -= 1;
        Ok(left)
    }

    fn conjunction(&mut self, scope: &Scope) -> Result<Expr, SpecError> {
        let mut left = self.negation(scope)?;
        while self.keyword("and") {
            left = Expr::Binary(Binary::And, Box::new(left), Box::new(self.negation(scope)?));
        }
        Ok(left)
    }

    fn negation(&mut self, scope: &Scope) -> Result<Expr, SpecError> {
        if !self.keyword("not") {
            return self.comparison(scope);
        }
        self.nest()?;
        let inner = self.negation(scope)?;
        self.depth -= 1;
        Ok(Expr::Not(Box::new(inner)))
    }

    fn comparison(&mut self, scope: &Scope) -> Result<Expr, SpecError> {
        let left = self.sum(scope)?;
        let Some(&(sign, operator)) = COMPARISONS.iter().find(|(sign, _)| self.is_sign(sign)) else {
            return match self.is_sign("=") {
                true => Err(self.unexpected("an operator", &[]).hint("equality is `==`")),
                false => Ok(left),
            };
        };
        self.sign(sign);
        Ok(Expr::Binary(operator, Box::new(left), Box::new(self.sum(scope)?)))
    }

    fn sum(&mut self, scope: &Scope) -> Result<Expr, SpecError> {
        let mut left = self.indexed(scope)?;
        loop {
            let operator = match () {
                () if self.sign("+") => Binary::Plus,
                () if self.sign("-") => Binary::Minus,
                () => return Ok(left),
            };
            left = Expr::Binary(operator, Box::new(left), Box::new(self.indexed(scope)?));
        }
    }

    fn indexed(&mut self, scope: &Scope) -> Result<Expr, SpecError> {
        let mut left = self.primary(scope)?;
        while self.sign("[") {
            let key = self.expression(scope)?;
            self.need_sign("]")?;
            left = Expr::Index(Box::new(left), Box::new(key));
        }
        Ok(left)
    }

    fn primary(&mut self, scope: &Scope) -> Result<Expr, SpecError> {
        if let Some(value) = self.literal() {
            return Ok(Expr::Const(value));
        }
        if self.sign("(") {
            let inner = self.expression(scope)?;
            self.need_sign(")")?;
            return Ok(inner);
        }
        let at = self.at();
        let name = self.word("a value or a name")?;
        if self.is_sign("(") {
            self.place -= 1;
            return self.application(scope);
        }
        let Some(slot) = scope.slot(&name) else {
            let error = at.error(format!("`{name}` is not known here"));
            return Err(match nearest(&name, scope.names.iter().map(String::as_str)) {
                Some(meant) => error.hint(format!("did you mean `{meant}`?")),
                None if scope.names.is_empty() => error,
                None => error.hint(format!("known are {}", scope.names.join(", "))),
            });
        };
        Ok(Expr::Slot(slot))
    }

    fn application(&mut self, scope: &Scope) -> Result<Expr, SpecError> {
        let at = self.at();
        let name = self.word("the name of a function")?;
        let Some(&(_, function, arity)) = Function::ALL.iter().find(|(known, ..)| *known == name) else {
            let error = at.error(format!("there is no function `{name}`"));
            return Err(match nearest(&name, Function::ALL.iter().map(|(known, ..)| *known)) {
                Some(meant) => error.hint(format!("did you mean `{meant}`?")),
                None => error,
            });
        };
        self.need_sign("(")?;
        let mut arguments = Vec::new();
        while !self.is_sign(")") {
            if !arguments.is_empty() {
                self.need_sign(",")?;
            }
            arguments.push(self.expression(scope)?);
        }
        self.need_sign(")")?;
        if arguments.len() != arity {
            return Err(at.error(format!("`{name}` takes {arity} arguments, not {}", arguments.len())));
        }
        Ok(Expr::Apply(function, arguments))
    }

    /// A number, `true`, `false` or `nil`, if it is next.
    pub(super) fn literal(&mut self) -> Option<Value> {
        let value = match self.peek() {
            Token::Number(number) => Value::Int(*number),
            Token::Sign("-") => {
                let (Token::Number(number), _) = &self.tokens[self.place + 1] else { return None };
                let number = -number;
                self.place += 2;
                return Some(Value::Int(number));
            }
            Token::Word(word) => match word.as_str() {
                "true" => Value::Bool(true),
                "false" => Value::Bool(false),
                "nil" => Value::Nil,
                _ => return None,
            },
            _ => return None,
        };
        self.place += 1;
        Some(value)
    }
}
