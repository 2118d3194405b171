//! Random recordings, and every conflict in them: none is lost, none is invented, and values agree.
//!
//! The naive twin knows bytes only: two accesses conflict when they are in different threads, share a byte of the same
//! life of its memory, one writes, and they are not both atomic.

use std::collections::HashMap;
use std::path::Path;

use reweave_capture::{Summary, convert, write_raw};
use reweave_format::{Error, TraceWriter};
use reweave_trace::{Builder, Event, EventValues, Names, Op as TraceOp, Value as TraceValue};
use reweave_wire::Op;
use reweave_wire::ring::{Slot, kind};

/// An access, birth or death in memory.
#[derive(Clone, Copy, Debug)]
struct Step {
    thread: u32,
    op: Op,
    at: u64,
    length: u64,
    read: u64,
    written: u64,
}

struct Random(u64);

impl Random {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % bound
    }
}

/// Two places of memory: one that is always there, and one block that is born and dies.
const PLAIN: u64 = 0x1000;
const BLOCK: u64 = 0x2010;
const BLOCK_BYTES: u64 = 32;

/// A run of three threads over a few bytes, whose reads observe what is there; `unseen` writes are not recorded, and nobody
/// writes below `writable`.
fn run(random: &mut Random, unseen: bool, writable: u64) -> Vec<Step> {
    let mut memory: HashMap<u64, u8> = HashMap::new();
    let mut steps = Vec::new();
    let mut alive = false;
    for _ in 0..60 {
        let thread = random.below(3) as u32;
        let draw = random.below(20);
        if draw == 0 {
            let op = if alive { Op::Free } else { Op::Alloc };
            alive = !alive;
            steps.push(Step { thread, op, at: BLOCK, length: BLOCK_BYTES, read: 0, written: 0 });
            continue;
        }
        let length = 1 + random.below(8);
        let (base, room) = if alive && draw < 12 { (BLOCK, BLOCK_BYTES) } else { (PLAIN, 24) };
        // Some words are one thread's own.
        let at = base
            + if draw.is_multiple_of(3) { u64::from(thread) * 8 } else { random.below(room - length + 1) };

        let load = |memory: &HashMap<u64, u8>| {
            (0..length)
                .fold(0, |sum, byte| sum | u64::from(*memory.get(&(at + byte)).unwrap_or(&0)) << (8 * byte))
        };
        let read = load(&memory);
        let op = [Op::Read, Op::Write, Op::AtomicRead, Op::AtomicWrite, Op::Update][random.below(5) as usize];
        let op = if at < writable { Op::Read } else { op };
        if op.carries_written() || unseen && random.below(8) == 0 {
            for byte in 0..length {
                memory.insert(at + byte, random.below(4) as u8);
            }
        }
        let now = load(&memory);
        let read = if op.carries_written() { read } else { now };
        steps.push(Step { thread, op, at, length, read, written: now });
    }
    steps
}

/// Writes steps as the recorder does; the site of each is its number.
fn write(path: &Path, steps: &[Step]) {
    let mut slots: Vec<Slot> = (0..3).map(|thread| Slot::new(kind::SWITCH, 0, 0, thread, 0)).collect();
    for (number, step) in steps.iter().enumerate() {
        let &Step { thread, op, at, length, read, written } = step;
        let code = number as u64 + 1;
        slots.push(Slot::new(kind::SWITCH, 0, 0, u64::from(thread), 0));
        let access = |class: u8, value| Slot::new(class + length as u8, 0, code, at, value);
        match op {
            Op::Alloc | Op::Free => slots.push(Slot::operation(op, code, at, length)),
            Op::Read => slots.push(access(kind::READ, read)),
            // Hooks write the whole aligned word; where an access crosses one, the value itself.
            Op::Write if at % 8 + length <= 8 => slots.push(access(kind::WRITE, written)),
            Op::Write => slots.push(access(kind::WRITTEN, written)),
            Op::AtomicRead => slots.push(access(kind::ATOMIC_READ, read)),
            Op::AtomicWrite => slots.push(access(kind::ATOMIC_WRITE, written)),
            _ => {
                slots.push(access(kind::UPDATE, read));
                slots.push(Slot::new(kind::MORE, 0, 0, 0, written));
            }
        }
    }
    write_raw(path, &slots).unwrap();
}

/// Keeps what it is given, in a builder, with the number of the step of each event.
#[derive(Default)]
struct Kept {
    builder: Builder,
    steps: Vec<usize>,
    events: Vec<(TraceOp, u32)>,
}

impl TraceWriter for Kept {
    fn event(
        &mut self,
        names: &Names,
        event: &Event,
        read: Option<TraceValue<'_>>,
        written: Option<TraceValue<'_>>,
    ) -> Result<(), Error> {
        let site = names.sites.get(event.site.0);
        self.steps.push(usize::from_str_radix(site.trim_start_matches("0x"), 16).unwrap() - 1);
        self.events.push((event.op, event.thread.0));
        let thread =
            self.builder.thread(names.space(reweave_trace::Space::Thread).get(event.thread.0)).unwrap();
        let site = self.builder.site(site).unwrap();
        let kind = event.op.kind();
        let name = names.space(reweave_trace::Space::Variable).get(event.op.target());
        let op = TraceOp::new(kind, self.builder.target(kind, name).unwrap());
        let mut value = |value: Option<TraceValue<'_>>| value.map(|value| self.builder.value(value).unwrap());
        let values = EventValues { read: value(read), written: value(written) };
        self.builder.push(Event { thread, op, site }, values).unwrap();
        Ok(())
    }

    fn events(&mut self, trace: &reweave_trace::Trace, range: std::ops::Range<usize>) -> Result<(), Error> {
        reweave_format::one_by_one(self, trace, range)
    }

