//! All kinds against the oracle, with every candidate decided exactly.

use reweave_decide::Stages;
use reweave_detect::{Finding, Kind, Options, Pattern, Prediction, predict};
use reweave_testkit::calls::{Standing, standing};
use reweave_testkit::{Oracle, Rng, Shape, ValueMode, dependences, generate, parse, show, sleepers};
use reweave_trace::{
    EventId, Holds, Kind as OpKind, Links, LockId, Model, Op, ProgramOrder, Space, Trace, VarId,
};
use reweave_witness::Checker;

/// How many traces; `REWEAVE_TRACES` asks for more.
fn traces() -> u64 {
    std::env::var("REWEAVE_TRACES").ok().and_then(|n| n.parse().ok()).unwrap_or(8_000)
}

/// All but `dep`, which `dep+value` is like.
const MODELS: [Model; 6] =
    [Model::Rf, Model::Sync, Model::Value, Model::Branch, Model::BranchValue, Model::DepValue];

/// A random trace; for the dependence models with a random table.
fn trace_of(seed: u64, model: Model) -> Trace {
    let trace = events_of(seed, model);
    if !model.by_dependence() {
        return trace;
    }
    let table = dependences(&trace, &mut Rng::new(seed));
    trace.with_dependences(table).expect("the table is of earlier reads")
}

fn events_of(seed: u64, model: Model) -> Trace {
    if seed / 8 % 4 == 3 {
        return sleepers(seed, model.by_value() || seed.is_multiple_of(3));
    }
    let presets = Shape::presets();
    let (_, shape) = presets[seed as usize % presets.len()].clone();
    let values = if model.by_value() || seed.is_multiple_of(3) { ValueMode::All } else { ValueMode::Off };
    let trace = generate(&Shape { branches: true, ..shape.with_values(values) }, seed);
    with_lives(trace)
}

/// The same trace with calls that end the life of a mutex or condition variable about those of the trace.
fn with_lives(trace: Trace) -> Trace {
    let text = show(&trace);
    let named = |space: Space| trace.names().space(space).iter().next().map(str::to_owned);
    let mut changed = text.clone();
    for (of, name) in [("mutex", named(Space::Lock)), ("condition", named(Space::Condition))] {
        if let Some(name) = name {
            changed = changed.replace(&format!("{of} q."), &format!("{of} {name}."));
        }
    }
    if changed == text { trace } else { parse(&changed).expect("the same with other names") }
}

fn run(trace: &Trace, model: Model, options: &Options<'_>) -> Prediction {
    predict(trace, model, options).expect("every yes passes the checker")
}

fn events(prediction: &Prediction, wanted: impl Fn(&Finding) -> bool) -> Vec<Vec<EventId>> {
    let mut found: Vec<_> =
        prediction.findings.iter().filter(|f| wanted(f)).map(|f| f.events().to_vec()).collect();
    found.sort();
    found.dedup();
    found
}

fn all() -> Options<'static> {
    Options { all: true, stages: Stages::All, atomic_distance: 3, ..Options::default() }
}

/// Compares what was found with what there is.
#[track_caller]
fn same(found: Vec<Vec<EventId>>, mut expected: Vec<Vec<EventId>>, what: &str, context: &dyn Fn() -> String) {
    expected.sort();
    expected.dedup();
    assert_eq!(found, expected, "{what} {}", context());
}

