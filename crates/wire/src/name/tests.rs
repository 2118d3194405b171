//! Groups of names, and what must not be taken for one.

extern crate std;

use std::vec;
use std::vec::Vec;

use super::*;
use crate::{Damaged, MIN_BUFFER_BYTES};

fn written(names: &[(Space, Name<'_>)]) -> Vec<u8> {
    let mut lanes = Lanes::new(vec![0; MIN_BUFFER_BYTES]);
    let mut encoder = NameEncoder::new();
    for (space, name) in names {
        assert!(encoder.bound(name) < lanes.room_for_names());
        let before = lanes.room_for_names() - encoder.bound(name);
        encoder.put(&mut lanes, *space, name);
        // What was promised is enough for whatever is still to be written.
        assert!(before <= lanes.room_for_names());
    }
    encoder.flush(&mut lanes);
    lanes.each()[Lane::Names as usize].to_vec()
}

type Names = Vec<(Space, Option<u64>)>;

/// The names, each way that they can be read.
fn read(stream: &[u8], count: usize) -> [Result<Names, Damaged>; 2] {
    let one_by_one = || {
        let (mut reader, mut names) = (NameReader::new(stream, count), Vec::new());
        while let Some((space, name)) = reader.next_name()? {
            names.push((space, name.number));
        }
        Ok(names)
    };
    let together = || {
        let (mut reader, mut names, mut room) = (NameReader::new(stream, count), Vec::new(), [0; 700]);
        loop {
            let (space, some) = reader.numbers(&mut room);
            names.extend(room[..some].iter().map(|&number| (space, Some(number))));
            if some > 0 {
                continue;
            }
            let Some((space, name, more)) = reader.next_run()? else { return Ok(names) };
            names.extend((0..=u64::from(more)).map(|i| (space, name.number.map(|number| number + i))));
        }
    };
    [one_by_one(), together()]
}

#[test]
fn groups_survive_in_every_length_and_company() {
    let mut draw = 5_u64;
    let mut below = |limit: u64| {
        draw = draw.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (draw >> 33) % limit
    };
    for case in 0..200 {
        let mut names = Vec::new();
        let mut last = 0_u64;
        for _ in 0..[1, 63, 64, 65, 255, 256, 257, 900][case % 8] {
            last = match below(5) {
                0 => below(1 << 31) << 33 | below(1 << 31),
                1 => last.wrapping_sub(below(1 << 20)),
                2 => u64::MAX - below(3),
                _ => last.wrapping_add(1),
            };
            let stem: &[u8] = if case % 3 == 0 && below(300) == 0 { b"x" } else { b"" };
            let space = if case % 2 == 0 || below(2) == 0 { Space::Variable } else { Space::Site };
            names.push((space, Name { shared: &[], rest: stem, number: Some(last) }));
        }
        let stream = written(&names);
        for again in read(&stream, names.len()).map(Result::unwrap) {
            for space in [Space::Variable, Space::Site] {
                let given = names.iter().filter(|name| name.0 == space).map(|name| name.1.number);
                assert!(given.eq(again.iter().filter(|name| name.0 == space).map(|name| name.1)), "{case}");
            }
        }
        for count in [names.len() - 1, names.len() + 1] {
            assert!(read(&stream, count).iter().all(Result::is_err), "{case}");
        }
        for cut in (0..stream.len()).step_by(7) {
            assert!(read(&stream[..cut], names.len()).iter().all(Result::is_err), "{case}, {cut}");
        }
    }
}

#[test]
fn a_group_that_makes_no_sense_is_refused() {
    let names: Vec<_> = (1..65).map(|i| (Space::Variable, Name::number((i * i) << 31))).collect();
    let good = written(&names);
    assert_eq!(good[..3], [tag::SPACE + Space::Variable as u8, tag::GROUP, 63]);
    assert!(read(&good, 64).iter().all(Result::is_ok));
    // Columns with widths that there are not, or related to something.
    for byte in [33, 63, 64, 64 | good[3], 255] {
        let mut bad = good.clone();
        bad[3] = byte;
        assert!(read(&bad, 64).iter().all(Result::is_err), "{byte}");
    }
}
