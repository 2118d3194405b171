//! The formats by name, and the look of their content.

use std::ffi::OsStr;
use std::fmt;
use std::path::Path;
use std::str::FromStr;

use crate::rapidbin;

/// A trace format.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Format {
    /// STD text, one event a line.
    Std,
    /// RAPID's binary format.
    RapidBin,
    /// The log of RoadRunner's print tool.
    RoadRunner,
    /// RAPID's table with a column per thread.
    RapidCsv,
    /// The log of SpeedyGo.
    SpeedyGo,
    /// Reweave's own binary format.
    Rw,
}

impl Format {
    /// Every format.
    pub const ALL: [Format; 6] =
        [Format::Std, Format::RapidBin, Format::RoadRunner, Format::RapidCsv, Format::SpeedyGo, Format::Rw];

    /// The name that users write.
    pub fn name(self) -> &'static str {
        match self {
            Format::Std => "std",
            Format::RapidBin => "rapidbin",
            Format::RoadRunner => "roadrunner",
            Format::RapidCsv => "csv",
            Format::SpeedyGo => "speedygo",
            Format::Rw => "rw",
        }
    }

    /// The format that a file's name tells, seen through `.zst` and `.gz`.
    pub fn from_path(path: &Path) -> Option<Format> {
        let extension = path.extension().and_then(OsStr::to_str)?;
        Some(match extension.to_ascii_lowercase().as_str() {
            "zst" | "gz" => return path.file_stem().map(Path::new).and_then(Format::from_path),
            "std" => Format::Std,
            "data" => Format::RapidBin,
            "rr" => Format::RoadRunner,
            "csv" => Format::RapidCsv,
            "speedygo" => Format::SpeedyGo,
            "rw" => Format::Rw,
            _ => return None,
        })
    }

    /// Whether the format is text.
    pub fn is_text(self) -> bool {
        !matches!(self, Format::RapidBin | Format::Rw)
    }

    /// Whether traces can be written in it.
    pub fn is_written(self) -> bool {
        matches!(self, Format::Std | Format::RapidBin | Format::Rw)
    }

    /// The format that the first bytes of a file look like.
    pub(crate) fn sniff(head: &[u8]) -> Option<Format> {
        if head.starts_with(crate::rw::MAGIC) {
            return Some(Format::Rw);
        }
        if rapidbin::looks_like(head) {
            return Some(Format::RapidBin);
        }
        if head.iter().all(u8::is_ascii_whitespace) {
            return Some(Format::Std);
        }
        head.split(|&byte| byte == b'\n')
            .map(<[u8]>::trim_ascii)
            .filter(|line| !line.is_empty())
            .take(SNIFFED_LINES)
            .find_map(sniff_line)
    }
}

/// How many lines are looked at.
const SNIFFED_LINES: usize = 1000;

fn sniff_line(line: &[u8]) -> Option<Format> {
    let has = |wanted: u8| line.contains(&wanted);
    match line {
        [b'#', b'!', ..] => Some(Format::Std),
        [b'#', ..] => None,
        [b'@', b' ' | b'\t', ..] => Some(Format::RoadRunner),
        [b'[', .., b']'] => None,
        _ if has(b'|') => Some(Format::Std),
        _ if line.iter().filter(|&&byte| byte == b',').count() == 4 && !has(b'(') => Some(Format::SpeedyGo),
        _ if has(b',') && has(b'(') => Some(Format::RapidCsv),
        _ => None,
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// There is no format of that name.
#[derive(Debug, thiserror::Error)]
#[error("there is no format `{0}`: expected std, rapidbin, roadrunner, csv, speedygo or rw")]
pub struct ParseFormatError(String);

impl FromStr for Format {
    type Err = ParseFormatError;

    fn from_str(name: &str) -> Result<Format, ParseFormatError> {
        Format::ALL
            .into_iter()
            .find(|format| format.name() == name)
            .ok_or_else(|| ParseFormatError(name.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_back() {
        for format in Format::ALL {
            assert_eq!(format.to_string().parse::<Format>().unwrap(), format);
        }
        assert!("STD".parse::<Format>().is_err());
    }

    #[test]
    fn extensions_tell_the_format_through_compression() {
        for (path, format) in [
            ("t.std", Some(Format::Std)),
            ("a/b.STD.zst", Some(Format::Std)),
            ("t.rr.gz", Some(Format::RoadRunner)),
            ("t.csv", Some(Format::RapidCsv)),
            ("t.data", Some(Format::RapidBin)),
            ("t.rw", Some(Format::Rw)),
            ("t.log", None),
            ("t.zst", None),
            ("std", None),
        ] {
            assert_eq!(Format::from_path(Path::new(path)), format, "{path}");
        }
    }

    #[test]
    fn content_tells_the_format() {
        for (content, format) in [
            (&b""[..], Some(Format::Std)),
            (b"\n\n", Some(Format::Std)),
            (b"# a comment\n\nT1|r(x)|5\n", Some(Format::Std)),
            (b"#! capabilities: values\n", Some(Format::Std)),
            (b"[main: RoadRunner]\n@  main[tid = 0] started .\n", Some(Format::RoadRunner)),
            (b"[main: a|b]\n@   Start(0,1)\n", Some(Format::RoadRunner)),
            (b"r(V123),,\n", Some(Format::RapidCsv)),
            (b",,acq(l)\n", Some(Format::RapidCsv)),
            (b"1,LK,1,nil,1\r\n", Some(Format::SpeedyGo)),
            (b"once upon a time\n", None),
            (b"\0\x03\0\0\0\x03\0\0\0\x04\0\0\0\0\0\0\0\x01\0\0\0\0\0\0\x18\0", Some(Format::RapidBin)),
            (b"\xff\xfe\0", None),
        ] {
            assert_eq!(Format::sniff(content), format, "{content:?}");
        }
    }
}
