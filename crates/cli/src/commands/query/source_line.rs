//! From source lines to the accesses of a trace there.

use std::collections::BTreeSet;

use reweave_report::view::Site;
use reweave_trace::{EventId, SiteId, Trace};

use crate::args::SourceLine;
use crate::failure::Failure;

/// How many lines or files a hint names.
const NAMED: usize = 5;

/// The accesses at a source line; an error where there is none.
pub(super) fn accesses(trace: &Trace, line: &SourceLine) -> Result<Vec<EventId>, Failure> {
    let sites: Vec<Site> = trace.names().sites.iter().map(Site::new).collect();
    for part in [own, inlined] {
        let here: Vec<bool> = sites.iter().map(|site| part(site, line)).collect();
        let is_here = |site: SiteId| here.get(site.index()).copied().unwrap_or(false);
        let all = trace.events().filter(|(_, event)| event.op.access().is_some() && is_here(event.site));
        let found: Vec<EventId> = all.map(|(id, _)| id).collect();
        if !found.is_empty() {
            return Ok(found);
        }
    }
    Err(none(trace, &sites, line))
}

/// Whether the site is at the line.
fn own(site: &Site, line: &SourceLine) -> bool {
    site.line == Some(line.line) && site.file.as_deref().is_some_and(|file| ends_with(file, &line.file))
}

/// Whether the site was inlined into the line: `caller file:line`.
fn inlined(site: &Site, line: &SourceLine) -> bool {
    site.inlined_in.iter().any(|caller| {
        let place = caller.rsplit(' ').next().unwrap_or(caller);
        place
            .rsplit_once(':')
            .is_some_and(|(file, number)| number.parse() == Ok(line.line) && ends_with(file, &line.file))
    })
}

/// Whether the last parts of the path are these.
fn ends_with(path: &str, end: &str) -> bool {
    path.strip_suffix(end)
        .is_some_and(|start| start.is_empty() || start.ends_with('/') || end.starts_with('/'))
}

fn none(trace: &Trace, sites: &[Site], line: &SourceLine) -> Failure {
    let accessed: BTreeSet<SiteId> = trace
        .events()
        .filter(|(_, event)| event.op.access().is_some())
        .map(|(_, event)| event.site)
        .collect();
    let sites: Vec<&Site> = accessed.iter().filter_map(|site| sites.get(site.index())).collect();
    let in_file =
        sites.iter().filter(|site| site.file.as_deref().is_some_and(|file| ends_with(file, &line.file)));
    let mut lines: Vec<u32> = in_file.filter_map(|site| site.line).collect();
    lines.sort_unstable_by_key(|&other| (other.abs_diff(line.line), other));
    lines.dedup();
    lines.truncate(NAMED);
    lines.sort_unstable();
    let hint = if lines.is_empty() {
        let files: BTreeSet<&str> = sites.iter().filter_map(|site| site.file.as_deref()).collect();
        let files: Vec<&str> = files.into_iter().take(NAMED).collect();
        match files.is_empty() {
            true => "the trace has no source lines: name events with --coenabled".to_owned(),
            false => format!("the trace has accesses in {}", files.join(", ")),
        }
    } else {
        let lines: Vec<String> = lines.iter().map(u32::to_string).collect();
        format!("the nearest lines of that file with accesses are {}", lines.join(", "))
    };
    Failure::new(format!("the trace has no access at {line}")).hint(hint)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_compared_by_their_last_parts() {
        assert!(ends_with("src/a.c", "a.c") && ends_with("/x/src/a.c", "src/a.c") && ends_with("a.c", "a.c"));
        assert!(!ends_with("src/ba.c", "a.c") && !ends_with("a.c", "src/a.c"));
        let line = |line| SourceLine { file: "shop.c".to_owned(), line };
        let site = Site::new("transfer (in accountant examples/shop.c:36) examples/shop.c:18");
        assert!(own(&site, &line(18)) && !own(&site, &line(36)) && inlined(&site, &line(36)));
    }
}
