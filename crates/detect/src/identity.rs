//! What identifies an event of a finding in every run and build.
//!
//! Where the recorder knew it, that is the stable name of its site and the name of the variable in the program, without what
//! differs from run to run or build to build: indexes, offsets, addresses, the numbers of things that are called the same, and
//! which block of the heap or stack it was. In a trace without stable names it is the text of the site, or the operation where that
//! has none.

use hashbrown::HashMap;
use reweave_trace::{EventId, SiteId, Space, Trace};

/// The identity of an event as a key: equal for equal identities of one trace.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) enum Key {
    /// The site as it is; and the operation where that has no text.
    Site(SiteId, Option<(u8, u32)>),
    /// The number of the site's stable name, and of the variable's.
    Stable(u32, u32),
}

/// Makes keys.
#[derive(Default)]
pub(crate) struct Keys {
    /// By target, the number of its name without what differs.
    targets: HashMap<(Space, u32), u32>,
    numbers: HashMap<String, u32>,
}

impl Keys {
    pub(crate) fn of(&mut self, trace: &Trace, event: EventId) -> Key {
        let (site, op) = (trace.site(event), trace.op(event));
        if let Some(stable) = trace.names().stable.number(site) {
            let Some(space) = op.kind().space() else { return Key::Stable(stable, 0) };
            let Keys { targets, numbers } = self;
            let target = *targets.entry((space, op.target())).or_insert_with(|| {
                let name = constant_part(trace.target_name(op).unwrap_or_default());
                let next = numbers.len() as u32 + 1;
                *numbers.entry(name).or_insert(next)
            });
            return Key::Stable(stable, target);
        }
        let unnamed = trace.site_name(site).is_empty();
        Key::Site(site, unnamed.then(|| (op.kind() as u8, op.target())))
    }
}

/// The identity of an event as a text: equal for equal identities of all traces.
pub(crate) fn text(trace: &Trace, event: EventId) -> String {
    let (site, op) = (trace.site(event), trace.op(event));
    if let Some(stable) = trace.names().stable.get(site) {
        let target = trace.target_name(op).unwrap_or_default();
        return format!("{stable} {}", constant_part(target));
    }
    match trace.site_name(site) {
        "" => format!("{:?} {}", op.kind(), trace.target_name(op).unwrap_or_default()),
        site => site.to_owned(),
    }
}

/// What of a recorded variable's name is the same in every run and build.
fn constant_part(name: &str) -> String {
    for (block, short) in [("heap block", "heap"), ("stack of ", "stack")] {
        // What stands before it says what of the block it is: its memory, a semaphore in it.
        if let Some(at) = name.find(block) {
            return format!("{}{short}", &name[..at]);
        }
    }
    let mut constant = String::new();
    for word in name.split(' ') {
        let word = word.split_once('+').map_or(word, |(before, _)| before);
        let number = word.trim_start_matches('#');
        if number.starts_with(|first: char| first.is_ascii_digit()) {
            continue;
        }
        if !constant.is_empty() {
            constant.push(' ');
        }
        push_without_indexes(&mut constant, word);
    }
    constant
}

/// `a[3].b` as `a[].b`, and `count.0`, which a compiler numbered, as `count`.
fn push_without_indexes(constant: &mut String, word: &str) {
    let mut after = ' ';
    let mut inside = false;
    for letter in word.chars() {
        let starts = matches!(after, '[' | '.') && letter.is_ascii_digit();
        inside = starts || inside && letter.is_ascii_digit();
        if !inside {
            constant.push(letter);
        }
        after = letter;
    }
    while constant.ends_with('.') {
        constant.pop();
    }
}

#[cfg(test)]
mod tests {
    use reweave_trace::{Builder, Event, EventValues, Op};

    use super::*;

    #[test]
    fn names_lose_what_differs_from_run_to_run() {
        for (name, constant) in [
            ("global balance", "global balance"),
            ("global balance #2", "global balance"),
            ("global table+40", "global table"),
            ("global accounts[17].balance", "global accounts[].balance"),
            ("global x86[3][4].y2", "global x86[][].y2"),
            ("global count.0", "global count"),
            ("global libx.so+0x4f10", "global libx.so"),
            ("memory 0x7f00", "memory"),
            ("heap block of 24 bytes from make at q.c:7.8", "heap"),
            ("memory of heap block of 8 bytes #3", "memory of heap"),
            ("semaphore stack of T1-40", "semaphore stack"),
            ("semaphore global ready", "semaphore global ready"),
            ("descriptor 5", "descriptor"),
            ("clock", "clock"),
        ] {
            assert_eq!(constant_part(name), constant, "{name}");
        }
    }

    /// Two events whose sites have these texts and stable names, on these variables.
    fn trace(events: [(&str, &str, &str); 2]) -> Trace {
        let mut builder = Builder::new();
        let thread = builder.thread("main").unwrap();
        for (text, stable, variable) in events {
            let (x, site) = (builder.variable(variable).unwrap(), builder.site(text).unwrap());
            if !stable.is_empty() {
                builder.stable_site(site, stable).unwrap();
            }
            builder.push(Event { thread, op: Op::Write(x), site }, EventValues::NONE).unwrap();
        }
        builder.finish().unwrap()
    }

    #[test]
    fn keys_and_texts_agree_on_what_is_the_same() {
        for (a, b, same) in [
            (("f a.c:7", "f a.c+2", "global x"), ("f (in g a.c:30) a.c:7", "f a.c+2", "global x"), true),
            (("f a.c:7", "f a.c+2", "global x"), ("f a.c:7", "f a.c+2", "global y"), false),
            (("f a.c:7", "f a.c+2", "global x[1]"), ("f a.c:7", "f a.c+2", "global x[2]"), true),
            (("f a.c:7", "f a.c+2", "global x"), ("f a.c:8", "f a.c+3", "global x"), false),
            (("f a.c:7", "", "global x"), ("f a.c:7", "", "global y"), true),
            (("f a.c:7", "", "global x"), ("f a.c:8", "", "global x"), false),
            (("", "", "x"), ("", "", "y"), false),
        ] {
            let (trace, mut keys) = (trace([a, b]), Keys::default());
            let events = [EventId(0), EventId(1)];
            let [first, second] = events.map(|event| keys.of(&trace, event));
            assert_eq!(first == second, same, "{a:?} {b:?}");
            let [first, second] = events.map(|event| text(&trace, event));
            assert_eq!(first == second, same, "{a:?} {b:?}");
        }
    }
}
