//! Operations as text: `op(target)`, for STD and the formats that borrow from it.

use reweave_trace::Kind;

use crate::text::{LineError, excerpt};

/// The word for each kind, and other spellings that are read as well.
///
/// A request announces an acquire. It is no event of ours, but keeps its position.
const WORDS: [(Kind, &str, &[&str]); 28] = [
    (Kind::Read, "r", &["rd"]),
    (Kind::Write, "w", &["wr"]),
    (Kind::AtomicRead, "ar", &[]),
    (Kind::AtomicWrite, "aw", &[]),
    (Kind::Update, "au", &[]),
    (Kind::Acquire, "acq", &[]),
    (Kind::Release, "rel", &[]),
    (Kind::TryAcquire, "tryacq", &[]),
    (Kind::Busy, "busy", &[]),
    (Kind::SharedAcquire, "racq", &[]),
    (Kind::SharedRelease, "rrel", &[]),
    (Kind::Fork, "fork", &[]),
    (Kind::Join, "join", &[]),
    (Kind::Wait, "wait", &[]),
    (Kind::Notify, "notify", &[]),
    (Kind::NotifyAll, "notifyall", &["broadcast"]),
    (Kind::Branch, "br", &["branch"]),
    (Kind::Alloc, "alloc", &[]),
    (Kind::Free, "free", &[]),
    (Kind::Call, "call", &[]),
    (Kind::Begin, "begin", &[]),
    (Kind::End, "end", &[]),
    (Kind::Enter, "enter", &[]),
    (Kind::Exit, "exit", &[]),
    (Kind::Skip, "req", &["request"]),
    (Kind::FailedAttempt, "af", &[]),
    (Kind::Look, "look", &[]),
    (Kind::Unseen, "unseen", &[]),
];

/// The word for `kind`.
pub(crate) fn word(kind: Kind) -> &'static str {
    WORDS[kind as usize].1
}

/// The kind and target in `field`; the target is empty where the kind takes none.
///
/// Written `op(target)`, `op target`, or just `op` where there is no target.
#[inline]
pub(crate) fn parse(field: &str) -> Result<(Kind, &str), LineError> {
    // The bulk of every trace, and nothing else starts so.
    let (kind, target) = match field.as_bytes() {
        [b'r', b'(', .., b')'] => (Kind::Read, &field[2..field.len() - 1]),
        [b'w', b'(', .., b')'] => (Kind::Write, &field[2..field.len() - 1]),
        _ => parse_any(field)?,
    };
    let target = trim(target);
    if target.is_empty() && kind.space().is_some() {
        return Err(missing_target(kind));
    }
    Ok((kind, target))
}

/// Text without white space around it.
#[inline]
pub(crate) fn trim(text: &str) -> &str {
    match text.as_bytes() {
        [first, .., last] if *first > b' ' && *last > b' ' => text,
        [only] if *only > b' ' => text,
        _ => text.trim_ascii(),
    }
}

fn parse_any(field: &str) -> Result<(Kind, &str), LineError> {
    let field = field.trim_ascii();
    let end = field.bytes().position(|byte| !byte.is_ascii_alphabetic()).unwrap_or(field.len());
    let (word, rest) = field.split_at(end);
    let kind = kind(word).ok_or_else(|| unknown(field))?;
    let target = match rest.as_bytes() {
        [] => "",
        [b'(', .., b')'] => &rest[1..rest.len() - 1],
        [b'(', ..] => return Err(LineError::new(format!("{} lacks its `)`", excerpt(field)))),
        [b' ' | b'\t', ..] => rest,
        _ => return Err(unknown(field)),
    };
    if kind.space().is_none() && kind != Kind::Skip && !target.trim_ascii().is_empty() {
        return Err(LineError::new(format!("`{word}` takes no target, but has {}", excerpt(target))));
    }
    Ok((kind, target))
}

/// Words are short, known and mostly in lower case: a match by length beats hashing.
fn kind(word: &str) -> Option<Kind> {
    let of = |name: &str| {
        WORDS.iter().find(|(_, main, others)| *main == name || others.contains(&name)).map(|entry| entry.0)
    };
    match word {
        "acq" => Some(Kind::Acquire),
        "rel" => Some(Kind::Release),
        "br" => Some(Kind::Branch),
        _ => of(word).or_else(|| of(&word.to_ascii_lowercase())),
    }
}

/// Whether every parenthesis in `text` has its partner.
pub(crate) fn balanced(text: &str) -> bool {
    let mut open = 0_usize;
    text.bytes().all(|byte| {
        match byte {
            b'(' => open += 1,
            b')' if open == 0 => return false,
            b')' => open -= 1,
            _ => {}
        }
        true
    }) && open == 0
}

fn missing_target(kind: Kind) -> LineError {
    let word = word(kind);
    LineError::new(format!("`{word}` has no target: expected `{word}(name)`"))
}

fn unknown(field: &str) -> LineError {
    LineError::new(format!(
        "unknown operation {}: expected one such as `r(x)`, `w(x)` or `acq(l)`",
        excerpt(field)
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_has_its_word() {
        for (&kind, (entry, word, _)) in Kind::ALL.iter().zip(&WORDS) {
            assert_eq!(kind, *entry);
            let field = format!("{word}(x)");
            let bare = kind.space().is_none() && kind != Kind::Skip;
            assert_eq!(parse(if bare { word } else { &field }).unwrap().0, kind);
        }
    }

    #[test]
    fn parentheses_must_match() {
        for (text, expected) in
            [("", true), ("a", true), ("f(x)(y)", true), ("f(", false), (")(", false), ("(()", false)]
        {
            assert_eq!(balanced(text), expected, "{text}");
        }
    }
}
