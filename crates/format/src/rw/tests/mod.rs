//! Round trips, boundaries, and files of old versions.

mod damage;
mod sample;
mod tables;

use reweave_trace::{
    Builder, Capabilities, Event, EventId, EventValues, Kind, Op, Space, ThreadId, Trace, ValueId,
};
use reweave_wire::{Codec, Encoder, FileHeader, HEADER_BYTES, MAX_EVENTS, VERSION};

use super::{Read, Writer, codes, read, scan, sizes};
use crate::TraceWriter;
use sample::Sample;

const ALL: Capabilities =
    Capabilities { values: false, branches: true, dependences: true, approximate: true };

const CODECS: [Codec; 2] = [Codec::Predicted, Codec::Packed];

/// The trace as a file whose blocks have `block` events each, stored by `codec`.
fn write(trace: &Trace, block: usize, codec: Codec) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut writer = Writer::new(&mut bytes, trace.capabilities());
    writer.choose(codec);
    let mut changes = trace.context_changes().into_iter().peekable();
    for (i, id) in trace.ids().enumerate() {
        if i > 0 && i % block == 0 {
            writer.close().unwrap();
        }
        while let Some((_, thread, context)) = changes.next_if(|change| change.0 <= id) {
            writer.context(trace.names(), thread, context).unwrap();
        }
        let EventValues { read, written } = trace.values(id);
        let value = |id: Option<ValueId>| id.map(|id| trace.value(id));
        writer.event(trace.names(), &trace.event(id), value(read), value(written)).unwrap();
    }
    writer.finish().unwrap();
    writer.finish().unwrap();
    drop(writer);
    bytes
}

/// Everything about the first `count` events, with names instead of ids.
fn listing(trace: &Trace, count: usize) -> Vec<String> {
    trace
        .ids()
        .take(count)
        .map(|id| {
            let event = trace.event(id);
            let EventValues { read, written } = trace.values(id);
            let value = |id: Option<ValueId>| id.map(|id| trace.value(id));
            let callers: String =
                trace.callers(id).map(|site| format!("|from {}", trace.site_name(site))).collect();
            format!(
                "{}|{:?}({:?})|{}|{:?}>{:?}{callers}",
                trace.thread_name(event.thread),
                event.op.kind(),
                trace.target_name(event.op),
                trace.site_name(event.site),
                value(read),
                value(written)
            )
        })
        .collect()
}

fn finish(read: Read) -> Trace {
    read.builder.finish().unwrap()
}

#[track_caller]
fn check_round_trip(trace: &Trace, block: usize) {
    for (codec, jobs) in CODECS.into_iter().flat_map(|codec| [0, 1, 2, 3, 8].map(|jobs| (codec, jobs))) {
        let bytes = write(trace, block, codec);
        assert!(scan::scan(&bytes).unwrap().blocks.iter().all(|block| block.head.codec == codec as u8));
        let again = read(&bytes, jobs).unwrap();
        assert_eq!(again.notices, [""; 0]);
        let sizes = sizes(&bytes).unwrap();
        assert_eq!(sizes.iter().map(|(_, bytes)| bytes).sum::<u64>(), bytes.len() as u64);
        let blocks = scan::scan(&bytes).unwrap().blocks.len() as u64;
        let frame = sizes.iter().find(|(stream, _)| *stream == "frame").unwrap().1;
        // A head, and eight counts and eight lengths of up to five bytes, a block.
        assert!((blocks * 48..(blocks + 2) * 128).contains(&frame), "{sizes:?}");
        let again = finish(again);
        assert_eq!(again.capabilities(), trace.capabilities());
        assert_eq!(again.len(), trace.len());
        assert!(listing(&again, again.len()) == listing(trace, trace.len()));
    }
}

#[test]
fn random_traces_survive() {
    for seed in 1..=60 {
        let events = [3, 40, 300, 3000][seed as usize % 4];
        let trace = Sample::new(seed).trace(events, seed % 3 == 0);
        check_round_trip(&trace, [usize::MAX, 1, 7, 500][seed as usize / 4 % 4]);
    }
}