    fn dependences(&mut self, _: &reweave_trace::Names, _: &reweave_trace::Dependences) -> Result<(), Error> {
        Ok(())
    }

    fn finish(&mut self) -> Result<(), Error> {
        Ok(())
    }
}

fn converted(steps: &[Step]) -> (Summary, Kept) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("raw");
    write(&path, steps);
    let mut kept = Kept::default();
    let summary = convert(&path, "", &mut kept).unwrap();
    (summary, kept)
}

/// Which life of the block a step belongs to; accesses elsewhere have none.
fn lives(steps: &[Step]) -> Vec<u64> {
    let mut life = 0;
    steps
        .iter()
        .map(|step| {
            life += u64::from(step.op == Op::Alloc);
            if step.at >= BLOCK { life } else { 0 }
        })
        .collect()
}

fn conflict(a: &Step, b: &Step) -> bool {
    let writes = |step: &Step| !matches!(step.op, Op::Read | Op::AtomicRead);
    let atomic = |step: &Step| matches!(step.op, Op::AtomicRead | Op::AtomicWrite | Op::Update);
    let overlap = a.at < b.at + b.length && b.at < a.at + a.length;
    a.thread != b.thread && overlap && (writes(a) || writes(b)) && !(atomic(a) && atomic(b))
}

#[test]
fn every_conflict_of_bytes_is_one_of_variables_and_the_other_way_round() {
    let mut random = Random(1);
    let mut conflicts = 0;
    for _ in 0..400 {
        let steps = run(&mut random, false, PLAIN);
        let lives = lives(&steps);
        let (summary, kept) = converted(&steps);
        assert_eq!(summary.unseen_writes, 0);
        let numbers = kept.steps.clone();
        let trace = kept.builder.finish().expect("the trace is well formed, and its values agree");
        let mut found = vec![vec![false; steps.len()]; steps.len()];
        let ids: Vec<_> = trace.ids().collect();
        for (&a, &step_a) in ids.iter().zip(&numbers) {
            for (&b, &step_b) in ids.iter().zip(&numbers) {
                found[step_a][step_b] |= trace.conflict(a, b);
            }
        }
        for (a, first) in steps.iter().enumerate() {
            for (b, second) in steps.iter().enumerate().filter(|(b, _)| *b != a) {
                let expected = lives[a] == lives[b] && conflict(first, second);
                conflicts += usize::from(expected);
                assert_eq!(found[a][b], expected, "{first:?} and {second:?}");
            }
        }
    }
    assert!(conflicts > 10_000);
}

#[test]
fn what_is_left_out_is_in_no_conflict() {
    let mut random = Random(2);
    let mut left_out = 0;
    for _ in 0..400 {
        let steps = run(&mut random, false, PLAIN);
        let (_, kept) = converted(&steps);
        let lives = lives(&steps);
        for (a, step) in steps.iter().enumerate().filter(|(a, _)| !kept.steps.contains(a)) {
            left_out += 1;
            let partner =
                steps.iter().enumerate().find(|(b, other)| lives[a] == lives[*b] && conflict(step, other));
            assert!(partner.is_none(), "{step:?} {partner:?}");
        }
    }
    assert!(left_out > 100, "{left_out}");
}

/// The aligned words that a step touches.
fn words(step: &Step) -> std::ops::RangeInclusive<u64> {
    step.at / 8..=(step.at + step.length - 1) / 8
}

#[test]
fn what_nobody_changes_is_left_out_but_in_blocks_of_the_heap() {
    let mut random = Random(4);
    let (mut constant, mut in_block) = (0, 0);
    for round in 0..400 {
        // Every other time, nobody writes anything.
        let steps = run(&mut random, false, if round % 2 == 0 { PLAIN + 16 } else { BLOCK + BLOCK_BYTES });
        let lives = lives(&steps);
        let (_, kept) = converted(&steps);
        let writes = |word: u64| {
            let mut writers = steps.iter().filter(|step| !matches!(step.op, Op::Read | Op::AtomicRead));
            writers.any(|step| words(step).contains(&word))
        };
        for (a, step) in steps.iter().enumerate() {
            if step.at < BLOCK && words(step).all(|word| !writes(word)) {
                constant += 1;
                assert!(!kept.steps.contains(&a), "{step:?}");
            }
            let freed = |(b, other): (usize, &Step)| {
                lives[a] == lives[b] && other.op == Op::Free && other.thread != step.thread
            };
            if step.at >= BLOCK && step.op == Op::Read && steps.iter().enumerate().any(freed) {
                in_block += 1;
                assert!(kept.steps.contains(&a), "{step:?}");
            }
        }
        kept.builder.finish().expect("the trace is well formed, and its values agree");
    }
    assert!(constant > 1000 && in_block > 300, "{constant} {in_block}");
}

#[test]
fn memory_that_changes_unseen_is_well_formed_and_never_races() {
    let mut random = Random(3);
    let mut unseen = 0;
    for _ in 0..400 {
        let steps = run(&mut random, true, PLAIN);
        let (summary, kept) = converted(&steps);
        unseen += summary.unseen_writes;
        // A read that no recorded write explains has one put before it, in its own thread, and both are atomic.
        for pair in kept.steps.windows(2).zip(kept.events.windows(2)) {
            let ([a, b], [(first, _), (second, _)]) = pair else { unreachable!() };
            if a == b && matches!(first, TraceOp::AtomicWrite(_)) && first.target() == second.target() {
                assert!(!matches!(second, TraceOp::Read(_) | TraceOp::Write(_)));
            }
        }
        kept.builder.finish().expect("the trace is well formed, and its values agree");
    }
    assert!(unseen > 100);
}