#[test]
fn every_kind_is_complete_and_sound() {
    // Uses after free through locks, uses after the end of a lock's life, and among these starts of waits.
    let mut seen = [0; 3];
    for seed in 0..traces() {
        let model = MODELS[seed as usize / 8 % MODELS.len()];
        let trace = trace_of(seed, model);
        let oracle = Oracle::new(&trace, model, trace.dependences()).expect("the trace is small");
        let prediction = run(&trace, model, &all());
        let context = || format!("seed {seed} {model}\n{}", show(&trace));
        let of = |kind: Kind| events(&prediction, |f| f.kind() == kind);
        same(
            of(Kind::Race),
            oracle.races().into_iter().map(|(a, b)| vec![a, b]).collect(),
            "races",
            &context,
        );
        same(of(Kind::Deadlock), oracle.deadlocks(), "deadlocks", &context);
        let naive = Naive::new(&trace, &oracle, model, 3);
        let checker = Checker::new(&trace, &naive.links, &naive.order);
        for finding in &prediction.findings {
            let (witness, claim) = (finding.witness().witness(), finding.witness().claim());
            let checked = checker.check(model, witness.clone(), claim.clone());
            assert!(checked.is_ok(), "{checked:?} {finding:?} {}", context());
        }
        let freed = naive.uses_after_free();
        let through_locks = |pair: &&Vec<EventId>| trace.op(pair[1]).access().is_none();
        seen[0] += freed.iter().filter(through_locks).count();
        same(of(Kind::UseAfterFree), freed, "uses after free", &context);
        let lives = naive.lives();
        seen[1] += lives.len();
        let starts =
            |pair: &&Vec<EventId>| matches!(trace.op(pair[1]), Op::Release(_) | Op::SharedRelease(_));
        seen[2] += lives.iter().filter(starts).count();
        same(of(Kind::Order), naive.orders(), "orders", &context);
        let one = events(&prediction, |f| f.kind() == Kind::Atomicity && f.events().len() == 3);
        same(one, naive.one_variable(), "one variable", &context);
        let two = events(&prediction, |f| f.kind() == Kind::Atomicity && f.events().len() == 4);
        same(two, naive.two_variables(), "two variables", &context);
    }
    assert!(seen.iter().all(|&count| count > 0), "{seen:?}");
}

#[test]
fn one_finding_per_set_of_sites_is_one_of_all() {
    for seed in 0..traces() / 4 {
        let model = MODELS[seed as usize / 8 % MODELS.len()];
        let trace = trace_of(seed, model);
        let (some, every) =
            (run(&trace, model, &Options { all: false, ..all() }), run(&trace, model, &all()));
        let context = || format!("seed {seed} {model}\n{}", show(&trace));
        assert!(
            some.findings.iter().all(|f| every.findings.iter().any(|g| g.events() == f.events())),
            "{}",
            context()
        );
        // Where every site is of one event, nothing is thinned out: the two agree. But over two variables, only remote
        // accesses that belong together are looked at unless all are wanted; and variables that forks and joins
        // order are left out, as are uses before initialisation where the initial value was read, or both are guarded.
        let found =
            |finding: &Finding| some.findings.iter().any(|f| f.fingerprint() == finding.fingerprint());
        let forked = Forked::new(&trace);
        for finding in every.findings.iter().filter(|f| !matches!(f.pattern(), Pattern::TwoVariables(_))) {
            let patterned = finding.kind() == Kind::Atomicity && forked.orders(finding.events());
            let counter = finding.pattern() == Pattern::UseBeforeInitialisation
                && (initial_value_was_read(&trace, finding.events()[0])
                    || are_guarded(&trace, finding.events()));
            assert!(found(finding) != counter || patterned, "{finding:?} {}", context());
        }
        assert!(some.undecided.is_empty() && every.undecided.is_empty(), "{}", context());
    }
}

/// Whether the variable of a read was read before anybody wrote it.
fn initial_value_was_read(trace: &Trace, read: EventId) -> bool {
    let variable = trace.op(read).access().expect("a read").variable;
    let mut accesses = trace.events().filter_map(|(_, event)| event.op.access());
    accesses.find(|access| access.variable == variable && !access.lifetime).is_some_and(|first| first.reads)
}