#[test]
fn a_trace_at_once_is_its_events_one_by_one() {
    for seed in 1..=24 {
        let events = [3, 255, 256, 257, 3000, 40_000][seed as usize % 6];
        let trace = Sample::new(seed).trace(events, seed % 3 == 0);
        let mut one_by_one = Vec::new();
        let mut writer = Writer::new(&mut one_by_one, trace.capabilities());
        writer.choose(CODECS[seed as usize / 6 % 2]);
        for id in trace.ids() {
            let EventValues { read, written } = trace.values(id);
            let value = |id: Option<ValueId>| id.map(|id| trace.value(id));
            writer.event(trace.names(), &trace.event(id), value(read), value(written)).unwrap();
        }
        writer.finish().unwrap();
        drop(writer);
        let mut at_once = Vec::new();
        let mut writer = Writer::new(&mut at_once, trace.capabilities());
        writer.choose(CODECS[seed as usize / 6 % 2]);
        let (some, more) = (trace.len() / 3, trace.len() / 2);
        for range in [0..some, some..some, some..more, more..trace.len()] {
            writer.events(&trace, range).unwrap();
        }
        writer.finish().unwrap();
        drop(writer);
        let [one_by_one, at_once] = [one_by_one, at_once].map(|bytes| finish(read(&bytes, 1).unwrap()));
        assert!(listing(&at_once, trace.len()) == listing(&one_by_one, trace.len()), "seed {seed}");
        assert!(at_once.names().sites.iter().eq(one_by_one.names().sites.iter()));
        for space in reweave_trace::Space::ALL {
            let names = [&at_once, &one_by_one].map(|trace| trace.names().space(space));
            assert!(names[0].iter().eq(names[1].iter()), "seed {seed}: names of {space:?} in another order");
        }
    }
}

#[test]
fn samples_have_every_operation_and_values() {
    let trace = Sample::new(5).trace(5000, true);
    for &kind in Kind::ALL {
        assert!(trace.ids().any(|id| trace.kind(id) == kind), "{kind:?}");
    }
    assert!(trace.has_values() && trace.capabilities() == ALL);
}

#[test]
fn blocks_end_where_they_are_full() {
    for (count, blocks) in [(0, 0), (1, 1), (MAX_EVENTS, 1), (MAX_EVENTS + 1, 2), (3 * MAX_EVENTS, 3)] {
        let mut builder = Builder::new();
        let (thread, site) = (builder.thread("T").unwrap(), builder.site("s").unwrap());
        for _ in 0..count {
            builder.push(Event { thread, op: Op::Branch, site }, EventValues::NONE).unwrap();
        }
        let trace = builder.finish().unwrap();
        for codec in CODECS {
            let bytes = write(&trace, usize::MAX, codec);
            assert_eq!(scan::scan(&bytes).unwrap().blocks.len(), blocks);
            let frame = if codec == Codec::Predicted { 400 } else { 400 + count / 20 };
            assert!(bytes.len() < frame, "{} bytes for {count} equal events", bytes.len());
            assert_eq!(finish(read(&bytes, 2).unwrap()).len(), count);
        }
    }
}

#[test]
fn places_of_one_site_are_told_apart_and_read_as_one() {
    let mut random = Sample::new(4);
    let mut builder = Builder::new();
    let (thread, site) = (builder.thread("T").unwrap(), builder.site("line of two").unwrap());
    let buffer: Vec<_> = (0..20_000).map(|i| builder.variable(&format!("b{i}")).unwrap()).collect();
    let table: Vec<_> = (0..256).map(|i| builder.variable(&format!("t{i}")).unwrap()).collect();
    let mut places = Vec::new();
    for &byte in &buffer {
        // A line without a second access now and then, so that the two do not simply take turns.
        for place in 0..2 - u64::from(random.below(3) == 0) {
            let x = if place == 0 { byte } else { table[random.below(256)] };
            builder.push(Event { thread, op: Op::Read(x), site }, EventValues::NONE).unwrap();
            places.push(place);
        }
    }
    let trace = builder.finish().unwrap();
    let written = |told: bool| {
        let mut bytes = Vec::new();
        let mut writer = Writer::new(&mut bytes, trace.capabilities());
        writer.choose(Codec::Predicted);
        for (id, &place) in trace.ids().zip(&places) {
            if told {
                writer.place(place);
            }
            writer.event(trace.names(), &trace.event(id), None, None).unwrap();
        }
        writer.finish().unwrap();
        drop(writer);
        bytes
    };
    let (apart, together) = (written(true), written(false));
    assert!(apart.len() * 6 < together.len() * 5, "{} and {}", apart.len(), together.len());
    let again = finish(read(&apart, 2).unwrap());
    assert!(listing(&again, again.len()) == listing(&trace, trace.len()));
    assert_eq!(again.names().sites.len(), 1);
}

