//! The reader of specifications.

mod expression;
mod method;

use crate::error::{At, SpecError};
use crate::lex::{Token, tokens};
use crate::syntax::{Bind, Commute, Expr, Method, Mode, Order, Point, Spec, Tier, Touch, Type};

/// Words that begin a part of a type.
const PARTS: [&str; 5] = ["state", "method", "commute", "order", "touch"];

/// How deep expressions and blocks may nest.
const DEPTH: usize = 48;

impl Spec {
    /// Reads the text of a file.
    pub fn parse(text: &str) -> Result<Spec, SpecError> {
        let mut parser = Parser { tokens: tokens(text)?, place: 0, depth: 0 };
        let mut spec = Spec::default();
        loop {
            match parser.peek() {
                Token::End => return Ok(spec),
                Token::Word(word) if word == "type" => {
                    let at = parser.at();
                    let found = parser.type_block()?;
                    if spec.types.iter().any(|other| other.name == found.name) {
                        return Err(at.error(format!("there is a type `{}` already", found.name)));
                    }
                    spec.types.push(found);
                }
                Token::Word(word) if word == "bind" => {
                    parser.place += 1;
                    let pattern = parser.quoted("a pattern of names")?;
                    spec.binds.push(Bind { pattern, of: parser.word("the name of a type")? });
                }
                _ => return Err(parser.unexpected("`type` or `bind`", &["type", "bind"])),
            }
        }
    }
}

pub(crate) struct Parser {
    tokens: Vec<(Token, At)>,
    place: usize,
    depth: usize,
}

impl Parser {
    fn peek(&self) -> &Token {
        &self.tokens[self.place].0
    }

    fn at(&self) -> At {
        self.tokens[self.place].1
    }

    fn is_sign(&self, sign: &str) -> bool {
        matches!(self.peek(), Token::Sign(found) if *found == sign)
    }

    fn is_word(&self, word: &str) -> bool {
        matches!(self.peek(), Token::Word(found) if found == word)
    }

    /// Goes past `sign`, if it is next.
    fn sign(&mut self, sign: &str) -> bool {
        let found = self.is_sign(sign);
        self.place += usize::from(found);
        found
    }

    /// Goes past the word `keyword`, if it is next.
    fn keyword(&mut self, keyword: &str) -> bool {
        let found = self.is_word(keyword);
        self.place += usize::from(found);
        found
    }

    fn need_sign(&mut self, sign: &'static str) -> Result<(), SpecError> {
        if self.sign(sign) { Ok(()) } else { Err(self.unexpected(&format!("`{sign}`"), &[])) }
    }

    fn need_keyword(&mut self, keyword: &'static str) -> Result<(), SpecError> {
        if self.keyword(keyword) { Ok(()) } else { Err(self.unexpected(&format!("`{keyword}`"), &[keyword])) }
    }

    fn word(&mut self, what: &str) -> Result<String, SpecError> {
        if let Token::Word(word) = self.peek() {
            let word = word.clone();
            self.place += 1;
            return Ok(word);
        }
        Err(self.unexpected(what, &[]))
    }

    fn quoted(&mut self, what: &str) -> Result<String, SpecError> {
        if let Token::Quoted(text) = self.peek() {
            let text = text.clone();
            self.place += 1;
            return Ok(text);
        }
        Err(self.unexpected(&format!("{what}, in quotes"), &[]))
    }

    /// What is next is not what has to be there. `known` are words that may have been meant.
    fn unexpected(&self, wanted: &str, known: &[&str]) -> SpecError {
        let found = match self.peek() {
            Token::Word(word) => format!("`{word}`"),
            Token::Number(number) => format!("`{number}`"),
            Token::Quoted(text) => format!("\"{text}\""),
            Token::Sign(sign) => format!("`{sign}`"),
            Token::End => "the end of the file".to_owned(),
        };
        let error = self.at().error(format!("expected {wanted}, found {found}"));
        match self.peek() {
            Token::Word(word) => match nearest(word, known.iter().copied()) {
                Some(meant) => error.hint(format!("did you mean `{meant}`?")),
                None => error,
            },
            _ => error,
        }
    }

    fn nest(&mut self) -> Result<(), SpecError> {
        self.depth += 1;
        if self.depth > DEPTH { Err(self.at().error("this nests too deeply")) } else { Ok(()) }
    }

    fn type_block(&mut self) -> Result<Type, SpecError> {
        let line = self.at().line;
        self.need_keyword("type")?;
        let name = self.word("the name of a type")?;
        self.need_keyword("sync")?;
        let internal = self.keyword("internal");
        if !internal && !self.keyword("external") {
            return Err(self.unexpected("`internal` or `external`", &["internal", "external"]));
        }
        let mut found = Type {
            name,
            internal,
            states: Vec::new(),
            methods: Vec::new(),
            commutes: Vec::new(),
            orders: Vec::new(),
            touches: Vec::new(),
            line,
        };
        loop {
            let word = match self.peek() {
                Token::Word(word) => word.clone(),
                Token::End => return Ok(found),
                _ => String::new(),
            };
            match word.as_str() {
                "type" | "bind" => return Ok(found),
                "state" => self.state(&mut found)?,
                "method" => self.method(&mut found)?,
                "commute" => self.commute(&mut found)?,
                "order" => self.order(&mut found)?,
                "touch" => self.touch(&mut found)?,
                _ => return Err(self.unexpected("a part of the type", &PARTS)),
            }
        }
    }

