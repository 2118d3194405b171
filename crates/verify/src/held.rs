//! The locks that were held where a bug happened, and what that says about a fix.

use std::collections::BTreeMap;

use reweave_trace::{EventId, Op, Trace};

/// A lock that a thread held: its name, and where it was taken.
type Held = (String, EventId);

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

/// What keeps events of different threads apart in a trace: a lock that all of them hold.
pub fn common_lock(trace: &Trace, events: &[EventId]) -> Option<String> {
    let all = held(trace, events);
    let (first, others) = all.split_first()?;
    let shared = |name: &str| others.iter().all(|list| list.iter().any(|(held, _)| held == name));
    first.iter().find(|(name, _)| shared(name)).map(|(name, _)| name.clone())
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
            .collect::<std::collections::BTreeSet<_>>()
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
    hints.dedup();
    hints
}

fn names(held: &[Held]) -> String {
    held.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>().join(", ")
}
