//! What a recording says, step by step, without making a trace of it.

use std::path::Path;

use reweave_wire::Op;

use crate::Error;
use crate::raw::{self, Target};

/// One part of a step: what the recorder was told.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Told {
    /// The thread, by its number in the recording.
    pub thread: u32,
    /// The address after the call that told of it; 0 where there is none.
    pub code: u64,
    /// Whether it is a further part of the step before.
    pub part: bool,
    /// What it does.
    pub op: Op,
    /// The thread that it makes or joins.
    pub other: Option<u32>,
    /// The memory, lock or other thing that it concerns; 0 where there is none.
    pub at: u64,
    /// What was read.
    pub read: u64,
    /// What was written.
    pub written: u64,
    /// The how-manieth event of the recording it is, counted from 0, branches and calls of functions included.
    pub number: u64,
}

/// Reads the recording at `path` and gives `each` all that it has, in order, but branches and calls of functions.
pub fn read_told(path: &Path, mut each: impl FnMut(&Told)) -> Result<(), Error> {
    let mut next = 0;
    raw::read(path, &|_| false, |event| {
        let number = next;
        next += 1;
        if matches!(event.op, Op::Enter | Op::Exit | Op::Branch) {
            return Ok(());
        }
        let (at, other) = match event.target {
            Target::Bytes { at, .. }
            | Target::StandIn { at, .. }
            | Target::Heap { at, .. }
            | Target::Stack { at, .. }
            | Target::Sync { at, .. }
            | Target::Call { at, .. }
            | Target::Life { at, .. } => (at, None),
            Target::Thread(other) => (0, Some(other)),
            Target::Depth(_) | Target::None => (0, None),
        };
        let &raw::RawEvent { thread, code, part, op, read, written, .. } = event;
        each(&Told { thread, code, part, op, other, at, read, written, number });
        Ok(())
    })?;
    Ok(())
}
