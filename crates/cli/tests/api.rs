//! The names that users of the library rely on: what five crates make public, against the list
//! that is stored in `tests/api`.
//!
//! The list is read off the sources, which `cargo fmt` keeps in one shape: an item begins at the
//! start of a line, what is in it is indented by four. So this takes no compiler of its own and a
//! moment. It has every exported item with its signature, its public fields, variants and methods,
//! and the traits that are implemented for it. A name that is re-exported from another crate
//! stands for itself.
//!
//! `REWEAVE_BLESS=1` stores what was added. What was taken away or changed breaks programs: that
//! needs `REWEAVE_BLESS=breaking`, and a line in the changelog.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// The crates of the library, as `docs/guide/library.md` has them.
const CRATES: [&str; 5] = ["trace", "format", "decide", "detect", "witness"];

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).expect("crates/cli is two levels down")
}

/// An item that starts at the beginning of a line: its lines, with the derives before it.
struct Block {
    /// The module that it is in, as folders have it: `wellformed`, `load/parallel`.
    module: String,
    derives: Vec<String>,
    lines: Vec<String>,
}

impl Block {
    fn head(&self) -> &str {
        self.lines.first().map_or("", String::as_str)
    }
}

/// The items of all files of a crate, tests aside.
fn blocks(source: &Path) -> Vec<Block> {
    let mut files = Vec::new();
    collect(source, &mut files);
    files.sort();
    let mut all = Vec::new();
    for file in files {
        let module = file.strip_prefix(source).expect("it is below").with_extension("");
        let module = module.to_string_lossy().trim_end_matches("/mod").to_owned();
        if module.split('/').any(|part| part.contains("test")) {
            continue;
        }
        let text = fs::read_to_string(&file).expect("a source");
        all.extend(split(&module, &text));
    }
    all
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("a folder").flatten() {
        let path = entry.path();
        if path.is_dir() {
            collect(&path, files);
        } else if path.extension().is_some_and(|end| end == "rs") {
            files.push(path);
        }
    }
}

fn split(module: &str, text: &str) -> Vec<Block> {
    let (mut blocks, mut derives, mut is_test) = (Vec::new(), Vec::new(), false);
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        if line.starts_with("#[derive(") || line == "#[non_exhaustive]" {
            let mut derive = line.to_owned();
            while !derive.ends_with(']') {
                derive.push_str(lines.next().expect("a derive ends").trim());
            }
            derives.push(derive);
        } else if line.starts_with("#[cfg(test)]") {
            is_test = true;
        } else if line.starts_with(|first: char| first.is_ascii_alphabetic()) {
            let mut item = vec![line.to_owned()];
            while !ends(item.last().expect("a line"), item.len() == 1) {
                item.push(lines.next().expect("an item ends").to_owned());
            }
            let block =
                Block { module: module.to_owned(), derives: std::mem::take(&mut derives), lines: item };
            blocks.extend((!is_test).then_some(block));
            is_test = false;
        }
    }
    blocks
}

/// Whether an item ends with this line.
fn ends(line: &str, is_first: bool) -> bool {
    match is_first {
        true => line.ends_with(';') || line.ends_with('}'),
        // A signature of several lines goes on after its bracket.
        false => {
            let at_start = line.starts_with(['}', ')', ']']);
            at_start && (line.ends_with(['}', ';']) || line == ")")
                || !line.starts_with(' ') && line.ends_with(';')
        }
    }
}

/// The exported names of a crate, each with the module that it comes from; none for names of
/// other crates.
fn exports(lib: &[&Block]) -> Vec<(String, Option<String>)> {
    let mut found = Vec::new();
    for block in lib {
        let text = block.lines.iter().map(|line| line.trim()).collect::<Vec<_>>().join(" ");
        if let Some(path) = text.strip_prefix("pub use ") {
            let path = path.trim_end_matches(';');
            let (module, names) = path.rsplit_once("::").expect("a path");
            let names: Vec<&str> = match path.split_once("::{") {
                Some((_, list)) => list.trim_end_matches('}').split(',').map(str::trim).collect(),
                None => vec![names],
            };
            let module = path.split_once("::{").map_or(module, |(module, _)| module);
            let own = !module.starts_with("reweave_") && !module.starts_with("std");
            for name in names.into_iter().filter(|name| !name.is_empty()) {
                let module = own.then(|| module.replace("::", "/"));
                found.push((name.to_owned(), module));
            }
        } else if let Some(name) = defined(block.head()) {
            found.push((name.to_owned(), Some("lib".to_owned())));
        }
    }
    found
}

/// The name of a public item by its first line.
fn defined(head: &str) -> Option<&str> {
    let mut words =
        head.strip_prefix("pub ")?.split([' ', '(', '<', ':', '{', ';']).filter(|word| !word.is_empty());
    let kinds = ["fn", "struct", "enum", "trait", "union", "type", "static", "const"];
    let kind = words.by_ref().find(|word| !["unsafe", "async"].contains(word))?;
    let mut name = words.next()?;
    if kind == "const" && name == "fn" {
        name = words.next()?;
    }
    kinds.contains(&kind).then_some(name)
}

