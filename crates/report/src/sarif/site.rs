//! A site as a location of SARIF.

use serde_sarif::sarif::{ArtifactLocation, Location, LogicalLocation, PhysicalLocation, Region};

use super::message;

/// The location of `site`, with `what` happens there.
pub(super) fn location(site: &str, what: String) -> Location {
    let mut location = Location::builder().message(message(what)).build();
    match Position::parse(site) {
        Some(position) => {
            let mut region = Region::builder().start_line(position.line).build();
            region.start_column = position.column;
            let file = ArtifactLocation::builder().uri(uri(position.file)).build();
            let physical = PhysicalLocation::builder().artifact_location(file).region(region).build();
            location.physical_location = Some(physical);
            if let Some(function) = position.function {
                location.logical_locations = Some(vec![logical(function)]);
            }
        }
        None if site.is_empty() => {}
        None => location.logical_locations = Some(vec![logical(site)]),
    }
    location
}

fn logical(name: &str) -> LogicalLocation {
    LogicalLocation::builder().fully_qualified_name(name).build()
}

/// A position in a source file.
#[derive(PartialEq, Eq, Debug)]
struct Position<'s> {
    function: Option<&'s str>,
    file: &'s str,
    line: i64,
    column: Option<i64>,
}

impl<'s> Position<'s> {
    /// Takes `file:line`, `file:line:column`, and both with a function before them, in parentheses or not.
    fn parse(site: &'s str) -> Option<Position<'s>> {
        let number = |text: &str| -> Option<i64> {
            let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
            digits.then(|| text.parse().ok()).flatten().filter(|&number| number > 0)
        };
        let (function, place) = match site.trim().rsplit_once(' ') {
            Some((function, place)) => (Some(function.trim()), place),
            None => (None, site.trim()),
        };
        let place = place.strip_prefix('(').and_then(|place| place.strip_suffix(')')).unwrap_or(place);
        let (rest, last) = place.rsplit_once(':')?;
        let last = number(last)?;
        let (file, line, column) = match rest.rsplit_once(':').map(|(file, line)| (file, number(line))) {
            Some((file, Some(line))) => (file, line, Some(last)),
            _ => (rest, last, None),
        };
        // `x:3` may be anything; a file has an extension or a folder.
        let is_file = file.contains(['.', '/', '\\']) && !file.ends_with(':');
        is_file.then_some(Position { function, file, line, column })
    }
}

/// A path as a URI reference.
fn uri(path: &str) -> String {
    let path = path.replace('\\', "/");
    let mut uri = String::new();
    if path.starts_with('/') {
        uri += "file://";
    }
    for byte in path.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' | b'+' | b'@' => {
                uri.push(char::from(byte));
            }
            // A colon in the first part would look like a scheme.
            byte => uri += &format!("%{byte:02X}"),
        }
    }
    uri
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_are_told_from_other_sites() {
        let position = |function, file, line, column| Some(Position { function, file, line, column });
        for (site, expected) in [
            ("bank.c:12", position(None, "bank.c", 12, None)),
            ("src/bank.rs:12:5", position(None, "src/bank.rs", 12, Some(5))),
            ("deposit bank.c:12", position(Some("deposit"), "bank.c", 12, None)),
            (
                "Bank.deposit(int) (src/Bank.java:3)",
                position(Some("Bank.deposit(int)"), "src/Bank.java", 3, None),
            ),
            ("12", None),
            ("x:12", None),
            ("bank.c", None),
            ("bank.c:", None),
            ("bank.c:0", None),
            ("bank.c:-1", None),
            ("bank.c:99999999999999999999", None),
            ("", None),
        ] {
            assert_eq!(Position::parse(site), expected, "{site}");
        }
    }

    #[test]
    fn paths_become_uris() {
        assert_eq!(uri("src/a b.c"), "src/a%20b.c");
        assert_eq!(uri("/home/größe.c"), "file:///home/gr%C3%B6%C3%9Fe.c");
        assert_eq!(uri("C:\\x.c"), "C%3A/x.c");
    }
}
