//! Memory for much to be written, brought in at once and in large pages.
//!
//! Memory that is used for the first time comes from the operating system a page at a time. With pages of 4 KiB, that
//! takes longer than decoding the events which are put there; with pages of 2 MiB, hardly any time.

use std::ops::Range;

/// Zeroes, in large pages where there are such.
pub fn large_buffer(bytes: usize) -> Vec<u8> {
    let buffer = vec![0; bytes];
    let start = buffer.as_ptr() as usize;
    ask(start..start + bytes);
    buffer
}

/// Below this, large pages would waste memory.
#[cfg(target_os = "linux")]
const MIN_BYTES: usize = 4 << 20;

/// Asks for large pages at these addresses.
#[cfg(target_os = "linux")]
pub(crate) fn ask(memory: Range<usize>) {
    // Whole pages only, whatever size they are up to the large one.
    const PAGE: usize = 2 << 20;
    let (start, end) = (memory.start.next_multiple_of(PAGE), memory.end / PAGE * PAGE);
    if memory.len() < MIN_BYTES || start >= end {
        return;
    }
    #[expect(unsafe_code, reason = "a call of the operating system")]
    // SAFETY: the advice changes how memory is backed, never what is in it or whether it may be used; so it is sound for
    // any addresses, even such as are not in use. If it is not taken, nothing changes.
    let _ = unsafe { libc::madvise(start as *mut libc::c_void, end - start, libc::MADV_HUGEPAGE) };
}

/// Has memory brought in that is about to be written from end to end: page by page, as it is written, takes longer.
#[cfg(target_os = "linux")]
pub(crate) fn fill(memory: Range<usize>) {
    // Pages may be larger than that, and then the call is refused where it does not fit.
    const PAGE: usize = 4 << 10;
    ask(memory.clone());
    let (start, end) = (memory.start.next_multiple_of(PAGE), memory.end / PAGE * PAGE);
    if start >= end {
        return;
    }
    #[expect(unsafe_code, reason = "a call of the operating system")]
    // SAFETY: bringing pages in does not change what is in them, so it is sound for any addresses, even such as are not in
    // use. If it is refused, the pages come in as they are written.
    let _ = unsafe { libc::madvise(start as *mut libc::c_void, end - start, libc::MADV_POPULATE_WRITE) };
}

/// Elsewhere the operating system does as it likes.
#[cfg(not(target_os = "linux"))]
pub(crate) fn fill(_memory: Range<usize>) {}

/// Elsewhere the operating system does as it likes.
#[cfg(not(target_os = "linux"))]
pub(crate) fn ask(_memory: Range<usize>) {}
