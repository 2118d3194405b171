//! The arguments of `reweave cargo`: those of cargo, and among them those of `reweave record`.

use std::ffi::OsString;
use std::path::PathBuf;

use crate::failure::Failure;

/// What was asked for.
#[derive(Default, Debug)]
pub(super) struct Line {
    /// What cargo is to do.
    pub(super) command: String,
    /// Its arguments.
    pub(super) arguments: Vec<OsString>,
    /// The trace to write.
    pub(super) output: Option<PathBuf>,
    /// The other arguments for `reweave record`.
    pub(super) recording: Vec<OsString>,
    pub(super) manifest: Option<PathBuf>,
    pub(super) target_folder: Option<PathBuf>,
    /// Whether it says which of the project's programs are meant.
    pub(super) selects: bool,
}

/// The flags of `reweave record` that cargo has none of the same name as.
const RECORDING: [&str; 7] =
    ["--seed", "--policy", "--runs", "--timeout", "--max-events", "--max-size", "--last"];
const COMMANDS: [&str; 3] = ["build", "run", "test"];
/// What chooses among the programs of a project.
const SELECTS: [&str; 8] =
    ["--lib", "--bin", "--bins", "--test", "--tests", "--example", "--examples", "--all-targets"];

impl Line {
    /// Reads the command line, up to what is for the program.
    pub(super) fn read(arguments: &[OsString]) -> anyhow::Result<Line> {
        let mut line = Line::default();
        let mut words = arguments.iter().cloned();
        while let Some(word) = words.next() {
            let text = word.to_string_lossy().into_owned();
            if text == "--" {
                line.arguments.push(word);
                line.arguments.extend(words);
                break;
            }
            let (name, inline) = match text.split_once('=') {
                Some((name, value)) if name.starts_with("--") => {
                    (name.to_owned(), Some(OsString::from(value)))
                }
                _ => (text.clone(), None),
            };
            let mut value = || {
                inline
                    .clone()
                    .or_else(|| words.next())
                    .ok_or_else(|| Failure::new(format!("{name} lacks its value")))
            };
            match name.as_str() {
                "-o" | "--output" => line.output = Some(value()?.into()),
                "--target-dir" => line.target_folder = Some(value()?.into()),
                "--target" => {
                    return Err(Failure::new("programs for another machine cannot be recorded")
                        .hint("leave out --target")
                        .into());
                }
                flag if RECORDING.contains(&flag) => {
                    let value = value()?;
                    line.recording.extend([flag.into(), value]);
                }
                command if line.command.is_empty() && !command.starts_with('-') => line.command = text,
                flag => {
                    line.selects |= SELECTS.contains(&flag);
                    if flag == "--manifest-path" {
                        let path = value()?;
                        line.manifest = Some(path.clone().into());
                        line.arguments.extend(["--manifest-path".into(), path]);
                    } else {
                        line.arguments.push(word);
                    }
                }
            }
        }
        line.check()
    }

    fn check(self) -> anyhow::Result<Line> {
        if !COMMANDS.contains(&self.command.as_str()) {
            let said = if self.command.is_empty() {
                "nothing for cargo to do".to_owned()
            } else {
                format!("`cargo {}` is not for recording", self.command)
            };
            return Err(Failure::new(said).hint("build, run or test, as in: reweave cargo test").into());
        }
        Ok(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Line {
        Line::read(&text.split(' ').map(OsString::from).collect::<Vec<_>>()).expect("a good line")
    }

    #[test]
    fn arguments_are_for_cargo_for_the_recorder_or_for_the_program() {
        let line = read("run -o a.rw --seed=3 --release --bin shop -- --seed 4 -o x");
        assert_eq!(
            (line.command.as_str(), line.output.as_deref()),
            ("run", Some(std::path::Path::new("a.rw")))
        );
        assert_eq!(line.recording, ["--seed", "3"]);
        assert_eq!(line.arguments, ["--release", "--bin", "shop", "--", "--seed", "4", "-o", "x"]);
        assert!(line.selects);
        let line = read("--timeout 5s test -p shop name --manifest-path a/Cargo.toml");
        assert_eq!(line.recording, ["--timeout", "5s"]);
        assert_eq!(line.arguments, ["-p", "shop", "name", "--manifest-path", "a/Cargo.toml"]);
        assert!(!line.selects && line.manifest.is_some());
    }

    #[test]
    fn what_cannot_be_recorded_is_refused() {
        for text in ["publish", "build --target wasm32-unknown-unknown", "--seed", "run --seed"] {
            let words: Vec<OsString> = text.split(' ').map(OsString::from).collect();
            assert!(Line::read(&words).is_err(), "{text}");
        }
    }
}
