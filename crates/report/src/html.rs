//! Findings as a page of HTML: one file that needs nothing else.
//!
//! Script and style are bundled from `page/` (its `build.mjs` writes `page/dist`, which is checked in), and the page draws
//! what the views in the document say. Everything in a document is untrusted: it stands in a block of JSON that cannot end
//! its element, the script puts it into the page as text only, and the page's content security policy allows its own script
//! and style, by their hashes, and nothing else.

use serde::Serialize;

use crate::answer::Answer;
use crate::json::TOOL;
use crate::json::predict::{Document, Finding, TraceResult};
use crate::view::{Row, View};

const SCRIPT: &str = include_str!("../page/dist/page.js");
const STYLE: &str = include_str!("../page/dist/page.css");
const POLICY: &str = include_str!("../page/dist/policy.txt");

/// The most bytes of views that a page has; findings beyond that are listed without a picture.
const MOST: usize = 5_000_000;
/// The most bytes of one view.
const MOST_OF_ONE: usize = 64_000;

/// What the page reads.
#[derive(Serialize)]
struct Data<'d> {
    tool: &'static str,
    results: Vec<TraceResult>,
    /// How many findings have no picture.
    left_out: u64,
    /// What is no finding.
    #[serde(skip_serializing_if = "<[Answer]>::is_empty")]
    answers: &'d [Answer],
}

/// The page of a document.
pub fn page(document: &Document) -> String {
    let title = match &document.results[..] {
        [only] => only.trace.path.rsplit('/').next().unwrap_or_default().to_owned(),
        several => format!("{} traces", several.len()),
    };
    whole(&title, document, &[])
}

/// The page of an answer, and of the findings that belong to it.
pub fn answer(answer: &Answer, findings: &Document) -> String {
    whole(&answer.title, findings, std::slice::from_ref(answer))
}

fn whole(title: &str, document: &Document, answers: &[Answer]) -> String {
    let mut data = Data { tool: TOOL, results: document.results.clone(), left_out: 0, answers };
    let mut size = 0;
    let findings = data.results.iter_mut().flat_map(|result| &mut result.findings);
    for finding in findings {
        let bytes = shorten(finding);
        size += bytes;
        if size > MOST {
            finding.view = None;
        }
        data.left_out += u64::from(finding.view.as_ref().is_none_or(|view| view.board.is_none()));
    }
    for result in &mut data.results {
        // The page does not show them one by one.
        result.undecided.clear();
    }
    let json = serde_json::to_string(&data).unwrap_or_default();
    let (title, json) = (escaped(title), in_script(&json));
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"{POLICY}\">\n\
         <meta name=\"referrer\" content=\"no-referrer\">\n<meta name=\"color-scheme\" content=\"light dark\">\n\
         <title>{title} · Reweave</title>\n<style>{STYLE}</style>\n</head>\n<body data-view=\"list\">\n\
         <a class=\"skip\" href=\"#detail\">Skip to the finding</a>\n\
         <nav id=\"list\" aria-label=\"Findings\"></nav>\n<main id=\"detail\" tabindex=\"-1\"></main>\n\
         <noscript><p class=\"noscript\">This page draws its pictures with a script. The same findings as text: \
         <code>reweave report</code>.</p></noscript>\n\
         <script type=\"application/json\" id=\"data\">{json}</script>\n<script>{SCRIPT}</script>\n</body>\n</html>\n"
    )
}

/// Takes away what makes a view too large; its size.
fn shorten(finding: &mut Finding) -> usize {
    let size = |finding: &Finding| serde_json::to_string(&finding.view).map_or(0, |text| text.len());
    let whole = size(finding);
    if whole <= MOST_OF_ONE {
        return whole;
    }
    let mut left = whole;
    for take_away in [without_folded, without_sources, without_board] {
        if left > MOST_OF_ONE
            && let Some(view) = &mut finding.view
        {
            take_away(view);
            left = size(finding);
        }
    }
    // Its names alone are too long.
    if left > MOST_OF_ONE {
        finding.view = None;
        left = 0;
    }
    left
}

fn without_folded(view: &mut View) {
    if let Some(board) = &mut view.board {
        board.unfolded.clear();
        for row in board.observed.iter_mut().chain(&mut board.witness) {
            if let Row::Fold(fold) = row {
                fold.events.clear();
            }
        }
    }
}

fn without_sources(view: &mut View) {
    view.sources.clear();
}

fn without_board(view: &mut View) {
    view.board = None;
}

/// JSON that can stand in a script element: nothing in it ends the element or a line of script.
fn in_script(json: &str) -> String {
    json.replace('<', "\\u003c").replace('\u{2028}', "\\u2028").replace('\u{2029}', "\\u2029")
}

/// A text that can stand in an element.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_in_a_document_ends_an_element() {
        assert_eq!(in_script("{\"a\":\"</script>\u{2028}\"}"), "{\"a\":\"\\u003c/script>\\u2028\"}");
        assert_eq!(escaped("<a>&"), "&lt;a&gt;&amp;");
        let page = page(&Document::default());
        assert_eq!(page.matches("</script>").count(), 2);
        assert!(page.contains("default-src 'none'; script-src 'sha256-"));
        assert!(
            !page.contains("http://www.w3.org/1999") && !page.contains("src=") && !page.contains("@import")
        );
    }
}
