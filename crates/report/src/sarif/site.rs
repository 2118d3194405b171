//! A site as a location of SARIF.

use serde_sarif::sarif::{ArtifactLocation, Location, LogicalLocation, PhysicalLocation, Region};

use super::{SOURCES, message};
use crate::view::Site;

/// The location of `site`, with `what` happens there.
pub(super) fn location(site: &str, what: String) -> Location {
    let mut location = Location::builder().message(message(what)).build();
    let parts = Site::new(site);
    match (&parts.file, parts.line) {
        (Some(file), Some(line)) => {
            let mut region = Region::builder().start_line(i64::from(line)).build();
            region.start_column = parts.column.map(i64::from);
            let mut artifact = ArtifactLocation::builder().uri(uri(file)).build();
            artifact.uri_base_id = (!file.starts_with('/')).then(|| SOURCES.to_owned());
            let physical = PhysicalLocation::builder().artifact_location(artifact).region(region).build();
            location.physical_location = Some(physical);
            if let Some(function) = &parts.function {
                location.logical_locations = Some(vec![logical(function)]);
            }
        }
        _ if site.is_empty() => {}
        _ => location.logical_locations = Some(vec![logical(site)]),
    }
    location
}

fn logical(name: &str) -> LogicalLocation {
    LogicalLocation::builder().fully_qualified_name(name).build()
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
    fn paths_become_uris() {
        assert_eq!(uri("src/a b.c"), "src/a%20b.c");
        assert_eq!(uri("/home/größe.c"), "file:///home/gr%C3%B6%C3%9Fe.c");
        assert_eq!(uri("C:\\x.c"), "C%3A/x.c");
    }
}
