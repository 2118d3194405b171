//! Memory that is copied, set or compared by libc on the program's behalf.

use crate::abi::access::load;
use crate::abi::export::export;
use crate::abi::front::export_told;
use crate::record::recording::Inside;
use crate::sched::forced::{IN_TURN, PART};
use crate::sched::policy::Step;

/// Enters our own code before a range is touched.
pub(crate) fn begin(code: usize) -> Option<Inside> {
    let mut inside = Inside::enter()?;
    inside.settle();
    inside.point(Step::Access, code & !IN_TURN);
    Some(inside)
}

/// Copies with one instruction: libc's function of this name is ours, and our own code needs it, too.
fn copy(to: usize, from: usize, length: usize) {
    // SAFETY: the program asks for it.
    unsafe {
        core::arch::asm!("rep movsb", inout("rdi") to => _, inout("rsi") from => _, inout("rcx") length => _,
                         options(nostack, preserves_flags));
    }
}

pub(crate) extern "C" fn memcpy(to: usize, from: usize, length: usize, code: usize) -> usize {
    memmove(to, from, length, code)
}

extern "C" fn memmove(to: usize, from: usize, length: usize, code: usize) -> usize {
    let inside = if length == 0 { None } else { begin(code) };
    match inside {
        Some(mut inside) => {
            inside.observed(from, length, code);
            crate::libc::real::memmove(to, from, length);
            inside.written(to, length, code & !IN_TURN | PART);
        }
        // Our own code copies small things, before anything else works: not through libc.
        None if length <= 256 && (to <= from || to >= from + length) => copy(to, from, length),
        None => _ = crate::libc::real::memmove(to, from, length),
    }
    to
}

extern "C" fn memset(at: usize, byte: usize, length: usize, code: usize) -> usize {
    let inside = if length == 0 { None } else { begin(code) };
    // SAFETY: the program asks for it.
    unsafe {
        core::arch::asm!("rep stosb", inout("rdi") at => _, in("al") byte as u8, inout("rcx") length => _,
                         options(nostack, preserves_flags));
    }
    if let Some(mut inside) = inside {
        inside.written(at, length, code);
    }
    at
}

/// All of it may be read, whatever differs first.
extern "C" fn memcmp(a: usize, b: usize, length: usize, code: usize) -> i32 {
    let inside = if length == 0 { None } else { begin(code) };
    let differs = (0..length).find(|place| load(a + place, 1) != load(b + place, 1));
    if let Some(mut inside) = inside {
        inside.observed(a, length, code);
        inside.observed(b, length, code | PART);
    }
    differs.map_or(0, |place| load(a + place, 1) as i32 - load(b + place, 1) as i32)
}

pub(crate) fn length_of(text: usize) -> usize {
    let mut length = 0;
    while load(text + length, 1) != 0 {
        length += 1;
    }
    length
}

extern "C" fn strlen(text: usize, code: usize) -> usize {
    let inside = begin(code);
    let length = length_of(text);
    if let Some(mut inside) = inside {
        inside.observed(text, length + 1, code | IN_TURN);
    }
    length
}

extern "C" fn strcpy(to: usize, from: usize, code: usize) -> usize {
    memmove(to, from, length_of(from) + 1, code | IN_TURN)
}

extern "C" fn stpcpy(to: usize, from: usize, code: usize) -> usize {
    let length = length_of(from);
    memmove(to, from, length + 1, code | IN_TURN) + length
}

extern "C" fn strcat(to: usize, from: usize, code: usize) -> usize {
    let end = to + strlen(to, code);
    memmove(end, from, length_of(from) + 1, code | IN_TURN);
    to
}

extern "C" fn strncpy(to: usize, from: usize, length: usize, code: usize) -> usize {
    stpncpy(to, from, length, code);
    to
}

