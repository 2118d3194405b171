//! The graph of all reachable states.

use std::collections::{BTreeSet, HashMap};
use std::hash::{BuildHasherDefault, Hasher};

use reweave_trace::EventId;

use super::deadlock;
use super::machine::{Machine, State};
use super::{Refused, id, members};

/// Every reachable state in order of its distance from the initial one, which is number 0, and every step.
#[derive(Clone, Debug, Default)]
pub(super) struct Graph {
    /// Per state, the events that have run.
    pub(super) ran: Vec<u128>,
    /// Per state, the events that may run, locks aside for acquires.
    pub(super) may_run: Vec<u128>,
    /// Per state, the step by which it was first reached: from where, and the event.
    parents: Vec<(u32, u8)>,
    /// The steps, grouped by the state they leave: the event, and where it leads.
    steps: Vec<(u8, u32)>,
    /// Where each state's group starts in `steps`; one more entry at the end.
    starts: Vec<u32>,
    /// Per event, those that race with it.
    pub(super) races: Vec<u128>,
    /// The deadlocks, as sets of acquires.
    pub(super) deadlocks: BTreeSet<u128>,
    /// The waits that can miss their wakers for good.
    pub(super) asleep: u128,
    /// The reads that can come before every write of what they read.
    pub(super) unwritten: u128,
    /// Per event, the events that can have run before it.
    pub(super) earlier: Vec<u128>,
}

impl Graph {
    pub(super) fn explore(machine: &Machine, limit: usize) -> Result<Graph, Refused> {
        let mut graph = Graph {
            races: vec![0; machine.len()],
            earlier: vec![0; machine.len()],
            parents: vec![(0, 0)],
            ..Graph::default()
        };
        let mut states = vec![State::INITIAL];
        let mut numbers: HashMap<u128, u32, BuildHasherDefault<Mix>> = HashMap::default();
        numbers.insert(State::INITIAL.key, 0);
        let mut next = Vec::new();
        let mut number = 0;
        while let Some(&state) = states.get(number) {
            machine.next(state, &mut next);
            graph.note(machine, state, &next);
            for step in next.iter().filter(|next| next.enabled()) {
                let to = machine.run(state, step.event);
                let fresh = states.len() as u32;
                let target = *numbers.entry(to.key).or_insert(fresh);
                if target == fresh {
                    if states.len() >= limit {
                        return Err(Refused::TooManyStates(limit));
                    }
                    states.push(to);
                    graph.parents.push((number as u32, step.event as u8));
                }
                graph.steps.push((step.event as u8, target));
                graph.earlier[step.event] |= state.ran;
                if machine.rest.spoilt[step.event].is_some_and(|writes| state.ran & writes == 0) {
                    graph.unwritten |= super::bit(step.event);
                }
            }
            number += 1;
        }
        graph.starts.push(graph.steps.len() as u32);
        Ok(graph)
    }

    /// Records what a state shows.
    fn note(&mut self, machine: &Machine, state: State, next: &[super::machine::Next]) {
        let may = next.iter().filter(|next| next.may_run).fold(0, |set, next| set | super::bit(next.event));
        for event in members(may) {
            self.races[event] |= machine.conflicts[event] & may;
        }
        deadlock::collect(machine, state, next, &mut self.deadlocks);
        machine.rest.note(state, next, &mut self.asleep, &mut self.deadlocks);
        self.ran.push(state.ran);
        self.may_run.push(may);
        self.starts.push(self.steps.len() as u32);
    }

    pub(super) fn len(&self) -> usize {
        self.ran.len()
    }

    /// The steps that leave a state.
    pub(super) fn steps(&self, state: usize) -> impl Iterator<Item = (usize, usize)> {
        let range = self.starts[state] as usize..self.starts[state + 1] as usize;
        self.steps[range].iter().map(|&(event, to)| (event as usize, to as usize))
    }

    /// A shortest schedule that leads to a state.
    pub(super) fn schedule_to(&self, mut state: usize) -> Vec<EventId> {
        let mut schedule = Vec::new();
        while state != 0 {
            let (from, event) = self.parents[state];
            schedule.push(id(event as usize));
            state = from as usize;
        }
        schedule.reverse();
        schedule
    }
}

/// A hash that is quick on states: they are not chosen by an adversary.
#[derive(Default)]
struct Mix(u64);

impl Hasher for Mix {
    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        }
    }

    fn write_u128(&mut self, key: u128) {
        let folded = (key as u64) ^ ((key >> 64) as u64).wrapping_mul(0xD6E8_FEB8_6659_FD93);
        let product = u128::from(folded ^ 0x9E37_79B9_7F4A_7C15) * 0xA076_1D64_78BD_642F;
        self.0 = (product as u64) ^ (product >> 64) as u64;
    }

    fn finish(&self) -> u64 {
        self.0
    }
}
