//! Functions that take something from a stream, one line each: what is taken is recorded once it was, and nobody waits for the
//! baton meanwhile.
//!
//! Behind a stream there may be a pipe or a socket, so each may take any time. `vfscanf` and those that are made of it write where
//! their formats say. With optimisation on, headers of libc make some of these out of others: `getline` is `__getdelim`, and
//! `getc_unlocked` looks into the buffer by itself and calls `__uflow` where that is empty.

use reweave_wire::outside::State;

use crate::abi::export::export;
use crate::libc::blocking::{character, line_length, takes};
use crate::libc::outside::formats::{self, Rest};
use crate::libc::outside::memory::{Recorder, is_programs};
use crate::libc::real;
use crate::libc::vectors::{filled, made_line};
use crate::record::inputs::standard;
use crate::record::recording::Inside;
use crate::sched::forced::PART;

/// Declares them: the arguments, the stream, and what is done with the result.
macro_rules! taking {
    ($($name:ident ($($argument:ident),*) from $stream:expr $(, then $then:expr)?;)*) => { $(
        pub(crate) extern "C" fn $name($($argument: usize,)* code: usize) -> usize {
            let result = takes($stream, code, || real::$name($($argument),*));
            taking!(@then result code $($then)?)
        }
    )* };
    (@then $result:ident $code:ident) => { $result };
    (@then $result:ident $code:ident $then:expr) => { $then($result, $code) };
}

/// The same for those that give one character, which may be kept for replays.
macro_rules! giving_characters {
    ($($name:ident ($($argument:ident),*) from $stream:expr;)*) => { $(
        extern "C" fn $name($($argument: usize,)* code: usize) -> usize {
            character($stream, code, || real::$name($($argument),*))
        }
    )* };
}

giving_characters! {
    fgetc(stream) from stream;
    getc(stream) from stream;
    fgetc_unlocked(stream) from stream;
    getc_unlocked(stream) from stream;
    __uflow(stream) from stream;
    getchar() from standard();
    getchar_unlocked() from standard();
}

taking! {
    getline(line, length, stream) from stream, then |result, code| made_line(line, length, result, code);
    getdelim(line, length, end, stream) from stream, then |result, code| made_line(line, length, result, code);
    __getdelim(line, length, end, stream) from stream, then |result, code| made_line(line, length, result, code);

    __underflow(stream) from stream;
    getw(stream) from stream;
    fgetwc(stream) from stream;
    getwc(stream) from stream;
    fgetwc_unlocked(stream) from stream;
    getwc_unlocked(stream) from stream;
    __wuflow(stream) from stream;
    __wunderflow(stream) from stream;
    getwchar() from standard();
    getwchar_unlocked() from standard();

    gets(at) from standard(), then |result, code| text(at, usize::MAX, result, code);
    fgets_unlocked(at, length, stream) from stream, then |result, code| text(at, length, result, code);
    __fgets_unlocked_chk(at, room, length, stream) from stream, then |result, code| text(at, length.min(room), result, code);
    fgetws(at, length, stream) from stream, then |result, code| wide(at, length, result, code);
    fgetws_unlocked(at, length, stream) from stream, then |result, code| wide(at, length, result, code);
    __fgetws_chk(at, room, length, stream) from stream, then |result, code| wide(at, length.min(room), result, code);
    __fgetws_unlocked_chk(at, room, length, stream) from stream, then |result, code| wide(at, length.min(room), result, code);
    fread_unlocked(at, size, count, stream) from stream, then |result, code| items(at, size, result, code);
    __fread_unlocked_chk(at, room, size, count, stream) from stream, then |result, code| items(at, size.min(room), result, code);

    vfscanf(stream, format, list) from stream, then |result, code| scanned(format, list, result, code);
    __isoc99_vfscanf(stream, format, list) from stream, then |result, code| scanned(format, list, result, code);
    __isoc23_vfscanf(stream, format, list) from stream, then |result, code| scanned(format, list, result, code);
    vfwscanf(stream, format, list) from stream;
    __isoc99_vfwscanf(stream, format, list) from stream;
    __isoc23_vfwscanf(stream, format, list) from stream;

    fgetpwent(stream) from stream, then looked_up;
    fgetgrent(stream) from stream, then looked_up;
    fgetspent(stream) from stream, then looked_up;
    getmntent(stream) from stream, then looked_up;
    fgetpwent_r(stream, entry, at, length, result) from stream, then looked_up;
    fgetgrent_r(stream, entry, at, length, result) from stream, then looked_up;
    fgetspent_r(stream, entry, at, length, result) from stream, then looked_up;
    getmntent_r(stream, entry, at, length) from stream, then looked_up;
}

