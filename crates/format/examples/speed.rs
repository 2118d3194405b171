//! How fast STD text is read, compared with a straightforward reader: `cargo run --release --example speed [lines [case]]`.

use std::collections::HashMap;
use std::fmt::Write;
use std::io::BufRead;
use std::time::Instant;

use reweave_format::{LoadOptions, load_bytes};

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let lines = arguments.get(1).and_then(|lines| lines.parse().ok()).unwrap_or(4_000_000);
    let wanted = |name: &str| arguments.get(2).is_none_or(|only| name.contains(only.as_str()));
    for (name, text) in [("repeating", repeating(lines)), ("distinct", distinct(lines))] {
        let mut naive_seconds = f64::NAN;
        let show = |what: String, seconds: f64, naive: f64| {
            let (each, ratio) = (seconds * 1e9 / lines as f64, naive / seconds);
            println!("{what:24} {seconds:7.3} s {each:8.1} ns a line {ratio:6.1} times as fast");
        };
        if wanted(&format!("{name} naive")) {
            naive_seconds = best(|| naive(text.as_bytes()));
            show(format!("{name}, straightforward"), naive_seconds, naive_seconds);
        }
        for jobs in [1, 2] {
            if !wanted(&format!("{name} {jobs}")) {
                continue;
            }
            let options = LoadOptions { jobs, ..LoadOptions::default() };
            let seconds = best(|| match load_bytes("t.std", text.as_bytes(), &options) {
                Ok(loaded) => loaded.trace.len(),
                Err(error) => panic!("{error}"),
            });
            show(format!("{name}, {jobs} jobs"), seconds, naive_seconds);
        }
    }
}

/// The least of a few runs, in seconds.
fn best(mut run: impl FnMut() -> usize) -> f64 {
    (0..5)
        .map(|_| {
            let start = Instant::now();
            assert!(run() > 0);
            start.elapsed().as_secs_f64()
        })
        .fold(f64::INFINITY, f64::min)
}

/// What a generator or a loop gives: few threads, variables and sites.
fn repeating(lines: usize) -> String {
    let mut text = String::new();
    let mut state = 1_u64;
    let mut next = |below: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % below
    };
    for _ in 0..lines {
        let op = if next(3) == 0 { 'w' } else { 'r' };
        let _ = writeln!(text, "T{}|{op}(V{})|{}", next(8), next(1000), next(500));
    }
    text
}

/// What recorders of single instructions give: a site for each event, and many variables.
fn distinct(lines: usize) -> String {
    let mut text = String::new();
    let mut state = 1_u64;
    for line in 0..lines {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let op = if state >> 62 == 0 { 'w' } else { 'r' };
        let variable = 10_428_180_597_117 + (state >> 33) % (lines as u64 / 2);
        let _ = writeln!(text, "T{}|{op}({variable})|{line}", 2400 + (state >> 40) % 30);
    }
    text
}

fn naive(text: &[u8]) -> usize {
    let mut tables: [HashMap<String, u32>; 3] = Default::default();
    let mut events = Vec::new();
    let mut id = |table: usize, name: &str| {
        let table: &mut HashMap<String, u32> = &mut tables[table];
        let next = table.len() as u32;
        *table.entry(name.to_owned()).or_insert(next)
    };
    for line in text.lines() {
        let line = line.expect("text");
        let fields: Vec<&str> = line.split('|').collect();
        let (op, target) = fields[1].split_once('(').expect("an operation");
        let op = match op {
            "r" => 0_u8,
            "w" => 1,
            _ => panic!("unknown operation"),
        };
        events.push((id(0, fields[0]), op, id(1, target.trim_end_matches(')')), id(2, fields[2])));
    }
    events.len()
}
