//! What the user has seen enough of.

use std::path::Path;

use reweave_report::baseline::Baseline;
use reweave_report::json::predict::{Document, Finding, Hidden};
use reweave_report::suppressions::Suppressions;

use crate::console::Console;
use crate::failure::Failure;
use crate::limited;

/// Suppressions and the baseline.
pub(super) struct Filter {
    suppressions: Suppressions,
    baseline: Baseline,
}

impl Filter {
    /// Reads the files, where there are any.
    pub(super) fn read(suppressions: Option<&Path>, baseline: Option<&Path>) -> anyhow::Result<Filter> {
        let mut filter = Filter { suppressions: Suppressions::default(), baseline: Baseline::default() };
        if let Some(path) = suppressions {
            let text = limited::read_text(path, limited::SUPPRESSIONS)?;
            filter.suppressions = Suppressions::parse(&text).map_err(|error| {
                Failure::new(format!("{}:{}: {}", path.display(), error.line, error.reason))
                    .hint("a line is a kind and a pattern, such as race:legacy.c or mutex:^log$")
            })?;
        }
        if let Some(path) = baseline {
            let text = limited::read(path, limited::DOCUMENT)?;
            let document = Document::parse(&text).map_err(|error| {
                Failure::new(format!("{}: {error}", path.display()))
                    .hint("a baseline is what `reweave predict --json` wrote")
            })?;
            filter.baseline = Baseline::new(&document);
        }
        Ok(filter)
    }

    /// Whether the finding is to be shown; if not, it is counted.
    pub(super) fn shows(&mut self, finding: &Finding, hidden: &mut Hidden) -> bool {
        // Every suppression that matches is in use, also one for what is in the baseline.
        let suppressed = self.suppressions.matches(finding);
        if suppressed {
            hidden.suppressed += 1;
        } else if self.baseline.knows(finding) {
            hidden.baseline += 1;
        } else {
            return true;
        }
        false
    }

    pub(super) fn warn_of_unused(&self, path: &Path, console: &Console) {
        for (line, text) in self.suppressions.unused() {
            console.warn(format_args!("{}:{line}: `{text}` matches no finding", path.display()));
        }
    }
}
