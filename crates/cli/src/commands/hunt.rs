//! `reweave hunt`: record, predict and replay in one go.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use anyhow::Context;

use super::{predict, record};
use crate::args::{self, Command, Global, HuntArgs};
use crate::console::Console;
use crate::exit::Exit;
use crate::failure::Failure;

pub(crate) fn run(args: &HuntArgs, global: &Global, console: &Console) -> anyhow::Result<Exit> {
    let temporary = tempfile::tempdir()?;
    let folder = match &args.keep {
        Some(folder) => {
            std::fs::create_dir_all(folder).with_context(|| folder.display().to_string())?;
            folder.as_path()
        }
        None => temporary.path(),
    };
    let traces = record(args, folder, console)?;
    // The same as the user would say: there is one way to read flags.
    let mut line: Vec<OsString> = ["reweave", "predict", "--confirm"].map(OsString::from).to_vec();
    line.extend(traces.into_iter().map(PathBuf::into_os_string));
    let kinds: Vec<&str> = args.kinds.iter().map(|kind| kind.name()).collect();
    let replaying = &args.replaying;
    let times = replaying.times.to_string();
    let limit = format!("{}ms", replaying.replay_timeout.as_millis());
    let mut flag = |name: &str, value: Option<&OsStr>| {
        if let Some(value) = value {
            line.extend([OsString::from(name), value.to_owned()]);
        }
    };
    flag("--kinds", (!kinds.is_empty()).then(|| kinds.join(",")).as_deref().map(OsStr::new));
    flag("--times", Some(OsStr::new(&times)));
    flag("--replay-timeout", Some(OsStr::new(&limit)));
    flag("--input", replaying.input.as_ref().map(|path| path.as_os_str()));
    flag("--json", args.json.as_ref().map(|path| path.as_os_str()));
    flag("--sarif", args.sarif.as_ref().map(|path| path.as_os_str()));
    if replaying.strict {
        line.push("--strict".into());
    }
    line.push("--".into());
    line.extend(args.program.iter().cloned());
    let parsed = args::parse(line).map_err(|error| Failure::new(error.to_string()))?;
    match parsed.command {
        Command::Predict(args) => predict::run(&args, global, console),
        _ => Err(Failure::new("the flags were not understood").into()),
    }
}

/// Records the runs; the traces.
fn record(args: &HuntArgs, folder: &Path, console: &Console) -> anyhow::Result<Vec<PathBuf>> {
    let output = folder.join("run.rw");
    let mut line: Vec<OsString> = ["reweave", "record"].map(OsString::from).to_vec();
    let runs = args.runs.to_string();
    let (seed, limit) = (args.seed.to_string(), format!("{}ms", args.timeout.as_millis()));
    line.extend(
        ["--output-aside", "--runs", &runs, "--seed", &seed, "--timeout", &limit, "-o"].map(OsString::from),
    );
    line.extend([output.clone().into_os_string(), "--".into()]);
    line.extend(args.program.iter().cloned());
    let parsed = args::parse(line).map_err(|error| Failure::new(error.to_string()))?;
    let Command::Record(recording) = parsed.command else {
        return Err(Failure::new("the flags were not understood").into());
    };
    let ended = record::run(&recording, console)?;
    if ended != Exit::Yes {
        console.warn(format_args!("a recorded run ended with status {}", ended.code()));
    }
    let all = 1..=args.runs;
    let name = |number| if args.runs == 1 { output.clone() } else { record::numbered(&output, number) };
    Ok(all.map(name).filter(|path| path.exists()).collect())
}
