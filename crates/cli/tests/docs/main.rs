//! The commands in the documentation, run: every `$` line of a `console` block, against the built binary.
//!
//! A page is one session in a folder of its own that has a copy of `examples`. After a command stands what it prints, standard error
//! included; a line `…` stands for any number of lines, and `…` within a line for any text. `[1]` on a line of its own is an exit
//! code other than 0. `REWEAVE_BLESS=1` writes what was printed where a command has no elision of its own.

mod page;
mod session;

use std::fs;
use std::path::{Path, PathBuf};

use page::Page;
use session::Session;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The pages whose commands are run: all.
fn pages() -> Vec<PathBuf> {
    let folders = ["docs", "docs/guide", "docs/internals"].map(|folder| root().join(folder));
    let files = folders.iter().flat_map(|folder| fs::read_dir(folder).expect("the pages are there"));
    let mut pages: Vec<_> = files.map(|entry| entry.expect("a page").path()).collect();
    pages.retain(|path| path.extension().is_some_and(|end| end == "md"));
    pages.push(root().join("README.md"));
    pages.sort();
    pages
}

#[test]
fn commands_print_what_the_pages_say() {
    let bless = std::env::var_os("REWEAVE_BLESS").is_some_and(|value| value == "1");
    let mut wrong = Vec::new();
    for path in pages() {
        let text = fs::read_to_string(&path).expect("pages are text");
        let mut page = Page::parse(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let session = Session::new(&root().join("examples"));
        for step in page.steps_mut() {
            if let Some(missing) = step.missing_tool() {
                println!("{}:{}: skipped, {missing} is not installed", path.display(), step.line);
                continue;
            }
            let printed = session.run(&step.command);
            if step.matches(&printed) {
                continue;
            }
            let (name, line, expected) = (path.display(), step.line, &step.expected);
            wrong.push(format!(
                "{name}:{line}: $ {}\n--- the page\n{expected}--- printed\n{printed}",
                step.command
            ));
            if bless && !step.is_elided() {
                step.expected = printed;
            }
        }
        if bless {
            fs::write(&path, page.text()).expect("pages can be written");
        }
    }
    assert!(bless || wrong.is_empty(), "{}\nbless with REWEAVE_BLESS=1", wrong.join("\n"));
}

/// A line that looks like a command that is run, and is none.
#[test]
fn commands_stand_in_blocks_that_are_run() {
    let mut wrong = Vec::new();
    for path in pages() {
        let text = fs::read_to_string(&path).expect("pages are text");
        let mut fence = None;
        for (number, line) in text.lines().enumerate() {
            if let Some(kind) = line.strip_prefix("```") {
                fence = if fence.is_some() { None } else { Some(kind) };
            } else if line.starts_with("$ ") && fence != Some("console") {
                wrong.push(format!("{}:{}: {line}", path.display(), number + 1));
            }
        }
    }
    assert!(wrong.is_empty(), "not in a block ```console: {}", wrong.join("\n"));
}

#[test]
fn links_lead_to_files_and_headings() {
    let mut wrong = Vec::new();
    let mut files = pages();
    files.push(root().join("CONTRIBUTING.md"));
    for path in files {
        let text = fs::read_to_string(&path).expect("pages are text");
        for link in page::links(&text) {
            let (file, heading) = link.split_once('#').unwrap_or((link, ""));
            let target =
                if file.is_empty() { path.clone() } else { path.parent().expect("a folder").join(file) };
            // Pictures have no headings, nor have folders.
            let Ok(there) = fs::read(&target)
                .map(|bytes| String::from_utf8(bytes).unwrap_or_default())
                .or_else(|_| fs::read_dir(&target).map(|_| String::new()))
            else {
                wrong.push(format!("{}: {link} leads nowhere", path.display()));
                continue;
            };
            if !heading.is_empty() && !page::headings(&there).any(|known| known == heading) {
                wrong.push(format!("{}: {link}: no such heading", path.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
