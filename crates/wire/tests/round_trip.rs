//! Blocks there and back, against the events and names that went in.

use reweave_wire::{
    Block, CHUNK_BYTES, Chunk, Codec, Columns, Decoder, Encoder, Event, Full, MAX_EVENTS, MIN_BUFFER_BYTES,
    Name, Op, SPACES, Space, Value, crc,
};

struct Random(u64);

impl Random {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) % limit
    }

    /// Mostly small, sometimes anything.
    fn id(&mut self) -> u32 {
        match self.below(20) {
            0 => self.below(u64::from(u32::MAX)) as u32,
            1..5 => self.below(5000) as u32,
            _ => self.below(12) as u32,
        }
    }

    fn value(&mut self) -> Value {
        match self.below(5) {
            0 => Value::Absent,
            1 => Value::Text(self.id()),
            2 => Value::Number(self.below(u64::MAX)),
            _ => Value::Number(self.below(4)),
        }
    }

    fn event(&mut self, values: bool) -> Event {
        let op = Op::ALL[self.below(Op::ALL.len() as u64) as usize];
        let mut event = Event {
            thread: self.id(),
            op,
            target: if op.space().is_some() { self.id() } else { 0 },
            site: self.id(),
            read: Value::Absent,
            written: Value::Absent,
        };
        if values && op.carries_read() {
            event.read = self.value();
        }
        if values && op.carries_written() {
            event.written = self.value();
        }
        event
    }
}

/// The text of a name, or of the one that comes so many later in its run.
fn spelled(name: &Name<'_>, turn: u32) -> Vec<u8> {
    let mut text = [name.shared, name.rest].concat();
    let number = name.number.map(|number| number + u64::from(turn));
    text.extend(number.map(|number| number.to_string()).unwrap_or_default().bytes());
    text
}

/// The names of `block`, numbers together wherever they can be had together.
fn together(block: &Block<'_>) -> Vec<(Space, Vec<u8>)> {
    let (mut reader, mut names, mut numbers) = (block.names(), Vec::new(), [0; 100]);
    loop {
        let (space, count) = reader.numbers(&mut numbers);
        names.extend(numbers[..count].iter().map(|number| (space, number.to_string().into_bytes())));
        if count == 0 {
            let Some((space, name, more)) = reader.next_run().unwrap() else { return names };
            names.extend((0..=more).map(|turn| (space, spelled(&name, turn))));
        }
    }
}

/// The events and names in the blocks of `bytes`.
fn decode(bytes: &[u8]) -> (Vec<Event>, Vec<(Space, Vec<u8>)>) {
    let (mut events, mut names, mut rest) = (Vec::new(), Vec::new(), bytes);
    let mut decoder = Box::<Decoder>::default();
    while let Some((head, after)) = rest.split_first_chunk::<CHUNK_BYTES>() {
        let head = Chunk::decode(head).unwrap();
        let (payload, after) = after.split_at(head.payload as usize);
        assert_eq!(crc(payload), head.payload_crc);
        assert_eq!(head.first_event, events.len() as u64);
        let block = Block::new(&head, payload).unwrap();
        let n = block.events();
        let (mut ops, mut threads, mut targets, mut sites) =
            (vec![Op::Skip; n], vec![0; n], vec![0; n], vec![0; n]);
        let mut columns =
            Columns { ops: &mut ops, threads: &mut threads, targets: &mut targets, sites: &mut sites };
        decoder.events(&block, &mut columns).unwrap();
        let mut values = Vec::new();
        decoder.values(&block, &columns, &mut |op, read, written| values.push((op, read, written))).unwrap();
        assert_eq!(values.len(), n);
        for (i, (op, read, written)) in values.into_iter().enumerate() {
            assert_eq!(op, ops[i]);
            events.push(Event { thread: threads[i], op, target: targets[i], site: sites[i], read, written });
        }
        let (mut reader, before) = (block.names(), names.len());
        while let Some((space, name)) = reader.next_name().unwrap() {
            names.push((space, spelled(&name, 0)));
        }
        let (mut reader, mut runs) = (block.names(), Vec::new());
        while let Some((space, name, more)) = reader.next_run().unwrap() {
            runs.extend((0..=more).map(|turn| (space, spelled(&name, turn))));
        }
        assert!(runs == names[before..], "names that come in runs are the names one by one");
        assert!(together(&block) == runs, "numbers that come together are the names one by one");
        rest = after;
    }
    assert!(rest.is_empty());
    (events, names)
}

