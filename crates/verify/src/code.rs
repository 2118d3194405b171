//! The code of a build: the operations of its source that a recorder can see.
//!
//! A compiler may make several places of one operation, by inlining or unrolling, or one place of what stood in several
//! functions. An operation is therefore told by its function, line, column and what it does, and has a set of places.

use std::collections::{BTreeMap, BTreeSet};

use hashbrown::HashMap;
use reweave_capture::{Listed, Listing, Step};
use reweave_trace::{Op, Trace};

/// An operation of the source.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Operation {
    /// The function that it is written in.
    pub function: String,
    /// The file.
    pub file: String,
    /// The line.
    pub line: u32,
    /// The column.
    pub column: u32,
    /// What it does.
    pub what: String,
    /// The global that it does it to; empty where that is not fixed.
    pub target: String,
    /// Which of those that are the same in all this it is.
    pub rank: u32,
    /// The text of its line, where that is known.
    pub text: String,
    /// Its places in the program.
    pub offsets: Vec<u64>,
    /// The functions whose code those are: its own, and those that it was inlined into.
    pub within: BTreeSet<String>,
    /// Whether it is certain to be recorded when it runs. Of other calls that is not known: some are, with what they are given.
    pub is_seen: bool,
}

impl Operation {
    /// `function file:line`, as sites are written.
    pub fn site(&self) -> String {
        let file = self.file.rsplit('/').next().unwrap_or(&self.file);
        format!("{} {file}:{}", self.function, self.line)
    }
}

/// The code of a build.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Code {
    /// Its operations.
    pub operations: Vec<Operation>,
    /// Per function, its operations in the order of the source.
    pub functions: BTreeMap<String, Vec<usize>>,
    /// A number for the code of each function.
    pub bodies: BTreeMap<String, Vec<u64>>,
    by_offset: HashMap<u64, usize>,
    is_partial: bool,
}

/// Functions of libc whose calls are always events, by how their names begin.
const RECORDED: [&str; 27] = [
    "call pthread_mutex_lock",
    "call pthread_mutex_unlock",
    "call pthread_mutex_trylock",
    "call pthread_mutex_timedlock",
    "call pthread_rwlock_rd",
    "call pthread_rwlock_wr",
    "call pthread_rwlock_try",
    "call pthread_rwlock_unlock",
    "call pthread_spin_lock",
    "call pthread_spin_unlock",
    "call pthread_cond_wait",
    "call pthread_cond_timedwait",
    "call pthread_cond_signal",
    "call pthread_cond_broadcast",
    "call pthread_barrier_wait",
    "call pthread_create",
    "call pthread_join",
    "call pthread_once",
    "call sem_wait",
    "call sem_post",
    "call mtx_lock",
    "call mtx_unlock",
    "call thrd_",
    "call cnd_",
    "call malloc",
    "call calloc",
    "call free",
];

/// Whether running an operation is seen: it is an access, or a call that is recorded. That a
/// function begins is only where a thread does so in it.
fn is_seen(what: &str) -> bool {
    what != "begin" && !what.starts_with("call ")
        || what.starts_with("call llvm.")
        || RECORDED.iter().any(|name| what.starts_with(name))
}

