//! Names of targets and sites, taken apart.

use serde::{Deserialize, Serialize};

/// What an event is on.
#[derive(Serialize, Deserialize, Clone, PartialEq, Eq, Debug)]
pub struct Target {
    /// The name in the trace.
    pub name: String,
    /// What it is.
    pub kind: TargetKind,
    /// The name without the part: findings of one base are about the same thing.
    pub base: String,
    /// Which part of it: `.balance`, `+40`.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub part: String,
    /// `global`, or where it was allocated.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub note: String,
}

/// What a target is.
#[derive(Serialize, Deserialize, Clone, Copy, PartialEq, Eq, Debug)]
#[serde(rename_all = "lowercase")]
pub enum TargetKind {
    /// Memory.
    Variable,
    /// A lock.
    Lock,
    /// A condition variable.
    Condition,
    /// A thread.
    Thread,
    /// Anything else.
    Other,
}

impl Target {
    /// Takes a name apart. Names that are not our recorder's are their own base.
    pub fn new(name: &str, kind: TargetKind) -> Target {
        let (base, part, note) = match heap_block(name) {
            Some(block) => block,
            None => plain(name),
        };
        Target { name: name.to_owned(), kind, base, part, note }
    }

    /// `till.balance`, `heap shop.c:42+4`.
    pub fn short(&self) -> String {
        format!("{}{}", self.base, self.part)
    }
}

/// `global accounts[1].balance`, `global till+40`, `stack of T1-40`.
fn plain(name: &str) -> (String, String, String) {
    let (note, rest) =
        match ["global ", "thread-local "].iter().find_map(|&word| Some((word, name.strip_prefix(word)?))) {
            Some((word, rest)) => (word.trim_end(), rest),
            None if name.starts_with("stack of ") => ("stack", name),
            None => return (name.to_owned(), String::new(), String::new()),
        };
    let at = rest.find(['.', '[', '+']).filter(|&at| at > 0 && !rest[..at].contains("::"));
    let at = at.or_else(|| rest.rfind('-').filter(|_| note == "stack"));
    let (base, part) = rest.split_at(at.unwrap_or(rest.len()));
    (base.to_owned(), part.to_owned(), note.to_owned())
}

/// `heap block of 8 bytes from main at src/shop.c:42.4`, with ` #2` before the offset where several are alike.
fn heap_block(name: &str) -> Option<(String, String, String)> {
    let rest = name.strip_prefix("heap block of ")?;
    let (size, origin) = rest.split_once(" bytes")?;
    let (origin, part) = match origin.rsplit_once('.') {
        Some((origin, offset)) if !offset.is_empty() && offset.bytes().all(|byte| byte.is_ascii_digit()) => {
            (origin, format!("+{offset}"))
        }
        _ => (origin, String::new()),
    };
    let (origin, number) = match origin.rsplit_once(" #") {
        Some((origin, number)) if number.bytes().all(|byte| byte.is_ascii_digit()) => {
            (origin, format!(" #{number}"))
        }
        _ => (origin, String::new()),
    };
    let origin = origin.strip_prefix(" from ").unwrap_or(origin);
    let note = format!("heap block of {size} bytes, allocated in {origin}");
    let place = origin.rsplit_once(" at ").map_or(origin, |(_, place)| place);
    let file = place.rsplit('/').next().unwrap_or(place);
    let base = if file.is_empty() { format!("heap block{number}") } else { format!("heap {file}{number}") };
    Some((base, part, note))
}

/// A position in the source.
#[derive(Serialize, Deserialize, Clone, PartialEq, Eq, Default, Debug)]
pub struct Site {
    /// The name in the trace.
    pub text: String,
    /// The function.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub function: Option<String>,
    /// The calls that it was inlined into, the innermost first: `caller file:line`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub inlined_in: Vec<String>,
    /// The file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// The line, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// The column, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub column: Option<u32>,
}

