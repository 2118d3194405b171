//! Findings with what is to be shown of them, in every form.

use std::io::Write;
use std::path::{Path, PathBuf};

use reweave_report::json::predict::{Document, Finding, TraceResult};
use reweave_report::view::Level;
use reweave_report::{html, sarif, text};

use crate::console::Console;
use crate::document;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::input;

/// The files that a document is written to.
#[derive(Clone, Copy)]
pub(super) struct Outputs<'a> {
    pub(super) json: Option<&'a PathBuf>,
    pub(super) sarif: Option<&'a PathBuf>,
    pub(super) html: Option<&'a PathBuf>,
}

impl<'a> Outputs<'a> {
    /// All of them.
    pub(super) fn paths(self) -> impl Iterator<Item = &'a Path> + Clone {
        [self.json, self.sarif, self.html].into_iter().flatten().map(PathBuf::as_path)
    }

    /// Whether a document goes to standard output; an error where more than one would.
    pub(super) fn standard(self) -> anyhow::Result<bool> {
        match self.paths().filter(|path| input::is_standard(path)).count() {
            0 => Ok(false),
            1 => Ok(true),
            _ => Err(Failure::new("only one document can go to standard output").into()),
        }
    }
}

/// A document, with the text of each finding of each of its results.
pub(super) struct Reports<'d> {
    pub(super) document: &'d Document,
    /// Empty where no text is wanted.
    pub(super) texts: Vec<Vec<String>>,
}

impl Reports<'_> {
    /// The findings to show, each with its text.
    fn all(&self) -> Vec<(Finding, &str)> {
        let one = |(place, finding): (usize, Finding)| {
            let trace = finding.trace.unwrap_or(0) as usize;
            // Findings of several traces are merged: the first of its trace stands for all of a fingerprint.
            let place = match finding.trace {
                None => Some(place),
                Some(_) => self.document.results.get(trace).and_then(|result| {
                    result.findings.iter().position(|one| one.fingerprint == finding.fingerprint)
                }),
            };
            let text = place.and_then(|place| self.texts.get(trace)?.get(place));
            (finding, text.map_or("", String::as_str))
        };
        self.document.findings().into_iter().enumerate().map(one).collect()
    }

    pub(super) fn print(&self, quiet: bool, console: &Console) -> anyhow::Result<()> {
        let mut out = console.out();
        let all = self.all();
        for run in &self.document.failed_runs {
            write!(out, "{}{}", text::RULE, text::failed(run))?;
        }
        for group in text::groups(all.iter().map(|(finding, _)| finding)) {
            let (finding, body) = &all[group.first];
            let others: Vec<&Finding> = group.more.iter().map(|&place| &all[place].0).collect();
            let (closing, more) = (text::closing(finding), text::more(finding, &others));
            let body = console.ours((*body).to_owned());
            write!(out, "{}{body}{closing}{more}", text::RULE)?;
        }
        if !all.is_empty() || !self.document.failed_runs.is_empty() {
            write!(out, "{}", text::RULE)?;
        }
        if !quiet {
            let findings: Vec<Finding> = all.into_iter().map(|(finding, _)| finding).collect();
            let summary = text::summary(self.document, &findings, console.colors());
            write!(out, "{}", console.ours(summary))?;
        }
        Ok(out.flush()?)
    }

    /// Writes the documents that are wanted.
    pub(super) fn write(&self, outputs: Outputs<'_>, console: &Console) -> anyhow::Result<()> {
        if let Some(path) = outputs.json {
            document::write_dense_json(path, self.document, document::FINDINGS, console)?;
        }
        if let Some(path) = outputs.sarif {
            let failed = self.document.failed_runs.iter().map(sarif::failed);
            let results = failed.chain(self.document.findings().iter().map(sarif::result)).collect();
            document::write_json(path, &sarif::log(self.document, results), console)?;
        }
        if let Some(path) = outputs.html {
            document::write_text(path, &html::page(self.document), console)?;
        }
        Ok(())
    }
}

/// How a run that came to this ends; warnings count where `strict`. What models that compare values leave open is not
/// counted.
pub(super) fn exit(document: &Document, strict: bool) -> Exit {
    let counts = |finding: &Finding| strict || finding.severity().level == Level::Error;
    if !document.failed_runs.is_empty()
        || document.results.iter().flat_map(|result| &result.findings).any(counts)
    {
        Exit::No
    } else if document.results.iter().all(TraceResult::is_settled) {
        Exit::Yes
    } else {
        Exit::Stopped
    }
}