/// The zero at the end of a text is read, too, and not copied as one of its bytes.
extern "C" fn stpncpy(to: usize, from: usize, length: usize, code: usize) -> usize {
    let copied = (0..length).find(|place| load(from + place, 1) == 0).unwrap_or(length);
    let inside = if length == 0 { None } else { begin(code) };
    let Some(mut inside) = inside else {
        copy(to, from, copied);
        set_unseen(to + copied, 0, length - copied);
        return to + copied;
    };
    inside.observed(from, (copied + 1).min(length), code | IN_TURN);
    copy(to, from, copied);
    set_unseen(to + copied, 0, length - copied);
    inside.written(to, length, code | PART);
    to + copied
}

extern "C" fn strncat(to: usize, from: usize, most: usize, code: usize) -> usize {
    let copied = (0..most).find(|place| load(from + place, 1) == 0).unwrap_or(most);
    let (before, inside) = (length_of(to), begin(code));
    let end = to + before;
    let Some(mut inside) = inside else {
        copy(end, from, copied);
        set_unseen(end + copied, 0, 1);
        return to;
    };
    inside.observed(to, before + 1, code | IN_TURN);
    inside.observed(from, (copied + 1).min(most), code | PART | IN_TURN);
    copy(end, from, copied);
    set_unseen(end + copied, 0, 1);
    inside.written(end, copied + 1, code | PART);
    to
}

extern "C" fn mempcpy(to: usize, from: usize, length: usize, code: usize) -> usize {
    memmove(to, from, length, code) + length
}

extern "C" fn bcopy(from: usize, to: usize, length: usize, code: usize) -> usize {
    memmove(to, from, length, code)
}

extern "C" fn bzero(at: usize, length: usize, code: usize) -> usize {
    memset(at, 0, length, code)
}

extern "C" fn strcmp(a: usize, b: usize, code: usize) -> i32 {
    strncmp(a, b, usize::MAX, code)
}

extern "C" fn strncmp(a: usize, b: usize, length: usize, code: usize) -> i32 {
    let inside = if length == 0 { None } else { begin(code) };
    let mut place = 0;
    let difference = loop {
        if place == length {
            break 0;
        }
        let (left, right) = (load(a + place, 1) as i32, load(b + place, 1) as i32);
        place += 1;
        if left != right || left == 0 {
            break left - right;
        }
    };
    if let Some(mut inside) = inside {
        // Whether two are read depends on the two before.
        for at in 0..place {
            let part = if at == 0 { 0 } else { PART };
            inside.observed(a + at, 1, code | part);
            inside.observed(b + at, 1, code | PART | IN_TURN);
        }
    }
    difference
}

extern "C" fn memchr(at: usize, byte: i32, length: usize, code: usize) -> usize {
    let inside = if length == 0 { None } else { begin(code) };
    let found = (0..length).find(|place| load(at + place, 1) == u64::from(byte as u8));
    if let Some(mut inside) = inside {
        inside.observed(at, found.map_or(length, |place| place + 1), code | IN_TURN);
    }
    found.map_or(0, |place| at + place)
}

/// The first byte of a text that is `byte`; the zero at its end counts.
extern "C" fn strchr(text: usize, byte: i32, code: usize) -> usize {
    let (length, inside) = (length_of(text), begin(code));
    let found = (0..=length).find(|place| load(text + place, 1) == u64::from(byte as u8));
    if let Some(mut inside) = inside {
        inside.observed(text, found.unwrap_or(length) + 1, code | IN_TURN);
    }
    found.map_or(0, |place| text + place)
}

/// Copies to memory that no other thread can reach.
extern "C" fn copy_in(to: usize, from: usize, length: usize, code: usize) {
    let inside = if length == 0 { None } else { begin(code) };
    if let Some(mut inside) = inside {
        inside.observed(from, length, code);
    }
    copy_unseen(to, from, length);
}

/// Copies from memory that no other thread can reach.
extern "C" fn copy_out(to: usize, from: usize, length: usize, code: usize) {
    let inside = if length == 0 { None } else { begin(code) };
    crate::libc::real::memmove(to, from, length);
    if let Some(mut inside) = inside {
        inside.written(to, length, code);
    }
}

