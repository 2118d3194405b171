//! STD-like text, read and written in the simplest way.
//!
//! One event a line, `thread|operation(target)|site|value`, with site and value optional; an update's value is
//! `old>new`, a failed attempt's `observed!expected`. `#` starts a comment line, `#! capabilities: …` says what the trace claims. A position without an
//! event is written `thread|skip`. No dialects: the readers of real files are tested against this one.

use std::fmt::Write;

use reweave_trace::{Builder, Capabilities, Event, EventValues, Kind, Op, Trace, Value, ValueId};

/// Every operation with the name that texts use.
pub(crate) const OPERATIONS: [(&str, Kind); 28] = [
    ("r", Kind::Read),
    ("w", Kind::Write),
    ("ar", Kind::AtomicRead),
    ("aw", Kind::AtomicWrite),
    ("au", Kind::Update),
    ("acq", Kind::Acquire),
    ("rel", Kind::Release),
    ("tryacq", Kind::TryAcquire),
    ("busy", Kind::Busy),
    ("racq", Kind::SharedAcquire),
    ("rrel", Kind::SharedRelease),
    ("fork", Kind::Fork),
    ("join", Kind::Join),
    ("wait", Kind::Wait),
    ("notify", Kind::Notify),
    ("notifyall", Kind::NotifyAll),
    ("br", Kind::Branch),
    ("alloc", Kind::Alloc),
    ("free", Kind::Free),
    ("call", Kind::Call),
    ("begin", Kind::Begin),
    ("end", Kind::End),
    ("enter", Kind::Enter),
    ("exit", Kind::Exit),
    ("skip", Kind::Skip),
    ("af", Kind::FailedAttempt),
    ("look", Kind::Look),
    ("unseen", Kind::Unseen),
];

/// The trace that `text` describes.
pub fn parse(text: &str) -> Result<Trace, String> {
    parse_raw(text)?.finish().map_err(|error| error.to_string())
}

/// The events that `text` describes, well formed or not.
pub fn parse_raw(text: &str) -> Result<Builder, String> {
    let mut builder = Builder::new();
    for (number, line) in text.lines().enumerate() {
        line_into(&mut builder, line.trim()).map_err(|error| format!("line {}: {error}", number + 1))?;
    }
    Ok(builder)
}

fn line_into(builder: &mut Builder, line: &str) -> Result<(), String> {
    if let Some(claimed) = line.strip_prefix("#! capabilities:") {
        return claim(builder, claimed);
    }
    if line.is_empty() || line.starts_with('#') {
        return Ok(());
    }
    let mut fields = line.split('|');
    let thread = fields.next().unwrap_or_default();
    let operation = fields.next().ok_or("an event needs a thread and an operation")?;
    let (site, value) = (fields.next().unwrap_or_default(), fields.next().unwrap_or_default());
    if fields.next().is_some() {
        return Err("too many fields".to_owned());
    }
    event_into(builder, thread.trim(), operation.trim(), site, value)
}

/// Adds the capabilities named in `text`.
pub(crate) fn claim(builder: &mut Builder, text: &str) -> Result<(), String> {
    let mut capabilities = Capabilities::default();
    for name in text.split_whitespace() {
        if !capabilities.add(name) {
            return Err(format!("there is no capability `{name}`"));
        }
    }
    builder.claim(capabilities);
    Ok(())
}

/// Adds one event; `operation` has its target in parentheses, an empty `value` is not known.
pub(crate) fn event_into(
    builder: &mut Builder,
    thread: &str,
    operation: &str,
    site: &str,
    value: &str,
) -> Result<(), String> {
    let (name, target) = match operation.split_once('(') {
        Some((name, rest)) => (name, Some(rest.strip_suffix(')').ok_or("a parenthesis is not closed")?)),
        None => (operation, None),
    };
    let named = OPERATIONS.iter().find(|(known, _)| *known == name);
    let &(_, kind) = named.ok_or_else(|| format!("there is no operation `{name}`"))?;
    if kind.space().is_some() != target.is_some_and(|target| !target.is_empty()) {
        return Err(format!("`{operation}`: wrong use of a target"));
    }
    let (read, written) = match kind {
        Kind::Update if value.is_empty() => ("", ""),
        Kind::Update => value.split_once('>').ok_or("an update's value is `old>new`")?,
        Kind::FailedAttempt => value.split_once('!').unwrap_or((value, "")),
        _ if kind.reads() => (value, ""),
        _ => ("", value),
    };
    let text = |error: reweave_trace::Error| error.to_string();
    let thread = builder.thread(thread).map_err(text)?;
    let target = builder.target(kind, target.unwrap_or_default()).map_err(text)?;
    let site = builder.site(site).map_err(text)?;
    let values = EventValues { read: known(builder, read)?, written: known(builder, written)? };
    builder.push(Event { thread, op: Op::new(kind, target), site }, values).map_err(text)?;
    Ok(())
}

fn known(builder: &mut Builder, text: &str) -> Result<Option<ValueId>, String> {
    if text.is_empty() {
        return Ok(None);
    }
    builder.value(Value::parse(text)).map(Some).map_err(|error| error.to_string())
}

/// `trace` as text that [`parse`] reads back.
pub fn show(trace: &Trace) -> String {
    let mut text = String::new();
    if trace.capabilities() != Capabilities::default() {
        writeln!(text, "#! capabilities: {}", trace.capabilities()).expect("a string takes all");
    }
    for id in trace.ids() {
        let event = trace.event(id);
        let (name, _) = OPERATIONS[OPERATIONS
            .iter()
            .position(|(_, kind)| *kind == event.op.kind())
            .expect("every operation has a name")];
        let target = trace.target_name(event.op).map_or(String::new(), |target| format!("({target})"));
        let value = shown_value(trace, trace.values(id), event.op.kind());
        let (thread, site) = (trace.thread_name(event.thread), trace.site_name(event.site));
        let line = format!("{thread}|{name}{target}|{site}{value}");
        writeln!(text, "{}", line.trim_end_matches('|')).expect("a string takes all");
    }
    text
}

fn shown_value(trace: &Trace, values: EventValues, kind: Kind) -> String {
    let shown = |id: Option<ValueId>| id.map_or(String::new(), |id| trace.value(id).to_string());
    match values {
        EventValues::NONE => String::new(),
        EventValues { read, written } if kind == Kind::Update => {
            format!("|{}>{}", shown(read), shown(written))
        }
        EventValues { read, written: Some(expected) } if kind == Kind::FailedAttempt => {
            format!("|{}!{}", shown(read), trace.value(expected))
        }
        EventValues { read, written } => format!("|{}", shown(read.or(written))),
    }
}
