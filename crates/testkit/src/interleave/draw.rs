//! Random small programs.

use super::{Called, Instr, OBJECTS, REGISTERS, Small};
use crate::Rng;

/// What random programs are made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flavour {
    /// Memory and branches on what was read.
    Memory,
    /// Locks of both kinds, tries, and memory.
    Locks,
    /// Condition variables, semaphores, barriers, parking.
    Waits,
    /// Channels and one-time initialisation.
    Messages,
    /// Threads that are started depending on results, and exits with threads alive.
    Lives,
    /// Calls on a set and a counter, and memory.
    Calls,
    /// All of it.
    Mixed,
}

impl Flavour {
    /// All of them.
    pub const ALL: [Flavour; 7] = [
        Flavour::Memory,
        Flavour::Locks,
        Flavour::Waits,
        Flavour::Messages,
        Flavour::Lives,
        Flavour::Calls,
        Flavour::Mixed,
    ];
}

/// A random program.
pub fn draw(rng: &mut Rng, flavour: Flavour) -> Small {
    let workers = rng.within((2, 3));
    let mut threads = vec![Vec::new(); workers + 1];
    for (index, body) in threads.iter_mut().enumerate().skip(1) {
        let length = rng.within((1, if workers == 2 { 5 } else { 3 }));
        for _ in 0..length {
            piece(rng, flavour, index, workers, body, 0);
        }
    }
    threads[0] = main(rng, flavour, workers);
    Small { threads, unasked: rng.chance(40), same: false }
}

/// A random program whose threads, but for the first, are alike.
pub fn draw_same(rng: &mut Rng, flavour: Flavour) -> Small {
    let workers = rng.within((2, 4));
    let mut body = Vec::new();
    for _ in 0..rng.within((1, if workers < 4 { 3 } else { 2 })) {
        piece(rng, flavour, 1, workers, &mut body, 0);
    }
    let mut first: Vec<Instr> = (1..=workers).map(|thread| Instr::Spawn { thread }).collect();
    if rng.chance(40) {
        piece(rng, flavour, 0, workers, &mut first, 0);
    }
    match rng.below(3) {
        0 => first.push(Instr::JoinAll),
        // One after the other, with something to see in between.
        1 => {
            first.push(Instr::Join { thread: 1 });
            first.push(Instr::Store { cell: 0, value: 1, plain: false });
            first.extend((2..=workers).map(|thread| Instr::Join { thread }));
        }
        _ => {}
    }
    let mut threads = vec![body; workers + 1];
    threads[0] = first;
    Small { threads, unasked: rng.chance(40), same: true }
}

fn main(rng: &mut Rng, flavour: Flavour, workers: usize) -> Vec<Instr> {
    let mut body = Vec::new();
    let lives = matches!(flavour, Flavour::Lives | Flavour::Mixed);
    for thread in 1..=workers {
        if lives && rng.chance(30) {
            body.push(Instr::Load { reg: 0, cell: rng.below(2), plain: false });
            body.push(Instr::SkipIf { reg: 0, value: rng.below(2) as u64, count: 1 });
        }
        body.push(Instr::Spawn { thread });
    }
    if rng.chance(50) {
        piece(rng, flavour, 0, workers, &mut body, 0);
    }
    // A thread that may not have been started cannot be joined.
    if !lives {
        let joined = rng.within((0, workers));
        body.extend((1..=joined).map(|thread| Instr::Join { thread }));
    }
    if rng.chance(30) {
        body.push(Instr::Load { reg: 0, cell: rng.below(2), plain: rng.chance(20) });
        body.push(Instr::SkipIf { reg: 0, value: rng.below(3) as u64, count: 1 });
        body.push(Instr::Fail { site: 99 });
    }
    if lives && rng.chance(60) {
        body.push(Instr::Exit { code: rng.below(2) as i32 });
    }
    body
}