/// What is public of a crate, one line each.
fn public(name: &str) -> BTreeSet<String> {
    let all = blocks(&root().join("crates").join(name).join("src"));
    let lib: Vec<&Block> = all.iter().filter(|block| block.module == "lib").collect();
    let mut lines = BTreeSet::new();
    for (item, module) in exports(&lib) {
        match module {
            None => {
                lines.insert(format!("{item}: of another crate"));
            }
            Some(module) => describe(&all, &item, &item, &module, &mut lines),
        }
    }
    // Modules that are public themselves.
    for block in lib.iter().filter(|block| block.head().starts_with("pub mod ")) {
        let module = block.head().trim_start_matches("pub mod ").trim_end_matches(';');
        let items: Vec<&str> = all
            .iter()
            .filter(|block| block.module == module)
            .filter_map(|block| defined(block.head()))
            .collect();
        assert!(!items.is_empty(), "the public module {module} of {name} has nothing that is seen here");
        for item in items {
            describe(&all, item, &format!("{module}::{item}"), module, &mut lines);
        }
    }
    lines
}

/// All that is public of one item.
fn describe(all: &[Block], item: &str, shown: &str, module: &str, lines: &mut BTreeSet<String>) {
    let inside = |block: &&Block| block.module == module || block.module.starts_with(&format!("{module}/"));
    let definition = all.iter().filter(inside).find(|block| defined(block.head()) == Some(item));
    let Some(definition) = definition else {
        let found = made(all.iter().filter(inside), item, shown, lines);
        found.unwrap_or_else(|| panic!("{module} does not define {item}"));
        return implemented(all, item, shown, lines);
    };
    for derive in &definition.derives {
        lines.insert(format!("{shown}: {derive}"));
    }
    let head = signature(&definition.lines);
    match definition.head() {
        line if line.contains(" const ") && !line.contains(" fn ") || line.starts_with("pub const ") => {
            lines.insert(format!("{shown}: {}", head.split(" = ").next().unwrap_or(&head)));
        }
        line => {
            lines.insert(format!("{shown}: {head}"));
            let is_open = line.contains("enum ") || line.contains("trait ");
            if !line.contains("fn ") {
                members(&definition.lines, is_open, shown, lines);
            }
        }
    }
    implemented(all, item, shown, lines);
}

/// The methods of an item, and the traits that it has beside the derived ones.
fn implemented(all: &[Block], item: &str, shown: &str, lines: &mut BTreeSet<String>) {
    for block in all.iter().filter(|block| block.head().starts_with("impl")) {
        let head = signature(&block.lines);
        let (of_trait, of) = match head.split_once(" for ") {
            Some((left, right)) => (Some(left), right),
            None => (None, after_parameters(&head)),
        };
        let of = of.split(['<', ' ', '{']).next().unwrap_or_default().rsplit("::").next().unwrap_or_default();
        if of != item {
            continue;
        }
        match of_trait {
            Some(_) => _ = lines.insert(format!("{shown}: {head}")),
            None => members(&block.lines, false, shown, lines),
        }
    }
}

/// An item that a macro of the same module makes: what the macro has of public, and what it is
/// given.
fn made<'b>(
    all: impl Iterator<Item = &'b Block>,
    item: &str,
    shown: &str,
    lines: &mut BTreeSet<String>,
) -> Option<()> {
    let all: Vec<&Block> = all.collect();
    let has = |block: &Block| {
        let is_item = |word: &str| word == item;
        block.lines.iter().any(|line| line.split(|c: char| !c.is_alphanumeric() && c != '_').any(is_item))
    };
    for rules in all.iter().filter(|block| block.head().starts_with("macro_rules! ")) {
        let name = rules.head().trim_start_matches("macro_rules! ").trim_end_matches(" {");
        let call = all.iter().find(|block| block.head().starts_with(&format!("{name}! ")));
        let Some(call) = call.filter(|call| has(rules) || has(call)) else { continue };
        let given: Vec<&str> = call.lines.iter().filter_map(|line| said(line)).collect();
        lines.insert(format!("{shown}: {}", given.join(" ")));
        let public = rules
            .lines
            .iter()
            .map(|line| line.trim())
            .filter(|line| line.starts_with("pub ") || line.starts_with("#[derive("));
        lines.extend(public.map(|line| format!("{shown}: by {name}! {}", line.trim_end_matches(" {"))));
        return Some(());
    }
    None
}

/// `impl<'a, T: Into<X>> Name<'a>` without what comes before the name.
fn after_parameters(head: &str) -> &str {
    let rest = head.trim_start_matches("unsafe ").trim_start_matches("impl");
    let mut depth = 0;
    for (at, one) in rest.char_indices() {
        match one {
            '<' => depth += 1,
            '>' if !rest[..at].ends_with('-') => depth -= 1,
            ' ' if depth == 0 => return rest[at..].trim(),
            _ => {}
        }
    }
    rest
}

