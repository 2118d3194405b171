//! Memory that is used for one block after another, against a twin that knows every byte.

use std::collections::HashMap;

use reweave_capture::{convert, write_raw};
use reweave_format::{Error, TraceWriter};
use reweave_trace::{Event, Kind, Names, Space, Value};
use reweave_wire::Op;
use reweave_wire::ring::{Slot, kind};

const GLOBALS: u64 = 0x1000;
const BLOCKS: u64 = 0x10_0000;
const BLOCK_BYTES: u64 = 64;
const THREADS: u64 = 3;

/// An event of a trace, with the place of code that tells which slot it is from.
#[derive(Clone, Debug)]
struct Told {
    code: u64,
    thread: u32,
    kind: Kind,
    name: String,
    read: Option<String>,
    written: Option<String>,
}

#[derive(Default)]
struct Trace {
    events: Vec<Told>,
    code: u64,
}

impl TraceWriter for Trace {
    fn event(
        &mut self,
        names: &Names,
        event: &Event,
        read: Option<Value<'_>>,
        written: Option<Value<'_>>,
    ) -> Result<(), Error> {
        let name = names.space(Space::Variable).get(event.op.target()).to_owned();
        let [read, written] = [read, written].map(|value| value.map(|value| value.to_string()));
        let (code, thread, kind) = (self.code, event.thread.0, event.op.kind());
        self.events.push(Told { code, thread, kind, name, read, written });
        Ok(())
    }

    fn events(&mut self, trace: &reweave_trace::Trace, range: std::ops::Range<usize>) -> Result<(), Error> {
        reweave_format::one_by_one(self, trace, range)
    }

    fn place(&mut self, code: u64) {
        self.code = code;
    }

    fn dependences(&mut self, _: &reweave_trace::Names, _: &reweave_trace::Dependences) -> Result<(), Error> {
        Ok(())
    }

    fn finish(&mut self) -> Result<(), Error> {
        Ok(())
    }
}

fn trace(slots: &[Slot]) -> Vec<Told> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("raw");
    write_raw(&path, slots).unwrap();
    let mut trace = Trace::default();
    convert(&path, "", &mut trace).unwrap();
    trace.events
}

struct Random(u64);

impl Random {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % bound
    }
}

/// What a byte holds, and how many blocks there were where the value that it is a part of points to.
type Byte = (u8, usize);

/// By the code of a slot, the bytes that it reads or writes.
type Bytes = HashMap<u64, Vec<Byte>>;

/// A random run; what each slot reads or writes, as the twin knows it; and who freed a block before it is allocated again.
fn run(random: &mut Random) -> (Vec<Slot>, Bytes, HashMap<u64, u64>) {
    let mut memory: HashMap<u64, Byte> = HashMap::new();
    let mut births = [0usize; 3];
    let mut alive = [false; 3];
    let mut freed_by = [None; 3];
    let (mut slots, mut expected, mut takes) = (Vec::new(), HashMap::new(), HashMap::new());
    for code in 1..120 {
        let thread = random.below(THREADS);
        slots.push(Slot::new(kind::SWITCH, 0, 0, thread, 0));
        let block = random.below(3);
        let at = BLOCKS + block * BLOCK_BYTES;
        let place = block as usize;
        let global = GLOBALS + 8 * random.below(2);
        match random.below(6) {
            0 if alive[place] => {
                (alive[place], freed_by[place]) = (false, Some(thread));
                slots.push(Slot::operation(Op::Free, code, at, 0));
            }
            0 => {
                if let Some(by) = freed_by[place].take().filter(|&by| by != thread) {
                    takes.insert(code, by);
                }
                (alive[place], births[place]) = (true, births[place] + 1);
                slots.push(Slot::operation(Op::Alloc, code, at, BLOCK_BYTES));
            }
            1 | 2 => {
                let value = if random.below(4) == 0 { 5 } else { at + random.below(BLOCK_BYTES) };
                let before = if value == 5 { 0 } else { births[place].saturating_sub(1) };
                let bytes: Vec<Byte> = value.to_le_bytes().map(|byte| (byte, before)).to_vec();
                memory.extend((global..).zip(bytes.iter().copied()));
                slots.push(Slot::new(kind::WRITTEN + 8, 0, code, global, value));
                expected.insert(code, bytes);
            }
            _ => {
                // Halves cut the variable in two.
                let (from, length) = if global == GLOBALS { (0, 8) } else { (4 * random.below(2), 4) };
                let bytes: Option<Vec<Byte>> =
                    (0..length).map(|byte| memory.get(&(global + from + byte)).copied()).collect();
                let Some(mut bytes) = bytes else { continue };
                let value = bytes.iter().rev().fold(0, |value, (byte, _)| value << 8 | u64::from(*byte));
                if let Some(now) = (value.checked_sub(BLOCKS).filter(|_| length == 8))
                    .and_then(|offset| births.get((offset / BLOCK_BYTES) as usize))
                {
                    // A pointer to what is not there any more: it is taken for one that somebody else wrote.
                    bytes.iter_mut().for_each(|byte| byte.1 = now.saturating_sub(1));
                    memory.extend((global..).zip(bytes.iter().copied()));
                }
                slots.push(Slot::new(kind::READ + length as u8, 0, code, global + from, value));
                expected.insert(code, bytes);
            }
        }
    }
    (slots, expected, takes)
}