    fn commute(&mut self, found: &mut Type) -> Result<(), SpecError> {
        let line = self.at().line;
        self.place += 1;
        let mut pairs = Vec::new();
        loop {
            let at = self.at();
            let pair = [self.method_name(found)?, self.method_name(found)?];
            let reversed = [pair[1], pair[0]];
            let given = |each: &Commute| each.methods == pair || each.methods == reversed;
            if found.commutes.iter().any(given) || pairs.contains(&pair) || pairs.contains(&reversed) {
                return Err(at.error("this pair has a condition already"));
            }
            pairs.push(pair);
            if !self.sign(",") {
                break;
            }
        }
        let exact = self.keyword("iff");
        if !exact && !self.keyword("if") {
            return Err(self.unexpected("`if` or `iff`", &["if", "iff"]));
        }
        // The same names stand for other slots with each pair.
        let start = self.place;
        for methods in pairs {
            self.place = start;
            let condition = self.expression(&Scope::pair(found, methods))?;
            found.commutes.push(Commute { methods, condition, exact, line });
        }
        Ok(())
    }

    fn order(&mut self, found: &mut Type) -> Result<(), SpecError> {
        let line = self.at().line;
        self.place += 1;
        let first = self.method_name(found)?;
        self.need_keyword("before")?;
        let methods = [first, self.method_name(found)?];
        let condition = match self.keyword("if") {
            true => Some(self.expression(&Scope::pair(found, methods))?),
            false => None,
        };
        let tier = match () {
            () if self.keyword("fails") => Tier::Fails,
            () if self.keyword("loses") => Tier::Lost,
            () => return Err(self.unexpected("`fails` or `loses`", &["fails", "loses"])),
        };
        let message = self.quoted("what to call it")?;
        found.orders.push(Order { methods, condition, tier, message, line });
        Ok(())
    }

    fn touch(&mut self, found: &mut Type) -> Result<(), SpecError> {
        let line = self.at().line;
        self.place += 1;
        let method = self.method_name(found)?;
        let scope = Scope::call(&found.methods[method]);
        let condition = if self.keyword("if") { Some(self.expression(&scope)?) } else { None };
        self.need_sign(":")?;
        let mut points = Vec::new();
        loop {
            let modes = [("IS", Mode::IS), ("IX", Mode::IX), ("S", Mode::S), ("X", Mode::X)];
            let Some(&(_, mode)) = modes.iter().find(|(name, _)| self.is_word(name)) else {
                return Err(self.unexpected("one of the modes IS, IX, S, X", &["IS", "IX", "S", "X"]));
            };
            self.place += 1;
            let cell = if self.keyword("of") { self.word("the name of a cell")? } else { String::new() };
            let at = if self.keyword("at") { Some(self.expression(&scope)?) } else { None };
            points.push(Point { mode, cell, at });
            if !self.sign(",") {
                break;
            }
        }
        found.touches.push(Touch { method, condition, points, line });
        Ok(())
    }

    fn method_name(&mut self, found: &Type) -> Result<usize, SpecError> {
        let at = self.at();
        let name = self.word("the name of a method")?;
        if let Some(method) = found.methods.iter().position(|method| method.name == name) {
            return Ok(method);
        }
        let error = at.error(format!("`{}` has no method `{name}`", found.name));
        Err(match nearest(&name, found.methods.iter().map(|method| method.name.as_str())) {
            Some(meant) => error.hint(format!("did you mean `{meant}`?")),
            None => error.hint("methods come before what is said of them"),
        })
    }
}

/// The names that an expression may use, by slot.
pub(crate) struct Scope {
    names: Vec<String>,
}

impl Scope {
    /// The values of one call.
    fn call(method: &Method) -> Scope {
        Scope { names: values(method).map(str::to_owned).collect() }
    }

    /// The values of two calls: names end in 1 and 2.
    fn pair(found: &Type, methods: [usize; 2]) -> Scope {
        let named = |method: usize, place: usize| {
            values(&found.methods[method]).map(move |name| format!("{name}{place}"))
        };
        Scope { names: named(methods[0], 1).chain(named(methods[1], 2)).collect() }
    }

    fn slot(&self, name: &str) -> Option<usize> {
        self.names.iter().position(|known| known == name)
    }
}

fn values(method: &Method) -> impl Iterator<Item = &str> {
    let parameters = method.parameters.iter().map(|parameter| parameter.name.as_str());
    parameters.chain(method.result.as_deref())
}

/// The word of `known` that is nearest to `word`, if one is near.
fn nearest<'w>(word: &str, known: impl Iterator<Item = &'w str>) -> Option<&'w str> {
    let near = known.map(|each| (distance(word, each), each)).min()?;
    (near.0 <= 1 + word.len() / 4).then_some(near.1)
}

/// How many letters have to be put in, taken out or replaced.
fn distance(left: &str, right: &str) -> usize {
    let right: Vec<char> = right.chars().take(64).collect();
    let mut row: Vec<usize> = (0..=right.len()).collect();
    for (place, letter) in left.chars().take(64).enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], place + 1);
        for (index, other) in right.iter().enumerate() {
            let replaced = diagonal + usize::from(letter != *other);
            diagonal = row[index + 1];
            row[index + 1] = replaced.min(row[index] + 1).min(diagonal + 1);
        }
    }
    row[right.len()]
}

/// A constant condition that always holds.
pub(crate) fn always(condition: &Expr) -> bool {
    *condition == Expr::Const(crate::Value::Bool(true))
}