impl Code {
    /// The code of a program, from what is listed of it; `text` gives the text of a line of a file, where it is known.
    pub fn new(listing: &Listing, mut text: impl FnMut(&str, u32) -> Option<String>) -> Code {
        let mut code = Code::default();
        let mut ranks: HashMap<(&str, Key<'_>), u32> = HashMap::new();
        let mut known: HashMap<(Key<'_>, u32), usize> = HashMap::new();
        for listed in &listing.operations {
            let key = key(listed);
            let rank = ranks.entry((&listed.copy, key)).or_insert(0);
            *rank += 1;
            let next = code.operations.len();
            let place = *known.entry((key, *rank)).or_insert(next);
            if place == next {
                code.operations.push(operation(listed, *rank, text(&listed.file, listed.line)));
            }
            if let Some(operation) = code.operations.get_mut(place) {
                operation.offsets.push(listed.offset);
                operation.within.insert(listed.within.clone());
            }
            code.by_offset.insert(listed.offset, place);
        }
        for (place, operation) in code.operations.iter().enumerate() {
            code.functions.entry(operation.function.clone()).or_default().push(place);
        }
        let operations = &code.operations;
        for list in code.functions.values_mut() {
            list.sort_by_key(|&place| {
                let one = &operations[place];
                (one.file.clone(), one.line, one.column, one.rank, one.offsets.first().copied())
            });
        }
        for (function, body) in &listing.bodies {
            code.bodies.entry(function.clone()).or_default().push(*body);
        }
        code
    }

    /// What is known of a program from a trace of it alone: what ran.
    pub fn of_trace(trace: &Trace, steps: &[Step]) -> Code {
        let mut listing = Listing::default();
        let mut known: BTreeSet<u64> = BTreeSet::new();
        for (id, event) in trace.events() {
            let place = steps.get(id.index()).map(|step| step.place);
            let Some(place) = place.filter(|place| place.module == Some(0)) else { continue };
            let Some(what) = performed(event.op) else { continue };
            if known.insert(place.offset) {
                let target = trace.target_name(event.op).and_then(|name| name.strip_prefix("global "));
                let site = trace.site_name(trace.site(id));
                listing.operations.extend(traced(site, place.offset, what, target));
            }
        }
        listing.operations.sort_by_key(|one| one.offset);
        Code { is_partial: true, ..Code::new(&listing, |_, _| None) }
    }

    /// Whether only what ran is known of it.
    pub fn is_partial(&self) -> bool {
        self.is_partial
    }

    /// The operations in the code of a function, its own and those that were inlined into it.
    pub fn inside<'c>(&'c self, function: &'c str) -> impl Iterator<Item = &'c Operation> {
        self.operations.iter().filter(move |one| one.function == function || one.within.contains(function))
    }

    /// The operation at a place of the program.
    pub fn at(&self, offset: u64) -> Option<usize> {
        self.by_offset.get(&offset).copied()
    }
}

/// What an event does, where operations of programs can be told from it.
fn performed(op: Op) -> Option<&'static str> {
    Some(match op {
        Op::Read(_) => "read",
        Op::Write(_) => "write",
        Op::AtomicRead(_) => "atomic read",
        Op::AtomicWrite(_) => "atomic write",
        Op::Update(_) | Op::FailedAttempt(_) => "update",
        Op::Acquire(_) | Op::TryAcquire(_) | Op::SharedAcquire(_) | Op::Busy(_) => "acquire",
        // A wait begins with the release of its lock.
        Op::Release(_) | Op::SharedRelease(_) => "release",
        Op::Fork(_) => "fork",
        Op::Join(_) => "join",
        Op::Notify(_) | Op::NotifyAll(_) => "notify",
        Op::Alloc(_) => "alloc",
        Op::Free(_) => "free",
        Op::Call(_) => "library call",
        _ => return None,
    })
}

/// What a call in a program does, as far as a trace tells. Accesses are told exactly: what was plain and is atomic now is another one.
pub(crate) fn class(what: &str) -> Option<&'static str> {
    let call = what.strip_prefix("call ").unwrap_or_default();
    let has = |parts: &[&str]| parts.iter().any(|part| call.contains(part));
    Some(match what {
        _ if has(&["unlock", "cond_wait", "cond_timedwait", "cnd_wait"]) => "release",
        _ if has(&["lock"]) => "acquire",
        _ if has(&["pthread_create", "thrd_create"]) => "fork",
        _ if has(&["pthread_join", "thrd_join"]) => "join",
        _ if has(&["signal", "broadcast"]) => "notify",
        _ if has(&["alloc"]) => "alloc",
        "call free" => "free",
        _ if !call.is_empty() => "library call",
        _ => return None,
    })
}

/// An operation whose site is `reader cache.c:14`, or `lookup (in reader cache.c:14) cache.c:9` where it was inlined.
fn traced(site: &str, offset: u64, what: &str, target: Option<&str>) -> Option<Listed> {
    let (names, place) = site.rsplit_once(' ')?;
    let (function, around) = names.split_once(" (in ").unwrap_or((names, ""));
    let within =
        if around.is_empty() { function } else { around.rsplit(" (in ").next()?.split(' ').next()? };
    let (file, line) = place.rsplit_once(':')?;
    Some(Listed {
        offset,
        function: function.to_owned(),
        copy: names.to_owned(),
        within: within.to_owned(),
        file: file.to_owned(),
        line: line.parse().ok()?,
        column: 0,
        what: what.to_owned(),
        target: target.unwrap_or_default().to_owned(),
    })
}

type Key<'l> = (&'l str, &'l str, u32, u32, &'l str, &'l str);

fn key(listed: &Listed) -> Key<'_> {
    (&listed.function, &listed.file, listed.line, listed.column, &listed.what, &listed.target)
}

fn operation(listed: &Listed, rank: u32, text: Option<String>) -> Operation {
    Operation {
        function: listed.function.clone(),
        file: listed.file.clone(),
        line: listed.line,
        column: listed.column,
        what: listed.what.clone(),
        target: listed.target.clone(),
        rank,
        text: text.unwrap_or_default(),
        offsets: Vec::new(),
        within: BTreeSet::new(),
        is_seen: is_seen(&listed.what),
    }
}