/// An entry of a database was read; some are kept in memory of libc's until the next one.
fn looked_up(result: usize, code: usize) -> usize {
    if let Some(mut inside) = Inside::enter() {
        inside.settle();
        inside.changes_state(State::Databases.variable(0), code);
    }
    result
}

/// A text was read, unless the result is null.
fn text(at: usize, length: usize, result: usize, code: usize) -> usize {
    if result != 0 {
        filled(at, line_length(at, length), code);
    }
    result
}

/// The same for wide characters.
fn wide(at: usize, length: usize, result: usize, code: usize) -> usize {
    if result != 0 {
        filled(at, formats::wide_text(at, length), code);
    }
    result
}

/// So many things were read.
fn items(at: usize, size: usize, result: usize, code: usize) -> usize {
    filled(at, result.saturating_mul(size), code);
    result
}

/// The conversions of a format were assigned to the arguments of a list, as far as the result says.
fn scanned(format: usize, list: usize, result: usize, code: usize) -> usize {
    if is_programs(code)
        && let Ok(assigned) = usize::try_from(result as i32)
        && let Some(mut inside) = Inside::enter()
    {
        inside.settle();
        let mut recorder = Recorder::new(code | PART);
        formats::scanned(format, Rest::of_list(list), assigned, |at, length| {
            recorder.write(&mut inside, at, length);
        });
    }
    result
}

/// Declares those that take from the standard input.
macro_rules! of_standard {
    ($($name:ident as $of_stream:ident;)*) => { $(
        pub(crate) extern "C" fn $name(format: usize, list: usize, code: usize) -> usize {
            $of_stream(standard(), format, list, code)
        }
    )* };
}

of_standard! {
    vscanf as vfscanf;
    __isoc99_vscanf as __isoc99_vfscanf;
    __isoc23_vscanf as __isoc23_vfscanf;
    vwscanf as vfwscanf;
    __isoc99_vwscanf as __isoc99_vfwscanf;
    __isoc23_vwscanf as __isoc23_vfwscanf;
}

export! {
    fgetc(1) => fgetc;
    getc(1) => getc;
    fgetc_unlocked(1) => fgetc_unlocked;
    getc_unlocked(1) => getc_unlocked;
    __uflow(1) => __uflow;
    getchar(0) => getchar;
    getchar_unlocked(0) => getchar_unlocked;
    getline(3) => getline;
    getdelim(4) => getdelim;
    __getdelim(4) => __getdelim;
    __underflow(1) => __underflow;
    getw(1) => getw;
    fgetwc(1) => fgetwc;
    getwc(1) => getwc;
    fgetwc_unlocked(1) => fgetwc_unlocked;
    getwc_unlocked(1) => getwc_unlocked;
    __wuflow(1) => __wuflow;
    __wunderflow(1) => __wunderflow;
    getwchar(0) => getwchar;
    getwchar_unlocked(0) => getwchar_unlocked;
    gets(1) => gets;
    fgets_unlocked(3) => fgets_unlocked;
    __fgets_unlocked_chk(4) => __fgets_unlocked_chk;
    fgetws(3) => fgetws;
    fgetws_unlocked(3) => fgetws_unlocked;
    __fgetws_chk(4) => __fgetws_chk;
    __fgetws_unlocked_chk(4) => __fgetws_unlocked_chk;
    fread_unlocked(4) => fread_unlocked;
    __fread_unlocked_chk(5) => __fread_unlocked_chk;
    vfscanf(3) => vfscanf;
    __isoc99_vfscanf(3) => __isoc99_vfscanf;
    __isoc23_vfscanf(3) => __isoc23_vfscanf;
    vfwscanf(3) => vfwscanf;
    __isoc99_vfwscanf(3) => __isoc99_vfwscanf;
    __isoc23_vfwscanf(3) => __isoc23_vfwscanf;
    fgetpwent(1) => fgetpwent;
    fgetgrent(1) => fgetgrent;
    fgetspent(1) => fgetspent;
    getmntent(1) => getmntent;
    fgetpwent_r(5) => fgetpwent_r;
    fgetgrent_r(5) => fgetgrent_r;
    fgetspent_r(5) => fgetspent_r;
    getmntent_r(4) => getmntent_r;
    vscanf(2) => vscanf;
    __isoc99_vscanf(2) => __isoc99_vscanf;
    __isoc23_vscanf(2) => __isoc23_vscanf;
    vwscanf(2) => vwscanf;
    __isoc99_vwscanf(2) => __isoc99_vwscanf;
    __isoc23_vwscanf(2) => __isoc23_vwscanf;
}
