//! A page of documentation: its commands, what it says they print, and everything around them.

use std::fmt::Write;

/// A page, in the order of its text.
pub(crate) struct Page(Vec<Part>);

enum Part {
    Text(String),
    Step(Step),
}

/// A command and what the page says that it prints.
pub(crate) struct Step {
    /// The line of the page, from 1.
    pub(crate) line: usize,
    pub(crate) command: String,
    pub(crate) expected: String,
}

impl Page {
    /// Takes a text apart; a block that is not closed is an error.
    pub(crate) fn parse(text: &str) -> Result<Page, String> {
        let (mut parts, mut inside) = (vec![Part::Text(String::new())], false);
        for (number, line) in text.lines().enumerate() {
            let is_fence = line.starts_with("```");
            if let Some(command) = line.strip_prefix("$ ").filter(|_| inside) {
                parts.push(Part::Step(Step {
                    line: number + 1,
                    command: command.to_owned(),
                    expected: String::new(),
                }));
                continue;
            }
            match parts.last_mut() {
                Some(Part::Step(step)) if inside && !is_fence => {
                    writeln!(step.expected, "{line}").expect("strings grow")
                }
                Some(Part::Text(text)) => writeln!(text, "{line}").expect("strings grow"),
                _ => parts.push(Part::Text(format!("{line}\n"))),
            }
            if is_fence {
                inside = !inside && line == "```console";
            }
        }
        if inside { Err("a block of commands is not closed".to_owned()) } else { Ok(Page(parts)) }
    }

    /// Its commands, in order.
    pub(crate) fn steps_mut(&mut self) -> impl Iterator<Item = &mut Step> {
        self.0.iter_mut().filter_map(|part| match part {
            Part::Step(step) => Some(step),
            Part::Text(_) => None,
        })
    }

    /// The text again.
    pub(crate) fn text(&self) -> String {
        self.0.iter().fold(String::new(), |mut text, part| {
            match part {
                Part::Text(part) => text += part,
                Part::Step(step) => {
                    write!(text, "$ {}\n{}", step.command, step.expected).expect("strings grow")
                }
            }
            text
        })
    }
}

impl Step {
    /// Whether parts of the output are left out on the page.
    pub(crate) fn is_elided(&self) -> bool {
        self.expected.contains('…')
    }

    /// Whether `printed` is what the page says.
    pub(crate) fn matches(&self, printed: &str) -> bool {
        let (expected, printed): (Vec<_>, Vec<_>) =
            (self.expected.lines().collect(), printed.lines().collect());
        lines_match(&expected, &printed)
    }

    /// A tool that the command needs and this machine lacks.
    pub(crate) fn missing_tool(&self) -> Option<&'static str> {
        let needs_plugin = ["cargo", "--reweave-front=plugin"].iter().any(|word| self.command.contains(word));
        // The build script leaves an empty file where the plugin cannot be built.
        let plugin = std::fs::metadata(concat!(env!("OUT_DIR"), "/libreweave_plugin-22.so"));
        (needs_plugin && !plugin.is_ok_and(|file| file.len() > 0)).then_some("LLVM 22")
    }
}

fn lines_match(expected: &[&str], printed: &[&str]) -> bool {
    match expected.split_first() {
        None => printed.is_empty(),
        Some((first, rest)) if first.trim() == "…" => {
            (0..=printed.len()).any(|skipped| lines_match(rest, &printed[skipped..]))
        }
        Some((first, rest)) => printed
            .split_first()
            .is_some_and(|(line, others)| line_matches(first, line) && lines_match(rest, others)),
    }
}

fn line_matches(expected: &str, printed: &str) -> bool {
    let mut parts = expected.trim_end().split('…');
    let Some(mut left) = parts.next().and_then(|first| printed.trim_end().strip_prefix(first)) else {
        return false;
    };
    let parts: Vec<_> = parts.collect();
    let Some((last, between)) = parts.split_last() else { return left.is_empty() };
    for part in between {
        let Some(at) = left.find(part) else { return false };
        left = &left[at + part.len()..];
    }
    left.ends_with(last)
}

/// The links of a text to files of the project.
pub(crate) fn links(text: &str) -> impl Iterator<Item = &str> {
    let targets = text.split("](").skip(1).filter_map(|rest| rest.split_once(')').map(|(target, _)| target));
    targets.filter(|target| !target.contains("://") && !target.contains(' '))
}

/// The headings of a text, as links name them.
pub(crate) fn headings(text: &str) -> impl Iterator<Item = String> {
    text.lines().filter(|line| line.starts_with('#')).map(|line| {
        let words = line.trim_start_matches('#').trim().to_lowercase();
        let kept = words.chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
        kept.map(|c| if c == ' ' { '-' } else { c }).collect()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn step(expected: &str) -> Step {
        Step { line: 1, command: String::new(), expected: expected.to_owned() }
    }

    #[test]
    fn elisions_stand_for_any_lines_and_any_text() {
        assert!(step("a\n…\nz\n").matches("a\nb\nc\nz\n"));
        assert!(step("a\n…\nz\n").matches("a\nz\n"));
        assert!(!step("a\n…\nz\n").matches("a\nb\n"));
        assert!(step("in … s\n").matches("in 0.3 s\n"));
        assert!(!step("in … s\n").matches("in 0.3 m\n"));
        assert!(!step("a\n").matches("a\nb\n"));
    }

    #[test]
    fn a_page_is_its_parts() {
        let text = "# T\n\n```console\n$ one\n1\n$ two\n```\n\nmore\n\n```\n$ not run\n```\n";
        let mut page = Page::parse(text).unwrap();
        assert_eq!(page.text(), text);
        let commands: Vec<_> = page.steps_mut().map(|step| (step.line, step.command.clone())).collect();
        assert_eq!(commands, [(4, "one".to_owned()), (6, "two".to_owned())]);
        assert!(Page::parse("```console\n$ one\n").is_err());
    }
}
