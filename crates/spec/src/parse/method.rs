//! States and methods: what the model consists of.

use super::{Parser, Scope};
use crate::Value;
use crate::error::SpecError;
use crate::lex::Token;
use crate::syntax::{Method, Parameter, State, Statement, Type};

/// A domain has at most so many values: the check tries them all.
const MOST: i64 = 16;

impl Parser {
    pub(super) fn state(&mut self, found: &mut Type) -> Result<(), SpecError> {
        self.place += 1;
        let at = self.at();
        let name = self.word("the name of a variable")?;
        if !found.methods.is_empty() {
            return Err(at.error("the state comes before the methods"));
        }
        if found.states.iter().any(|state| state.name == name) {
            return Err(at.error(format!("there is a variable `{name}` already")));
        }
        self.need_sign(":")?;
        let kinds = ["set", "map", "seq", "int", "bool", "value"];
        let Some(kind) = kinds.into_iter().find(|kind| self.is_word(kind)) else {
            return Err(self.unexpected("one of the kinds set, map, seq, int, bool, value", &kinds));
        };
        self.place += 1;
        let mut initial = vec![match kind {
            "set" => Value::Set(Default::default()),
            "map" => Value::Map(Default::default()),
            "seq" => Value::Seq(Vec::new()),
            "int" => Value::Int(0),
            "bool" => Value::Bool(false),
            _ => Value::Nil,
        }];
        if self.sign("=") {
            let Some(value) = self.literal() else { return Err(self.unexpected("a value", &[])) };
            initial = vec![value];
        } else if self.keyword("in") {
            initial = self.domain()?;
        }
        found.states.push(State { name, initial });
        Ok(())
    }

    /// `0..2`, or `{nil, 1, 2}`.
    fn domain(&mut self) -> Result<Vec<Value>, SpecError> {
        let at = self.at();
        if self.sign("{") {
            let mut values = Vec::new();
            while !self.sign("}") {
                if !values.is_empty() {
                    self.need_sign(",")?;
                }
                values.push(self.literal().ok_or_else(|| self.unexpected("a value", &[]))?);
            }
            if values.is_empty() || values.len() as i64 > MOST {
                return Err(at.error(format!("a domain has 1 to {MOST} values")));
            }
            return Ok(values);
        }
        let low = self.number()?;
        self.need_sign("..")?;
        let high = self.number()?;
        let count = high.checked_sub(low).filter(|count| (0..MOST).contains(count));
        match count {
            Some(_) => Ok((low..=high).map(Value::Int).collect()),
            None => Err(at.error(format!("a domain has 1 to {MOST} values"))),
        }
    }

    fn number(&mut self) -> Result<i64, SpecError> {
        match self.literal() {
            Some(Value::Int(number)) => Ok(number),
            _ => Err(self.unexpected("a number", &[])),
        }
    }

    pub(super) fn method(&mut self, found: &mut Type) -> Result<(), SpecError> {
        let line = self.at().line;
        self.place += 1;
        let at = self.at();
        let name = self.word("the name of a method")?;
        if found.methods.iter().any(|method| method.name == name) {
            return Err(at.error(format!("there is a method `{name}` already")));
        }
        let mut scope = Scope { names: found.states.iter().map(|state| state.name.clone()).collect() };
        let parameters = self.parameters(&mut scope)?;
        let result = if self.sign("=") { Some(self.new_name(&mut scope)?) } else { None };
        let (mut when, mut needs) = (None, None);
        loop {
            if when.is_none() && self.keyword("when") {
                when = Some(self.expression(&scope)?);
            } else if needs.is_none() && self.keyword("needs") {
                needs = Some(self.expression(&scope)?);
            } else {
                break;
            }
        }
        let body = self.block(&mut scope, found.states.len())?;
        let slots = scope.names.len();
        found.methods.push(Method { name, parameters, result, when, needs, body, slots, line });
        Ok(())
    }

    fn parameters(&mut self, scope: &mut Scope) -> Result<Vec<Parameter>, SpecError> {
        let mut parameters = Vec::new();
        self.need_sign("(")?;
        while !self.sign(")") {
            if !parameters.is_empty() {
                self.need_sign(",")?;
            }
            let name = self.new_name(scope)?;
            let tried = match self.keyword("in") {
                true => self.domain()?,
                false => (1..=3).map(Value::Int).collect(),
            };
            parameters.push(Parameter { name, tried });
        }
        Ok(parameters)
    }

    fn new_name(&mut self, scope: &mut Scope) -> Result<String, SpecError> {
        let at = self.at();
        let name = self.word("a name")?;
        if scope.slot(&name).is_some() {
            return Err(at.error(format!("`{name}` stands for something else already")));
        }
        scope.names.push(name.clone());
        Ok(name)
    }

    fn block(&mut self, scope: &mut Scope, states: usize) -> Result<Vec<Statement>, SpecError> {
        self.nest()?;
        self.need_sign("{")?;
        let mut statements = Vec::new();
        while !self.sign("}") {
            statements.push(self.statement(scope, states)?);
            if !self.sign(";") && !self.is_sign("}") {
                return Err(self.unexpected("`;` or `}`", &[]));
            }
        }
        self.depth -= 1;
        Ok(statements)
    }

    fn statement(&mut self, scope: &mut Scope, states: usize) -> Result<Statement, SpecError> {
        if self.keyword("if") {
            let condition = self.expression(scope)?;
            let yes = self.block(scope, states)?;
            let no = if self.keyword("else") { self.block(scope, states)? } else { Vec::new() };
            return Ok(Statement::If(condition, yes, no));
        }
        let name = self.word("a variable to set")?;
        let known = scope.slot(&name);
        if self.is_sign("[") {
            let Some(slot) = known.filter(|slot| *slot < states) else {
                return Err(self.at().error(format!("`{name}` is no map of the state")));
            };
            self.sign("[");
            let key = self.expression(scope)?;
            self.need_sign("]")?;
            self.need_sign(":=")?;
            return Ok(Statement::SetKey(slot, key, self.expression(scope)?));
        }
        if matches!(self.peek(), Token::Sign("=")) {
            return Err(self.unexpected("`:=`", &[]).hint("a variable is set with `:=`"));
        }
        self.need_sign(":=")?;
        if let Some(slot) = known.filter(|slot| *slot < states && self.is_sign("{")) {
            self.sign("{");
            self.need_sign("}")?;
            return Ok(Statement::Clear(slot));
        }
        let value = self.expression(scope)?;
        let slot = known.unwrap_or_else(|| {
            scope.names.push(name);
            scope.names.len() - 1
        });
        Ok(Statement::Set(slot, value))
    }
}
