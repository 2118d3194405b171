//! Trace literals.

use reweave_trace::{Builder, Trace};

use crate::text::{claim, event_into};

/// A trace, written down event by event.
///
/// Each statement is `thread: operation(target);` with the operations' names of STD text, where it applies
/// followed by `= value` (an update's is `old > new`) and by `@ site` (otherwise the event's number, from 1).
/// `capabilities: branches values;` says what the trace claims. Calls and unusual names are string literals.
///
/// ```
/// let trace = reweave_testkit::trace! {
///     capabilities: values;
///     main: alloc(p); main: fork(worker);
///     worker: acq(l); worker: w(p.next) = 5; worker: au(count) = 1 > 2 @ "queue.c:17"; worker: rel(l);
///     main: call("set.add(1)=true"); main: join(worker);
/// };
/// assert_eq!(trace.len(), 8);
/// ```
///
/// # Panics
/// When the tokens are no trace, or one that is not well formed.
#[macro_export]
macro_rules! trace {
    ($($tokens:tt)*) => {
        $crate::from_tokens(stringify!($($tokens)*)).unwrap_or_else(|error| panic!("trace literal: {error}"))
    };
}

/// The trace that the tokens of [`trace!`] describe, however they are spaced.
pub fn from_tokens(tokens: &str) -> Result<Trace, String> {
    let mut builder = Builder::new();
    for statement in split(tokens, ';')? {
        let statement = statement.trim();
        if statement.is_empty() {
            continue;
        }
        let mut parts = split(statement, ':')?;
        let thread = plain(&parts.remove(0));
        let rest = parts.join(":");
        if thread == "capabilities" {
            claim(&mut builder, &rest)?;
            continue;
        }
        let mut parts = split(&rest, '@')?.into_iter();
        let event = parts.next().unwrap_or_default();
        let site = parts.next().map_or_else(|| (builder.len() + 1).to_string(), |site| plain(&site));
        let mut parts = split(&event, '=')?.into_iter();
        let operation = plain(&parts.next().unwrap_or_default());
        let value = parts.next().map_or(String::new(), |value| plain(&value));
        event_into(&mut builder, &thread, &operation, &site, &value)
            .map_err(|error| format!("`{statement}`: {error}"))?;
    }
    builder.finish().map_err(|error| error.to_string())
}

/// The parts of `text` between separators that are not in string literals.
fn split(text: &str, separator: char) -> Result<Vec<String>, String> {
    let (mut parts, mut quoted) = (vec![String::new()], false);
    for c in text.chars() {
        quoted ^= c == '"';
        if c == separator && !quoted {
            parts.push(String::new());
        } else {
            parts.last_mut().expect("there is always one").push(c);
        }
    }
    if quoted { Err("a string literal is not closed".to_owned()) } else { Ok(parts) }
}

/// `text` without quotes, and without the spaces outside them that tokens are printed with.
fn plain(text: &str) -> String {
    let mut quoted = false;
    text.chars()
        .filter(|&c| {
            quoted ^= c == '"';
            c != '"' && (quoted || !c.is_whitespace())
        })
        .collect()
}
