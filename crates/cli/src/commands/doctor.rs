//! `reweave doctor`: what this machine has and lacks.
//!
//! Compilers are not only looked for: each that is found compiles a small program, in C, C++ or
//! Rust, which is recorded and predicted on. A compiler that is then called `ok` has worked once,
//! on this machine, under these rights.

mod compilers;
mod system;

use std::io::Write;

use serde::Serialize;

use crate::args::DoctorArgs;
use crate::console::{BAD, Console, GOOD, STRONG};
use crate::document;
use crate::exit::Exit;

/// What is there of one thing.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
enum State {
    /// It works.
    Ok,
    /// It is there, and less than it could be.
    Limited,
    /// It is not there, or does not work.
    Missing,
}

/// One row of the answer.
#[derive(Debug, Serialize)]
struct Check {
    name: String,
    state: State,
    /// What was found.
    found: String,
    /// What to do about it, where there is something.
    #[serde(skip_serializing_if = "Option::is_none")]
    advice: Option<String>,
}

impl Check {
    fn ok(name: impl Into<String>, found: impl Into<String>) -> Check {
        Check { name: name.into(), state: State::Ok, found: found.into(), advice: None }
    }

    fn limited(name: impl Into<String>, found: impl Into<String>, advice: impl Into<String>) -> Check {
        Check { name: name.into(), state: State::Limited, found: found.into(), advice: Some(advice.into()) }
    }

    fn missing(name: impl Into<String>, found: impl Into<String>, advice: impl Into<String>) -> Check {
        Check { name: name.into(), state: State::Missing, found: found.into(), advice: Some(advice.into()) }
    }

    fn is_ok(&self) -> bool {
        self.state == State::Ok
    }
}

/// The document of `--json`.
#[derive(Serialize)]
struct Answer<'a> {
    schema: u32,
    tool: String,
    records: bool,
    checks: &'a [Check],
}

/// Looks at everything, and says whether programs can be recorded.
pub(crate) fn run(args: &DoctorArgs, console: &Console) -> anyhow::Result<Exit> {
    let (mut checks, records) = compilers::checks();
    checks.extend(system::checks());
    let tool = format!("reweave {}", env!("CARGO_PKG_VERSION"));
    if let Some(path) = &args.json {
        let answer = Answer { schema: 1, tool: tool.clone(), records, checks: &checks };
        document::write_json(path, &answer, console)?;
    }
    if !args.json.as_deref().is_some_and(crate::input::is_standard) {
        print(&tool, &checks, records, console)?;
    }
    Ok(if records { Exit::Yes } else { Exit::No })
}

fn print(tool: &str, checks: &[Check], records: bool, console: &Console) -> anyhow::Result<()> {
    let mut out = console.out();
    writeln!(out, "{tool} on {} {}", std::env::consts::ARCH, std::env::consts::OS)?;
    let width = checks.iter().map(|check| check.name.len()).max().unwrap_or(0);
    for check in checks {
        let (style, word) = match check.state {
            State::Ok => (GOOD, "ok     "),
            State::Limited => (STRONG, "limited"),
            State::Missing => (BAD, "missing"),
        };
        writeln!(out, "  {:width$}  {}  {}", check.name, console.styled(style, word), check.found)?;
        if let Some(advice) = &check.advice {
            writeln!(out, "  {:width$}           {advice}", "")?;
        }
    }
    let verdict = match records {
        true => "C programs can be recorded here",
        false => "C programs cannot be recorded here; traces can be read and predicted on",
    };
    writeln!(out, "{}", console.styled(STRONG, verdict))?;
    out.flush()?;
    Ok(())
}
