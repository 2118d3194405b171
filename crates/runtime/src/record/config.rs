//! What `reweave record` asks for, through the environment, and what it is told, through files beside the recording.

use core::ffi::CStr;
use core::sync::atomic::Ordering::{Relaxed, SeqCst};
use core::sync::atomic::{AtomicBool, AtomicU8};

use crate::record::driven;
use crate::record::log::Log;
use crate::sched::free;
use crate::sched::policy::Kind;
use crate::sys;
use crate::text::Text;

const NAME_BYTES: usize = 4096;

static RECORDING: AtomicBool = AtomicBool::new(false);
/// Whether a child is recorded instead of the process that forks.
static FOLLOWS_CHILD: AtomicBool = AtomicBool::new(false);
static PATH: [AtomicU8; NAME_BYTES] = [const { AtomicU8::new(0) }; NAME_BYTES];

/// What was asked for.
pub(crate) struct Config {
    pub(crate) log: Log,
    pub(crate) seed: u64,
    pub(crate) policy: Kind,
    /// In nanoseconds; 0 never.
    pub(crate) timeout: u64,
    /// The second at which the program's clock begins; 0 for the real one.
    pub(crate) second: u64,
    /// How many megabytes of freed memory are kept from the allocator, where that was said.
    pub(crate) kept: Option<u64>,
    /// The file with the schedule to force, if there is one.
    pub(crate) plan: Option<FileName>,
    /// The file with the inputs to give again, if there is one.
    pub(crate) inputs: Option<FileName>,
}

/// Whether this process is recorded.
pub(crate) fn recording() -> bool {
    RECORDING.load(SeqCst)
}

/// From now on it is, or, in a child, is not.
pub(crate) fn set_recording(on: bool) {
    RECORDING.store(on, SeqCst);
}

/// Whether a child is recorded instead of the process that forks.
pub(crate) fn follows_child() -> bool {
    FOLLOWS_CHILD.load(Relaxed)
}

/// The value of a variable of the environment.
fn variable(environment: *const *const core::ffi::c_char, name: &[u8]) -> Option<&'static [u8]> {
    let mut at = environment;
    loop {
        // SAFETY: the environment that a program starts with is a list of texts that ends with a null, and stays.
        let entry = unsafe { at.as_ref() }?;
        // SAFETY: as above.
        let text = unsafe { entry.as_ref().map(|text| CStr::from_ptr(text)) }?.to_bytes();
        if let Some(value) = text.strip_prefix(name).and_then(|rest| rest.strip_prefix(b"=")) {
            return Some(value);
        }
        at = at.wrapping_add(1);
    }
}

fn number(environment: *const *const core::ffi::c_char, name: &[u8]) -> Option<u64> {
    let digits = variable(environment, name)?;
    digits.iter().try_fold(0u64, |sum, digit| {
        let digit = char::from(*digit).to_digit(10)?;
        sum.checked_mul(10)?.checked_add(u64::from(digit))
    })
}

/// Where the recording is to be; none where the environment does not ask for one.
pub(crate) fn asked(environment: *const *const core::ffi::c_char) -> Option<&'static [u8]> {
    let path = variable(environment, b"REWEAVE_RECORD").filter(|_| !is_privileged())?;
    (!path.is_empty() && path.len() + 8 <= NAME_BYTES).then_some(path)
}

/// The folder of the driver that the program was started below; none where this process has a recording of its own to make.
pub(crate) fn driver(environment: *const *const core::ffi::c_char) -> Option<&'static [u8]> {
    variable(environment, b"REWEAVE_DRIVER")
        .filter(|folder| folder.iter().any(|&byte| byte != b'/') && !is_privileged())
}

/// Whether the environment names a recording, be it one that cannot be made.
pub(crate) fn names_recording(environment: *const *const core::ffi::c_char) -> bool {
    variable(environment, b"REWEAVE_RECORD").is_some()
}

/// What the environment asks for; none where this process is not to be recorded.
pub(crate) fn read(
    count: i32,
    arguments: usize,
    environment: *const *const core::ffi::c_char,
) -> Option<Config> {
    let path = asked(environment)?;
    if variable(environment, b"REWEAVE_RANDOM_ADDRESSES").is_none() && sys::fix_addresses() {
        // Comes back only where it fails; the recording is right in any case, but its addresses vary.
        sys::execute_again(arguments, environment as usize);
    }
    remember(path);
    let claim = sys::open(with_ending(b".note").as_slice(), sys::CREATE_NEW);
    // A note that is there belongs to another process: the one that this one was started by.
    const IS_THERE: isize = -17;
    if claim == IS_THERE {
        driven::start_over(count, arguments, environment);
    } else if claim < 0 {
        refused(b"open of a file beside the recording", claim);
    }
    sys::close(i32::try_from(claim).ok().filter(|&file| file >= 0)?);
    let ring = ring(variable(environment, b"REWEAVE_RING")?);
    if ring < 0 {
        refused(b"open of the memory that is shared with the recorder", ring);
    }
    let file = i32::try_from(ring).ok().filter(|&file| file >= 0)?;
    let Some(log) = Log::map(file) else {
        refused(b"lseek or mmap of the memory that is shared with the recorder", 0);
        return None;
    };
    free::set(variable(environment, b"REWEAVE_POLICY").is_some_and(|policy| policy.starts_with(b"free")));
    let policy = match variable(environment, b"REWEAVE_POLICY") {
        Some(policy) if policy.starts_with(b"pct") => Kind::Pct,
        Some(policy) if policy.starts_with(b"plain") => Kind::Plain,
        _ => Kind::Random,
    };
    FOLLOWS_CHILD.store(number(environment, b"REWEAVE_FOLLOW") == Some(1), Relaxed);
    Some(Config {
        log,
        seed: number(environment, b"REWEAVE_SEED").unwrap_or(0),
        policy,
        timeout: number(environment, b"REWEAVE_TIMEOUT_MS").unwrap_or(0).saturating_mul(1_000_000),
        second: number(environment, b"REWEAVE_CLOCK").unwrap_or(0),
        kept: number(environment, b"REWEAVE_KEEP_FREED"),
        plan: file_name(environment, b"REWEAVE_PLAN"),
        inputs: file_name(environment, b"REWEAVE_INPUTS"),
    })
}