/// Whether accesses are all atomic, or no two threads can hold at once what is held at them.
fn are_guarded(trace: &Trace, events: &[EventId]) -> bool {
    let atomic = events.iter().all(|&event| trace.op(event).access().is_some_and(|access| access.atomic));
    let (mut holds, locks) = (Holds::new(), trace.count(Space::Lock) as u32);
    let mut held: Vec<(bool, u32)> = Vec::new();
    for (id, event) in trace.events() {
        match event.op {
            Op::Acquire(lock) | Op::TryAcquire(lock) => holds.acquire(event.thread, lock),
            Op::SharedAcquire(lock) => holds.acquire_shared(event.thread, lock),
            Op::Release(lock) => holds.release(event.thread, lock),
            Op::SharedRelease(lock) => holds.release_shared(event.thread, lock),
            _ => {}
        }
        if events.contains(&id) {
            for lock in 0..locks {
                if holds.exclusive_depth(event.thread, LockId(lock)) > 0 {
                    held.push((true, lock));
                } else if holds.shared_depth(event.thread, LockId(lock)) > 0 {
                    held.push((false, lock));
                }
            }
        }
    }
    let pairs = (0..held.len()).flat_map(|a| (0..a).map(move |b| (a, b)));
    atomic || pairs.into_iter().any(|(a, b)| held[a].1 == held[b].1 && (held[a].0 || held[b].0))
}

#[test]
fn each_model_gives_what_a_search_in_it_finds() {
    let mut grown = 0;
    for seed in 0..traces() / 8 {
        let trace = trace_of(seed, Model::BranchValue);
        let every = run(&trace, Model::BranchValue, &all());
        let counts = &every.models;
        let names: Vec<_> = counts.iter().map(|count| count.model).collect();
        assert_eq!(names, [Model::Rf, Model::Branch, Model::BranchValue]);
        for count in counts {
            let alone = run(&trace, count.model, &all());
            let context = || format!("seed {seed} {}\n{}", count.model, show(&trace));
            assert_eq!((count.findings, count.undecided), (alone.findings.len() as u64, 0), "{}", context());
            assert_eq!(alone.counts.feasible, alone.findings.len() as u64, "{}", context());
        }
        grown += u32::from(counts[0].findings < counts[2].findings);
    }
    assert!(grown > 0, "no trace shows what a model buys");
}

#[test]
fn jobs_and_shards_change_nothing() {
    for seed in 0..traces() / 40 {
        let model = if seed % 2 == 0 { Model::Rf } else { Model::BranchValue };
        let trace = trace_of(seed, model);
        let whole = run(&trace, model, &all());
        let print = |prediction: &Prediction| format!("{:?} {:?}", prediction.findings, prediction.counts);
        for jobs in 2..4 {
            assert_eq!(print(&run(&trace, model, &Options { jobs, ..all() })), print(&whole));
        }
        let mut parts: Vec<Finding> = Vec::new();
        for index in 0..3 {
            let shard = Some(reweave_detect::Shard { index, count: 3 });
            parts.extend(run(&trace, model, &Options { shard, ..all() }).findings);
        }
        parts.sort_by(|a, b| (a.kind(), a.events(), a.pattern()).cmp(&(b.kind(), b.events(), b.pattern())));
        assert_eq!(format!("{parts:?}"), format!("{:?}", whole.findings));
    }
}

/// The order of program order, forks and joins, as a table.
struct Forked<'a> {
    trace: &'a Trace,
    before: Vec<Vec<bool>>,
}

