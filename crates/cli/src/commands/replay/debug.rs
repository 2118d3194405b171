//! A replay under gdb or lldb: what the debugger is given, so that it stops where the bug is and
//! says who holds what.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use reweave_replay::{Order, Schedule, Shape};
use reweave_session::Folder;
use serde_json::json;

use super::show;

/// The command `reweave` of both debuggers.
const SCRIPT: &str = include_str!("debugger.py");

/// A debugger.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Debugger {
    Gdb,
    Lldb,
}

impl Debugger {
    pub(super) fn name(self) -> &'static str {
        match self {
            Debugger::Gdb => "gdb",
            Debugger::Lldb => "lldb",
        }
    }

    /// The variable that names another command.
    pub(super) fn variable(self) -> &'static str {
        match self {
            Debugger::Gdb => "REWEAVE_GDB",
            Debugger::Lldb => "REWEAVE_LLDB",
        }
    }

    /// The debugger's command line up to the program; its script is written to the folder.
    pub(super) fn command(
        self,
        folder: &Folder,
        schedule: &Schedule,
        order: Order,
    ) -> io::Result<Vec<OsString>> {
        let script = write(folder, schedule, order)?;
        let mut words: Vec<OsString> = match std::env::var(self.variable()) {
            Ok(words) if !words.trim().is_empty() => words.split_whitespace().map(OsString::from).collect(),
            _ => vec![self.name().into()],
        };
        // Both take a path in double quotes; the folder's own has none.
        let load = |verb: &str| {
            let mut line = OsString::from(format!("{verb} \""));
            line.push(&script);
            line.push("\"");
            line
        };
        match self {
            Debugger::Gdb => {
                let mut source = OsString::from("source ");
                source.push(&script);
                words.push("-q".into());
                for line in [
                    "set breakpoint pending on".into(),
                    "set confirm off".into(),
                    "handle SIG62 nostop noprint pass".into(),
                    source,
                    "break reweave_reached".into(),
                    "run".into(),
                    "reweave".into(),
                ] {
                    words.extend(["-ex".into(), line]);
                }
                words.push("--args".into());
            }
            Debugger::Lldb => {
                for line in [
                    load("command script import"),
                    // The signal by which the runtime ends a program whose time is up.
                    "process handle --pass true --stop false --notify false SIGRTMAX-2".into(),
                    "breakpoint set --name reweave_reached".into(),
                    "run".into(),
                    "reweave".into(),
                ] {
                    words.extend(["-o".into(), line]);
                }
                words.push("--".into());
            }
        }
        Ok(words)
    }
}

/// Writes the script, and what it has to know of the finding.
fn write(folder: &Folder, schedule: &Schedule, order: Order) -> io::Result<PathBuf> {
    let events = schedule.events.iter().enumerate().map(|(number, event)| {
        let (lead, what) = show::event(schedule, number, &event.note);
        let site = event.note.split_once(", ").map_or("", |(_, site)| site);
        json!({ "lead": lead, "what": what, "site": site })
    });
    let last = schedule.events.len().saturating_sub(1);
    let chosen = match (schedule.shape, order) {
        (Shape::Race, Order::Ba) => 1,
        (Shape::Race | Shape::Deadlock | Shape::Sleep, _) => 0,
        (Shape::Sequence | Shape::Late, _) => last,
    };
    let about = json!({
        "title": schedule.title,
        "notes": folder.files().notes_path().to_string_lossy(),
        "threads": schedule.threads.iter().map(|thread| thread.name.as_str()).collect::<Vec<_>>(),
        "events": events.collect::<Vec<_>>(),
        "chosen": chosen,
    });
    let (script, path) = (folder.path().join("reweave_debugger.py"), folder.path().join("finding.json"));
    fs::write(&path, about.to_string())?;
    fs::write(&script, format!("ABOUT = {}\n{SCRIPT}", quoted(&path)))?;
    Ok(script)
}

/// A path as Python spells a text.
fn quoted(path: &Path) -> String {
    json!(path.to_string_lossy()).to_string()
}