impl Site {
    /// Takes `file:line`, `file:line:column`, and both with a function before them, apart; anything else is only text.
    pub fn new(text: &str) -> Site {
        let mut site = Site { text: text.to_owned(), ..Site::default() };
        let trimmed = text.trim();
        let (before, position) = match trimmed.rsplit_once(' ') {
            Some((before, position)) => (before.trim(), position),
            None => ("", trimmed),
        };
        let position =
            position.strip_prefix('(').and_then(|inner| inner.strip_suffix(')')).unwrap_or(position);
        let Some((file, line, column)) = position_of(position) else { return site };
        (site.file, site.line, site.column) = (Some(file.to_owned()), Some(line), column);
        let mut parts = before.split(" (in ");
        let function = parts.next().unwrap_or_default();
        site.function = Some(function.to_owned()).filter(|function| !function.is_empty());
        site.inlined_in = parts.map(|part| part.strip_suffix(')').unwrap_or(part).to_owned()).collect();
        site
    }

    /// `clerk shop.c:27`, with the file's name alone.
    pub fn short(&self) -> String {
        let (Some(file), Some(line)) = (&self.file, self.line) else { return self.text.clone() };
        let file = file.rsplit('/').next().unwrap_or(file);
        match &self.function {
            Some(function) => format!("{function} {file}:{line}"),
            None => format!("{file}:{line}"),
        }
    }
}

fn position_of(text: &str) -> Option<(&str, u32, Option<u32>)> {
    let number = |text: &str| -> Option<u32> {
        let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        digits.then(|| text.parse().ok()).flatten().filter(|&number| number > 0)
    };
    let (rest, last) = text.rsplit_once(':')?;
    let last = number(last)?;
    let (file, line, column) = match rest.rsplit_once(':').map(|(file, line)| (file, number(line))) {
        Some((file, Some(line))) => (file, line, Some(last)),
        _ => (rest, last, None),
    };
    // `x:3` may be anything; a file has an extension or a folder.
    let is_file = file.contains(['.', '/', '\\']) && !file.ends_with(':');
    is_file.then_some((file, line, column))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_taken_apart() {
        for (name, base, part, note) in [
            ("x", "x", "", ""),
            ("a.b", "a.b", "", ""),
            ("global sold", "sold", "", "global"),
            ("global till+40", "till", "+40", "global"),
            ("global accounts[1].balance", "accounts", "[1].balance", "global"),
            ("global bank::TOTAL", "bank::TOTAL", "", "global"),
            ("stack of T1-40", "stack of T1", "-40", "stack"),
            (
                "heap block of 8 bytes from main at src/shop.c:42.4",
                "heap shop.c:42",
                "+4",
                "heap block of 8 bytes, allocated in main at src/shop.c:42",
            ),
            (
                "heap block of 8 bytes from main at shop.c:42 #2",
                "heap shop.c:42 #2",
                "",
                "heap block of 8 bytes, allocated in main at shop.c:42",
            ),
        ] {
            let target = Target::new(name, TargetKind::Variable);
            assert_eq!((&*target.base, &*target.part, &*target.note), (base, part, note), "{name}");
        }
    }

    #[test]
    fn positions_are_told_from_other_sites() {
        let site = Site::new("transfer (in clerk src/shop.c:30) src/shop.c:17");
        assert_eq!(site.function.as_deref(), Some("transfer"));
        assert_eq!(site.inlined_in, ["clerk src/shop.c:30"]);
        assert_eq!((site.file.as_deref(), site.line, site.column), (Some("src/shop.c"), Some(17), None));
        assert_eq!(site.short(), "transfer shop.c:17");
        let site = Site::new("Bank.deposit(int) (src/Bank.java:3)");
        assert_eq!((site.function.as_deref(), site.line), (Some("Bank.deposit(int)"), Some(3)));
        let site = Site::new("src/bank.rs:12:5");
        assert_eq!((site.function, site.line, site.column), (None, Some(12), Some(5)));
        for text in ["12", "x:12", "bank.c", "bank.c:", "bank.c:0", "bank.c:-1", "bank.c:99999999999", ""] {
            assert_eq!(Site::new(text), Site { text: text.to_owned(), ..Site::default() }, "{text}");
        }
    }
}
