//! Input that no one meant to give: always an error with a message, never a panic.

use crate::common::{data, run_with};

/// Garbage of many kinds, from a fixed seed.
fn garbage() -> Vec<Vec<u8>> {
    let mut state = 1_u64;
    let mut next = move || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize
    };
    let pieces: &[&[u8]] = &[
        b"T1",
        b"|",
        b"r(x)",
        b"acq(l)",
        b"\n",
        b"\r\n",
        b"\0",
        b"#!",
        b" capabilities: values",
        b"\xff",
        b"@ ",
        b",",
    ];
    let mut all = vec![
        Vec::new(),
        vec![b'|'; 100_000],
        vec![0; 5000],
        b"\x28\xb5\x2f\xfd".to_vec(),
        b"\x1f\x8b".to_vec(),
    ];
    for _ in 0..12 {
        all.push((0..next() % 60).flat_map(|_| pieces[next() % pieces.len()].iter().copied()).collect());
        all.push((0..next() % 300).map(|_| next() as u8).collect());
    }
    all
}

#[test]
fn a_trace_of_garbage_is_refused_in_every_format() {
    for input in garbage() {
        for format in [
            None,
            Some("std"),
            Some("rapidbin"),
            Some("roadrunner"),
            Some("csv"),
            Some("speedygo"),
            Some("rw"),
        ] {
            for command in [&["stats", "-", "--repair"][..], &["stream", "-"], &["stream", "-", "--repair"]] {
                let named = format.iter().flat_map(|format| ["--format", format]);
                let ran = run_with(command.iter().copied().chain(named), &input);
                let about = || format!("{command:?} {format:?} {input:?}: {:?} {}", ran.code, ran.err);
                assert!(matches!(ran.code, Some(0..=2)), "{}", about());
                assert_eq!(ran.code == Some(2), ran.err.contains("error: "), "{}", about());
            }
        }
    }
}

#[test]
fn a_damaged_binary_trace_is_refused_or_read_in_part() {
    let text = std::fs::read(data("rich.std")).expect("the data");
    let whole = run_with(["convert", "-", "-", "--to", "rw", "--quiet"], &text).exits(0).out;
    for cut in (0..whole.len()).step_by(whole.len() / 20 + 1) {
        let ran = run_with(["validate", "-", "--format", "rw"], &whole[..cut]);
        assert!(matches!(ran.code, Some(0 | 2)), "{cut}: {:?} {}", ran.code, ran.err);
        let ran = run_with(["stream", "-", "--format", "rw"], &whole[..cut]);
        assert!(matches!(ran.code, Some(0..=2)), "{cut}: {:?} {}", ran.code, ran.err);
        let mut flipped = whole.clone();
        flipped[cut] ^= 0x55;
        let ran = run_with(["validate", "-", "--format", "rw"], &flipped);
        assert!(matches!(ran.code, Some(0 | 2)), "{cut}: {:?} {}", ran.code, ran.err);
    }
}

#[test]
fn a_witness_of_garbage_is_refused() {
    for input in garbage() {
        let ran = run_with(["check", "deadlock.std", "-"], &input).exits(2);
        assert!(ran.err.starts_with("error: standard input"), "{}", ran.err);
    }
}