extern "C" fn copy_unseen(to: usize, from: usize, length: usize) {
    crate::libc::real::memmove(to, from, length);
}

pub(crate) extern "C" fn set_unseen(at: usize, byte: usize, length: usize) {
    // SAFETY: the program asks for it.
    unsafe {
        core::arch::asm!("rep stosb", inout("rdi") at => _, in("al") byte as u8, inout("rcx") length => _,
                         options(nostack, preserves_flags));
    }
}

export_told! {
    __reweave_memcpy => memcpy;
    __reweave_memmove => memmove;
    __reweave_memset => memset;
    __reweave_memcmp => memcmp;
    __reweave_bcmp => memcmp;
    __reweave_strlen => strlen;
    __reweave_strcpy => strcpy;
    __reweave_stpcpy => stpcpy;
    __reweave_strcat => strcat;
    __reweave_strncpy => strncpy;
    __reweave_strcmp => strcmp;
    __reweave_strncmp => strncmp;
    __reweave_memchr => memchr;
    __reweave_strchr => strchr;
    __reweave_copy_in => copy_in;
    __reweave_copy_out => copy_out;
    __reweave_copy_unseen => copy_unseen;
    __reweave_set_unseen => set_unseen;
}

/// The functions by their own names. In a program of Rust it is the compiled `std` that calls them so, under locks that nobody
/// sees; what the program copies is told by the compiler.
pub(crate) mod plain {
    use crate::abi::rust::Quiet;

    macro_rules! plain {
        ($($name:ident($($argument:ident: $type:ty),*) -> $result:ty;)*) => { $(
            pub(crate) extern "C" fn $name($($argument: $type,)* code: usize) -> $result {
                let _quiet = Quiet::new();
                super::$name($($argument,)* code)
            }
        )* };
    }

    plain! {
        memcpy(to: usize, from: usize, length: usize) -> usize;
        memmove(to: usize, from: usize, length: usize) -> usize;
        memset(at: usize, byte: usize, length: usize) -> usize;
        memcmp(a: usize, b: usize, length: usize) -> i32;
        strlen(text: usize) -> usize;
        strcpy(to: usize, from: usize) -> usize;
        stpcpy(to: usize, from: usize) -> usize;
        strcat(to: usize, from: usize) -> usize;
        strncpy(to: usize, from: usize, length: usize) -> usize;
        stpncpy(to: usize, from: usize, length: usize) -> usize;
        strncat(to: usize, from: usize, most: usize) -> usize;
        mempcpy(to: usize, from: usize, length: usize) -> usize;
        bcopy(from: usize, to: usize, length: usize) -> usize;
        bzero(at: usize, length: usize) -> usize;
        strcmp(a: usize, b: usize) -> i32;
        strncmp(a: usize, b: usize, length: usize) -> i32;
        memchr(at: usize, byte: i32, length: usize) -> usize;
        strchr(text: usize, byte: i32) -> usize;
    }
}

export! {
    __tsan_memmove(3) => memmove;
    __tsan_memset(3) => memset;
    memmove(3) => plain::memmove;
    memset(3) => plain::memset;
    memcmp(3) => plain::memcmp;
    bcmp(3) => plain::memcmp;
    strlen(1) => plain::strlen;
    strcpy(2) => plain::strcpy;
    stpcpy(2) => plain::stpcpy;
    strcat(2) => plain::strcat;
    strncpy(3) => plain::strncpy;
    stpncpy(3) => plain::stpncpy;
    strncat(3) => plain::strncat;
    mempcpy(3) => plain::mempcpy;
    __mempcpy(3) => plain::mempcpy;
    bcopy(3) => plain::bcopy;
    bzero(2) => plain::bzero;
    explicit_bzero(2) => plain::bzero;
    strcmp(2) => plain::strcmp;
    strncmp(3) => plain::strncmp;
    memchr(3) => plain::memchr;
    strchr(2) => plain::strchr;
}
