//! From a witness to a schedule.

use hashbrown::{HashMap, HashSet};
use reweave_capture::{About, Step};
use reweave_trace::{EventId, Kind, ThreadId, Trace};
use reweave_witness::{CheckedWitness, Checker, Claim, Witness};

use crate::Error;
use crate::coarse::fewer_switches;
use crate::schedule::{Named, Schedule, Shape, Thread};

/// What a schedule is called.
#[derive(Clone, Debug)]
pub struct Title {
    /// What identifies the finding.
    pub fingerprint: String,
    /// The kind of bug, in a word.
    pub kind: String,
    /// What it is, in a few words.
    pub text: String,
}

/// The trace, the steps of its events, and what else was recorded about them.
#[derive(Clone, Copy)]
pub struct Recorded<'r> {
    /// The trace.
    pub trace: &'r Trace,
    /// The step of each event.
    pub steps: &'r [Step],
    /// The modules and threads.
    pub about: &'r About,
}

/// A schedule that goes on after what it shows.
#[derive(Clone, Debug)]
pub struct Continued {
    /// The schedule.
    pub schedule: Schedule,
    /// How many of its segments lead to what it shows.
    pub needed: usize,
}

/// The schedule that makes the program do what a witness shows.
pub fn build(
    recorded: Recorded<'_>,
    checker: &Checker<'_>,
    checked: &CheckedWitness,
    title: Title,
) -> Result<Schedule, Error> {
    built(recorded, checker, checked, title).map(|built| built.schedule.without_unused_modules())
}

/// The schedule up to `last`, an event that is in the witness, or next after it; and on from there as observed, as far as the program goes
/// along. It shows a sequence: that events come in this order, whatever comes of it.
pub fn continued(
    recorded: Recorded<'_>,
    checker: &Checker<'_>,
    checked: &CheckedWitness,
    last: EventId,
    title: Title,
) -> Result<Continued, Error> {
    let trace = recorded.trace;
    let Built { mut schedule, mut builder, left_out } = built(recorded, checker, checked, title)?;
    let mut done: HashSet<EventId> = checked.witness().schedule(trace).collect();
    done.retain(|event| !left_out.contains(event));
    if done.insert(last) {
        let last = builder.named(last)?;
        schedule.segments.push(last.clone());
        (schedule.events, schedule.same, schedule.order) = (vec![last], Vec::new(), Vec::new());
    }
    schedule.shape = Shape::Sequence;
    let needed = schedule.segments.len();
    let rest = trace.ids().filter(|event| !done.contains(event) && is_step(trace, *event));
    let rest = builder.segments(&rest.collect::<Vec<_>>(), &HashSet::new())?;
    schedule.segments.extend(rest);
    schedule.threads = builder.threads;
    Ok(Continued { schedule: schedule.without_unused_modules(), needed })
}

/// A branch is no step: it is told only where something was read before. Nor is a write that nobody recorded: the read
/// that tells of it has the same place and occurrence.
fn is_step(trace: &Trace, event: EventId) -> bool {
    !matches!(trace.op(event).kind(), Kind::Branch | Kind::Unseen | Kind::Skip)
}

/// A schedule on its way.
struct Built<'r> {
    schedule: Schedule,
    builder: Builder<'r>,
    /// The events of the witness that are not in the schedule.
    left_out: Vec<EventId>,
}

fn built<'r>(
    recorded: Recorded<'r>,
    checker: &Checker<'_>,
    checked: &CheckedWitness,
    title: Title,
) -> Result<Built<'r>, Error> {
    let Recorded { trace, about, .. } = recorded;
    let claim = checked.claim();
    let claimed = events_of(trace, claim);
    let mut events = simplified(trace, checker, checked, &claimed);
    // Whether the program can take a lock whose memory is gone nobody knows: it is enough that a thread is about to.
    let late = late_use(trace, claim).and_then(|then| events.iter().position(|&event| event == then));
    let left_out = late.map(|at| events.split_off(at)).unwrap_or_default();
    let mut builder = Builder {
        recorded,
        threads: vec![Thread { name: "main".to_owned(), made: None, note: String::new() }],
        by_thread: HashMap::new(),
    };
    builder.by_thread.insert(main_thread(trace), 0);
    let steps: Vec<EventId> = events.into_iter().filter(|&event| is_step(trace, event)).collect();
    let segments = builder.segments(&steps, &claimed.iter().copied().collect())?;
    let named = claimed.iter().map(|&event| builder.named(event)).collect::<Result<Vec<_>, _>>()?;
    let (shape, same, order) = shape(trace, claim, &claimed);
    let schedule = Schedule {
        modules: about.modules.clone(),
        fingerprint: title.fingerprint,
        kind: title.kind,
        title: title.text,
        shape,
        threads: builder.threads.clone(),
        events: named,
        same,
        order,
        alike: Vec::new(),
        segments,
    };
    Ok(Built { schedule, builder, left_out })
}

