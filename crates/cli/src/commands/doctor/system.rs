//! What recording and replaying need of the system: shared memory, limits, folders, debuggers.

use std::ffi::OsStr;
use std::fs;
use std::path::Path;

use rustix::process::{Resource, getrlimit};

use super::Check;
use crate::commands::cc::in_path;
use crate::runtime_library;

/// A recording's ring and what is around it, with room to spare.
const RING: u64 = 64 << 20;
/// A recording of a second of a busy program.
const DISK: u64 = 2 << 30;

pub(super) fn checks() -> Vec<Check> {
    vec![
        shared_memory(),
        room(),
        address_space(),
        cache(),
        encoder(),
        debugger("gdb"),
        debugger("lldb"),
        attaching(),
        core_dumps(),
    ]
}

/// Bytes that an ordinary user may still write below `path`.
fn free_bytes(path: &Path) -> Option<u64> {
    let about = rustix::fs::statvfs(path).ok()?;
    about.f_bavail.checked_mul(about.f_frsize)
}

fn shared_memory() -> Check {
    const NAME: &str = "shared memory";
    let folder = Path::new("/dev/shm");
    let advice = "mount a tmpfs there that this user may write to (containers: --shm-size=256m)";
    match (tempfile::tempfile_in(folder), free_bytes(folder)) {
        (Err(error), _) => Check::missing(NAME, format!("/dev/shm cannot be written to: {error}"), advice),
        (Ok(_), Some(free)) if free < RING => {
            Check::limited(NAME, format!("/dev/shm has {} free", size(free)), advice)
        }
        (Ok(_), free) => {
            let free = free.map_or_else(|| "an unknown size".to_owned(), size);
            Check::ok(NAME, format!("/dev/shm, {free} free"))
        }
    }
}

fn room() -> Check {
    const NAME: &str = "room for recordings";
    let folder = std::env::temp_dir();
    let shown = folder.display();
    match free_bytes(&folder) {
        None => Check::missing(NAME, format!("{shown} is not to be had"), "set TMPDIR to a folder"),
        Some(free) if free < DISK => {
            let advice = "set TMPDIR to a larger disk, or limit recordings with --max-size";
            Check::limited(NAME, format!("{shown}, {} free", size(free)), advice)
        }
        Some(free) => Check::ok(NAME, format!("{shown}, {} free", size(free))),
    }
}

fn address_space() -> Check {
    const NAME: &str = "address space";
    match getrlimit(Resource::As).current {
        None => Check::ok(NAME, "unlimited"),
        Some(limit) => {
            let advice = "recorded programs need room for the recorder beside their own: ulimit -v unlimited";
            Check::limited(NAME, format!("limited to {}", size(limit)), advice)
        }
    }
}

/// The library and the plugin are put into a folder that compilers load them from.
fn cache() -> Check {
    const NAME: &str = "cache folder";
    match runtime_library::files() {
        Ok(files) => {
            let folder = files.library.parent().unwrap_or(&files.library);
            Check::ok(NAME, folder.display().to_string())
        }
        Err(error) => {
            Check::missing(NAME, format!("{error:#}"), "set XDG_CACHE_HOME to a folder of your own")
        }
    }
}

fn encoder() -> Check {
    const NAME: &str = "encoder";
    #[cfg(target_arch = "x86_64")]
    if std::is_x86_feature_detected!("avx512vbmi2") {
        return Check::ok(NAME, "AVX-512 VBMI2");
    }
    Check::limited(NAME, "no AVX-512 VBMI2", "busy programs take longer to record; traces are the same")
}

fn debugger(name: &'static str) -> Check {
    match in_path(OsStr::new(name)) {
        Some(path) => Check::ok(name, path.display().to_string()),
        // Debian has it under a number, too.
        None if name == "lldb" && in_path(OsStr::new("lldb-19")).is_some() => {
            Check::ok(name, "lldb-19: REWEAVE_LLDB=lldb-19 uses it")
        }
        None => {
            let advice = format!("only to debug a replay: apt-get install {name} (Debian)");
            Check::limited(name, "not on the PATH", advice)
        }
    }
}

fn attaching() -> Check {
    const NAME: &str = "attaching";
    match fs::read_to_string("/proc/sys/kernel/yama/ptrace_scope") {
        Err(_) => Check::ok(NAME, "a debugger may attach to processes of the same user"),
        Ok(scope) => match scope.trim() {
            "0" => Check::ok(NAME, "a debugger may attach to processes of the same user"),
            scope => Check::limited(
                NAME,
                format!("kernel.yama.ptrace_scope is {scope}: a debugger must start what it debugs"),
                "to attach to a running replay: sysctl kernel.yama.ptrace_scope=0",
            ),
        },
    }
}

fn core_dumps() -> Check {
    const NAME: &str = "core dumps";
    let pattern = fs::read_to_string("/proc/sys/kernel/core_pattern").unwrap_or_default();
    let pattern = pattern.trim();
    if getrlimit(Resource::Core).current == Some(0) {
        let advice = "to keep one of a replay that crashes: ulimit -c unlimited";
        return Check::limited(NAME, "off (ulimit -c is 0)", advice);
    }
    match pattern {
        "" => Check::limited(NAME, "the kernel writes none", "sysctl kernel.core_pattern=core"),
        pattern => Check::ok(NAME, format!("go to {pattern}")),
    }
}

/// Bytes in a unit that is easy to read.
fn size(bytes: u64) -> String {
    const UNITS: [(&str, u64); 3] = [("GB", 1 << 30), ("MB", 1 << 20), ("kB", 1 << 10)];
    match UNITS.iter().find(|(_, unit)| bytes >= *unit) {
        Some((name, unit)) => format!("{} {name}", bytes / unit),
        None => format!("{bytes} bytes"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_in_the_largest_unit_that_fits() {
        assert_eq!(size(12), "12 bytes");
        assert_eq!(size(64 << 20), "64 MB");
        assert_eq!(size((3 << 30) + 1), "3 GB");
    }
}