impl<'a> Forked<'a> {
    fn new(trace: &'a Trace) -> Forked<'a> {
        let edge = |a: EventId, b: EventId| {
            let (x, y) = (trace.event(a), trace.event(b));
            x.thread == y.thread || x.op == Op::Fork(y.thread) || y.op == Op::Join(x.thread)
        };
        let ids: Vec<EventId> = trace.ids().collect();
        let mut before: Vec<Vec<bool>> =
            ids.iter().map(|&a| ids.iter().map(|&b| a < b && edge(a, b)).collect()).collect();
        for via in 0..ids.len() {
            let from_via = before[via].clone();
            for row in before.iter_mut().filter(|row| row[via]) {
                row.iter_mut().zip(&from_via).for_each(|(cell, &reaches)| *cell |= reaches);
            }
        }
        Forked { trace, before }
    }

    /// Whether the order has every pair of conflicting accesses to some variable that these events touch.
    fn orders(&self, events: &[EventId]) -> bool {
        let objects = self.trace.objects();
        let touches = |event: EventId, variable: VarId| {
            let access = self.trace.op(event).access();
            access
                .is_some_and(|a| a.variable == variable || a.lifetime && objects.covers(a.variable, variable))
        };
        let writes = |event: EventId| self.trace.kind(event).writes();
        let ordered = |variable: VarId| {
            let all: Vec<EventId> = self.trace.ids().filter(|&e| touches(e, variable)).collect();
            all.iter().all(|&a| {
                let conflicts = |&&b: &&EventId| {
                    a < b && self.trace.thread(a) != self.trace.thread(b) && (writes(a) || writes(b))
                };
                all.iter().filter(conflicts).all(|&b| self.before[a.index()][b.index()])
            })
        };
        let count = self.trace.count(reweave_trace::Space::Variable);
        let mut variables = (0..count).map(VarId::from_index);
        variables.any(|variable| events.iter().all(|&e| touches(e, variable)) && ordered(variable))
    }
}

/// The definitions, word for word.
struct Naive<'a> {
    trace: &'a Trace,
    oracle: &'a Oracle,
    model: Model,
    links: Links,
    order: ProgramOrder,
    distance: usize,
}