/// The use of a lock or condition variable in an object that is freed before it.
fn late_use(trace: &Trace, claim: &Claim) -> Option<EventId> {
    let Claim::Before { pairs, .. } = claim else { return None };
    let &[(free, then)] = &pairs[..] else { return None };
    let is_use = trace.kind(free) == Kind::Free && trace.op(then).access().is_none();
    is_use.then_some(then)
}

/// The first thread is the one that nobody made.
fn main_thread(trace: &Trace) -> ThreadId {
    trace.events().next().map_or(ThreadId(0), |(_, event)| event.thread)
}

fn is_wait(trace: &Trace, event: EventId) -> bool {
    trace.op(event).kind() == Kind::Wait
}

/// The events that a claim names, each once. Where somebody sleeps, whoever waits for a lock besides does so by itself.
fn events_of(trace: &Trace, claim: &Claim) -> Vec<EventId> {
    let mut all: Vec<EventId> = match claim {
        Claim::Deadlock(events) if events.iter().any(|&event| is_wait(trace, event)) => {
            events.iter().copied().filter(|&event| is_wait(trace, event)).collect()
        }
        Claim::Asleep(event) | Claim::Unwritten(event) => vec![*event],
        Claim::Ahead { first, then } => vec![*first, *then],
        Claim::CoEnabled(events) | Claim::Deadlock(events) | Claim::Sequence { events, .. } => events.clone(),
        Claim::Before { pairs, .. } => pairs.iter().flat_map(|&(a, b)| [a, b]).collect(),
    };
    let mut seen = HashSet::new();
    all.retain(|event| seen.insert(*event));
    all
}

type Pairs = Vec<(usize, usize)>;

fn shape(trace: &Trace, claim: &Claim, claimed: &[EventId]) -> (Shape, Pairs, Pairs) {
    let place = |event: EventId| claimed.iter().position(|&one| one == event).unwrap_or(0);
    match claim {
        Claim::CoEnabled(events) => {
            (Shape::Race, (1..events.len()).map(|event| (event - 1, event)).collect(), Vec::new())
        }
        Claim::Asleep(_) => (Shape::Sleep, Vec::new(), Vec::new()),
        Claim::Deadlock(events) if events.iter().any(|&event| is_wait(trace, event)) => {
            (Shape::Sleep, Vec::new(), Vec::new())
        }
        Claim::Deadlock(_) => (Shape::Deadlock, Vec::new(), Vec::new()),
        Claim::Unwritten(_) => (Shape::Sequence, Vec::new(), Vec::new()),
        Claim::Ahead { .. } => (Shape::Late, vec![(0, 1)], vec![(0, 1)]),
        Claim::Before { .. } if late_use(trace, claim).is_some() => (Shape::Late, vec![(0, 1)], vec![(0, 1)]),
        Claim::Sequence { events, .. } => {
            let pairs: Pairs = events.windows(2).map(|pair| (place(pair[0]), place(pair[1]))).collect();
            (Shape::Sequence, pairs.clone(), pairs)
        }
        Claim::Before { pairs, .. } => {
            let pairs: Pairs = pairs.iter().map(|&(a, b)| (place(a), place(b))).collect();
            (Shape::Sequence, pairs.clone(), pairs)
        }
    }
}

/// The witness with fewer switches, where the checker accepts it; else as it is.
fn simplified(
    trace: &Trace,
    checker: &Checker<'_>,
    checked: &CheckedWitness,
    claimed: &[EventId],
) -> Vec<EventId> {
    let all: Vec<EventId> = checked.witness().schedule(trace).collect();
    // From the first claimed event on, order matters as it is.
    let first = all.iter().position(|event| claimed.contains(event)).unwrap_or(all.len());
    let mut simple = fewer_switches(trace, &all[..first]);
    simple.extend(&all[first..]);
    let witness = Witness { prefix: 0, tail: simple.clone() };
    match checker.check(checked.model(), witness, checked.claim().clone()) {
        Ok(_) => simple,
        Err(_) => all,
    }
}

struct Builder<'r> {
    recorded: Recorded<'r>,
    threads: Vec<Thread>,
    by_thread: HashMap<ThreadId, usize>,
}