#[test]
fn random_events_survive_whatever_the_predictions() {
    for seed in 1..40 {
        let mut random = Random(seed * 0x9E37_79B9);
        let mut encoder = Encoder::new(vec![0; MIN_BUFFER_BYTES]);
        encoder.choose([None, Some(Codec::Packed), Some(Codec::Predicted)][seed as usize / 3 % 3]);
        let (mut bytes, mut given) = (Vec::new(), Vec::new());
        let mut loop_body: Vec<Event> = Vec::new();
        let count = [10, 3000, 40_000][seed as usize % 3];
        while given.len() < count {
            // Loops make predictions come true, and changing them makes them fail in every combination.
            if loop_body.is_empty() || random.below(6) == 0 {
                loop_body = (0..1 + random.below(8)).map(|_| random.event(seed % 2 == 0)).collect();
            }
            for event in &mut loop_body {
                if event.op.space().is_some() {
                    event.target = event.target.wrapping_add(random.below(2) as u32);
                }
                if encoder.event(event).is_err() {
                    encoder.close(&mut |part| bytes.extend_from_slice(part));
                    if random.below(3) == 0 {
                        encoder.choose([None, Some(Codec::Packed)][random.below(2) as usize]);
                    }
                    encoder.event(event).unwrap();
                }
                given.push(*event);
            }
        }
        encoder.close(&mut |part| bytes.extend_from_slice(part));
        assert!(decode(&bytes).0 == given, "seed {seed}");
    }
}

/// Each event has a site of its own, but for some; so each of its other fields is found in every way that there is.
#[test]
fn straight_code_survives_with_old_and_new_targets() {
    for seed in 1..60 {
        let mut random = Random(seed * 0x9E37_79B9);
        let mut encoder = Encoder::new(vec![0; MIN_BUFFER_BYTES]);
        encoder.choose(Some([Codec::Predicted, Codec::Packed][seed as usize / 30]));
        let (mut bytes, mut given) = (Vec::new(), Vec::new());
        let (mut site, mut new, mut last) = (0, 0, Event { thread: 0, op: Op::Read, ..random.event(false) });
        while given.len() < 20_000 {
            let old = random.below(200) == 0;
            let op =
                if random.below(3) > 0 { last.op } else { [Op::Read, Op::Write][random.below(2) as usize] };
            let op = if random.below(50) == 0 { Op::ALL[random.below(25) as usize] } else { op };
            let target = match random.below(8) {
                0 => last.target,
                1 => random.below(u64::from(new) + 1) as u32,
                2 => (new + 20_000 * random.below(4) as u32).wrapping_sub(random.below(3 << 20) as u32),
                _ => new,
            };
            let target = if op.space().is_some() { target } else { 0 };
            let thread = if random.below(40) == 0 { random.below(4) as u32 } else { last.thread };
            let here = if old { random.below(u64::from(site) + 9) as u32 } else { site };
            last = Event { thread, op, target, site: here, read: Value::Absent, written: Value::Absent };
            (site, new) = (site + u32::from(!old), new + u32::from(target == new));
            if encoder.event(&last).is_err() {
                encoder.close(&mut |part| bytes.extend_from_slice(part));
                encoder.event(&last).unwrap();
            }
            given.push(last);
        }
        encoder.close(&mut |part| bytes.extend_from_slice(part));
        assert!(decode(&bytes).0 == given, "seed {seed}");
    }
}

/// The encoder takes each event by itself; the decoder takes whole turns of a loop at once.
#[test]
fn loops_survive_with_new_targets_jumps_and_changes_of_thread() {
    for seed in 1..120 {
        let mut random = Random(seed * 0x9E37_79B9);
        let mut encoder = Encoder::new(vec![0; MIN_BUFFER_BYTES]);
        encoder.choose(Some(Codec::Predicted));
        let (body, threads) = (1 + random.below(60) as u32, 1 + random.below(3) as u32);
        let stray = [u64::MAX, 3000, 300][random.below(3) as usize];
        let kinds: Vec<(Op, u32)> = (0..body)
            .map(|_| {
                let op = [Op::Read, Op::Write, Op::Acquire, Op::Branch][random.below(4) as usize];
                (op, [0, 0, 1, 1, 1, 7, u32::MAX][random.below(7) as usize])
            })
            .collect();
        let (mut bytes, mut given, mut thread) = (Vec::new(), Vec::new(), 0);
        for turn in 0..20_000 / body {
            thread = if random.below(7) == 0 { random.below(u64::from(threads)) as u32 } else { thread };
            for (site, &(op, stride)) in kinds.iter().enumerate() {
                let target = (thread * 100).wrapping_add((turn % 150).wrapping_mul(stride));
                let lost = random.below(stray) == 0;
                let event = Event {
                    thread,
                    op,
                    target: if op.space().is_none() { 0 } else { target },
                    site: if lost { random.below(90) as u32 } else { site as u32 },
                    read: Value::Absent,
                    written: Value::Absent,
                };
                encoder.event(&event).unwrap();
                given.push(event);
            }
        }
        encoder.close(&mut |part| bytes.extend_from_slice(part));
        assert!(decode(&bytes).0 == given, "seed {seed}");
    }
}

