//! How much memory there is in use, and how much a trace will take.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// What an event takes from reading to deciding, at least: a synthetic trace of a million events took 45.
const BYTES_PER_EVENT: u64 = 40;

/// How many bytes of a file tell the length of its lines.
const SAMPLE: usize = 1 << 16;

/// The resident memory of this process in bytes, where the system tells.
pub(super) fn in_use() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/self/statm").ok()?;
    let pages: u64 = text.split_whitespace().nth(1)?.parse().ok()?;
    // Linux counts in pages of 4 kB wherever this is likely to run; where pages are larger, the limit is too lenient.
    Some(pages * 4096)
}

/// How much memory the trace in a file takes at least; none where that cannot be told without reading it.
pub(super) fn estimate(path: &Path) -> Option<u64> {
    let about = std::fs::metadata(path).ok().filter(std::fs::Metadata::is_file)?;
    let each = bytes_per_event(path).ok()?;
    Some((about.len() / each).saturating_mul(BYTES_PER_EVENT))
}

/// The bytes that an event takes in the file, rather too many than too few.
fn bytes_per_event(path: &Path) -> io::Result<u64> {
    let mut head = Vec::with_capacity(SAMPLE);
    File::open(path)?.take(SAMPLE as u64).read_to_end(&mut head)?;
    let lines = head.iter().filter(|&&byte| byte == b'\n').count();
    let is_text = !head.contains(&0) && std::str::from_utf8(&head[..head.len() - head.len() % 4]).is_ok();
    Ok(match lines {
        lines if is_text && lines > 0 => (head.len() / lines).max(1) as u64,
        // Binary formats take eight bytes or fewer, and compressed text fewer still.
        _ => 8,
    })
}

/// `1.5 GB`.
pub(super) fn text(bytes: u64) -> String {
    match bytes {
        0..1_048_576 => format!("{} kB", bytes.div_ceil(1024)),
        1_048_576..1_073_741_824 => format!("{} MB", bytes.div_ceil(1 << 20)),
        _ => format!("{:.1} GB", bytes as f64 / f64::from(1 << 30)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_for_people() {
        assert_eq!([text(1), text(5 << 20), text(3 << 29)], ["1 kB", "5 MB", "1.5 GB"]);
    }

    #[test]
    fn memory_in_use_is_known_where_the_system_tells() {
        assert_eq!(in_use().is_some(), Path::new("/proc/self/statm").exists());
        assert!(in_use().is_none_or(|bytes| bytes > 100_000));
    }
}
