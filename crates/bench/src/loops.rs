//! Traces of programs that loop, as most recorded ones do.

use anyhow::Result;
use reweave_trace::{Builder, Event, EventValues, LockId, Op, SiteId, ThreadId, Trace, VarId};

/// How many sites a loop has, and how many elements it goes over.
const BODY: u32 = 40;
const ELEMENTS: u32 = 1000;

/// Threads that go over arrays of their own and now and then update a shared sum under a lock; the number of events is exact.
pub(crate) fn trace(events: u32, threads: u32) -> Result<Trace> {
    let mut builder = Builder::with_capacity(events as usize);
    for thread in 0..threads {
        builder.thread(&format!("T{thread}"))?;
        for element in 0..ELEMENTS {
            builder.variable(&format!("array{thread}.{element}"))?;
        }
    }
    let sum = builder.variable("sum")?;
    builder.lock("m")?;
    for site in 0..threads * BODY {
        builder.site(&format!("loop{}.c:{}", site / BODY, site % BODY))?;
    }
    let mut turns = vec![0u32; threads as usize];
    let mut thread = 0;
    while (builder.len() as u32) < events {
        let turn = &mut turns[thread as usize];
        let element = VarId(thread * ELEMENTS + *turn % ELEMENTS);
        *turn += 1;
        for step in 0..BODY.min(events - builder.len() as u32) {
            let op = match (step, BODY - step) {
                (_, 4) => Op::Acquire(LockId(0)),
                (_, 3) => Op::Read(sum),
                (_, 2) => Op::Write(sum),
                (_, 1) => Op::Release(LockId(0)),
                _ if step % 3 == 2 => Op::Write(element),
                _ => Op::Read(element),
            };
            let site = SiteId(thread * BODY + step);
            builder.push(Event { thread: ThreadId(thread), op, site }, EventValues::NONE)?;
        }
        if turn.is_multiple_of(7) {
            thread = (thread + 1) % threads;
        }
    }
    Ok(builder.finish()?)
}
