//! Synthetic traces of any size, made from a seed.
//!
//! A [`Shape`] says how much of what; [`generate`] streams the events to a writer, in memory proportional to the
//! threads, locks, variables and sites, never to the events. The same shape gives the same events, for ever.
//!
//! What it looks like: each thread works on variables of its own and, in critical sections, on shared ones. Every
//! shared variable has one lock that guards it. The program is wrong about some of them: now and then it takes no
//! lock there, or the wrong one; and some locks now and then nest against their usual order. So there is something to
//! find, in a few places. Where calls are wanted, threads also add to, remove from and look into
//! sets, which need no locks; what a call returns is what a set returns.

mod calls;
mod random;
mod run;

use reweave_trace::Capabilities;

use crate::{Error, TraceWriter};

/// How much of what a synthetic trace has.
#[derive(Clone, PartialEq, Debug)]
pub struct Shape {
    /// How many events there are, exactly.
    pub events: u64,
    /// How many threads run. Fewer do where there are too few events to fork, begin, end and join so many.
    pub threads: u32,
    /// How many locks there are.
    pub locks: u32,
    /// How many variables there are.
    pub variables: u32,
    /// The share of the variables that several threads use, from 0 to 1.
    pub shared: f64,
    /// How many locks a thread holds at once at most.
    pub nesting: u32,
    /// The share of the steps outside of critical sections that enter one, from 0 to 1.
    pub sections: f64,
    /// Whether branches are marked.
    pub branches: bool,
    /// Whether reads and writes carry values.
    pub values: bool,
    /// Whether the first thread forks the others and joins them in the end, and threads begin and end.
    pub fork_join: bool,
    /// How much more popular some variables and locks are than others: the k-th is used k^-skew times as often as
    /// the first.
    pub skew: f64,
    /// The share of the accesses that are writes, from 0 to 1.
    pub write_share: f64,
    /// The share of the shared variables, and of the pairs of locks, that the program is wrong about, from 0 to 1.
    pub mistakes: f64,
    /// How many events a thread runs on average before another one does, at least 1.
    pub burst: f64,
    /// How many sites there are, at least 1.
    pub sites: u32,
    /// The share of the steps that are calls of methods of sets that all threads use, from 0 to 1.
    pub calls: f64,
    /// What the choices are drawn from.
    pub seed: u64,
}

impl Default for Shape {
    fn default() -> Shape {
        Shape {
            events: 100_000,
            threads: 8,
            locks: 16,
            variables: 1000,
            shared: 0.1,
            nesting: 2,
            sections: 0.1,
            branches: false,
            values: false,
            fork_join: true,
            skew: 0.8,
            write_share: 0.3,
            mistakes: 0.05,
            burst: 20.0,
            sites: 500,
            calls: 0.0,
            seed: 0,
        }
    }
}

impl Shape {
    /// What a trace of this shape carries in full.
    pub fn capabilities(&self) -> Capabilities {
        Capabilities { values: self.values, branches: self.branches, ..Capabilities::default() }
    }

    /// How many threads run.
    pub fn running_threads(&self) -> u32 {
        let wanted = u64::from(self.threads.max(1));
        if !self.fork_join {
            return wanted as u32;
        }
        // Each thread begins and ends; all but the first are forked and joined.
        wanted.min((self.events.saturating_add(2)) / 4).max(1) as u32
    }
}