#[test]
fn names_beyond_one_block_survive() {
    let mut builder = Builder::new();
    let thread = builder.thread("").unwrap();
    for i in 0..40 {
        let name = format!("{}é{i}", "long".repeat(15_000 + i % 3));
        let (x, site) = (builder.variable(&name).unwrap(), builder.site(&name[i..]).unwrap());
        builder.push(Event { thread, op: Op::Read(x), site }, EventValues::NONE).unwrap();
    }
    let site = builder.site(&"9".repeat(reweave_trace::MAX_NAME_BYTES)).unwrap();
    builder.push(Event { thread, op: Op::Begin, site }, EventValues::NONE).unwrap();
    check_round_trip(&builder.finish().unwrap(), usize::MAX);
}

#[test]
fn what_is_drawn_at_random_is_packed_and_what_repeats_is_predicted() {
    let mut random = Sample::new(2);
    let mut builder = Builder::new();
    let thread = builder.thread("T").unwrap();
    let variables: Vec<_> = (0..1000).map(|i| builder.variable(&format!("v{i}")).unwrap()).collect();
    let sites: Vec<_> = (0..500).map(|i| builder.site(&format!("s{i}")).unwrap()).collect();
    for i in 0..400_000 {
        let (x, site) = match i / 100_000 % 2 {
            0 => (variables[random.below(1000)], sites[random.below(500)]),
            _ => (variables[i % 10], sites[i % 10]),
        };
        let op = if i % 3 == 0 { Op::Write(x) } else { Op::Read(x) };
        builder.push(Event { thread, op, site }, EventValues::NONE).unwrap();
    }
    let trace = builder.finish().unwrap();
    let bytes = crate::save_bytes(&trace, crate::Format::Rw).unwrap();
    let blocks = scan::scan(&bytes).unwrap().blocks;
    assert_eq!([blocks[0].head.codec, blocks[1].head.codec], [0, 1]);
    assert!(blocks[0].head.events < blocks[1].head.events);
    let again = finish(read(&bytes, 2).unwrap());
    assert!(listing(&again, again.len()) == listing(&trace, trace.len()));
}

#[test]
fn packed_events_that_grow_are_judged_anew() {
    let mut random = Sample::new(3);
    let mut builder = Builder::new();
    let thread = builder.thread("T").unwrap();
    let variables: Vec<_> = (0..100_000).map(|i| builder.variable(&format!("v{i}")).unwrap()).collect();
    let sites: Vec<_> = (0..10).map(|i| builder.site(&format!("s{i}")).unwrap()).collect();
    let (near, far) = (&variables[..100], [variables[0], variables[99_999]]);
    for &x in &variables {
        builder.push(Event { thread, op: Op::Read(x), site: sites[0] }, EventValues::NONE).unwrap();
    }
    for i in 0..500_000 {
        let drawn = i < 100_000;
        let (x, site) = if drawn { (near[random.below(100)], random.below(10)) } else { (far[i % 2], i % 2) };
        builder.push(Event { thread, op: Op::Read(x), site: sites[site] }, EventValues::NONE).unwrap();
    }
    let trace = builder.finish().unwrap();
    let bytes = crate::save_bytes(&trace, crate::Format::Rw).unwrap();
    let codecs: Vec<u8> = scan::scan(&bytes).unwrap().blocks.iter().map(|block| block.head.codec).collect();
    assert!(codecs.contains(&1), "{codecs:?}");
    assert!(codecs.ends_with(&[0; 4]), "{codecs:?}");
    let again = finish(read(&bytes, 2).unwrap());
    assert!(listing(&again, again.len()) == listing(&trace, trace.len()));
}

