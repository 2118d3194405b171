//! The reader of STD text.

use memchr::memchr;
use reweave_trace::{
    Builder, Capabilities, Dependent, Event, EventId, EventValues, Kind, LockId, Op, ThreadId, Value,
    ValueId, declare,
};

use super::quick::Quick;
use crate::operation::{self, balanced, trim};
use crate::text::{Line, LineError, LineParser, excerpt};

/// Reads one line after another.
#[derive(Default)]
pub(crate) struct Parser {
    quick: Quick,
}

impl LineParser for Parser {
    fn quick_lines(&mut self, text: &str, start: usize, builder: &mut Builder) -> (usize, u32) {
        self.quick.lines(text, start, builder)
    }

    fn line(&mut self, line: &str, builder: &mut Builder) -> Result<Line, LineError> {
        let (Some(bar), false) = (memchr(b'|', line.as_bytes()), line.starts_with('#')) else {
            return no_event(line, builder);
        };
        let (written, rest) = (&line[..bar], &line[bar + 1..]);
        let thread = trim(written);
        let (field, rest) = cut(rest);
        let (site, value) = rest.map_or(("", None), cut);
        if thread.starts_with('#') {
            return no_event(line, builder);
        }
        if thread.is_empty() {
            return Err(LineError::new("the thread has no name: expected `thread|op(target)|site`"));
        }
        let (kind, target) = operation::parse(field)?;
        let thread = ThreadId(intern_target(builder, Kind::Fork, thread)?);
        let target = match kind {
            Kind::Skip => {
                ask(builder, thread, trim(target))?;
                0
            }
            kind => intern_target(builder, kind, target)?,
        };
        let values = match value {
            None | Some("") => EventValues::NONE,
            Some(value) => values(builder, kind, value)?,
        };
        let site = builder.site(site.trim_end_matches('\r'))?;
        builder.push(Event { thread, op: Op::new(kind, target), site }, values)?;
        self.quick.remember_thread(written, thread);
        Ok(Line::Event)
    }
}

/// The text before the next `|`, and what comes after it.
#[inline]
fn cut(text: &str) -> (&str, Option<&str>) {
    match memchr(b'|', text.as_bytes()) {
        Some(bar) => (&text[..bar], Some(&text[bar + 1..])),
        None => (text, None),
    }
}

/// The number of a target. Only a name that is new needs a look at its parentheses.
#[inline]
pub(crate) fn intern_target(builder: &mut Builder, kind: Kind, target: &str) -> Result<u32, LineError> {
    let Some(space) = kind.space() else { return Ok(0) };
    let known = builder.names().space(space).len();
    let id = builder.target(kind, target)?;
    if id as usize == known && !balanced(target) {
        return Err(LineError::new(format!("the parentheses in {} do not match", excerpt(target))));
    }
    Ok(id)
}

/// A request, which is no event: only one that is never granted tells something.
#[cold]
fn ask(builder: &mut Builder, thread: ThreadId, lock: &str) -> Result<(), LineError> {
    if !lock.is_empty() {
        let lock = LockId(intern_target(builder, Kind::Acquire, lock)?);
        builder.ask(thread, lock);
    }
    Ok(())
}

fn values(builder: &mut Builder, kind: Kind, text: &str) -> Result<EventValues, LineError> {
    if text.contains('|') {
        return Err(LineError::new("too many fields: expected `thread|op(target)|site|value` at most"));
    }
    let mut value = |text: &str| -> Result<Option<ValueId>, LineError> {
        let text = text.trim_end_matches('\r');
        Ok(if text.is_empty() { None } else { Some(builder.value(Value::parse(text))?) })
    };
    match (kind.reads(), kind.carries_written()) {
        (true, true) if kind == Kind::FailedAttempt => {
            let (read, expected) = text.split_once('!').unwrap_or((text, ""));
            if expected.contains('!') {
                let message =
                    format!("the value of a failed attempt is `observed!expected`, not {}", excerpt(text));
                return Err(LineError::new(message));
            }
            Ok(EventValues { read: value(read)?, written: value(expected)? })
        }
        (true, true) => match text.split_once('>') {
            Some((old, new)) if !new.contains('>') => {
                Ok(EventValues { read: value(old)?, written: value(new)? })
            }
            _ => Err(LineError::new(format!("the value of an update is `old>new`, not {}", excerpt(text)))),
        },
        (true, false) => Ok(EventValues { read: value(text)?, written: None }),
        (false, true) => Ok(EventValues { read: None, written: value(text)? }),
        (false, false) => Err(LineError::new(format!(
            "`{}` takes no value, but has {}",
            operation::word(kind),
            excerpt(text)
        ))),
    }
}

