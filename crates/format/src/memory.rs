//! The memory of the process: where there is no more of it, or more than a limit is asked for, the process ends with a message.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::fmt::{self, Write};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

/// The status of a process that reached a limit.
const STOPPED: i32 = 3;
/// Smaller requests are compared with the limit only when those of a thread have come to as much.
const LARGE: usize = 1 << 20;

static LIMIT: AtomicU64 = AtomicU64::new(u64::MAX);
/// The bytes of all large requests that were granted and are still needed. The system counts memory as in use only when it is
/// written to, which for several of them at once would be found out too late.
static GRANTED: AtomicU64 = AtomicU64::new(0);
static UNFINISHED: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

thread_local! {
    /// What the small requests of a thread have come to since they were last compared with the limit.
    static SMALL: Cell<usize> = const { Cell::new(0) };
}

/// The allocator of the operating system's library, which does not come back without memory.
#[derive(Debug)]
pub struct Memory;

impl Memory {
    /// From now on, no request is granted that would take the process beyond so many bytes of memory in use.
    pub fn set_limit(bytes: u64) {
        LIMIT.store(bytes, Ordering::Relaxed);
    }

    /// The bytes of memory in use, where the system tells.
    pub fn in_use() -> Option<u64> {
        let mut text = [0; 128];
        let mut file = std::fs::File::open("/proc/self/statm").ok()?;
        let length = io::Read::read(&mut file, &mut text).ok()?;
        let pages = std::str::from_utf8(text.get(..length)?).ok()?.split_whitespace().nth(1)?;
        // Linux counts in pages of 4 kB wherever this is likely to run; where pages are larger, the limit is too lenient.
        Some(pages.parse::<u64>().ok()? * 4096)
    }
}

/// A file that is to go should the process end before it is finished.
pub(crate) fn unfinished(path: &Path) {
    if let Ok(mut files) = UNFINISHED.lock() {
        files.push(path.to_owned());
    }
}

/// Counts a request, where there is a limit.
#[inline]
fn count(bytes: usize) {
    if LIMIT.load(Ordering::Relaxed) == u64::MAX {
        return;
    }
    // A thread that is ending has no counter any more, and does not ask for much.
    let due = SMALL.try_with(|small| {
        let sum = small.get().saturating_add(bytes);
        small.set(if sum < LARGE { sum } else { 0 });
        sum >= LARGE
    });
    if due == Ok(true) {
        weigh(bytes);
    }
}

/// Ends the process where so many bytes more would be too much.
#[cold]
fn weigh(more: usize) {
    let limit = LIMIT.load(Ordering::Relaxed);
    let used = Memory::in_use().unwrap_or(0).max(GRANTED.load(Ordering::Relaxed));
    if used.saturating_add(more as u64) > limit {
        end(more, Some(limit));
    }
}

/// A request of a size was granted where there was one of another size before; 0 for none.
#[inline]
fn grant(before: usize, size: usize) {
    if size >= LARGE {
        GRANTED.fetch_add(size as u64, Ordering::Relaxed);
    }
    if before >= LARGE {
        GRANTED.fetch_sub(before as u64, Ordering::Relaxed);
    }
}

fn end(more: usize, limit: Option<u64>) -> ! {
    let mut text = Line { bytes: [0; 320], length: 0 };
    // What does not fit is left out.
    let _ = match limit {
        Some(limit) => write!(
            text,
            "error: stopped without a result: {more} bytes of memory more would be beyond the limit of {limit} bytes\nhint: give --max-memory more, look for fewer --kinds, or record a shorter trace\n"
        ),
        None => write!(
            text,
            "error: stopped without a result: the system has no memory left ({more} bytes were asked for)\nhint: end other programs, raise the limit (ulimit -v), or record a shorter trace\n"
        ),
    };
    // There is nobody left to tell when this fails.
    let _ = io::Write::write_all(&mut io::stderr(), text.bytes.get(..text.length).unwrap_or_default());
    if let Ok(files) = UNFINISHED.try_lock() {
        files.iter().for_each(|path| _ = std::fs::remove_file(path));
    }
    #[expect(unsafe_code, reason = "nothing of the program may run any more: it may hold anything half done")]
    // SAFETY: ends the process.
    unsafe {
        libc::_exit(STOPPED)
    }
}

/// Text in memory that is there already.
struct Line {
    bytes: [u8; 320],
    length: usize,
}

impl Write for Line {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let room = self.bytes.get_mut(self.length..self.length + text.len()).ok_or(fmt::Error)?;
        room.copy_from_slice(text.as_bytes());
        self.length += text.len();
        Ok(())
    }
}

#[expect(unsafe_code, reason = "an allocator is unsafe by nature; this one leaves the work to the system's")]
// SAFETY: every request goes to the system's allocator as it came; what it answers is passed on.
unsafe impl GlobalAlloc for Memory {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size());
        // SAFETY: the caller's promise.
        let at = unsafe { System.alloc(layout) };
        if at.is_null() {
            end(layout.size(), None);
        }
        grant(0, layout.size());
        at
    }

    #[inline]
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        count(layout.size());
        // SAFETY: the caller's promise.
        let at = unsafe { System.alloc_zeroed(layout) };
        if at.is_null() {
            end(layout.size(), None);
        }
        grant(0, layout.size());
        at
    }

    #[inline]
    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        grant(layout.size(), 0);
        // SAFETY: the caller's promise.
        unsafe { System.dealloc(at, layout) }
    }

    #[inline]
    unsafe fn realloc(&self, at: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count(size.saturating_sub(layout.size()));
        // SAFETY: the caller's promise.
        let new = unsafe { System.realloc(at, layout, size) };
        if new.is_null() && size > 0 {
            end(size, None);
        }
        grant(layout.size(), size);
        new
    }
}