#[test]
fn packed_groups_of_every_length_and_sort_of_value_survive() {
    for count in [0, 1, 2, 255, 256, 257, 511, 512, 1000] {
        for sort in 0..6 {
            let mut random = Random(count * 7 + sort + 1);
            let mut encoder = Encoder::new(vec![0; MIN_BUFFER_BYTES]);
            encoder.choose(Some(Codec::Packed));
            let mut given: Vec<Event> = (0..count).map(|_| random.event(false)).collect();
            for event in &mut given {
                let mut value = || match sort {
                    0 => Value::Absent,
                    1 => Value::Number(random.below(200)),
                    2 => Value::Number(u64::MAX - random.below(2) * (u64::MAX - 1)),
                    3 => Value::Text(random.id()),
                    4 if random.below(100) > 0 => Value::Number(1 << 40 | random.below(200)),
                    _ => random.value(),
                };
                event.read = if event.op.carries_read() { value() } else { Value::Absent };
                event.written = if event.op.carries_written() { value() } else { Value::Absent };
            }
            given.iter().for_each(|event| encoder.event(event).unwrap());
            let mut bytes = Vec::new();
            encoder.close(&mut |part| bytes.extend_from_slice(part));
            assert_eq!(bytes[1], Codec::Packed as u8);
            assert!(decode(&bytes).0 == given, "{count} events, values of sort {sort}");
        }
    }
}

#[test]
fn random_names_survive_in_order() {
    let mut random = Random(11);
    let mut encoder = Encoder::new(vec![0; MIN_BUFFER_BYTES]);
    let (mut bytes, mut given) = (Vec::new(), vec![Vec::new(); SPACES]);
    for i in 0..30_000u64 {
        let space = Space::ALL[if random.below(2) == 0 { 6 } else { random.below(8) as usize }];
        let name = match random.below(9) {
            0 => format!("{}", random.below(u64::MAX)),
            1 => format!("{}", (random.below(20) << 32) + i),
            2 => format!("{}{}", "stem".repeat(random.below(130) as usize), random.below(100)),
            3 => format!("{}é", random.below(1000)),
            4 => "0".repeat(random.below(30) as usize),
            5 => format!("1844674407370955161{}", random.below(10)),
            _ => format!("{i}"),
        };
        let id = encoder.define(space, name.as_bytes()).or_else(|Full| {
            encoder.close(&mut |part| bytes.extend_from_slice(part));
            encoder.define(space, name.as_bytes())
        });
        assert_eq!(id.unwrap() as usize, given[space as usize].len());
        given[space as usize].push(name.into_bytes());
    }
    encoder.close(&mut |part| bytes.extend_from_slice(part));
    let mut read = vec![Vec::new(); SPACES];
    decode(&bytes).1.into_iter().for_each(|(space, name)| read[space as usize].push(name));
    assert!(read == given);
}

#[test]
fn a_block_takes_no_more_than_its_events_and_a_small_buffer_none() {
    let event = Random(3).event(false);
    let mut encoder = Encoder::new(vec![0; MIN_BUFFER_BYTES]);
    for _ in 0..MAX_EVENTS {
        encoder.event(&event).unwrap();
    }
    assert_eq!(encoder.event(&event), Err(Full));
    assert_eq!(encoder.close(&mut |_| {}).events as usize, MAX_EVENTS);
    assert_eq!(encoder.event(&event), Ok(()));

    let mut small = Encoder::new([0u8; 1000]);
    assert_eq!(small.event(&event), Err(Full));
    assert_eq!(small.define(Space::Site, b"s"), Err(Full));
}

#[test]
fn the_longest_name_fits_the_smallest_buffer() {
    let name = vec![b'x'; reweave_wire::MAX_NAME_BYTES];
    let mut encoder = Encoder::new(vec![0; MIN_BUFFER_BYTES]);
    assert_eq!(encoder.define(Space::Site, &name), Ok(0));
    let mut bytes = Vec::new();
    encoder.close(&mut |part| bytes.extend_from_slice(part));
    assert!(decode(&bytes).1 == [(Space::Site, name)]);
}
