//! Texts that are cut into parts: `strtok_r` and `strsep`.
//!
//! They read a text up to the end of a part, and write over what separates it from the next; so each byte has to be read before
//! it changes, and they are done here instead of by libc.

use crate::abi::access::load;
use crate::abi::export::export;
use crate::abi::rust::Quiet;
use crate::libc::range::{begin, length_of, set_unseen};
use crate::record::recording::Inside;
use crate::sched::forced::{IN_TURN, PART};

/// How many bytes come first that are among `set`, or, where `others` is true, that are not.
fn run(text: usize, set: usize, others: bool) -> usize {
    let is_in = |byte: u64| (0..length_of(set)).any(|place| load(set + place, 1) == byte);
    let mut count = 0;
    while load(text + count, 1) != 0 && is_in(load(text + count, 1)) != others {
        count += 1;
    }
    count
}

/// Cuts the text at `from` where it has one of `set`, in `start` or after it, and notes at `rest` where it goes on: where it
/// does not, at its end, or nowhere. The end of the part is given.
fn cut(
    mut inside: Option<Inside>,
    (from, start): (usize, usize),
    set: usize,
    (rest, nowhere): (usize, bool),
    code: usize,
) -> usize {
    let end = start + run(start, set, true);
    let goes_on = load(end, 1) != 0;
    let next = match (goes_on, nowhere) {
        (true, _) => end + 1,
        (false, false) => end,
        (false, true) => 0,
    };
    if let Some(inside) = &mut inside {
        inside.observed(set, length_of(set) + 1, code | IN_TURN);
        inside.observed(from, end + 1 - from, code | PART | IN_TURN);
    }
    if goes_on {
        set_unseen(end, 0, 1);
    }
    // SAFETY: the program passes where it wants the address.
    unsafe { (rest as *mut usize).write_unaligned(next) };
    if let Some(inside) = &mut inside {
        if goes_on {
            inside.written(end, 1, code | PART);
        }
        inside.written(rest, 8, code | PART);
    }
    end
}

/// Where a text goes on, which is read from `rest`.
fn rest_of(inside: &mut Option<Inside>, rest: usize, code: usize) -> usize {
    if let Some(inside) = inside {
        inside.observed(rest, 8, code);
    }
    load(rest, 8) as usize
}

extern "C" fn strtok_r(text: usize, set: usize, rest: usize, code: usize) -> usize {
    let _quiet = Quiet::new();
    let mut inside = begin(code);
    let (from, code) = if text == 0 { (rest_of(&mut inside, rest, code), code | PART) } else { (text, code) };
    if from == 0 {
        return 0;
    }
    let start = from + run(from, set, false);
    let end = cut(inside, (from, start), set, (rest, false), code);
    if end == start { 0 } else { start }
}

extern "C" fn strsep(rest: usize, set: usize, code: usize) -> usize {
    let _quiet = Quiet::new();
    let mut inside = begin(code);
    let from = rest_of(&mut inside, rest, code);
    if from == 0 {
        return 0;
    }
    cut(inside, (from, from), set, (rest, true), code | PART);
    from
}

export! {
    strtok_r(3) => strtok_r;
    __strtok_r(3) => strtok_r;
    strsep(2) => strsep;
    __strsep(2) => strsep;
}
