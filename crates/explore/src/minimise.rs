//! A smallest schedule of a failure: fewest preemptions, then fewest steps.

use std::collections::VecDeque;
use std::panic::Location;

use crate::failure::{self, Failure};
use crate::found::Shown;
use crate::model::{Effect, Model};
use crate::op::{Move, Op, Outcome, ThreadId};
use crate::options::Limits;
use crate::program::{Error, Guide, Program};
use crate::state::State;
use crate::store::Store;

/// How many states a search for a smaller schedule may visit, for each number of preemptions.
const STATES: usize = 60_000;

/// A smallest schedule that fails alike, and does so in a real run.
pub(crate) fn smallest(
    model: &mut Model,
    program: &mut dyn Program,
    found: (Failure, Vec<Move>),
    limits: &Limits<'_>,
) -> Result<Shown, Error> {
    let (failure, path) = found;
    let most = preemptions(model, &path);
    let (mut searched, mut smallest) = (true, (failure, path));
    for bound in 0..=most {
        match shortest(model, &smallest.0, bound, smallest.1.len(), limits) {
            Shortest::Found(alike) => {
                smallest = alike;
                break;
            }
            Shortest::Cut => searched = false,
            Shortest::None => {}
        }
    }
    let (failure, schedule) = smallest;
    // The model is learned from runs, and yet: what is reported has happened.
    model.run(program, &schedule, limits.max_steps, Guide::News)?;
    Ok(Shown { failure, schedule, searched })
}

/// What came of a search for a shorter schedule.
enum Shortest {
    Found((Failure, Vec<Move>)),
    None,
    /// It was given up.
    Cut,
}

/// How often a schedule leaves a thread that could go on.
pub(crate) fn preemptions(model: &mut Model, path: &[Move]) -> u32 {
    let mut state = model.initial();
    let mut effect = Effect::default();
    let mut moves = Vec::new();
    let mut count = 0;
    let mut last: Option<Move> = None;
    for &step in path {
        if let Some(last) = last.filter(|last| last.thread != step.thread) {
            moves.clear();
            model.moves(&state, last.thread, &mut moves);
            count += u32::from(!moves.is_empty());
        }
        model.step(&mut state, step, &mut effect);
        model.enter(&mut state, &effect);
        last = Some(step);
    }
    count
}

/// The shortest schedule with at most so many preemptions, by breadth.
fn shortest(model: &mut Model, wanted: &Failure, bound: u32, length: usize, limits: &Limits<'_>) -> Shortest {
    let mut store = Store::default();
    let mut tree: Vec<(Option<usize>, Option<Move>)> = vec![(None, None)];
    let mut queue = VecDeque::from([(0, model.initial(), 0u32, 0usize)]);
    let mut effect = Effect::default();
    let mut moves = Vec::new();
    while let Some((index, state, used, depth)) = queue.pop_front() {
        if store.len() > STATES || (limits.stop)() {
            return Shortest::Cut;
        }
        if depth >= length {
            return Shortest::None;
        }
        model.all_moves(&state, &mut moves);
        let last = tree[index].1;
        for &step in &moves {
            let leaves = last.is_some_and(|last| {
                last.thread != step.thread && moves.iter().any(|other| other.thread == last.thread)
            });
            let used = used + u32::from(leaves);
            let mut next = state.clone();
            model.step(&mut next, step, &mut effect);
            if used > bound || !model.enter(&mut next, &effect) {
                continue;
            }
            if !store.insert(&next, &[u64::from(used), u64::from(step.thread.0)]) {
                continue;
            }
            tree.push((Some(index), Some(step)));
            let here = tree.len() - 1;
            if let Some(failure) = wrong(model, &state, &next, &effect, wanted) {
                return Shortest::Found((failure, way(&tree, here)));
            }
            queue.push_back((here, next, used, depth + 1));
        }
    }
    Shortest::None
}

fn wrong(model: &Model, before: &State, state: &State, effect: &Effect, wanted: &Failure) -> Option<Failure> {
    let mut hit = None;
    let mut look = |failure: Failure| {
        if failure.alike(wanted) {
            hit = Some(failure);
        }
    };
    failure::failures(model, before, state, effect, &mut look);
    let mut moves = Vec::new();
    model.all_moves(state, &mut moves);
    if failure::still(model, state, &moves) {
        failure::stuck(model, state, &mut look);
    }
    hit
}

fn way(tree: &[(Option<usize>, Option<Move>)], mut at: usize) -> Vec<Move> {
    let mut path = Vec::new();
    while let (Some(parent), Some(step)) = tree[at] {
        path.push(step);
        at = parent;
    }
    path.reverse();
    path
}

/// The steps of a schedule with what came of each, and where each is in the source.
pub(crate) fn steps(model: &mut Model, schedule: &[Move]) -> Vec<Taken> {
    let mut state = model.initial();
    let mut effect = Effect::default();
    let mut steps = Vec::new();
    for &step in schedule {
        let Some(op) = model.op(&state, step.thread).cloned() else { break };
        let node = model.thread(&state, step.thread).node();
        let place = model.tree.next(node).and_then(|next| next.place);
        model.step(&mut state, step, &mut effect);
        model.enter(&mut state, &effect);
        let own = effect.advanced.iter().find(|(thread, _)| *thread == step.thread);
        steps.push((step.thread, op, own.map(|&(_, outcome)| outcome), place));
    }
    steps
}

/// A step that was taken: what came of it for its thread, and its place in the source.
pub type Taken = (ThreadId, Op, Option<Outcome>, Option<&'static Location<'static>>);

/// The first failure along a schedule whose steps are all known, with the schedule up to it.
pub(crate) fn along(model: &mut Model, schedule: &[Move]) -> Option<(Failure, Vec<Move>)> {
    let mut state = model.initial();
    let mut effect = Effect::default();
    let mut moves = Vec::new();
    let mut at_first = None;
    failure::at_first(model, &state, &mut |failure| at_first = Some(failure));
    if let Some(failure) = at_first {
        return Some((failure, Vec::new()));
    }
    for (index, &step) in schedule.iter().enumerate() {
        let before = state.clone();
        model.step(&mut state, step, &mut effect);
        model.enter(&mut state, &effect);
        let mut hit = None;
        failure::failures(model, &before, &state, &effect, &mut |failure| hit = Some(failure));
        model.all_moves(&state, &mut moves);
        if failure::still(model, &state, &moves) {
            failure::stuck(model, &state, &mut |failure| hit = Some(failure));
        }
        if let Some(failure) = hit {
            return Some((failure, schedule[..=index].to_vec()));
        }
    }
    None
}
