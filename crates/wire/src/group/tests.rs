//! Groups with fields in relation to others, against what the format's page says of them.

use super::*;

fn read_targets(bytes: &[u8], ops: &[Op], fresh: [u32; SPACES]) -> Option<[u32; 6]> {
    let (mut reader, mut out) = (GroupReader::new(), [0; 6]);
    reader.begin(fresh);
    reader.targets(&mut Input::new(bytes), ops, &mut out)?;
    Some(out)
}

#[test]
fn targets_are_counted_from_the_first_unused_one_of_their_space() {
    let ops = [Op::Read, Op::Acquire, Op::Write, Op::Branch, Op::Read, Op::Release];
    let mut fresh = [9; SPACES];
    (fresh[Space::Variable as usize], fresh[Space::Lock as usize]) = (100, 20);
    // Entries of 2 bits: 0, 1, 3, 0, 0, 2.
    let entries = [0b00_11_01_00, 0b10_00];
    let related = [&[RELATED | 2, 0][..], &entries].concat();
    assert_eq!(read_targets(&related, &ops, fresh), Some([100, 19, 98, 0, 101, 18]));
    let plain = [&[2, 0][..], &entries].concat();
    assert_eq!(read_targets(&plain, &ops, fresh), Some([0, 1, 3, 0, 0, 2]));
    // Beyond the first unused one, by 2 and not at all: the next is counted from behind it.
    let beyond = [&[RELATED | 1, 0xF3, 0xFE, 0xFF, 0xFF, 0xFF][..], &[0]].concat();
    assert_eq!(read_targets(&beyond, &[Op::Read; 6], fresh), Some([102, 105, 108, 111, 114, 117]));
}

#[test]
fn a_run_of_a_thread_beyond_its_group_is_refused() {
    let read = |bytes: &[u8]| {
        let (mut input, mut out) = (Input::new(bytes), [9; 4]);
        GroupReader::new().threads(&mut input, &mut out).map(|()| (out, input.is_empty()))
    };
    assert_eq!(read(&[RELATED, 5, 2, 7, 0]), Some(([5, 5, 5, 7], true)));
    assert_eq!(read(&[RELATED, 5, 3, 7, 0]), Some(([5; 4], false)));
    assert_eq!(read(&[RELATED, 5, 4]), None);
    assert_eq!(read(&[RELATED, 5, 2]), None);
    // Only as runs, and operations not at all.
    assert_eq!(read(&[RELATED | 1, 0, 0]), None);
    let ops = |first| GroupReader::new().ops(&mut Input::new(&[first, 0, 0]), &mut [Op::Skip; 4]);
    assert_eq!((ops(1), ops(RELATED | 1)), (Some(()), None));
}
