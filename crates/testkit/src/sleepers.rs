//! Random small programs of threads that wait for each other, and a run of each.
//!
//! Unlike [`generate`](crate::generate()), which takes every turn at random, threads here follow scripts that people write:
//! sections, waits inside of sections, notifications before, inside and after sections. So there is often a schedule in
//! which somebody sleeps for ever.

use std::fmt::Write;

use reweave_trace::Trace;

use crate::{Rng, parse};

/// A thread: its script, and what it waits for.
struct Thread {
    script: Vec<String>,
    next: usize,
    /// The condition variable that it waits for since it has started to.
    waits: Option<String>,
}

/// The trace of a random program; `values` gives its accesses values.
pub fn sleepers(seed: u64, values: bool) -> Trace {
    let mut rng = Rng::new(seed);
    let mut text = String::from("#! capabilities: branches");
    text.push_str(if values { " values\n" } else { "\n" });
    let count = rng.within((2, 3));
    let ends = rng.chance(50);
    let mut threads: Vec<Thread> = vec![main(count, &mut rng)];
    threads.extend((0..count).map(|_| Thread { script: script(&mut rng), next: 0, waits: None }));
    if ends {
        threads.iter_mut().for_each(|thread| thread.script.push("end".to_owned()));
    }
    run(&mut threads, values, &mut rng, &mut text);
    parse(&text).unwrap_or_else(|error| panic!("seed {seed} is not well formed: {error}\n{text}"))
}

fn main(count: usize, rng: &mut Rng) -> Thread {
    let mut script: Vec<String> = (1..=count).map(|thread| format!("fork(T{thread})")).collect();
    if rng.chance(70) {
        script.extend((1..=count).map(|thread| format!("join(T{thread})")));
    }
    Thread { script, next: 0, waits: None }
}

fn script(rng: &mut Rng) -> Vec<String> {
    let mut script = Vec::new();
    for _ in 0..rng.within((1, 2)) {
        let inner = match rng.below(8) {
            0..=2 => wait(rng),
            3..=5 => {
                vec![format!("{}(c{})", if rng.chance(70) { "notify" } else { "notifyall" }, rng.below(2))]
            }
            6 if rng.chance(50) => vec![format!("r(x{})", rng.below(2))],
            6 => vec![format!("r(x{})", rng.below(2)), "br".to_owned()],
            _ => vec![format!("w(x{})", rng.below(2))],
        };
        let short = inner.len() == 1;
        match rng.below(4) {
            0 => script.extend(inner),
            1 | 2 if short => script.extend(inside(rng, Vec::new()).into_iter().chain(inner)),
            _ => script.extend(inside(rng, inner)),
        }
    }
    script
}

/// The steps inside of a section on one of the outer locks.
fn inside(rng: &mut Rng, steps: Vec<String>) -> Vec<String> {
    let lock = usize::from(rng.chance(25));
    let mut section = vec![format!("acq(a{lock})")];
    section.extend(steps);
    section.push(format!("rel(a{lock})"));
    section
}

fn wait(rng: &mut Rng) -> Vec<String> {
    let condition = rng.below(2);
    let mut steps = vec![format!("acq(m{condition})")];
    if rng.chance(40) {
        steps.extend([format!("r(x{})", rng.below(2)), "br".to_owned()]);
    }
    steps.extend(["rel", "wait", "acq", "rel"].map(|op| match op {
        "wait" => format!("wait(c{condition})"),
        _ => format!("{op}(m{condition})"),
    }));
    steps
}

/// Takes turns at random until nobody can go on.
fn run(threads: &mut [Thread], values: bool, rng: &mut Rng, text: &mut String) {
    let mut memory = [0_usize; 2];
    let mut held: Vec<(String, usize)> = Vec::new();
    let mut forked = vec![false; threads.len()];
    forked[0] = true;
    loop {
        let can_go_on = |&thread: &usize| {
            let Some(op) = threads[thread].script.get(threads[thread].next) else { return false };
            let target = op.split(['(', ')']).nth(1).unwrap_or_default();
            let number = || target[1..].parse::<usize>().unwrap_or(0);
            forked[thread]
                && match op.split('(').next() {
                    Some("acq") => !held.iter().any(|(lock, _)| lock == target),
                    Some("wait") => threads[thread].waits.is_none(),
                    Some("join") => threads[number()].next == threads[number()].script.len(),
                    _ => true,
                }
        };
        let ready: Vec<usize> = (0..threads.len()).filter(can_go_on).collect();
        let Some(thread) = rng.pick(&ready) else { return };
        let op = threads[thread].script[threads[thread].next].clone();
        threads[thread].next += 1;
        let target = op.split(['(', ')']).nth(1).unwrap_or_default().to_owned();
        let mut value = String::new();
        match op.split('(').next() {
            Some("acq") => held.push((target, thread)),
            Some("rel") => {
                held.retain(|(lock, _)| *lock != target);
                let next = threads[thread].script.get(threads[thread].next);
                threads[thread].waits = next.and_then(|next| next.strip_prefix("wait")).map(str::to_owned);
            }
            Some("fork") => forked[target[1..].parse::<usize>().unwrap_or(0)] = true,
            Some(kind @ ("notify" | "notifyall")) => notify(threads, &target, kind == "notifyall", rng),
            Some(kind @ ("r" | "w")) => {
                let cell = &mut memory[usize::from(target == "x1")];
                *cell = if kind == "w" { rng.below(2) } else { *cell };
                value = format!("|{cell}");
            }
            _ => {}
        }
        let value = if values { value.as_str() } else { "" };
        let _ = writeln!(text, "T{thread}|{op}|{}{value}", text.len());
    }
}

fn notify(threads: &mut [Thread], condition: &str, all: bool, rng: &mut Rng) {
    let waits = |thread: &Thread| thread.waits.as_deref() == Some(&format!("({condition})"));
    let waiting: Vec<usize> = (0..threads.len()).filter(|&thread| waits(&threads[thread])).collect();
    let woken = if all { waiting } else { rng.pick(&waiting).into_iter().collect() };
    woken.into_iter().for_each(|thread| threads[thread].waits = None);
}