impl Builder<'_> {
    /// One segment for each run of events of one thread; claimed events end theirs.
    fn segments(&mut self, events: &[EventId], claimed: &HashSet<EventId>) -> Result<Vec<Named>, Error> {
        let trace = self.recorded.trace;
        let mut segments = Vec::new();
        for (place, &event) in events.iter().enumerate() {
            let goes_on =
                events.get(place + 1).is_some_and(|&next| trace.thread(next) == trace.thread(event));
            if !goes_on || claimed.contains(&event) {
                segments.push(self.named(event)?);
            }
        }
        Ok(segments)
    }

    fn named(&mut self, event: EventId) -> Result<Named, Error> {
        let Recorded { trace, steps, .. } = self.recorded;
        let thread = self.thread(trace.thread(event))?;
        let missing = || Error::Unnamed(format!("event {} has no step", event.0));
        let step = steps.get(event.index()).ok_or_else(missing)?;
        let note = format!("{}, {}", op_text(trace, event), trace.site_name(trace.site(event)));
        Ok(Named { thread, place: step.place, occurrence: step.occurrence, own: step.own, note })
    }

    /// The place of a thread in the list, with those that it was made by.
    fn thread(&mut self, id: ThreadId) -> Result<usize, Error> {
        if let Some(&place) = self.by_thread.get(&id) {
            return Ok(place);
        }
        let Recorded { trace, about, .. } = self.recorded;
        let name = trace.thread_name(id);
        let missing = || Error::Unnamed(format!("it is not known where thread {name} was made"));
        let (_, creation) = about.threads.iter().find(|(known, _)| known == name).ok_or_else(missing)?;
        let parent = (0..trace.count(reweave_trace::Space::Thread) as u32)
            .map(ThreadId)
            .find(|&parent| trace.thread_name(parent) == creation.parent && parent != id)
            .ok_or_else(missing)?;
        let parent = self.thread(parent)?;
        let fork = trace.events().find(|(_, event)| event.op == reweave_trace::Op::Fork(id));
        let note = fork.map(|(_, event)| trace.site_name(event.site).to_owned()).unwrap_or_default();
        let place = self.threads.len();
        self.by_thread.insert(id, place);
        let made = Some((parent, creation.place, creation.nth));
        self.threads.push(Thread { name: name.to_owned(), made, note });
        Ok(place)
    }
}

/// An operation as texts of traces have it.
fn op_text(trace: &Trace, event: EventId) -> String {
    let op = trace.op(event);
    let name = match op.kind() {
        reweave_trace::Kind::Read => "read of",
        reweave_trace::Kind::Write => "write of",
        reweave_trace::Kind::AtomicRead => "atomic read of",
        reweave_trace::Kind::AtomicWrite => "atomic write of",
        reweave_trace::Kind::Update => "update of",
        reweave_trace::Kind::FailedAttempt => "failed attempt at",
        reweave_trace::Kind::Look => "look at",
        reweave_trace::Kind::Unseen => "unrecorded write of",
        reweave_trace::Kind::Acquire => "lock",
        reweave_trace::Kind::Release | reweave_trace::Kind::SharedRelease => "unlock",
        reweave_trace::Kind::SharedAcquire => "shared lock",
        reweave_trace::Kind::TryAcquire => "try to lock",
        reweave_trace::Kind::Busy => "fail to lock",
        reweave_trace::Kind::Fork => "create",
        reweave_trace::Kind::Join => "join",
        reweave_trace::Kind::Wait => "wait for",
        reweave_trace::Kind::Notify => "signal",
        reweave_trace::Kind::NotifyAll => "broadcast",
        reweave_trace::Kind::Alloc => "allocate",
        reweave_trace::Kind::Free => "free",
        reweave_trace::Kind::Begin => "begin",
        reweave_trace::Kind::End => "end",
        reweave_trace::Kind::Call => "call",
        _ => "step",
    };
    match trace.target_name(op) {
        Some(target) => format!("{name} {target}"),
        None => name.to_owned(),
    }
}

impl Schedule {
    /// The same with the program and the modules that its places are in.
    fn without_unused_modules(mut self) -> Schedule {
        let places = self.threads.iter().filter_map(|thread| thread.made.map(|made| made.1));
        let steps = self.events.iter().chain(&self.segments).map(|step| step.place);
        let used: HashSet<u32> = places.chain(steps).filter_map(|place| place.module).chain([0]).collect();
        let mut new = vec![None; self.modules.len()];
        let mut kept = Vec::new();
        for (old, module) in self.modules.iter().enumerate() {
            if used.contains(&(old as u32)) {
                new[old] = Some(kept.len() as u32);
                kept.push(module.clone());
            }
        }
        let rename = |module: &mut Option<u32>| {
            *module = module.and_then(|old| new.get(old as usize).copied().flatten());
        };
        self.threads
            .iter_mut()
            .filter_map(|thread| thread.made.as_mut())
            .for_each(|made| rename(&mut made.1.module));
        self.events.iter_mut().chain(&mut self.segments).for_each(|step| rename(&mut step.place.module));
        self.modules = kept;
        self
    }
}