/// Two values of a variable are the same in the trace exactly if they are the same bytes, written with as many blocks before.
#[test]
fn values_are_the_same_if_their_numbers_and_their_blocks_are() {
    let mut random = Random(1);
    let (mut told_apart, mut alike) = (0, 0);
    for _ in 0..300 {
        let (slots, expected, _) = run(&mut random);
        let mut names: HashMap<(String, String), Vec<Byte>> = HashMap::new();
        let mut texts: HashMap<(String, Vec<Byte>), String> = HashMap::new();
        let mut parts: HashMap<u64, usize> = HashMap::new();
        let reads = |code| slots.iter().any(|slot| slot.code() == code && slot.kind() < kind::WRITE);
        let is_access = |event: &&Told| match event.kind {
            Kind::Read | Kind::Write | Kind::AtomicRead => true,
            // Not one that stands for a write that nobody recorded, nor what stands for a block's memory.
            Kind::AtomicWrite => !reads(event.code) && event.name.starts_with("memory 0x"),
            _ => false,
        };
        for event in trace(&slots).iter().filter(is_access) {
            let value = event.read.clone().or(event.written.clone()).unwrap();
            let (all, from) = (&expected[&event.code], parts.entry(event.code).or_insert(0));
            let halves = event.name.starts_with("memory 0x1008") || event.name.starts_with("memory 0x100c");
            let length = if halves { 4 } else { 8 };
            let bytes = all[*from..*from + length].to_vec();
            *from += length;
            let known = names.entry((event.name.clone(), value.clone())).or_insert(bytes.clone());
            assert_eq!(*known, bytes, "one value for two: {event:?}");
            let known = texts.entry((event.name.clone(), bytes)).or_insert(value.clone());
            assert_eq!(*known, value, "two values for one: {event:?}");
            told_apart += u32::from(value.contains('#'));
            alike += u32::from(!value.contains('#'));
        }
    }
    assert!(told_apart > 1_000 && alike > 1_000, "{told_apart} {alike}");
}

/// Whoever gets the memory that another thread freed takes it from there: an update right before, which observes a write right after
/// the block was freed.
#[test]
fn memory_is_handed_out_again_after_it_was_freed() {
    let mut random = Random(2);
    let mut count = 0;
    for _ in 0..200 {
        let (slots, _, takes) = run(&mut random);
        let mut freed: HashMap<String, u32> = HashMap::new();
        let mut taken: HashMap<u64, u32> = HashMap::new();
        for event in trace(&slots) {
            match event.kind {
                Kind::AtomicWrite => _ = freed.insert(event.name, event.thread),
                Kind::Update => {
                    assert_eq!(event.read, event.written);
                    taken.insert(event.code, freed[&event.name]);
                }
                _ => {}
            }
        }
        let expected: HashMap<u64, u32> = takes.into_iter().map(|(code, by)| (code, by as u32)).collect();
        count += expected.len();
        assert_eq!(taken, expected);
    }
    assert!(count > 300, "{count}");
}
