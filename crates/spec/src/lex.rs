//! The words of a specification's text.

use crate::error::{At, SpecError};

/// A word, a number, a quoted text or a sign.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Token {
    Word(String),
    Number(i64),
    Quoted(String),
    Sign(&'static str),
    /// The end of the text.
    End,
}

/// The longer signs come first.
const SIGNS: [&str; 20] = [
    ":=", "==", "!=", "<=", ">=", "..", "<", ">", "(", ")", "{", "}", "[", "]", ",", ";", ":", "=", "+", "-",
];

/// All tokens of `text`, the end last.
pub(crate) fn tokens(text: &str) -> Result<Vec<(Token, At)>, SpecError> {
    let mut found = Vec::new();
    let mut last = At { line: 1, column: 1 };
    for (number, line) in text.lines().enumerate() {
        let mut rest = line;
        let mut at = At { line: number as u32 + 1, column: 1 };
        loop {
            let blank = rest.len() - rest.trim_start().len();
            at.column += rest[..blank].chars().count() as u32;
            rest = &rest[blank..];
            if rest.is_empty() || rest.starts_with('#') {
                break;
            }
            let (token, length) = token(rest, at)?;
            found.push((token, at));
            at.column += rest[..length].chars().count() as u32;
            rest = &rest[length..];
        }
        last = at;
    }
    found.push((Token::End, last));
    Ok(found)
}

/// The first token of `rest`, and its length in bytes.
fn token(rest: &str, at: At) -> Result<(Token, usize), SpecError> {
    let first = rest.chars().next().unwrap_or_default();
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    if first.is_ascii_digit() {
        let length = rest.find(|c| !is_word(c)).unwrap_or(rest.len());
        let number = rest[..length].parse();
        return match number {
            Ok(number) => Ok((Token::Number(number), length)),
            Err(_) => Err(at.error(format!("`{}` is no number that fits", &rest[..length]))),
        };
    }
    if is_word(first) {
        let length = rest.find(|c| !is_word(c)).unwrap_or(rest.len());
        return Ok((Token::Word(rest[..length].to_owned()), length));
    }
    if first == '"' {
        let Some(close) = rest[1..].find('"') else {
            return Err(at.error("this quoted text has no end").hint("it has to end in the same line"));
        };
        return Ok((Token::Quoted(rest[1..=close].to_owned()), close + 2));
    }
    match SIGNS.iter().find(|sign| rest.starts_with(**sign)) {
        Some(sign) => Ok((Token::Sign(sign), sign.len())),
        None => {
            let error = at.error(format!("`{first}` has no meaning here"));
            Err(match first {
                '!' => error.hint("write `not`"),
                '&' => error.hint("write `and`"),
                '|' => error.hint("write `or`"),
                _ => error,
            })
        }
    }
}
