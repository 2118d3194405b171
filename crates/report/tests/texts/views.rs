//! Views: what the rows of both orders and the states say, for every finding of every litmus test.

use std::collections::{BTreeMap, BTreeSet};

use reweave_detect::{Options, predict};
use reweave_report::view::{Harmless, Maker, NewRead, Row, Step, Subject, View};
use reweave_testkit::litmus;
use reweave_trace::{EventId, LockId, Model, Op, ThreadId, Trace, VarId};
use reweave_witness::{CheckedWitness, Claim};

fn views(trace: &Trace, model: Model) -> Vec<(Vec<u32>, View)> {
    let prediction = predict(trace, model, &Options::default()).expect("a prediction");
    let subjects: Vec<Subject<'_>> = prediction
        .findings
        .iter()
        .map(|finding| Subject {
            kind: finding.kind(),
            pattern: finding.pattern(),
            events: finding.events(),
            checked: finding.witness(),
        })
        .collect();
    let maker = Maker::new(trace, subjects.iter().flat_map(|subject| subject.events).copied());
    let events = subjects.iter().map(|subject| subject.events.iter().map(|event| event.0).collect());
    events.zip(maker.views(&subjects)).collect()
}

fn steps(rows: &[Row]) -> impl Iterator<Item = &Step> {
    rows.iter().filter_map(|row| if let Row::Step(step) = row { Some(&**step) } else { None })
}

fn count(rows: &[Row]) -> u64 {
    rows.iter().map(|row| if let Row::Fold(fold) = row { fold.folded } else { 1 }).sum()
}

#[test]
fn every_event_of_a_run_is_in_its_rows_and_every_event_of_a_finding_is_shown() {
    let mut seen = 0;
    for test in litmus::all() {
        for (events, view) in views(&test.trace, Model::Rf) {
            let board = view.board.expect("a litmus test is small");
            assert_eq!(count(&board.observed), test.trace.events().count() as u64, "{}", test.name);
            for event in events {
                let step = steps(&board.observed).find(|step| step.event == event);
                assert!(step.is_some_and(|step| step.bug), "{}: event {event}", test.name);
            }
            // A witness may end before the write that should have come first.
            assert!(steps(&board.witness).any(|step| step.bug), "{}", test.name);
            for read in steps(&board.observed).filter_map(|step| step.reads.as_ref()) {
                assert!(!read.changed, "{}: the recorded run reads what it read", test.name);
            }
            assert!((board.bug as usize) < board.witness.len());
            seen += 1;
        }
    }
    assert!(seen > 20, "{seen}");
}

#[test]
fn a_deadlock_says_who_blocks_whom() {
    let trace =
        litmus::all().into_iter().find(|test| test.name == "deadlock-two").expect("it is there").trace;
    let (events, view) = views(&trace, Model::Rf).remove(0);
    let board = view.board.expect("it is small");
    let mut last = std::collections::BTreeMap::new();
    for row in &board.witness {
        let state = match row {
            Row::Step(step) => &step.state,
            Row::Fold(fold) => &fold.state,
        };
        for thread in &state.threads {
            last.insert(thread.thread, thread.clone());
        }
    }
    assert_eq!(last.len(), 2);
    for (thread, state) in last {
        let next = state.next.expect("it waits");
        assert!(events.contains(&next.event));
        assert_eq!((state.held.len(), &state.blocked_by[..]), (1, &[1 - thread][..]));
    }
    assert!(steps(&board.witness).filter(|step| step.pending).count() == 2);
}

/// What of a read's thread comes after it, up to what can come next.
fn after(trace: &Trace, checked: &CheckedWitness, read: EventId) -> Vec<EventId> {
    let schedule: Vec<EventId> = checked.witness().schedule(trace).collect();
    let place = schedule.iter().position(|&event| event == read).expect("it is in the schedule");
    let next: &[EventId] = match checked.claim() {
        Claim::CoEnabled(events) | Claim::Deadlock(events) => events,
        _ => &[],
    };
    let rest = schedule[place + 1..].iter().chain(next).copied();
    rest.filter(|&event| trace.thread(event) == trace.thread(read)).collect()
}

