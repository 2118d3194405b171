//! What a program under the recorder finds in its environment.
//!
//! Where its stack begins depends on the size of its environment, and the same seed must give the same run, recorded or
//! replayed: so every name is always there, and every value has a length that does not depend on the run.

use std::ffi::OsString;
use std::path::Path;
use std::process::Command;

use crate::launch::Launch;

/// What names the folder of a driver.
pub(crate) const DRIVER: &str = "REWEAVE_DRIVER";

/// Paths are made as long as a multiple of this.
const MULTIPLE: usize = 256;

/// A path with more slashes at its start, which mean nothing. Without a path there are only slashes.
fn padded(path: Option<&Path>) -> OsString {
    let path = path.unwrap_or(Path::new("")).as_os_str();
    let mut padded = OsString::from("/".repeat((path.len() + 1).next_multiple_of(MULTIPLE) - path.len()));
    padded.push(path);
    padded
}

/// Sets everything that the recorder in the program reads.
pub(crate) fn set(command: &mut Command, launch: &Launch<'_>, raw: &Path, ring: &Path) {
    for (name, path) in [
        ("REWEAVE_RECORD", Some(raw)),
        ("REWEAVE_RING", Some(ring)),
        ("REWEAVE_PLAN", launch.plan),
        ("REWEAVE_INPUTS", launch.inputs),
        (DRIVER, launch.driver),
    ] {
        command.env(name, padded(path));
    }
    command.env("REWEAVE_POLICY", format!("{:-<8}", launch.policy));
    let limit = launch.timeout.map_or(0, |limit| u64::try_from(limit.as_millis()).unwrap_or(u64::MAX).max(1));
    for (name, value) in [
        ("REWEAVE_SEED", launch.seed),
        ("REWEAVE_TIMEOUT_MS", limit),
        ("REWEAVE_CLOCK", launch.clock),
        ("REWEAVE_FOLLOW", u64::from(launch.follows_child)),
    ] {
        command.env(name, format!("{value:020}"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_of_different_lengths_take_the_same_room() {
        let lengths = ["", "/a", "/tmp/some/where/else"].map(|path| padded(Some(Path::new(path))).len());
        assert_eq!(lengths, [MULTIPLE; 3]);
        assert_eq!(padded(None).len(), MULTIPLE);
        let long = format!("/{}", "x".repeat(MULTIPLE));
        let value = padded(Some(Path::new(&long))).into_string().unwrap();
        assert_eq!(value.len(), 2 * MULTIPLE);
        assert!(value.ends_with(&long) && value.starts_with("//"));
    }
}
