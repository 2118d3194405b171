//! Reads and writes that libc does beside the program, `aio_read` and the like: with threads of its own, which nobody sees.
//!
//! What is written is sent when it is asked for, at the earliest, and what is read has been received when the program learns that
//! the request is done, at the latest. So these are the events: an update of the file's variable before a request, and one
//! after each call that says that it is done. All of these calls update `outside`, too.

use reweave_wire::outside::State;

use crate::abi::access::load;
use crate::abi::export::export;
use crate::libc::outside::How;
use crate::libc::outside::waits::begin;
use crate::libc::real;
use crate::libc::vectors::Given;
use crate::record::recording::Inside;

// Where a `struct aiocb` has what.
const OPERATION: usize = 4;
const BUFFER: usize = 16;
const LENGTH: usize = 24;
/// All of it that says what is to be done.
const REQUEST: usize = 32;

const EINPROGRESS: usize = 115;
const READS: u64 = 0;
const WRITES: u64 = 1;
/// Beside the operation, that the block is one of the functions whose names end in `64`.
const LARGE: u64 = 128;

fn file(block: usize) -> usize {
    load(block, 4) as usize
}

fn operation(block: usize) -> u64 {
    load(block + OPERATION, 4) & !LARGE
}

fn buffer(block: usize) -> (usize, usize) {
    (load(block + BUFFER, 8) as usize, load(block + LENGTH, 8) as usize)
}

/// The requests of a list.
fn listed(blocks: usize, count: usize) -> impl Iterator<Item = usize> + Clone {
    (0..count as u32 as usize)
        .map(move |place| load(blocks + place * 8, 8) as usize)
        .filter(|&block| block != 0)
}

impl Inside {
    fn asks(&mut self, block: usize, operation: u64, code: usize) {
        self.gives(Given::Bytes(block, REQUEST), code);
        let (at, length) = buffer(block);
        if operation == WRITES {
            self.gives(Given::Bytes(at, length), code);
        }
        self.at_once(code, |inside| {
            inside.uses_file(How::Changes, file(block), code);
            inside.changes_state(State::Outside.variable(0), code);
        });
    }

    /// The thread learns that the request is done, if it is.
    fn learns(&mut self, block: usize, code: usize) {
        let is_done = real::aio_error(block) as u32 as usize != EINPROGRESS;
        self.at_once(code, |inside| {
            inside.changes_state(State::Outside.variable(0), code);
            if is_done {
                inside.uses_file(How::Changes, file(block), code);
            }
        });
    }
}

fn asks(block: usize, operation: u64, code: usize) {
    if let Some(mut inside) = begin(code) {
        inside.asks(block, operation, code);
    }
}

extern "C" fn aio_read(block: usize, code: usize) -> usize {
    asks(block, READS, code);
    real::aio_read(block)
}

extern "C" fn aio_write(block: usize, code: usize) -> usize {
    asks(block, WRITES, code);
    real::aio_write(block)
}

extern "C" fn aio_fsync(operation: usize, block: usize, code: usize) -> usize {
    asks(block, READS, code);
    real::aio_fsync(operation, block)
}

extern "C" fn aio_error(block: usize, code: usize) -> usize {
    let Some(mut inside) = begin(code) else { return real::aio_error(block) };
    // What it finds must be what is recorded: a request may be done in between.
    let result = real::aio_error(block);
    inside.learns(block, code);
    result
}

extern "C" fn aio_return(block: usize, code: usize) -> usize {
    let Some(mut inside) = begin(code) else { return real::aio_return(block) };
    inside.learns(block, code);
    let result = real::aio_return(block);
    if operation(block) == READS && result <= buffer(block).1 {
        inside.filled(Given::Bytes(buffer(block).0, result), result, code);
    }
    result
}

extern "C" fn aio_suspend(blocks: usize, count: usize, time: usize, code: usize) -> usize {
    let Some(mut inside) = begin(code) else { return real::aio_suspend(blocks, count, time) };
    inside.passes(code);
    let result = inside.elsewhere(|| real::aio_suspend(blocks, count, time));
    if time != 0 && result as i32 != 0 {
        inside.deadline_passed(code);
    }
    listed(blocks, count).for_each(|block| inside.learns(block, code));
    result
}

extern "C" fn aio_cancel(file: usize, block: usize, code: usize) -> usize {
    let Some(mut inside) = begin(code) else { return real::aio_cancel(file, block) };
    inside.at_once(code, |inside| {
        inside.changes_state(State::Outside.variable(0), code);
        inside.uses_file(How::Changes, file, code);
    });
    real::aio_cancel(file, block)
}

extern "C" fn lio_listio(mode: usize, blocks: usize, count: usize, event: usize, code: usize) -> usize {
    const WAITS: u32 = 0;
    let Some(mut inside) = begin(code) else { return real::lio_listio(mode, blocks, count, event) };
    listed(blocks, count).for_each(|block| inside.asks(block, operation(block), code));
    if mode as u32 != WAITS {
        return real::lio_listio(mode, blocks, count, event);
    }
    inside.passes(code);
    let result = inside.elsewhere(|| real::lio_listio(mode, blocks, count, event));
    listed(blocks, count).for_each(|block| inside.learns(block, code));
    result
}

// The blocks are the same for both kinds.
export! {
    aio_read(1) => aio_read;
    aio_read64(1) => aio_read;
    aio_write(1) => aio_write;
    aio_write64(1) => aio_write;
    aio_fsync(2) => aio_fsync;
    aio_fsync64(2) => aio_fsync;
    aio_error(1) => aio_error;
    aio_error64(1) => aio_error;
    aio_return(1) => aio_return;
    aio_return64(1) => aio_return;
    aio_suspend(3) => aio_suspend;
    aio_suspend64(3) => aio_suspend;
    aio_cancel(2) => aio_cancel;
    aio_cancel64(2) => aio_cancel;
    lio_listio(4) => lio_listio;
    lio_listio64(4) => lio_listio;
}
