//! A compiler's command line, as far as it tells what will be linked.

use std::ffi::OsString;
use std::fs;

/// How deep response files may name each other.
const MAX_DEPTH: usize = 8;

/// Options that take the next argument: it is no input.
const WITH_ARGUMENT: &[&str] = &[
    "-o",
    "-x",
    "-I",
    "-L",
    "-D",
    "-U",
    "-include",
    "-imacros",
    "-isystem",
    "-iquote",
    "-idirafter",
    "-iprefix",
    "-isysroot",
    "-MF",
    "-MT",
    "-MQ",
    "-Xlinker",
    "-Xassembler",
    "-Xpreprocessor",
    "-Xclang",
    "-mllvm",
    "-T",
    "-u",
    "-z",
    "-l",
    "-e",
    "-arch",
    "-target",
    "--param",
    "-aux-info",
    "-dumpbase",
    "-wrapper",
    "-B",
];

/// What a command line asks for.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(super) struct Line {
    /// It stops before linking.
    stops: bool,
    shared: bool,
    has_input: bool,
    pub(super) is_static: bool,
}

impl Line {
    pub(super) fn read(arguments: &[OsString]) -> Line {
        let words: Vec<String> = arguments.iter().map(|word| word.to_string_lossy().into_owned()).collect();
        let mut line = Line::default();
        line.take(&words, 0);
        line
    }

    /// Whether a program comes out.
    pub(super) fn links_program(self) -> bool {
        self.has_input && !self.stops && !self.shared
    }

    fn take(&mut self, words: &[String], depth: usize) {
        let mut words = words.iter();
        while let Some(word) = words.next() {
            if let Some(file) = word.strip_prefix('@') {
                if let (true, Ok(text)) = (depth < MAX_DEPTH, fs::read_to_string(file)) {
                    self.take(&split(&text), depth + 1);
                }
                continue;
            }
            match word.as_str() {
                "-c" | "-S" | "-E" | "-M" | "-MM" | "-fsyntax-only" | "-r" | "--version" | "-dumpversion"
                | "-dumpmachine" | "-###" | "--help" => self.stops = true,
                "-shared" | "--shared" => self.shared = true,
                "-static" | "--static" | "-static-pie" => self.is_static = true,
                "-" => self.has_input = true,
                option if WITH_ARGUMENT.contains(&option) => _ = words.next(),
                option if option.starts_with("-print-") => self.stops = true,
                option if option.starts_with('-') => {}
                _ => self.has_input = true,
            }
        }
        self.is_static &= !self.stops && !self.shared;
    }
}

/// The words of a response file: separated by space, with quotes and backslashes.
fn split(text: &str) -> Vec<String> {
    let (mut words, mut word, mut quote, mut open) = (Vec::new(), String::new(), None, false);
    let mut characters = text.chars();
    while let Some(character) = characters.next() {
        match (quote, character) {
            (_, '\\') => {
                word.extend(characters.next());
                open = true;
            }
            (Some(closing), _) if character == closing => quote = None,
            (None, '"' | '\'') => {
                quote = Some(character);
                open = true;
            }
            (None, space) if space.is_whitespace() => {
                if std::mem::take(&mut open) {
                    words.push(std::mem::take(&mut word));
                }
            }
            _ => {
                word.push(character);
                open = true;
            }
        }
    }
    if open {
        words.push(word);
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    fn links(line: &str) -> bool {
        Line::read(&line.split_whitespace().map(OsString::from).collect::<Vec<_>>()).links_program()
    }

    #[test]
    fn only_lines_that_make_a_program_link_the_library() {
        for line in
            ["a.c", "a.c b.o -o a -lm", "-O2 -x c -", "-I c -L . a.o -Wl,-z,now", "-MD -MF x.d a.c -o a"]
        {
            assert!(links(line), "{line}");
        }
        for line in [
            "-c a.c",
            "a.c -c -o a.o",
            "-E a.c",
            "-M a.c",
            "-shared a.o -o a.so",
            "--version",
            "-v",
            "-dumpmachine",
            "-print-prog-name=ld",
            "-r a.o b.o -o c.o",
            "-o a",
            "-include a.h",
            "",
        ] {
            assert!(!links(line), "{line}");
        }
    }

    #[test]
    fn response_files_are_looked_into() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("arguments");
        fs::write(&file, "-c\n'a file.c' \"-o\" b\\ c.o").unwrap();
        assert_eq!(split(&fs::read_to_string(&file).unwrap()), ["-c", "a file.c", "-o", "b c.o"]);
        assert!(!links(&format!("@{}", file.display())));
        fs::write(&file, format!("@{} a.c", file.display())).unwrap();
        assert!(links(&format!("@{}", file.display())), "one that names itself has an end");
    }

    #[test]
    fn a_static_program_is_noticed() {
        assert!(Line::read(&["-static".into(), "a.c".into()]).is_static);
        assert!(!Line::read(&["-static".into(), "-c".into(), "a.c".into()]).is_static);
    }
}
