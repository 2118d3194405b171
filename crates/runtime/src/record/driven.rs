//! Programs that a driver starts, such as the tests of `ctest`: each is run anew under a recorder of its own.

use core::ffi::c_char;

use crate::record::config;
use crate::sys;

/// What the driver's recorders are started with; the program and its arguments follow.
const WORDS: [&[u8]; 2] = [b"driven\0", b"--\0"];
/// The most bytes of a path.
const PATH: usize = 4096;

/// Executes `reweave driven -- PROGRAM ARGUMENTS…` instead of this program, where `REWEAVE_DRIVER` asks for that. Comes back
/// only where it does not, or where it fails: the program then runs as if nothing was asked.
pub(crate) fn start_over(count: i32, arguments: usize, environment: *const *const c_char) {
    let Some(folder) = config::driver(environment) else { return };
    let count = usize::try_from(count).unwrap_or(0);
    let list = sys::map((count + WORDS.len() + 4) * 8 + 2 * PATH);
    if list == 0 {
        return;
    }
    let paths = list + (count + WORDS.len() + 4) * 8;
    let (recorder, program) = (paths, paths + PATH);
    // SAFETY: fresh memory, of which nobody else knows: two paths behind a list.
    let (own, name) = unsafe {
        (
            core::slice::from_raw_parts_mut(recorder as *mut u8, PATH),
            core::slice::from_raw_parts_mut(program as *mut u8, PATH - 1),
        )
    };
    let path = folder.iter().chain(b"/reweave");
    if folder.len() + b"/reweave\0".len() > PATH || sys::read_link(b"/proc/self/exe\0", name) <= 0 {
        return;
    }
    own.iter_mut().zip(path).for_each(|(room, byte)| *room = *byte);
    let words = WORDS.map(|word| word.as_ptr() as usize);
    // SAFETY: the program's own list of arguments, without its name.
    let given = unsafe {
        core::slice::from_raw_parts((arguments as *const usize).wrapping_add(1), count.saturating_sub(1))
    };
    let all = [recorder].into_iter().chain(words).chain([program]).chain(given.iter().copied());
    for (place, word) in all.enumerate() {
        // SAFETY: there is room for as many words as the program has, those before them, and a zero.
        unsafe { (list as *mut usize).wrapping_add(place).write(word) };
    }
    sys::execute(recorder, list, environment as usize);
}
