//! An exploration: its switches, and what came of it.

use std::collections::BTreeSet;
use std::rc::Rc;

use crate::audit::Audit;
use crate::failure::Failure;
use crate::found::{Found, Shown};
use crate::minimise;
use crate::model::{Model, Policy};
use crate::objects::{InOrder, Objects};
use crate::op::{Move, Next, Op, Outcome, ThreadId};
use crate::options::{Limits, Mutation, Progress};
use crate::program::{Error, Guide, Program};
use crate::rounds::FOLLOWED_LONG;
use crate::saturate::{Search, Stopped};
use crate::split::Item;
use crate::trace::Traces;
use crate::tree::NodeId;

/// An exploration of a program.
pub struct Explorer {
    pub(crate) model: Model,
    /// Whether to try only stubborn sets.
    pub reduce: bool,
    /// Whether to take threads for each other that are alike; `saturate` only.
    pub symmetry: bool,
    /// Whether to search on after a failure.
    pub keep_going: bool,
    /// How many schedules of the audit are drawn at random; 0 is no audit at all.
    pub audit: u32,
    /// The part that is searched; all, unless said otherwise. It cannot be joined with a bound on preemptions.
    pub item: Item,
    mutation: Option<Mutation>,
}

/// What a search counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Runs of the program.
    pub runs: u64,
    /// States of the model that were visited, over all passes.
    pub states: u64,
    /// Passes of `saturate`.
    pub passes: u64,
    /// Complete executions of `trace`: the classes.
    pub executions: u64,
    /// Executions of `trace` that were given up, since another one covers them.
    pub blocked: u64,
}

/// What an exploration came to.
#[derive(Clone, Debug)]
pub struct Report {
    /// Why it ended.
    pub stopped: Stopped,
    /// What was counted.
    pub counts: Counts,
    /// Histories of all threads.
    pub histories: usize,
    /// Threads.
    pub threads: usize,
    /// The failures, by their histories.
    pub failures: BTreeSet<Failure>,
    /// The failures that differ by more than their histories, each with its smallest schedule that
    /// was found. All were run for real.
    pub shown: Vec<Shown>,
    /// The first of them.
    pub first: Option<(Failure, Vec<Move>)>,
    /// Whether the loops of each livelock were followed for long.
    pub followed_long: bool,
    /// How many histories wait in a loop that was not followed.
    pub unfollowed: usize,
    /// The thread that made a run too long, and its history.
    pub too_long: Option<(ThreadId, NodeId)>,
    /// The audit of what was found to have no failure.
    pub audit: Audit,
    /// How far the search was when a limit ended it.
    pub left_at: Option<Progress>,
    /// Whether no interleaving fails: the search was complete, unbounded, and found nothing.
    pub proved: bool,
}

impl Explorer {
    /// An exploration that knows nothing yet.
    pub fn new(policy: Policy) -> Explorer {
        Explorer::with(policy, None, None)
    }

    /// The same with objects that follow specifications. Where `commuting` is false, all calls on one object depend on each other.
    pub fn with_objects(policy: Policy, objects: Rc<dyn Objects>, commuting: bool) -> Explorer {
        let objects = if commuting { objects } else { Rc::new(InOrder(objects)) };
        Explorer::with(policy, Some(objects), None)
    }

    /// The same with specified objects, and for tests with a mistake.
    #[doc(hidden)]
    pub fn with(policy: Policy, objects: Option<Rc<dyn Objects>>, mutation: Option<Mutation>) -> Explorer {
        let mut model = Model::new(policy, objects, mutation != Some(Mutation::OpenFutures));
        model.tree.footprints.mistake = mutation;
        model.groups.careless = mutation == Some(Mutation::NamesTellNothing);
        Explorer {
            model,
            reduce: true,
            symmetry: true,
            keep_going: false,
            audit: 16,
            item: Item::default(),
            mutation,
        }
    }

    /// Searches until there is no news, and reports.
    pub fn saturate(&mut self, program: &mut dyn Program, limits: &Limits<'_>) -> Result<Report, Error> {
        let mut search = Search::new(&mut self.model, program, limits);
        search.reduce = self.reduce;
        search.symmetry = self.symmetry;
        search.keep_going = self.keep_going;
        search.mutation = self.mutation;
        search.prefix.clone_from(&self.item.prefix);
        let stopped = search.saturate()?;
        let counts =
            Counts { runs: search.runs, states: search.states, passes: search.passes, ..Counts::default() };
        let (found, left_at) = (std::mem::take(&mut search.found), search.left_at);
        let report = self.report(program, limits, stopped, counts, found)?;
        Ok(Report { left_at, ..report })
    }