/// A file of one block, made by hand.
fn by_hand(fill: impl FnOnce(&mut Encoder<Vec<u8>>)) -> Vec<u8> {
    let claims = codes::claims(ALL);
    let mut bytes = FileHeader { version: VERSION, claims, tentative: claims }.encode().to_vec();
    let mut encoder = Encoder::new(vec![0; 1 << 20]);
    fill(&mut encoder);
    encoder.close(&mut |part| bytes.extend_from_slice(part));
    bytes
}

fn begin(thread: u32, site: u32) -> reweave_wire::Event {
    let (read, written) = Default::default();
    reweave_wire::Event { thread, op: reweave_wire::Op::Begin, target: 9, site, read, written }
}

#[test]
fn a_name_that_is_defined_twice_is_one_name() {
    let bytes = by_hand(|encoder| {
        for number in [7, 8, 7, 9] {
            encoder.define_number(reweave_wire::Space::Thread, number).unwrap();
            encoder.define(reweave_wire::Space::Site, b"s").unwrap();
        }
        for id in 0..4 {
            encoder.event(&begin(id, id)).unwrap();
        }
        let fork = reweave_wire::Event { op: reweave_wire::Op::Fork, target: 3, ..begin(2, 3) };
        encoder.event(&fork).unwrap();
    });
    let (trace, _) = read(&bytes, 1).unwrap().builder.repair().unwrap();
    let threads: Vec<_> = trace.ids().map(|id| trace.thread_name(trace.thread(id))).collect();
    assert_eq!(threads, ["7", "8", "7", "9", "7"]);
    assert_eq!(trace.names().sites.len(), 1);
}

#[test]
fn ids_without_a_name_are_refused() {
    for (thread, site) in [(0, 1), (1, 0), (70_000, 0), (0, 70_000)] {
        let bytes = by_hand(|encoder| {
            encoder.define(reweave_wire::Space::Thread, b"T").unwrap();
            encoder.define(reweave_wire::Space::Site, b"s").unwrap();
            encoder.event(&begin(thread, site)).unwrap();
        });
        let defect = read(&bytes, 1).unwrap_err();
        assert_eq!(defect.at, crate::error::Place::Byte(HEADER_BYTES as u64));
    }
}

/// Written by version 1's writer from `Sample::new(1).trace(150, true)` in blocks of 60 events, by each codec, with its
/// listing.
const VERSION_1: ([&[u8]; 2], &str) = (
    [
        include_bytes!("../../../tests/data/version-1.rw"),
        include_bytes!("../../../tests/data/version-1-packed.rw"),
    ],
    include_str!("../../../tests/data/version-1.txt"),
);

#[test]
fn a_stored_file_of_version_1_is_still_read() {
    let (files, expected) = VERSION_1;
    for bytes in files {
        // A thread of it runs on after its end, which was well formed then: all but that is there.
        let (trace, repairs) = read(bytes, 1).unwrap().builder.repair().unwrap();
        assert!(repairs.iter().all(|(defect, ..)| defect == reweave_trace::Defect::AfterEnd));
        let dropped = |id: &EventId| trace.kind(*id) == Kind::Skip;
        for ((found, expected), id) in
            listing(&trace, trace.len()).iter().zip(expected.lines()).zip(trace.ids())
        {
            assert!(found == expected || dropped(&id), "{found} {expected}");
        }
        assert_eq!(expected.lines().count(), trace.len());
        assert!(trace.ids().filter(dropped).count() < trace.len() / 4);
        // What these files do not claim, because it came later, does not hold.
        assert_eq!(trace.capabilities(), Capabilities { approximate: false, ..ALL });
    }
}

