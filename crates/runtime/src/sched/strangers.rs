//! Threads of the process that are not recorded: those that libc or the kernel make by themselves, and those made by `clone`.
//!
//! A thread may wait for what one of them still does. So where all recorded threads wait for ever, that is no deadlock as long
//! as another thread is there: they all look again after a while, and once more when it has gone. Where the kernel does not say which
//! threads there are, there is none.

use core::sync::atomic::AtomicU32;
use core::sync::atomic::Ordering::Relaxed;

use crate::record::recording::Core;
use crate::sched::thread::thread;
use crate::sys;
use crate::text::Text;

const NONE: u32 = 0;
const THERE: u32 = 1;
/// They have gone, and the others look once more.
const GONE: u32 = 2;
static SEEN: AtomicU32 = AtomicU32::new(NONE);

/// Whether such a thread was there when all others waited.
pub(crate) fn were_there() -> bool {
    SEEN.load(Relaxed) != NONE
}

/// Whether what all others wait for may still come, or have come unseen. `dying` is a thread that has ended and may be there still.
pub(crate) fn may_act(core: &Core, dying: i32) -> bool {
    let me = sys::thread();
    let live = core.live.as_ref().iter().take(core.live_count);
    let is_known = |number: i32| {
        number == me
            || number == dying
            || live.clone().any(|&index| thread(index as usize).seat.thread() == number)
    };
    let mut found = false;
    each(|number| found |= !is_known(number) && runs(number));
    match (found, SEEN.load(Relaxed)) {
        (true, _) => SEEN.store(THERE, Relaxed),
        (false, THERE) => SEEN.store(GONE, Relaxed),
        (false, _) => return false,
    }
    true
}

/// Calls `see` with each thread of the process, as the kernel numbers it.
fn each(mut see: impl FnMut(i32)) {
    // Aligned for the kernel's entries.
    let mut room = [0u64; 512];
    let Ok(folder) = i32::try_from(sys::open(b"/proc/self/task\0", sys::RDONLY)) else { return };
    if folder < 0 {
        return;
    }
    loop {
        let length = sys::entries(folder, &mut room);
        if length == 0 {
            break;
        }
        // SAFETY: the kernel has filled so many bytes of the room.
        let bytes = unsafe { core::slice::from_raw_parts(room.as_ptr().cast::<u8>(), length) };
        numbers(bytes, &mut see);
    }
    sys::close(folder);
}

/// The numbers among the names of the kernel's entries of a folder.
fn numbers(mut bytes: &[u8], see: &mut impl FnMut(i32)) {
    const LENGTH: usize = 16;
    const NAME: usize = 19;
    while let Some(length) = bytes.get(LENGTH..LENGTH + 2).and_then(|length| length.first_chunk()) {
        let length = usize::from(u16::from_le_bytes(*length));
        let name = bytes.get(NAME..length).unwrap_or_default();
        let name = name.split(|&byte| byte == 0).next().unwrap_or_default();
        if let Some(number) = str::from_utf8(name).ok().and_then(|name| name.parse().ok()) {
            see(number);
        }
        bytes = bytes.get(length.max(1)..).unwrap_or_default();
    }
}

/// Whether a thread has not ended. The first one stays in the list until the process ends.
fn runs(number: i32) -> bool {
    let mut name = Text::<64>::new();
    name.push(b"/proc/self/task/").number(number as u64).push(b"/stat\0");
    let Ok(file) = i32::try_from(sys::open(name.bytes(), sys::RDONLY)) else { return false };
    if file < 0 {
        return false;
    }
    let mut about = [0; 512];
    let length = sys::read(file, &mut about);
    sys::close(file);
    let about = about.get(..length).unwrap_or_default();
    let after = about.iter().rposition(|&byte| byte == b')');
    after.and_then(|place| about.get(place + 2)).is_some_and(|state| !matches!(state, b'Z' | b'X'))
}

#[cfg(test)]
mod tests {
    use std::vec::Vec;

    use super::*;

    #[test]
    fn another_thread_is_seen_until_it_has_ended() {
        let (tell, told) = std::sync::mpsc::channel();
        let (end, ended) = std::sync::mpsc::channel::<()>();
        let other = std::thread::spawn(move || {
            tell.send(sys::thread()).unwrap();
            ended.recv().unwrap();
        });
        let number = told.recv().unwrap();
        let mut seen = Vec::new();
        each(|number| seen.push(number));
        assert!(seen.contains(&number) && seen.contains(&sys::thread()) && runs(number));
        end.send(()).unwrap();
        other.join().unwrap();
        while sys::exists(number) {
            sys::yield_now();
        }
        assert!(!runs(number));
    }

    #[test]
    fn names_that_are_no_numbers_are_passed_over() {
        let entry = |name: &[u8]| {
            let length = (19 + name.len() + 1).next_multiple_of(8);
            let mut entry = std::vec![0u8; length];
            entry[16..18].copy_from_slice(&(length as u16).to_le_bytes());
            entry[19..19 + name.len()].copy_from_slice(name);
            entry
        };
        let bytes = [entry(b"."), entry(b".."), entry(b"12"), entry(b"3456789")].concat();
        let mut seen = Vec::new();
        numbers(&bytes, &mut |number| seen.push(number));
        assert_eq!(seen, [12, 3_456_789]);
        numbers(&bytes[..10], &mut |_| panic!("there is no whole entry"));
    }
}