impl<'a> Naive<'a> {
    fn new(trace: &'a Trace, oracle: &'a Oracle, model: Model, distance: usize) -> Naive<'a> {
        Naive {
            trace,
            oracle,
            model,
            links: reweave_spec::links(trace),
            order: ProgramOrder::new(trace),
            distance,
        }
    }

    fn ids(&self) -> Vec<EventId> {
        self.trace.events().map(|(id, _)| id).collect()
    }

    /// The variables that an event touches, by name.
    fn touched(&self, event: EventId) -> Vec<String> {
        let Some(access) = self.trace.op(event).access() else { return Vec::new() };
        let name = self.trace.variable_name(access.variable);
        let names = self.trace.names().space(reweave_trace::Space::Variable).iter();
        let covers =
            |other: &&str| *other == name || access.lifetime && other.starts_with(&format!("{name}."));
        names.filter(covers).map(str::to_owned).collect()
    }

    fn touches(&self, event: EventId, variable: &str) -> bool {
        self.touched(event).iter().any(|name| name == variable)
    }

    fn is(&self, event: EventId, letter: char) -> bool {
        self.trace.op(event).access().is_some_and(|a| if letter == 'R' { a.reads } else { a.writes })
    }

    fn same_thread(&self, a: EventId, b: EventId) -> bool {
        self.trace.thread(a) == self.trace.thread(b)
    }

    /// Whether two events of one thread are meant to be one step.
    fn together(&self, a: EventId, b: EventId) -> bool {
        let events = self.order.of(self.trace.thread(a));
        let place = |event: EventId| events.iter().position(|&e| e == event).unwrap();
        let spans = |open: &dyn Fn(EventId) -> Option<EventId>| {
            events.iter().any(|&e| e < a && open(e).is_some_and(|close| b < close))
        };
        if self.trace.events().any(|(_, e)| matches!(e.op, Op::Enter(_) | Op::Exit(_))) {
            return spans(&|e| self.exit_of(e));
        }
        let section = |e: EventId| {
            let acquires =
                matches!(self.trace.op(e), Op::Acquire(_) | Op::TryAcquire(_) | Op::SharedAcquire(_));
            (acquires && self.links.is_outermost(e))
                .then(|| self.links.partner(e).unwrap_or(EventId(u32::MAX)))
        };
        place(b) - place(a) <= self.distance || spans(&section)
    }

    /// The exit of an enter, by matching from the inside out; a region that is not left goes on for ever.
    fn exit_of(&self, enter: EventId) -> Option<EventId> {
        let Op::Enter(region) = self.trace.op(enter) else { return None };
        let mut depth = 0;
        for &event in self.order.of(self.trace.thread(enter)).iter().filter(|&&e| e > enter) {
            match self.trace.op(event) {
                Op::Enter(other) if other == region => depth += 1,
                Op::Exit(other) if other == region && depth == 0 => return Some(event),
                Op::Exit(other) if other == region => depth -= 1,
                _ => {}
            }
        }
        Some(EventId(u32::MAX))
    }

    fn variables(&self) -> Vec<String> {
        self.trace.names().space(reweave_trace::Space::Variable).iter().map(str::to_owned).collect()
    }

    fn one_variable(&self) -> Vec<Vec<EventId>> {
        let mut found = Vec::new();
        for variable in self.variables() {
            let touching: Vec<EventId> =
                self.ids().into_iter().filter(|&e| self.touches(e, &variable)).collect();
            for &i in &touching {
                let Some(&k) = touching.iter().find(|&&k| k > i && self.same_thread(i, k)) else { continue };
                for &j in touching.iter().filter(|&&j| !self.same_thread(i, j)) {
                    let pattern = ["RWR", "WRW", "WWR", "RWW", "WWW"].iter().any(|pattern| {
                        [i, j, k].iter().zip(pattern.chars()).all(|(&event, letter)| self.is(event, letter))
                    });
                    if pattern && self.together(i, k) && self.oracle.sequence(&[i, j, k], &[]) {
                        found.push(vec![i, j, k]);
                    }
                }
            }
        }
        found
    }

    fn two_variables(&self) -> Vec<Vec<EventId>> {
        let (mut found, ids) = (Vec::new(), self.ids());
        let accesses: Vec<EventId> =
            ids.into_iter().filter(|&e| self.trace.op(e).access().is_some()).collect();
        for &i in &accesses {
            for &l in accesses.iter().filter(|&&l| l > i && self.same_thread(i, l) && self.together(i, l)) {
                for &j in accesses.iter().filter(|&&j| !self.same_thread(i, j)) {
                    for &k in accesses.iter().filter(|&&k| k != j && self.same_thread(j, k)) {
                        let pattern = ["WWWW", "WRRW", "RWWR"].iter().any(|pattern| {
                            [i, j, k, l]
                                .iter()
                                .zip(pattern.chars())
                                .all(|(&event, letter)| self.is(event, letter))
                        });
                        let meet =
                            |x: &String, y: &String| x != y && self.touches(j, x) && self.touches(k, y);
                        let variables =
                            self.touched(i).iter().any(|x| self.touched(l).iter().any(|y| meet(x, y)));
                        if pattern && variables && self.oracle.before(&[(i, j), (k, l)], &[]) {
                            found.push(vec![i, j, k, l]);
                        }
                    }
                }
            }
        }
        found
    }

    fn uses_after_free(&self) -> Vec<Vec<EventId>> {
        let mut found = Vec::new();
        for free in self.ids().into_iter().filter(|&e| self.trace.kind(e) == OpKind::Free) {
            for used in self.ids().into_iter().filter(|&e| e < free && !self.same_thread(e, free)) {
                let object = self.trace.target_name(self.trace.op(free)).unwrap().to_owned();
                let name =
                    self.trace.op(used).access().map(|a| self.trace.variable_name(a.variable).to_owned());
                let lies = |name: &str| name.starts_with(&format!("{object}."));
                let part = name.is_some_and(|name| name == object || lies(&name));
                let mut things = self.things(used).into_iter().chain(self.released(used));
                if (part || things.any(lies)) && self.oracle.before(&[(free, used)], &[]) {
                    found.push(vec![free, used]);
                }
            }
        }
        found
    }

    /// The locks and condition variables that an event uses: a wait uses its own where it starts.
    fn things(&self, event: EventId) -> Vec<&str> {
        let named = |op: Op| self.trace.target_name(op).unwrap();
        let mut things = match self.trace.op(event) {
            op @ (Op::Acquire(_) | Op::TryAcquire(_) | Op::Busy(_) | Op::SharedAcquire(_)) => vec![named(op)],
            op @ (Op::Notify(_) | Op::NotifyAll(_)) => vec![named(op)],
            _ => Vec::new(),
        };
        let events = self.order.of(self.trace.thread(event));
        for (place, &wait) in events.iter().enumerate() {
            let start = place.checked_sub(1).map_or(wait, |before| events[before]);
            if start == event && self.trace.kind(wait) == OpKind::Wait {
                things.push(named(self.trace.op(wait)));
            }
        }
        things
    }

    /// The lock that an event gives back: it uses what that lies in.
    fn released(&self, event: EventId) -> Option<&str> {
        let op = self.trace.op(event);
        matches!(op, Op::Release(_) | Op::SharedRelease(_)).then(|| self.trace.target_name(op).unwrap())
    }

    /// Uses of locks and condition variables before the end of their lives.
    fn lives(&self) -> Vec<Vec<EventId>> {
        let mut found = Vec::new();
        let ended = |e: EventId| {
            let text =
                self.trace.target_name(self.trace.op(e)).filter(|_| self.trace.kind(e) == OpKind::Call)?;
            let name = text.strip_suffix(".destroy()=()")?;
            name.strip_prefix("mutex ").or_else(|| name.strip_prefix("condition "))
        };
        for end in self.ids() {
            let Some(name) = ended(end) else { continue };
            for then in self.ids().into_iter().filter(|&e| e < end && !self.same_thread(e, end)) {
                let lives = !self.ids().into_iter().any(|e| then < e && e < end && ended(e) == Some(name));
                if lives
                    && self.things(then).contains(&name)
                    && Oracle::ahead(self.trace, self.model, self.trace.dependences(), end, then)
                        .expect("the trace is small")
                {
                    found.push(vec![end, then]);
                }
            }
        }
        found
    }

    /// Calls that a rule orders, in the other order.
    fn calls(&self) -> Vec<Vec<EventId>> {
        let mut found = Vec::new();
        let is_call = |&e: &EventId| self.trace.kind(e) == OpKind::Call;
        let text = |e: EventId| self.trace.target_name(self.trace.op(e)).unwrap();
        for first in self.ids().into_iter().filter(is_call) {
            for then in self.ids().into_iter().filter(is_call).filter(|&e| e < first) {
                if standing(text(then), text(first)) == Standing::Ordered
                    && !self.same_thread(first, then)
                    && Oracle::ahead(self.trace, self.model, self.trace.dependences(), first, then)
                        .expect("the trace is small")
                {
                    found.push(vec![first, then]);
                }
            }
        }
        found
    }

    fn orders(&self) -> Vec<Vec<EventId>> {
        let mut found = self.calls();
        found.extend(self.lives());
        for link in self.links.waits() {
            if let Some(waker) = link.waker
                && self.oracle.lost_wake_ups().contains(&link.wait)
            {
                found.push(vec![waker, link.wait]);
            }
        }
        if self.trace.capabilities().values {
            for read in self.ids().into_iter().filter(|&e| self.trace.kind(e).reads()) {
                let variable = self.trace.op(read).access().unwrap().variable;
                let writes = |&e: &EventId| {
                    self.trace
                        .op(e)
                        .access()
                        .is_some_and(|a| a.writes && !a.lifetime && a.variable == variable)
                };
                let first =
                    self.ids().into_iter().find(writes).filter(|&w| w < read && !self.same_thread(w, read));
                if let Some(write) = first.filter(|_| self.oracle.unwritten_reads().contains(&read)) {
                    found.push(vec![read, write]);
                }
            }
        }
        found
    }
}
