//! The reads of a schedule that observe something new, and why the schedule is one of the program
//! all the same.
//!
//! The machine says which reads these are, and that what comes after them may run; here it is put
//! into words: the value is the same, nothing of the thread comes after the read, or what comes
//! does not depend on it.

use reweave_trace::{Dependences, EventId, Model, Trace};
use reweave_witness::Machine;

use super::NewRead;
use super::maker::Lists;
use crate::event;

/// How many reads a board has.
const MOST: usize = 100;

/// Why a read that observes something new does no harm.
#[derive(serde::Serialize, serde::Deserialize, Clone, Copy, PartialEq, Eq, Debug)]
#[serde(rename_all = "lowercase")]
pub enum Harmless {
    /// It observes the recorded value.
    Value,
    /// It is the last event of its thread in the schedule.
    Last,
    /// Its thread takes no branch after it, and does nothing else that may depend on it.
    Branch,
    /// No event of its thread after it needs it, by the table of dependences.
    Needs,
}

/// What was seen of such reads while the machine ran.
#[derive(Default)]
pub(super) struct News {
    reads: Vec<Seen>,
    /// The events from the first of them on.
    after: Vec<EventId>,
}

struct Seen {
    read: EventId,
    writer: Option<EventId>,
    recorded: Option<EventId>,
    clean: bool,
    /// How many of the events after the first read had run.
    at: usize,
}

impl News {
    /// `id` has run in `machine`; before that, `writer` was there to be read by it, where it reads,
    /// instead of the recorded one.
    pub(super) fn ran(&mut self, machine: &Machine<'_>, id: EventId, observed: Option<[Option<EventId>; 2]>) {
        let clean = !machine.is_unclean(id);
        if let Some([writer, recorded]) = observed
            && (writer != recorded || !clean)
        {
            self.reads.push(Seen { read: id, writer, recorded, clean, at: self.after.len() + 1 });
        }
        if !self.reads.is_empty() {
            self.after.push(id);
        }
    }

    /// The first of them in words, and how many more there are. `pending` are events that can come
    /// next.
    pub(super) fn tell(
        &self,
        trace: &Trace,
        model: Model,
        pending: &[EventId],
        lists: &mut Lists<'_, '_>,
    ) -> (Vec<NewRead>, u64) {
        if model == Model::Sync {
            // What reads observe does not count there: its schedules are candidates only.
            return (Vec::new(), 0);
        }
        let told = self.reads.iter().take(MOST).map(|seen| self.one(trace, model, pending, seen, lists));
        (told.collect(), self.reads.len().saturating_sub(MOST) as u64)
    }

    fn one(
        &self,
        trace: &Trace,
        model: Model,
        pending: &[EventId],
        seen: &Seen,
        lists: &mut Lists<'_, '_>,
    ) -> NewRead {
        let thread = trace.thread(seen.read);
        let rest = self.after.get(seen.at..).unwrap_or_default();
        let later: Vec<EventId> =
            rest.iter().chain(pending).copied().filter(|&id| trace.thread(id) == thread).collect();
        let harmless = match model {
            _ if seen.clean => Harmless::Value,
            _ if later.is_empty() => Harmless::Last,
            Model::Dep | Model::DepValue => Harmless::Needs,
            _ => Harmless::Branch,
        };
        let table = trace.dependences().filter(|_| !seen.clean && model.by_dependence());
        let feeds = |table: &Dependences, id: EventId| table.feeds(id).contains(&seen.read);
        let feeds: Vec<EventId> = table.map_or_else(Vec::new, |table| {
            later.iter().copied().filter(|&id| trace.kind(id).writes() && feeds(table, id)).collect()
        });
        NewRead {
            event: seen.read.0,
            thread: lists.thread(thread),
            target: lists.target(trace.op(seen.read)),
            site: lists.site(seen.read),
            writer: seen.writer.map(|writer| writer.0),
            recorded: seen.recorded.map(|recorded| recorded.0),
            harmless,
            text: sentence(trace, seen, harmless, later.len(), &feeds),
            feeds: feeds.into_iter().map(|write| write.0).collect(),
        }
    }
}

/// `event 7 (T3 r(z) at 8) observes event 2 (T2 w(z) at 3) instead of event 0: none of the 3 events
/// of T3 after it needs it`.
fn sentence(trace: &Trace, seen: &Seen, harmless: Harmless, later: usize, feeds: &[EventId]) -> String {
    let initial = || "what was there at first".to_owned();
    let writer = seen.writer.map_or_else(initial, |writer| event::numbered(trace, writer));
    let instead = match seen.recorded {
        recorded if recorded == seen.writer => {
            ", as recorded, which may have written something else here".to_owned()
        }
        Some(recorded) => format!(" instead of event {}", recorded.0),
        None => format!(" instead of {}", initial()),
    };
    let thread = event::thread(trace, seen.read);
    let why = match harmless {
        Harmless::Value => "the value is the same".to_owned(),
        Harmless::Last => format!("nothing of {thread} comes after it"),
        Harmless::Branch => {
            format!("{thread} takes no branch after it, nor does it anything else that may depend on it")
        }
        Harmless::Needs if later == 1 => format!("the one event of {thread} after it does not need it"),
        Harmless::Needs => format!("none of the {later} events of {thread} after it needs it"),
    };
    let stored = match feeds {
        [] => String::new(),
        [write, rest @ ..] => {
            let more = if rest.is_empty() { String::new() } else { format!(" and {} more", rest.len()) };
            format!("; what is computed from it goes to event {}{more}", write.0)
        }
    };
    format!("{} observes {writer}{instead}: {why}{stored}", event::numbered(trace, seen.read))
}