/// An entry of the table of dependences, if the directive is one: `needs 8: 5 3`, `feeds 16: 15`, `end T1: 5`.
fn dependence(
    directive: &str,
    builder: &mut Builder,
) -> Result<Option<(Dependent, Vec<EventId>)>, LineError> {
    let Some((word, rest)) = directive.split_once(' ') else { return Ok(None) };
    if !matches!(word, "needs" | "feeds" | "end") {
        return Ok(None);
    }
    let event = |text: &str| {
        let number = text.parse().map(EventId);
        number.map_err(|_| {
            LineError::new(format!("expected the position of an event, found {}", excerpt(text)))
        })
    };
    let Some((who, reads)) = rest.rsplit_once(':') else {
        return Err(LineError::new(format!("expected `#! {word} …: reads`, as in `#! needs 8: 5 3`")));
    };
    let who = match (word, who.trim_ascii()) {
        ("needs", who) => Dependent::Needs(event(who)?),
        ("feeds", who) => Dependent::Feeds(event(who)?),
        (_, "") => return Err(LineError::new("expected `#! end THREAD: reads`, found no thread")),
        (_, who) => Dependent::End(builder.thread(who)?),
    };
    let reads = reads.split_ascii_whitespace().map(event).collect::<Result<_, _>>()?;
    Ok(Some((who, reads)))
}

/// `push /home/me/queue.c:17|push queue.c+4`.
fn stable_site(text: &str, builder: &mut Builder) -> Result<Line, LineError> {
    let Some((site, name)) = text.split_once('|').filter(|(_, name)| !name.is_empty()) else {
        return Err(LineError::new(format!("expected `#! stable SITE|NAME`, found {}", excerpt(text))));
    };
    let site = builder.site(site)?;
    builder.stable_site(site, name)?;
    Ok(Line::Nothing)
}

/// `s: set`.
fn object_type(text: &str, builder: &mut Builder) -> Result<Line, LineError> {
    let Some((object, of)) = text.rsplit_once(':').map(|(object, of)| (trim(object), trim(of))) else {
        return Err(LineError::new(format!("expected `#! object NAME: TYPE`, found {}", excerpt(text))));
    };
    if object.is_empty() || of.is_empty() {
        return Err(LineError::new(format!("expected `#! object NAME: TYPE`, found {}", excerpt(text))));
    }
    builder.call(&declare(object, of))?;
    Ok(Line::Nothing)
}

#[cold]
fn no_event(line: &str, builder: &mut Builder) -> Result<Line, LineError> {
    let line = line.trim_ascii();
    if let Some(directive) = line.strip_prefix("#!") {
        let directive = directive.trim_ascii();
        if let Some(object) = directive.strip_prefix("object ") {
            return object_type(object, builder);
        }
        if let Some(stable) = directive.strip_prefix("stable ") {
            return stable_site(stable, builder);
        }
        if let Some(ended) = directive.strip_prefix("ended ") {
            builder.ending().take(ended).map_err(LineError::new)?;
            return Ok(Line::Nothing);
        }
        if let Some((who, reads)) = dependence(directive, builder)? {
            builder.depends(who, reads);
            return Ok(Line::Nothing);
        }
        let Some(names) = directive.strip_prefix("capabilities:") else {
            return Ok(Line::Nothing);
        };
        let mut capabilities = Capabilities::default();
        for name in names.split_ascii_whitespace() {
            if !capabilities.add(name) {
                let message = "expected approximate, branches, dependences or values";
                return Err(LineError::new(format!("unknown capability {}: {message}", excerpt(name))));
            }
        }
        builder.claim(capabilities);
        return Ok(Line::Claim);
    }
    if line.is_empty() || line.starts_with('#') {
        return Ok(Line::Nothing);
    }
    Err(LineError::new(format!("expected `thread|op(target)|site`, found {}", excerpt(line))))
}