/// Writes a trace of this shape and finishes the writer.
///
/// What is out of range in `shape` is taken as the nearest that is not.
pub fn generate(shape: &Shape, writer: &mut dyn TraceWriter) -> Result<(), Error> {
    run::Run::new(shape, writer)?.run()?;
    writer.finish()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::ops::Range;

    use reweave_trace::{Builder, CallParts, Event, EventValues, Kind, Names, Space, Trace, Value};

    use super::*;
    use crate::one_by_one;

    /// Keeps what it is given.
    #[derive(Default)]
    struct Keep {
        builder: Builder,
        finished: bool,
    }

    impl TraceWriter for Keep {
        fn event(
            &mut self,
            names: &Names,
            event: &Event,
            read: Option<Value<'_>>,
            written: Option<Value<'_>>,
        ) -> Result<(), Error> {
            let builder = &mut self.builder;
            let kind = event.op.kind();
            let target = kind.space().map_or("", |space| names.space(space).get(event.op.target()));
            let event = Event {
                thread: builder.thread(names.space(Space::Thread).get(event.thread.0)).unwrap(),
                op: reweave_trace::Op::new(kind, builder.target(kind, target).unwrap()),
                site: builder.site(names.sites.get(event.site.0)).unwrap(),
            };
            let values = EventValues {
                read: read.map(|value| builder.value(value).unwrap()),
                written: written.map(|value| builder.value(value).unwrap()),
            };
            builder.push(event, values).unwrap();
            Ok(())
        }

        fn events(&mut self, trace: &Trace, range: Range<usize>) -> Result<(), Error> {
            one_by_one(self, trace, range)
        }

        fn dependences(
            &mut self,
            _: &reweave_trace::Names,
            _: &reweave_trace::Dependences,
        ) -> Result<(), Error> {
            Ok(())
        }

        fn finish(&mut self) -> Result<(), Error> {
            self.finished = true;
            Ok(())
        }
    }

    fn trace(shape: &Shape) -> Trace {
        let mut keep = Keep::default();
        generate(shape, &mut keep).unwrap();
        assert!(keep.finished);
        keep.builder.claim(shape.capabilities());
        assert_eq!(keep.builder.len() as u64, shape.events, "{shape:?}");
        keep.builder.finish().unwrap_or_else(|error| panic!("{error}: {shape:?}"))
    }

    fn count(trace: &Trace, kind: Kind) -> usize {
        trace.ids().filter(|&id| trace.kind(id) == kind).count()
    }

    #[test]
    fn every_shape_gives_a_well_formed_trace_of_exactly_its_size() {
        let mut pick = random::Rng::new(7);
        let mut of = |choices: &[u32]| choices[pick.below(choices.len() as u32) as usize];
        for seed in 0..3000 {
            let shape = Shape {
                events: u64::from(of(&[0, 1, 2, 3, 5, 6, 7, 10, 30, 100, 400])),
                threads: of(&[0, 1, 2, 3, 8, 50]),
                locks: of(&[0, 1, 2, 7, 100]),
                variables: of(&[0, 1, 2, 9, 200]),
                shared: f64::from(of(&[0, 1, 5, 10])) / 10.0,
                nesting: of(&[0, 1, 2, 5]),
                sections: f64::from(of(&[0, 1, 10])) / 10.0,
                branches: of(&[0, 1]) == 1,
                values: of(&[0, 1]) == 1,
                fork_join: of(&[0, 1]) == 1,
                skew: f64::from(of(&[0, 1, 3])),
                write_share: f64::from(of(&[0, 3, 10])) / 10.0,
                mistakes: f64::from(of(&[0, 1, 10])) / 10.0,
                burst: f64::from(of(&[1, 2, 100])),
                sites: of(&[0, 1, 2, 50]),
                calls: f64::from(of(&[0, 0, 1, 10])) / 10.0,
                seed,
            };
            let trace = trace(&shape);
            assert!(trace.names().sites.len() <= shape.sites.max(1) as usize);
            assert!(trace.count(Space::Variable) <= shape.variables as usize);
            assert!(trace.count(Space::Lock) <= shape.locks as usize);
            assert_eq!(count(&trace, Kind::Acquire), count(&trace, Kind::Release));
            if shape.fork_join {
                assert_eq!(count(&trace, Kind::Fork), shape.running_threads() as usize - 1);
                assert_eq!(count(&trace, Kind::Fork), count(&trace, Kind::Join));
                assert_eq!(count(&trace, Kind::Begin), count(&trace, Kind::End));
            }
        }
    }

    #[test]
    fn what_is_out_of_range_does_no_harm() {
        for odd in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -1.0, 1e300] {
            let shape = Shape {
                events: 500,
                shared: odd,
                sections: odd,
                skew: odd,
                write_share: odd,
                mistakes: odd,
                burst: odd,
                calls: odd,
                ..Shape::default()
            };
            trace(&shape);
        }
    }

    #[test]
    fn a_shape_gives_what_it_asks_for() {
        let shape = Shape { values: true, branches: true, ..Shape::default() };
        let trace = trace(&shape);
        assert_eq!(trace.count(Space::Thread), 8);
        assert_eq!(trace.count(Space::Lock), 16);
        assert!(trace.count(Space::Variable) > 900);
        let (reads, writes) = (count(&trace, Kind::Read), count(&trace, Kind::Write));
        let share = writes as f64 / (reads + writes) as f64;
        assert!((0.27..0.33).contains(&share), "{share}");
        assert!(count(&trace, Kind::Acquire) > 4000);
        assert!(count(&trace, Kind::Branch) > 4000);
        let switches = trace
            .ids()
            .skip(1)
            .filter(|&id| trace.thread(id) != trace.thread(reweave_trace::EventId(id.0 - 1)));
        let burst = trace.len() as f64 / switches.count() as f64;
        assert!((14.0..24.0).contains(&burst), "{burst}");
    }

    #[test]
    fn calls_return_what_a_set_returns() {
        let trace = trace(&Shape { calls: 0.1, ..Shape::default() });
        let share = count(&trace, Kind::Call) as f64 / trace.len() as f64;
        assert!((0.09..0.11).contains(&share), "{share}");
        let (mut sets, mut changes) = (BTreeSet::new(), [0; 2]);
        for id in trace.ids().filter(|&id| trace.kind(id) == Kind::Call) {
            let text = trace.target_name(trace.op(id)).unwrap();
            let parts = CallParts::of(text);
            let value = (parts.object, parts.arguments().next().unwrap());
            let result = match parts.method {
                "add" => sets.insert(value),
                "remove" => sets.remove(&value),
                _ => sets.contains(&value),
            };
            assert_eq!(
                (parts.of, parts.result),
                (Some("set"), Some(if result { "true" } else { "false" })),
                "{text}"
            );
            changes[usize::from(result)] += 1;
        }
        assert!(changes.iter().all(|&count| count > 1000), "{changes:?}");
        assert!(sets.iter().map(|(object, _)| object).collect::<BTreeSet<_>>().len() > 10);
    }

    #[test]
    fn a_shape_without_calls_gives_what_it_always_gave() {
        let trace = trace(&Shape { events: 20_000, branches: true, values: true, ..Shape::default() });
        let mut hash = 0xcbf2_9ce4_8422_2325_u64;
        for id in trace.ids() {
            let event = trace.event(id);
            let text = format!("{event:?}{:?}", trace.values(id));
            hash =
                text.bytes().fold(hash, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3));
        }
        assert_eq!(
            hash, 17_189_913_222_150_512_518,
            "the same options have to give the same trace in every version"
        );
    }

    #[test]
    fn the_seed_is_all_that_chance_depends_on() {
        let of = |seed| {
            let trace = trace(&Shape { events: 5000, seed, ..Shape::default() });
            trace.ids().map(|id| trace.event(id)).collect::<Vec<_>>()
        };
        assert_eq!(of(1), of(1));
        assert_ne!(of(1), of(2));
    }
}