/// One instruction, or a few that belong together.
fn piece(
    rng: &mut Rng,
    flavour: Flavour,
    thread: usize,
    workers: usize,
    body: &mut Vec<Instr>,
    depth: usize,
) {
    let kind = match flavour {
        Flavour::Memory | Flavour::Lives => rng.below(8),
        Flavour::Locks => rng.below(13),
        Flavour::Waits => [0, 1, 6, 13, 14, 15, 16, 17, 18, 19][rng.below(10)],
        Flavour::Messages => [0, 1, 6, 7, 20, 21, 22, 23][rng.below(8)],
        Flavour::Calls => [0, 1, 6, 8, 24, 24, 24, 24][rng.below(8)],
        Flavour::Mixed => rng.below(25),
    };
    let reg = rng.below(REGISTERS);
    let cell = rng.below(2);
    let object = rng.below(OBJECTS - 1);
    let value = rng.below(3) as u64;
    match kind {
        0 => body.push(Instr::Load { reg, cell, plain: rng.chance(15) }),
        1 => body.push(Instr::Store { cell, value, plain: rng.chance(15) }),
        2 => body.push(Instr::Add { reg, cell, by: 1 }),
        3 => body.push(Instr::Swap { reg, cell, value }),
        4 => body.push(Instr::Cas {
            reg,
            cell,
            expected: value,
            new: rng.below(3) as u64,
            weak: rng.chance(30),
        }),
        5 => body.push(Instr::Choose { reg, among: 2 }),
        6 => {
            body.push(Instr::SkipIf { reg, value, count: 1 });
            let site = (thread * 100 + body.len()) as u32;
            body.push(if rng.chance(50) {
                Instr::Fail { site }
            } else {
                Instr::Store { cell, value: 1, plain: false }
            });
        }
        7 => body.push(Instr::Spin { cell, value: rng.below(2) as u64 }),
        8..=12 => section(rng, flavour, (thread, workers), body, depth, kind),
        13 | 14 => {
            body.push(Instr::Lock { lock: object });
            body.push(Instr::Wait { reg, condition: object, lock: object, timed: rng.chance(30) });
            body.push(Instr::Unlock { lock: object });
        }
        15 => body.push(Instr::Notify { condition: object, all: rng.chance(30) }),
        16 => body.push(if rng.chance(30) {
            Instr::TryDown { reg, semaphore: object }
        } else {
            Instr::Down { semaphore: object }
        }),
        17 => body.push(Instr::Up { semaphore: object }),
        18 => body.push(Instr::Barrier { reg, barrier: object, size: rng.within((2, 3)) }),
        19 => body.push(if rng.chance(50) {
            Instr::Park
        } else {
            Instr::Unpark { thread: rng.within((0, workers)) }
        }),
        20 => {
            let mut inside = Vec::new();
            if depth == 0 {
                piece(rng, flavour, thread, workers, &mut inside, 1);
            }
            body.push(Instr::OnceBegin { reg, once: object });
            body.push(Instr::SkipIf { reg, value: 0, count: inside.len() + 1 });
            body.extend(inside);
            body.push(Instr::OnceEnd { once: object });
        }
        21 | 22 => body.push(if rng.chance(70) {
            Instr::Send { channel: object, value }
        } else {
            Instr::TrySend { reg, channel: object, value }
        }),
        24 => {
            let called = [
                Called::Add(value),
                Called::Remove(value),
                Called::Has(value),
                Called::Size,
                Called::Inc,
                Called::Inc,
                Called::Get,
                Called::Up,
                Called::Down,
                Called::Down,
            ];
            body.push(Instr::Call { reg, called: called[rng.below(10)] });
        }
        _ => body.push(if rng.chance(70) {
            Instr::Receive { reg, channel: object }
        } else {
            Instr::TryReceive { reg, channel: object }
        }),
    }
}

/// A critical section.
fn section(
    rng: &mut Rng,
    flavour: Flavour,
    who: (usize, usize),
    body: &mut Vec<Instr>,
    depth: usize,
    kind: usize,
) {
    let lock = rng.below(OBJECTS - 1);
    let reg = rng.below(REGISTERS);
    let mut inside = Vec::new();
    if depth < 2 {
        piece(rng, flavour, who.0, who.1, &mut inside, depth + 1);
    }
    let (begin, end) = match kind {
        8 | 9 => (Instr::Lock { lock }, Instr::Unlock { lock }),
        10 => (Instr::TryLock { reg, lock }, Instr::Unlock { lock }),
        11 if rng.chance(70) => (Instr::Read { lock }, Instr::ReadEnd { lock }),
        11 => (Instr::TryRead { reg, lock }, Instr::ReadEnd { lock }),
        _ if rng.chance(70) => (Instr::Write { lock }, Instr::WriteEnd { lock }),
        _ => (Instr::TryWrite { reg, lock }, Instr::WriteEnd { lock }),
    };
    let downgrades = matches!(end, Instr::WriteEnd { .. }) && rng.chance(40);
    body.push(begin);
    if matches!(begin, Instr::TryLock { .. } | Instr::TryRead { .. } | Instr::TryWrite { .. }) {
        let count = if downgrades { 2 } else { 1 };
        body.push(Instr::SkipIf { reg, value: 1, count: inside.len() + count });
    }
    body.extend(inside);
    if downgrades {
        body.extend([Instr::Downgrade { lock }, Instr::ReadEnd { lock }]);
    } else {
        body.push(end);
    }
}