/// Whether the program has more rights than whoever started it: it must not do as it is told by its environment.
fn is_privileged() -> bool {
    const AT_SECURE: usize = 23;
    unsafe extern "C" {
        fn getauxval(kind: usize) -> usize;
    }
    // SAFETY: tells what the kernel left for the program.
    unsafe { getauxval(AT_SECURE) != 0 }
}

/// Opens the ring: its descriptor, or the error's number, negated.
fn ring(path: &[u8]) -> isize {
    const NAME_TOO_LONG: isize = -36;
    if path.len() >= NAME_BYTES {
        return NAME_TOO_LONG;
    }
    sys::open(FileName::new(path).as_slice(), sys::RDWR)
}

/// Says that the program cannot be recorded, and what was refused: by a sandbox, or because other rights are needed.
fn refused(call: &[u8], error: isize) {
    let mut text = Text::<256>::new();
    text.push(b"reweave: not recorded: ").push(call).push(b" failed");
    if error != 0 {
        text.push(b" with error ").number(error.unsigned_abs() as u64);
    }
    text.push(b"; a sandbox may forbid it\n");
    let _ = sys::write(2, text.bytes());
}

/// Nothing but slashes is no name: it only takes the room that one would, so that the stack is in the same place.
fn file_name(environment: *const *const core::ffi::c_char, name: &[u8]) -> Option<FileName> {
    variable(environment, name)
        .filter(|name| name.iter().any(|&byte| byte != b'/') && name.len() < NAME_BYTES)
        .map(FileName::new)
}

fn remember(path: &[u8]) {
    for (room, byte) in PATH.iter().zip(path) {
        room.store(*byte, Relaxed);
    }
}

/// The name of a file, ending in a zero.
pub(crate) struct FileName([u8; NAME_BYTES]);

impl FileName {
    fn new(name: &[u8]) -> FileName {
        let mut bytes = [0; NAME_BYTES];
        for (room, byte) in bytes.iter_mut().zip(name) {
            *room = *byte;
        }
        FileName(bytes)
    }

    pub(crate) fn as_slice(&self) -> &[u8] {
        &self.0
    }
}

/// The name of the recording with something behind it.
fn with_ending(ending: &[u8]) -> FileName {
    let mut name = [0; NAME_BYTES];
    for (byte, kept) in name.iter_mut().zip(&PATH) {
        *byte = kept.load(Relaxed);
    }
    let length = name.iter().position(|&byte| byte == 0).unwrap_or(0);
    for (room, byte) in name.iter_mut().skip(length).zip(ending) {
        *room = *byte;
    }
    FileName(name)
}

/// A new file beside the recording; 0 where there is none.
pub(crate) fn create(ending: &[u8]) -> i32 {
    let file = sys::open(with_ending(ending).as_slice(), sys::CREATE_NEW);
    i32::try_from(file).ok().filter(|&file| file > 0).map_or(0, sys::out_of_the_way)
}

/// Adds to the note for `reweave record`.
pub(crate) fn note(text: &[u8]) {
    append(b".note", |file| _ = sys::write(file, text));
}

/// Adds the text of a call on an object.
pub(crate) fn add_call(text: &[u8]) {
    append(b".calls", |file| _ = sys::write(file, text));
}

/// Adds what is mapped where: it tells what addresses of code and of variables mean.
pub(crate) fn save_modules() {
    append(b".maps", |file| {
        let maps = sys::open(b"/proc/self/maps\0", sys::RDONLY);
        let Some(maps) = i32::try_from(maps).ok().filter(|&maps| maps >= 0) else { return };
        let mut buffer = [0; 4096];
        loop {
            let count = sys::read(maps, &mut buffer);
            if count == 0 {
                break;
            }
            let _ = sys::write(file, buffer.get(..count).unwrap_or_default());
        }
        sys::close(maps);
    });
}

fn append(ending: &[u8], write: impl FnOnce(i32)) {
    let file = sys::open(with_ending(ending).as_slice(), sys::APPEND);
    if let Some(file) = i32::try_from(file).ok().filter(|&file| file >= 0) {
        write(file);
        sys::close(file);
    }
}
