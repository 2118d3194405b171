//! Where control, an address, a callee or a size depends on what was read, and which of those places need an event.
//!
//! The law asks for a branch where what a thread does next depends on what it has read. A value *depends* unless it is computed
//! from constants and addresses alone: loads, arguments and the results of calls are *sources*. Conditions of branches,
//! switches and selects that depend always get an event, with the way taken. An address, size or lock that depends gets one
//! only where it is not *covered*: where no event lies between every source of it and its use.
//!
//! **Covered.** Let s be a source and p a use. If there is an event q with s before q on the way to p, always, then
//! at q the thread was clean, so what s read was what was recorded, and another event at p adds nothing. That holds where
//! q is in p's block before p, and s not between them; and where s dominates q and q dominates p. (Suppose a path
//! went through s for the last time and then to p without q. The first s on any path comes before the first q; a path to
//! that s and on as the other one went after its last would reach p without q.) So blocks are looked at in reverse
//! post-order, dominators first, and what was given an event there counts.
//!
//! A call of code that may not be instrumented counts as a branch always: what it does with what it is given is not seen.
//! A select is a choice of data and, for soundness, needs no event: whatever its result reaches is a write (which is tainted), or
//! an address or condition (which depends). It gets one all the same, because it mostly was an `if`, and the way taken is
//! worth knowing; that can only make the trace stricter.

use std::collections::{HashMap, HashSet};

use crate::escape::is_constant;
use crate::ir::{Block, Opcode, Value};

/// How many values are looked at for one use, before it is taken to depend.
const PATIENCE: usize = 256;

/// A point in a function: a block, by its number, and an instruction in it, counted from 1; 0 is before all.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Point {
    block: usize,
    place: usize,
}

/// The control flow of a function, and the events that it has so far.
pub(crate) struct Flow {
    /// The blocks in reverse post-order, those that are never reached at the end.
    blocks: Vec<Block>,
    /// Of each, the number of the one that dominates it immediately; the entry's is its own. None where it is never reached.
    dominators: Vec<Option<usize>>,
    points: HashMap<Value, Point>,
    /// Per block, before which instructions there is an event, in order.
    events: Vec<Vec<usize>>,
}

impl Flow {
    pub(crate) fn new(function: Value) -> Flow {
        let (blocks, reached) = reverse_post_order(function);
        let numbers: HashMap<Block, usize> =
            blocks.iter().enumerate().map(|(number, &block)| (block, number)).collect();
        let successors: Vec<Vec<usize>> = blocks
            .iter()
            .map(|block| block.successors().iter().filter_map(|next| numbers.get(next).copied()).collect())
            .collect();
        let dominators = dominators(&successors, reached);
        let mut points = HashMap::new();
        for (number, block) in blocks.iter().enumerate() {
            for (place, instruction) in block.instructions().into_iter().enumerate() {
                points.insert(instruction, Point { block: number, place: place + 1 });
            }
        }
        Flow { events: vec![Vec::new(); blocks.len()], blocks, dominators, points }
    }

    /// The blocks, each after those that dominate it.
    pub(crate) fn blocks(&self) -> &[Block] {
        &self.blocks
    }

    /// Notes that there is an event before an instruction. Instructions have to be noted in order.
    pub(crate) fn note(&mut self, instruction: Value) {
        if let Some(&Point { block, place }) = self.points.get(&instruction)
            && let Some(events) = self.events.get_mut(block)
        {
            events.push(place);
        }
    }

    /// Whether a value that is used at an instruction depends on a source that is not covered.
    pub(crate) fn needs_event(&self, value: Value, at: Value) -> bool {
        match self.points.get(&at) {
            Some(&use_at) => self.search(value, |source| self.is_covered(source, use_at)),
            None => true,
        }
    }

    /// Whether a value depends on any source.
    pub(crate) fn depends(&self, value: Value) -> bool {
        self.search(value, |_| false)
    }

