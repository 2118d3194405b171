//! One event, spelled out: the same way wherever it is shown.

use std::borrow::Cow;

use reweave_trace::{ConditionId, EventId, Kind, Op, Trace};

/// `T1 w(x) at bank.c:12`, without the site where that has no name.
pub fn text(trace: &Trace, id: EventId) -> String {
    let Some(op) = op(trace, id) else { return "no event".to_owned() };
    let thread = clean(trace.thread_name(trace.thread(id)));
    let operation = operation(trace, op);
    match trace.site_name(trace.site(id)) {
        "" => format!("{thread} {operation}"),
        site => format!("{thread} {operation} at {}", clean(site)),
    }
}

/// `event 7 (T1 w(x) at bank.c:12)`.
pub fn numbered(trace: &Trace, id: EventId) -> String {
    format!("event {} ({})", id.0, text(trace, id))
}

/// `w(x)`.
pub fn operation(trace: &Trace, op: Op) -> String {
    let word = word(op.kind());
    trace.target_name(op).map_or_else(|| word.to_owned(), |name| format!("{word}({})", clean(name)))
}

/// The word for `kind` in STD text.
pub fn word(kind: Kind) -> &'static str {
    match kind {
        Kind::Read => "r",
        Kind::Write => "w",
        Kind::AtomicRead => "ar",
        Kind::AtomicWrite => "aw",
        Kind::Update => "au",
        Kind::Acquire => "acq",
        Kind::Release => "rel",
        Kind::TryAcquire => "tryacq",
        Kind::Busy => "busy",
        Kind::SharedAcquire => "racq",
        Kind::SharedRelease => "rrel",
        Kind::Fork => "fork",
        Kind::Join => "join",
        Kind::Wait => "wait",
        Kind::Notify => "notify",
        Kind::NotifyAll => "notifyall",
        Kind::Branch => "br",
        Kind::Alloc => "alloc",
        Kind::Free => "free",
        Kind::Call => "call",
        Kind::Begin => "begin",
        Kind::End => "end",
        Kind::Enter => "enter",
        Kind::Exit => "exit",
        Kind::Skip => "req",
        Kind::FailedAttempt => "af",
        Kind::Look => "look",
        Kind::Unseen => "unseen",
    }
}

/// A name as it can be shown: names come from untrusted files, and a terminal obeys control characters.
pub fn clean(name: &str) -> Cow<'_, str> {
    if name.chars().any(char::is_control) {
        let escaped = |c: char| if c.is_control() { c.escape_default().collect() } else { String::from(c) };
        Cow::Owned(name.chars().map(escaped).collect())
    } else {
        Cow::Borrowed(name)
    }
}

/// The operation of an event; none where the trace has no event there.
pub(crate) fn op(trace: &Trace, id: EventId) -> Option<Op> {
    (id.index() < trace.len()).then(|| trace.op(id)).filter(|&op| op != Op::Skip)
}

/// The condition variable that the thread of an event waits for from there on: a wait is recorded where it returns, and starts at the
/// event before it.
pub(crate) fn awaited(trace: &Trace, id: EventId) -> Option<ConditionId> {
    let op = op(trace, id)?;
    let starts = matches!(op.kind(), Kind::Release | Kind::SharedRelease | Kind::Look);
    let mut later = (id.0 + 1..trace.len() as u32).map(EventId).filter(|_| starts);
    let is_next = |&next: &EventId| trace.thread(next) == trace.thread(id) && trace.kind(next) != Kind::Skip;
    match trace.op(later.find(is_next)?) {
        Op::Wait(condition) => Some(condition),
        _ => None,
    }
}

/// The name of an event's thread.
pub(crate) fn thread(trace: &Trace, id: EventId) -> Cow<'_, str> {
    op(trace, id).map_or(Cow::Borrowed("nobody"), |_| clean(trace.thread_name(trace.thread(id))))
}

/// The name of what an event touches.
pub(crate) fn target(trace: &Trace, id: EventId) -> Cow<'_, str> {
    op(trace, id).and_then(|op| trace.target_name(op)).map_or(Cow::Borrowed("nothing"), clean)
}

#[cfg(test)]
mod tests {
    use reweave_testkit::trace;

    use super::*;

    #[test]
    fn events_are_spelled_as_in_std_text() {
        let trace = trace! { main: w(x) @ "main.c:3"; "a\u{1b}[31m": br @ ""; };
        assert_eq!(text(&trace, EventId(0)), "main w(x) at main.c:3");
        assert_eq!(numbered(&trace, EventId(0)), "event 0 (main w(x) at main.c:3)");
        assert!(!text(&trace, EventId(1)).contains('\x1b'));
        assert_eq!(text(&trace, EventId(2)), "no event");
    }

    #[test]
    fn a_wait_starts_at_the_event_before_it() {
        let trace = trace! {
            a: acq(m) @ "1"; a: rel(m) @ "2"; b: notify(c) @ "3"; a: wait(c) @ "2"; a: acq(m) @ "2"; a: rel(m) @ "4";
        };
        let awaited = |id: u32| awaited(&trace, EventId(id)).map(|condition| trace.condition_name(condition));
        assert_eq!(
            [awaited(1), awaited(0), awaited(3), awaited(5), awaited(9)],
            [Some("c"), None, None, None, None]
        );
    }

    #[test]
    fn control_characters_are_shown_not_obeyed() {
        assert_eq!(clean("a\x1b[31m\tb"), "a\\u{1b}[31m\\tb");
        assert_eq!(clean("größe"), "größe");
    }
}
