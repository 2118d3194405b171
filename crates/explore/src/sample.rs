//! Schedules by chance, where there are too many to try all. They prove nothing.

use hashbrown::HashMap;

use crate::explore::{Counts, Explorer, Report};
use crate::found::Found;
use crate::minimise;
use crate::op::{Move, ThreadId};
use crate::options::Limits;
use crate::program::{Error, Guide, Program};
use crate::saturate::Stopped;

/// How schedules are drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sampling {
    /// Each step of what is possible with the same chance.
    Random,
    /// By priorities of threads that change so many times (Burckhardt et al. 2010): finds what takes so few changes with a known chance.
    Pct(u32),
}

/// Numbers that are the same in every run.
struct Chance(u64);

impl Chance {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % bound.max(1) as u64) as usize
    }
}

/// One draw by priorities.
struct Priorities {
    of: HashMap<ThreadId, u64>,
    changes: Vec<usize>,
    step: usize,
}

impl Priorities {
    fn new(changes: u32, length: usize, chance: &mut Chance) -> Priorities {
        let changes = (0..changes).map(|_| chance.below(length)).collect();
        Priorities { of: HashMap::new(), changes, step: 0 }
    }

    /// The move of the thread with the highest priority. Where it changes, that thread goes below all others.
    fn pick(&mut self, moves: &[Move], chance: &mut Chance) -> usize {
        for step in moves {
            // A new thread has some priority above those that were lowered.
            self.of.entry(step.thread).or_insert_with(|| 1 << 32 | chance.below(1 << 30) as u64);
        }
        let highest = |of: &HashMap<ThreadId, u64>| {
            moves.iter().map(|step| step.thread).max_by_key(|thread| (of.get(thread).copied(), thread.0))
        };
        if self.changes.contains(&self.step)
            && let Some(thread) = highest(&self.of)
        {
            self.of.insert(thread, (1 << 31) - self.step as u64);
        }
        self.step += 1;
        let chosen = highest(&self.of);
        let own: Vec<usize> = (0..moves.len()).filter(|&at| Some(moves[at].thread) == chosen).collect();
        own.get(chance.below(own.len())).copied().unwrap_or(0)
    }
}

impl Explorer {
    /// Runs so many schedules by chance, and reports. The same seed draws the same schedules.
    pub fn sample(
        &mut self,
        program: &mut dyn Program,
        limits: &Limits<'_>,
        how: Sampling,
        runs: u64,
        seed: u64,
    ) -> Result<Report, Error> {
        let mut chance = Chance(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1);
        let mut counts = Counts::default();
        let mut found = Found::default();
        let (mut longest, mut stopped) = (16, Stopped::Sampled);
        while counts.runs < runs.min(limits.max_runs) {
            if (limits.stop)() {
                stopped = Stopped::Asked;
                break;
            }
            let mut schedule = Vec::new();
            let mut priorities = match how {
                Sampling::Random => None,
                Sampling::Pct(changes) => Some(Priorities::new(changes, longest, &mut chance)),
            };
            let mut pick = |moves: &[Move]| {
                let index = match &mut priorities {
                    None => chance.below(moves.len()),
                    Some(priorities) => priorities.pick(moves, &mut chance),
                };
                schedule.extend(moves.get(index));
                index
            };
            self.model.run(program, &[], limits.max_steps, Guide::Pick(&mut pick))?;
            counts.runs += 1;
            counts.executions += 1;
            counts.states += schedule.len() as u64;
            longest = longest.max(schedule.len());
            if let Some((failure, path)) = minimise::along(&mut self.model, &schedule) {
                found.note(vec![failure], path);
                if !self.keep_going {
                    stopped = Stopped::Failure;
                    break;
                }
            }
        }
        self.report(program, limits, stopped, counts, found)
    }
}