/// Whether the reason that is given can be seen in the schedule.
fn holds(trace: &Trace, checked: &CheckedWitness, read: &NewRead) -> bool {
    let later = after(trace, checked, EventId(read.event));
    let ends_there = matches!(checked.claim(), Claim::CoEnabled(_) | Claim::Deadlock(_));
    match read.harmless {
        Harmless::Value => {
            let written = read.writer.map(|writer| trace.values(EventId(writer)).written);
            checked.model().by_value()
                && read.writer != read.recorded
                && written.is_none_or(|value| value == trace.values(EventId(read.event)).read)
        }
        Harmless::Last => later.is_empty() || !ends_there,
        Harmless::Branch => {
            let free = |&event: &EventId| trace.kind(event).is_transparent();
            !later.is_empty() && later.iter().all(free) && !checked.model().by_dependence()
        }
        Harmless::Needs => {
            let table = trace.dependences().expect("a table");
            let needs = |&event: &EventId| table.needs(event).contains(&EventId(read.event));
            let fed = |write: &u32| table.feeds(EventId(*write)).contains(&EventId(read.event));
            !later.is_empty() && !later.iter().any(needs) && read.feeds.iter().all(fed)
        }
    }
}

#[test]
fn what_is_new_in_a_schedule_does_no_harm_for_the_reason_given() {
    let mut reasons = [0; 4];
    let (mut fed, mut computed) = (0, 0);
    for test in litmus::all() {
        for model in Model::ALL.into_iter().filter(|&model| model != Model::Sync) {
            let trace = match test.dependences.clone().filter(|_| model.by_dependence()) {
                Some(table) => test.trace.clone().with_dependences(table).expect("it fits"),
                None => test.trace.clone(),
            };
            if !trace.carried().include(model.needs()) {
                continue;
            }
            let prediction = predict(&trace, model, &Options::default()).expect("a prediction");
            for (finding, (_, view)) in prediction.findings.iter().zip(views(&trace, model)) {
                let board = view.board.expect("a litmus test is small");
                for read in &board.new_reads {
                    assert!(holds(&trace, finding.witness(), read), "{} {model}: {read:?}", test.name);
                    assert!(read.text.starts_with(&format!("event {} (", read.event)), "{}", read.text);
                    reasons[read.harmless as usize] += 1;
                    fed += read.feeds.len();
                    computed += usize::from(read.writer == read.recorded);
                }
                let changed = |step: &&Step| step.reads.as_ref().is_some_and(|reads| reads.changed);
                for step in steps(&board.witness).filter(changed) {
                    assert!(board.new_reads.iter().any(|read| read.event == step.event), "{}", test.name);
                }
            }
        }
    }
    assert!(reasons.iter().all(|&count| count > 0), "{reasons:?}");
    assert!(fed > 0 && computed > 0, "{fed} {computed}");
}

/// What a run in some order has come to, in the simplest way: who wrote what last, and who holds
/// what.
#[derive(Clone, Default)]
struct Naive {
    writers: BTreeMap<VarId, EventId>,
    held: BTreeMap<ThreadId, Vec<LockId>>,
}

impl Naive {
    fn run(&mut self, trace: &Trace, id: EventId) {
        let held = self.held.entry(trace.thread(id)).or_default();
        match trace.op(id) {
            Op::Acquire(lock) | Op::TryAcquire(lock) | Op::SharedAcquire(lock) => held.push(lock),
            Op::Release(lock) | Op::SharedRelease(lock) => {
                let place = held.iter().rposition(|&one| one == lock).expect("it is held");
                held.remove(place);
            }
            op => {
                if let Some(access) = op.access().filter(|access| access.writes) {
                    self.writers.insert(access.variable, id);
                }
            }
        }
    }
}