/// A line without its comment; none where it is only one, or an attribute.
fn said(line: &str) -> Option<&str> {
    let line = line.trim();
    let is_said = !line.is_empty() && !line.starts_with("//") && !line.starts_with("#[");
    is_said.then(|| line.split(" // ").next().unwrap_or(line))
}

/// Up to the bracket that opens the body, or the semicolon.
fn signature(lines: &[String]) -> String {
    let mut text = String::new();
    for line in lines.iter().filter_map(|line| said(line)) {
        if !text.is_empty() && !text.ends_with('(') {
            text.push(' ');
        }
        text.push_str(line);
        if line.ends_with(['{', ';', '}']) {
            break;
        }
    }
    let end = text.trim_end_matches(['{', ';']).trim_end();
    end.replace(", )", ")").replace("( ", "(")
}

/// The public parts of an item: those that say so, or, where `all` are, every one.
fn members(lines: &[String], all: bool, shown: &str, found: &mut BTreeSet<String>) {
    let inner = lines.get(1..lines.len().saturating_sub(1)).unwrap_or_default();
    let at_level = |line: &str| line.starts_with("    ") && !line.starts_with("     ");
    for (number, line) in inner.iter().enumerate().filter(|(_, line)| at_level(line)) {
        let Some(text) = said(line).filter(|text| !text.starts_with(['}', ')', ']'])) else { continue };
        if !(all || text.starts_with("pub ")) {
            continue;
        }
        // A variant with fields, or a method: to where it ends, or its body begins.
        let is_function = text.contains("fn ");
        let part = match text.ends_with(',') || is_function {
            true if is_function => signature(&inner[number..]),
            true => text.trim_end_matches(',').to_owned(),
            false => {
                let rest = &inner[number..];
                let end = rest.iter().skip(1).position(|line| at_level(line)).map_or(rest.len(), |at| at + 2);
                let taken = rest[..end.min(rest.len())].iter().filter_map(|line| said(line));
                taken.collect::<Vec<_>>().join(" ")
            }
        };
        found.insert(format!("{shown}: . {}", part.trim_end_matches(',')));
    }
}

#[test]
fn public_names_are_those_that_are_stored() {
    let asked = std::env::var("REWEAVE_BLESS").unwrap_or_default();
    let mut wrong = String::new();
    for name in CRATES {
        let path = root().join(format!("crates/cli/tests/api/{name}.txt"));
        let now = public(name);
        let stored = fs::read_to_string(&path).unwrap_or_default();
        let stored: BTreeSet<String> = stored.lines().map(str::to_owned).collect();
        let gone: Vec<&String> = stored.difference(&now).collect();
        let new: Vec<&String> = now.difference(&stored).collect();
        if asked == "breaking" || !asked.is_empty() && gone.is_empty() {
            let text: String = now.iter().map(|line| format!("{line}\n")).collect();
            fs::write(&path, text).expect("the list can be written");
            continue;
        }
        for (sign, lines) in [("-", &gone), ("+", &new)] {
            lines.iter().for_each(|line| wrong.push_str(&format!("{sign} {name}: {line}\n")));
        }
    }
    assert!(
        wrong.is_empty(),
        "the library's public names are not those in crates/cli/tests/api:\n{wrong}\
         Lines with - break programs that use the crates: keep the old name, or raise the version (the middle number \
         before 1.0), say it in CHANGELOG.md, and store the list with REWEAVE_BLESS=breaking. \
         With + only, REWEAVE_BLESS=1 stores it."
    );
}

/// The reader of sources itself, on what the sources of the crates have, and what it must not take.
#[test]
fn what_is_public_is_read_off_a_source() {
    let text = "\
/// A thing.
#[derive(Clone, Debug)]
pub struct Thing<'a, T: Into<u8>> {
    /// One.
    pub one: Vec<T>,
    hidden: &'a str,
}

impl<'a, T: Into<u8>> Thing<'a, T> {
    /// Makes one.
    pub fn new(
        first: u8,
        second: u8,
    ) -> Thing<'a, T> {
        todo
    }

    pub(crate) fn inner(&self) {}
}

impl<T: Into<u8>> Drop for Thing<'_, T> {
    fn drop(&mut self) {}
}

pub enum Way {
    There,
    Back {
        /// How far.
        steps: u8,
    },
}

#[cfg(test)]
mod tests {
    pub struct Way;
}
";
    let all = split("one", text);
    let mut lines = BTreeSet::new();
    describe(&all, "Thing", "Thing", "one", &mut lines);
    describe(&all, "Way", "Way", "one", &mut lines);
    let expected = [
        "Thing: #[derive(Clone, Debug)]",
        "Thing: . pub fn new(first: u8, second: u8) -> Thing<'a, T>",
        "Thing: . pub one: Vec<T>",
        "Thing: impl<T: Into<u8>> Drop for Thing<'_, T>",
        "Thing: pub struct Thing<'a, T: Into<u8>>",
        "Way: . Back { steps: u8, }",
        "Way: . There",
        "Way: pub enum Way",
    ];
    assert_eq!(lines.iter().map(String::as_str).collect::<Vec<_>>(), expected);
}