/// Code that goes straight on: each event at a site of its own, most of them at addresses that were not used before.
fn straight() -> Trace {
    let mut builder = Builder::new();
    let threads = ["T1", "T2"].map(|name| builder.thread(name).unwrap());
    let lock = builder.lock("14317").unwrap();
    let mut variables = Vec::new();
    for i in 0..700_u64 {
        let site = builder.site(&i.to_string()).unwrap();
        if i % 5 > 0 || variables.is_empty() {
            let address = (2428 + i / 9) << 32 | if i % 11 == 0 { 7 } else { 3000 + i };
            variables.push(builder.variable(&address.to_string()).unwrap());
        }
        let x = variables[variables.len() - 1 - if i % 5 == 0 { i as usize % variables.len() } else { 0 }];
        let op = match i % 50 {
            20 => Op::Acquire(lock),
            30 => Op::Release(lock),
            _ if i % 3 == 0 => Op::Write(x),
            _ => Op::Read(x),
        };
        builder.push(Event { thread: threads[i as usize / 50 % 2], op, site }, EventValues::NONE).unwrap();
    }
    builder.finish().unwrap()
}

/// Written from [`straight`] in blocks of 400 events, packed.
const STRAIGHT: &[u8] = include_bytes!("../../../tests/data/version-1-straight.rw");

#[test]
fn a_stored_file_with_related_entries_and_groups_of_names_is_still_read() {
    let (trace, stored) = (straight(), finish(read(STRAIGHT, 1).unwrap()));
    assert_eq!(listing(&stored, stored.len()), listing(&trace, trace.len()));
    check_round_trip(&trace, 400);
    // It is what it is made for: far shorter than plain columns and names.
    assert!(STRAIGHT.len() < 2 * trace.len(), "{}", STRAIGHT.len());
}

/// A trace each of whose sites but the first has a stable name.
fn with_stable_names(sites: u64) -> Trace {
    let mut builder = Builder::new();
    let (thread, x) = (builder.thread("T").unwrap(), builder.variable("x").unwrap());
    for i in 0..sites {
        let site = builder.site(&format!("f a.c:{i}")).unwrap();
        if i > 0 {
            builder.stable_site(site, &format!("f a.c+{}", i / 2)).unwrap();
        }
        builder.push(Event { thread, op: Op::Write(x), site }, EventValues::NONE).unwrap();
    }
    builder.finish().unwrap()
}

#[test]
fn stable_names_of_sites_survive_in_one_part_or_more() {
    for sites in [1, 2, 9, MAX_EVENTS as u64 + 7] {
        let trace = with_stable_names(sites);
        let bytes = crate::save_bytes(&trace, crate::Format::Rw).unwrap();
        let parts = scan::scan(&bytes).unwrap().sites;
        assert_eq!(parts.len() as u64, (sites - 1).div_ceil(MAX_EVENTS as u64));
        let stored = finish(read(&bytes, 1).unwrap());
        assert!(stored.names().stable.iter().eq(trace.names().stable.iter()));
        let sizes = sizes(&bytes).unwrap();
        assert_eq!(sizes.iter().map(|(_, bytes)| bytes).sum::<u64>(), bytes.len() as u64);
        assert_eq!(sizes.iter().any(|(name, _)| *name == "stable names"), sites > 1);
    }
}

#[test]
fn stable_names_that_make_no_sense_are_refused() {
    let bytes = crate::save_bytes(&with_stable_names(3), crate::Format::Rw).unwrap();
    let part = scan::scan(&bytes).unwrap().sites[0];
    let start = part.at + reweave_wire::CHUNK_BYTES;
    let end = start + part.head.payload as usize;
    let text = String::from_utf8(bytes[start..end].to_vec()).unwrap();
    assert_eq!(text, "1 f a.c+0\n2 f a.c+1\n");
    for (wrong, what) in [
        ("1 f a.c+0\n9 f a.c+1\n", "never defined"),
        ("1 f a.c+0\nx f a.c+1\n", "a site has no number"),
        ("1 f a.c+0\n2_f_a.c+1\n", "a site has none"),
        ("1 f a.c+0 2 f a.c+1\n", "their number is wrong"),
    ] {
        let mut other = bytes.clone();
        other[start..end].copy_from_slice(wrong.as_bytes());
        let head = reweave_wire::Chunk { payload_crc: reweave_wire::crc(wrong.as_bytes()), ..part.head };
        other[part.at..start].copy_from_slice(&head.encode());
        let message = read(&other, 1).unwrap_err().message;
        assert!(message.contains(what), "{wrong:?}: {message}");
    }
}
