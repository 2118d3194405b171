//! The locks that were held where a bug happened, and what that says about a fix.

use std::collections::{BTreeMap, BTreeSet};

use reweave_trace::{EventId, Op, ThreadId, Trace};

/// A lock that a thread held: its name, and where it was taken.
type Held = (String, EventId);

/// Whether only the shared side of a lock was taken.
fn is_shared(trace: &Trace, taken: EventId) -> bool {
    matches!(trace.op(taken), Op::SharedAcquire(_))
}

/// The locks that were held at each of these events.
pub fn held(trace: &Trace, events: &[EventId]) -> Vec<Vec<Held>> {
    let mut now: BTreeMap<u32, Vec<Held>> = BTreeMap::new();
    let mut found = vec![Vec::new(); events.len()];
    for (id, event) in trace.events() {
        let mine = now.entry(event.thread.0).or_default();
        for (place, _) in events.iter().enumerate().filter(|(_, one)| **one == id) {
            found[place] = mine.clone();
        }
        match event.op {
            Op::Acquire(lock) | Op::TryAcquire(lock) | Op::SharedAcquire(lock) => {
                mine.push((trace.lock_name(lock).to_owned(), id));
            }
            Op::Release(lock) | Op::SharedRelease(lock) => {
                let name = trace.lock_name(lock);
                if let Some(place) = mine.iter().rposition(|(held, _)| held == name) {
                    mine.remove(place);
                }
            }
            _ => {}
        }
    }
    found
}

/// What keeps events of different threads apart in a trace: a lock that all of them hold, no two
/// threads as readers.
pub fn common_lock(trace: &Trace, events: &[EventId]) -> Option<String> {
    let all = held(trace, events);
    let (first, others) = all.split_first()?;
    let excludes = |name: &str| {
        let takes = all.iter().zip(events).filter_map(|(list, &event)| {
            let (_, taken) = list.iter().find(|(held, _)| held == name)?;
            is_shared(trace, *taken).then(|| trace.thread(event))
        });
        let mut readers: Vec<_> = takes.collect();
        readers.sort_unstable();
        readers.dedup();
        readers.len() < 2
    };
    let shared = |name: &str| others.iter().all(|list| list.iter().any(|(held, _)| held == name));
    first.iter().find(|(name, _)| shared(name) && excludes(name)).map(|(name, _)| name.clone())
}

/// The locks at events that one thread takes and no other ever does, with that thread.
fn lonely(trace: &Trace, all: &[Vec<Held>]) -> Vec<String> {
    let mut takers: BTreeMap<&str, Vec<ThreadId>> = BTreeMap::new();
    for (_, event) in trace.events() {
        if let Op::Acquire(lock) | Op::TryAcquire(lock) | Op::SharedAcquire(lock) = event.op {
            let takers = takers.entry(trace.lock_name(lock)).or_default();
            if !takers.contains(&event.thread) {
                takers.push(event.thread);
            }
        }
    }
    let held: BTreeSet<&str> = all.iter().flatten().map(|(name, _)| name.as_str()).collect();
    let only = held.into_iter().filter_map(|name| match takers.get(name)?.as_slice() {
        [only] => Some(format!(
            "{name} is a lock of one thread only: no thread but {} takes it",
            trace.thread_name(*only)
        )),
        _ => None,
    });
    only.collect()
}

/// What the locks at the events of a bug that was shown say about the fix.
pub fn hints(trace: &Trace, events: &[EventId]) -> Vec<String> {
    let all = held(trace, events);
    let site = |event: EventId| trace.site_name(trace.site(event));
    let mut hints = Vec::new();
    // Where all hold something and two threads nothing in common, the locks are not the same object.
    for (a, &first) in events.iter().enumerate() {
        for (b, &second) in events.iter().enumerate().skip(a + 1) {
            if trace.thread(first) == trace.thread(second) || all[a].is_empty() || all[b].is_empty() {
                continue;
            }
            if !all[a].iter().any(|(name, _)| all[b].iter().any(|(other, _)| other == name)) {
                hints.push(format!(
                    "not the same lock: {} holds {}, {} holds {}",
                    site(first),
                    names(&all[a]),
                    site(second),
                    names(&all[b])
                ));
            }
        }
    }
    if hints.is_empty() {
        let held_somewhere: Vec<&str> = all
            .iter()
            .flatten()
            .map(|(name, _)| name.as_str())
            .collect::<BTreeSet<_>>()
            .into_iter()
            .collect();
        for lock in held_somewhere {
            for (place, &event) in events.iter().enumerate() {
                if !all[place].iter().any(|(name, _)| name == lock) {
                    hints.push(format!("{} is not under {lock}", site(event)));
                }
            }
        }
    }
    // Two events of one thread that hold the same lock, taken twice: it is given back in between.
    for (a, &first) in events.iter().enumerate() {
        for (b, &second) in events.iter().enumerate().skip(a + 1) {
            if trace.thread(first) != trace.thread(second) {
                continue;
            }
            let again = all[a]
                .iter()
                .find(|(name, taken)| all[b].iter().any(|(other, later)| other == name && later != taken));
            if let Some((name, _)) = again {
                hints.push(format!("{name} is given back between {} and {}", site(first), site(second)));
            }
        }
    }
    hints.extend(lonely(trace, &all));
    hints.dedup();
    hints
}

fn names(held: &[Held]) -> String {
    held.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use reweave_testkit::parse;

    use super::*;

    fn said(text: &str, events: &[u32]) -> (Option<String>, Vec<String>) {
        let trace = parse(text).expect("a trace");
        let events: Vec<EventId> = events.iter().copied().map(EventId).collect();
        (common_lock(&trace, &events), hints(&trace, &events))
    }

    #[test]
    fn a_lock_that_all_hold_keeps_them_apart() {
        let text = "T1|acq(m)|1\nT1|w(x)|2\nT1|rel(m)|3\nT2|acq(m)|4\nT2|w(x)|5\nT2|rel(m)|6\n";
        assert_eq!(said(text, &[1, 4]), (Some("m".to_owned()), Vec::new()));
    }

    #[test]
    fn two_readers_of_a_lock_are_not_kept_apart() {
        let text = "T1|racq(m)|1\nT1|w(x)|2\nT1|rrel(m)|3\nT2|racq(m)|4\nT2|w(x)|5\nT2|rrel(m)|6\n";
        assert_eq!(said(text, &[1, 4]).0, None);
        let one = text.replace("T2|racq", "T2|acq").replace("T2|rrel", "T2|rel");
        assert_eq!(said(&one, &[1, 4]).0, Some("m".to_owned()));
    }

    #[test]
    fn a_lock_that_only_one_thread_takes_is_named() {
        let text = "T1|acq(m)|1\nT1|w(x)|2\nT1|rel(m)|3\nT2|w(x)|5\n";
        let (common, hints) = said(text, &[1, 3]);
        assert_eq!(common, None);
        assert_eq!(hints, ["5 is not under m", "m is a lock of one thread only: no thread but T1 takes it"]);
        // Where another takes it elsewhere, it is a lock of both.
        let both = format!("{text}T2|acq(m)|6\nT2|rel(m)|7\n");
        assert_eq!(said(&both, &[1, 3]).1, ["5 is not under m"]);
    }
}