    /// Whether a source of `value` is reached where nothing on the way there is `enough`.
    fn search(&self, value: Value, enough: impl Fn(Point) -> bool) -> bool {
        let (mut waiting, mut seen) = (vec![value], HashSet::new());
        while let Some(value) = waiting.pop() {
            if value.is_argument() {
                if !enough(Point { block: 0, place: 0 }) {
                    return true;
                }
                continue;
            }
            if !value.is_instruction() || !seen.insert(value) {
                continue;
            }
            let Some(&point) = self.points.get(&value) else { return true };
            if enough(point) {
                continue;
            }
            if seen.len() > PATIENCE {
                return true;
            }
            match computed_from(value) {
                Some(operands) => waiting.extend(operands),
                None => return true,
            }
        }
        false
    }

    fn is_covered(&self, source: Point, use_at: Point) -> bool {
        let events = |block: usize| self.events.get(block).map(Vec::as_slice).unwrap_or_default();
        let here = events(use_at.block).iter().rev().find(|&&event| event <= use_at.place);
        if let Some(&event) = here {
            return source.block != use_at.block || source.place < event || source.place >= use_at.place;
        }
        if source.block == use_at.block {
            return false;
        }
        let (mut block, mut found) = (use_at.block, false);
        while let Some(above) = self.dominators.get(block).copied().flatten().filter(|&above| above != block)
        {
            if above == source.block {
                return found || events(above).last().is_some_and(|&event| source.place < event);
            }
            found |= !events(above).is_empty();
            block = above;
        }
        false
    }
}

/// What an instruction computes its result from, where it is nothing but that; none for a source.
fn computed_from(instruction: Value) -> Option<Vec<Value>> {
    match instruction.opcode() {
        Opcode::LLVMLoad if is_constant(instruction.operand(0)) && !instruction.is_atomic() => {
            Some(vec![instruction.operand(0)])
        }
        Opcode::LLVMLoad
        | Opcode::LLVMInvoke
        | Opcode::LLVMCallBr
        | Opcode::LLVMAtomicRMW
        | Opcode::LLVMAtomicCmpXchg
        | Opcode::LLVMVAArg
        | Opcode::LLVMLandingPad
        | Opcode::LLVMCatchPad
        | Opcode::LLVMCleanupPad => None,
        Opcode::LLVMCall => instruction.touches_no_memory().then(|| instruction.call_arguments()),
        _ => Some(instruction.operands().collect()),
    }
}

fn reverse_post_order(function: Value) -> (Vec<Block>, usize) {
    let all = function.blocks();
    let (mut order, mut seen) = (Vec::new(), HashSet::new());
    let mut path: Vec<(Block, Vec<Block>)> = Vec::new();
    if let Some(&entry) = all.first() {
        seen.insert(entry);
        path.push((entry, entry.successors()));
    }
    while let Some((block, next)) = path.last_mut() {
        match next.pop() {
            Some(next) if seen.insert(next) => path.push((next, next.successors())),
            Some(_) => {}
            None => {
                order.push(*block);
                path.pop();
            }
        }
    }
    order.reverse();
    let reached = order.len();
    order.extend(all.into_iter().filter(|block| !seen.contains(block)));
    (order, reached)
}

/// The immediate dominators of blocks that are numbered in reverse post-order; after Cooper, Harvey and Kennedy, "A
/// simple, fast dominance algorithm".
fn dominators(successors: &[Vec<usize>], reached: usize) -> Vec<Option<usize>> {
    let mut predecessors = vec![Vec::new(); successors.len()];
    for (block, next) in successors.iter().enumerate().take(reached) {
        next.iter().for_each(|&next| predecessors[next].push(block));
    }
    let mut dominators: Vec<Option<usize>> = vec![None; successors.len()];
    if let Some(entry) = dominators.first_mut() {
        *entry = Some(0);
    }
    let mut changed = true;
    while changed {
        changed = false;
        for block in 1..reached {
            let known = predecessors[block].iter().copied().filter(|&before| dominators[before].is_some());
            let common = known.reduce(|a, b| meet(&dominators, a, b));
            changed |= dominators[block] != common;
            dominators[block] = common;
        }
    }
    dominators
}

fn meet(dominators: &[Option<usize>], mut a: usize, mut b: usize) -> usize {
    while a != b {
        let above = if a > b { &mut a } else { &mut b };
        *above = dominators[*above].unwrap_or(0);
    }
    a
}