    /// Goes along one execution of each class, and reports.
    pub fn trace(&mut self, program: &mut dyn Program, limits: &Limits<'_>) -> Result<Report, Error> {
        let (learnt, runs) = self.learn_futures(program, limits)?;
        let mut search = Traces::new(&mut self.model, program, limits);
        search.runs = runs;
        search.keep_going = self.keep_going;
        search.mutation = self.mutation;
        search.item.clone_from(&self.item);
        let stopped = if learnt == Stopped::Complete { search.search()? } else { learnt };
        let counts = Counts {
            runs: search.runs,
            states: search.states,
            executions: search.executions,
            blocked: search.blocked,
            passes: 0,
        };
        let (found, left_at) = (std::mem::take(&mut search.found), search.left_at);
        let report = self.report(program, limits, stopped, counts, found)?;
        Ok(Report { left_at, ..report })
    }

    /// Where moves sleep that another part tries, what comes after them is not seen here, and yet stubborn sets have to know it: so
    /// the futures of all threads are learnt first. How that ended, and the runs that it took.
    fn learn_futures(
        &mut self,
        program: &mut dyn Program,
        limits: &Limits<'_>,
    ) -> Result<(Stopped, u64), Error> {
        if self.item.asleep.is_empty() {
            return Ok((Stopped::Complete, 0));
        }
        let mut search = Search::new(&mut self.model, program, limits);
        (search.keep_going, search.mutation) = (true, self.mutation);
        search.prefix.clone_from(&self.item.prefix);
        let stopped = search.saturate()?;
        Ok((stopped, search.runs))
    }

    pub(crate) fn report(
        &mut self,
        program: &mut dyn Program,
        limits: &Limits<'_>,
        stopped: Stopped,
        counts: Counts,
        found: Found,
    ) -> Result<Report, Error> {
        let mut shown = Vec::new();
        for (failure, way) in found.ways {
            let one = minimise::smallest(&mut self.model, program, (failure, way), limits)?;
            if self.model.follows && matches!(one.failure, Failure::Livelock { .. }) {
                self.model.run_round(program, &one.schedule, FOLLOWED_LONG)?;
            }
            shown.push(one);
        }
        let counts = Counts { runs: counts.runs + self.model.rounds_run, ..counts };
        let clean = stopped == Stopped::Complete && shown.is_empty();
        let work = counts.states + self.model.steps_run;
        let audit = if clean { self.audit_proof(program, limits, work)? } else { Audit::default() };
        if let Some(refuted) = self.model.objects.refuted() {
            return Err(Error::Specification(refuted));
        }
        Ok(Report {
            stopped,
            counts,
            histories: self.model.tree.known(),
            threads: self.model.layout.threads().len(),
            proved: clean && limits.preemptions.is_none() && self.mutation.is_none(),
            failures: found.all,
            first: shown.first().map(|one| (one.failure.clone(), one.schedule.clone())),
            shown,
            followed_long: true,
            unfollowed: self.model.left_unfollowed(),
            too_long: self.model.too_long,
            left_at: None,
            audit,
        })
    }

    /// Runs one schedule, and reports what is wrong at its end or on the way.
    pub fn replay(
        &mut self,
        program: &mut dyn Program,
        schedule: &[Move],
        limits: &Limits<'_>,
    ) -> Result<Report, Error> {
        self.model.run(program, schedule, limits.max_steps, Guide::News)?;
        let first = minimise::along(&mut self.model, schedule);
        let shown = first.clone().map(|(failure, schedule)| Shown { failure, schedule, searched: true });
        Ok(Report {
            stopped: if first.is_some() { Stopped::Failure } else { Stopped::Complete },
            counts: Counts { runs: 1, ..Counts::default() },
            histories: self.model.tree.known(),
            threads: self.model.layout.threads().len(),
            failures: first.iter().map(|first| first.0.clone()).collect(),
            shown: shown.into_iter().collect(),
            followed_long: false,
            unfollowed: self.model.left_unfollowed(),
            too_long: self.model.too_long,
            first,
            left_at: None,
            audit: Audit::default(),
            proved: false,
        })
    }

    /// How often a schedule leaves a thread that could go on.
    pub fn preemptions(&mut self, schedule: &[Move]) -> u32 {
        minimise::preemptions(&mut self.model, schedule)
    }

    /// The histories of all threads.
    pub fn histories(&self) -> impl Iterator<Item = NodeId> {
        self.model.tree.histories()
    }

    /// The steps of a history with what came of each.
    pub fn history(&self, node: NodeId) -> Vec<(&Op, Outcome)> {
        self.model.tree.history(node)
    }

    /// The thread of a history.
    pub fn thread(&self, node: NodeId) -> ThreadId {
        self.model.tree.thread(node)
    }

    /// The next step after a history.
    pub fn next(&self, node: NodeId) -> Option<&Next> {
        self.model.tree.next(node)
    }

    /// The steps of a schedule, each with what came of it for its thread, none where it only began
    /// to wait, and with its place.
    pub fn steps(&mut self, schedule: &[Move]) -> Vec<minimise::Taken> {
        minimise::steps(&mut self.model, schedule)
    }
}
