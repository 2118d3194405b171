//! Findings as a page of HTML: one file that needs nothing else.
//!
//! Script and style are bundled from `page/` (its `build.mjs` writes `page/dist`, which is checked in), and the page draws
//! what the views in the document say. Everything in a document is untrusted: it stands in a block of JSON that cannot end
//! its element, the script puts it into the page as text only, and the page's content security policy allows its own script
//! and style, by their hashes, and nothing else.

mod room;

use serde::Serialize;

use crate::answer::Answer;
use crate::json::TOOL;
use crate::json::predict::Document;
use room::{Findings, Part};

const SCRIPT: &str = include_str!("../page/dist/page.js");
const STYLE: &str = include_str!("../page/dist/page.css");
const POLICY: &str = include_str!("../page/dist/policy.txt");

/// The most letters of a title.
const TITLE: usize = 200;

/// What the page reads.
#[derive(Serialize)]
struct Data<'d> {
    tool: &'static str,
    about: About,
    results: Vec<Part<'d>>,
    /// How many findings have no picture.
    left_out: u64,
    /// How many are not even listed.
    #[serde(skip_serializing_if = "is_zero")]
    not_listed: u64,
    /// What is no finding.
    #[serde(skip_serializing_if = "<[Answer]>::is_empty")]
    answers: &'d [Answer],
}

/// What the document is about, whatever of it there is room for.
#[derive(Serialize)]
struct About {
    traces: usize,
    events: u64,
    findings: usize,
    undecided: u64,
}

fn is_zero(number: &u64) -> bool {
    *number == 0
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
    let answers: Vec<Answer> = answers.iter().map(room::answer).collect();
    let Findings { results, left_out, not_listed } = room::findings(document);
    let about = About {
        traces: document.results.len(),
        events: document.results.iter().map(|result| result.trace.events).sum(),
        findings: document.results.iter().map(|result| result.findings.len()).sum(),
        undecided: document.results.iter().map(|result| result.counts.unknown).sum(),
    };
    let data = Data { tool: TOOL, about, results, left_out, not_listed, answers: &answers };
    let json = serde_json::to_string(&data).unwrap_or_default();
    let title: String = title.chars().take(TITLE).collect();
    let (title, json) = (escaped(&title), in_script(&json));
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
