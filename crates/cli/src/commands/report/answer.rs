//! The JSON of a verification or of an exploration, as a page.

use std::path::Path;

use reweave_report::answer::{Answer, Explored};
use reweave_report::html;
use reweave_report::json::Verified;
use reweave_report::json::predict::Document;

use super::browser;
use crate::args::ReportArgs;
use crate::console::Console;
use crate::document;
use crate::exit::Exit;
use crate::failure::Failure;

/// The answer in a document that has no findings; nothing where it is not such a document.
pub(super) fn read(text: &[u8]) -> Option<Answer> {
    let verified = serde_json::from_slice::<Verified>(text).ok().map(|verified| Answer::from(&verified));
    verified.or_else(|| Some(Answer::from(&serde_json::from_slice::<Explored>(text).ok()?)))
}

/// Writes its page, and shows it where that is asked for.
pub(super) fn write(
    answer: &Answer,
    args: &ReportArgs,
    page: Option<&Path>,
    console: &Console,
) -> anyhow::Result<Exit> {
    let Some(page) = page else {
        let message = format!("{} has no findings: it is of {}", args.findings.display(), what(answer));
        return Err(Failure::new(message).hint("give --html FILE or --open: a page shows it").into());
    };
    document::write_text(page, &html::answer(answer, &Document::default()), console)?;
    if args.open {
        browser::open(page, console)?;
    }
    Ok(Exit::Yes)
}

fn what(answer: &Answer) -> &'static str {
    if answer.kind == "verification" { "a verification" } else { "an exploration" }
}