/// How much was compared.
#[derive(Default, Debug)]
struct Compared {
    reads: u64,
    changed: u64,
    locks: u64,
    values: u64,
}

impl Compared {
    /// What a row says of its read, with the run before it.
    fn read(&mut self, trace: &Trace, step: &Step, before: &Naive) {
        let Some(read) = &step.reads else { return };
        let variable = trace.op(EventId(step.event)).access().expect("a read").variable;
        let writer = before.writers.get(&variable).copied();
        assert_eq!(read.writer, writer.map(|one| one.0), "{step:?}");
        let written = writer.and_then(|one| trace.values(one).written);
        if let (Some(value), Some(written), true) = (&read.value, written, read.changed) {
            assert_eq!(*value, trace.value(written).to_string(), "{step:?}");
        }
        self.reads += 1;
        self.changed += u64::from(read.changed);
    }

    /// What a row says of the state, with the run after it.
    fn state(&mut self, trace: &Trace, view: &View, step: &Step, now: &Naive) {
        for thread in &step.state.threads {
            let name = &view.threads[thread.thread as usize].name;
            let locks = now.held.iter().find(|(id, _)| trace.thread_name(**id) == name);
            let locks = locks.map(|(_, locks)| locks.as_slice()).unwrap_or_default();
            let theirs: BTreeSet<&str> = locks.iter().map(|&lock| trace.lock_name(lock)).collect();
            let ours = thread.held.iter().map(|&lock| view.targets[lock as usize].name.as_str());
            assert_eq!(ours.collect::<BTreeSet<_>>(), theirs, "{step:?}");
            self.locks += theirs.len() as u64;
        }
        for value in &step.state.values {
            let name = &view.targets[value.target as usize].name;
            let writer = now.writers.iter().find(|(id, _)| trace.variable_name(**id) == name);
            assert_eq!(value.writer, writer.map(|(_, id)| id.0), "{step:?}");
            self.values += 1;
        }
    }

    fn rows(&mut self, trace: &Trace, view: &View, rows: &[Row], order: &[EventId]) {
        let mut naive = Naive::default();
        let mut around = BTreeMap::new();
        for &id in order {
            let before = naive.clone();
            naive.run(trace, id);
            around.insert(id.0, (before, naive.clone()));
        }
        for step in steps(rows).filter(|step| !step.pending) {
            if let Some((before, now)) = around.get(&step.event) {
                self.read(trace, step, before);
                self.state(trace, view, step, now);
            }
        }
    }
}

/// What each row says of its read and of its state is what a run without any machine comes to.
#[test]
fn reads_values_and_locks_are_those_of_a_plain_run() {
    let mut compared = Compared::default();
    // The memory of objects is written by their birth and end, too, and that of attempts only
    // where they succeed.
    let is_plain = |op: Op| !matches!(op, Op::Alloc(_) | Op::Free(_) | Op::FailedAttempt(_));
    for test in litmus::all() {
        let trace = &test.trace;
        if !trace.events().all(|(_, event)| is_plain(event.op)) {
            continue;
        }
        let prediction = predict(trace, Model::Rf, &Options::default()).expect("a prediction");
        for finding in &prediction.findings {
            let subject = Subject {
                kind: finding.kind(),
                pattern: finding.pattern(),
                events: finding.events(),
                checked: finding.witness(),
            };
            let view = Maker::new(trace, finding.events().iter().copied()).views(&[subject]).remove(0);
            let board = view.board.as_ref().expect("it is small");
            let observed: Vec<EventId> = trace.events().map(|(id, _)| id).collect();
            compared.rows(trace, &view, &board.observed, &observed);
            let witness: Vec<EventId> = finding.witness().witness().schedule(trace).collect();
            compared.rows(trace, &view, &board.witness, &witness);
        }
    }
    let Compared { reads, changed, locks, values } = compared;
    assert!(reads > 20 && changed > 0 && locks > 20 && values > 20, "{compared:?}");
}
