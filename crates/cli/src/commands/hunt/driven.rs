//! Programs that a driver starts, each recorded to a trace of its own.
//!
//! A driver is anything that starts programs: a script, ctest, make. It runs with the folder of its traces in its environment; a program that
//! was compiled to be recorded finds it there and starts over as `reweave driven`, which records it. Beside each trace stands how
//! the program was started, so that it can be replayed without the driver.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::Write;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use anyhow::Context;
use serde::{Deserialize, Serialize};

use crate::args::{self, Command, DrivenArgs};
use crate::commands::record;
use crate::console::Console;
use crate::exit::Exit;
use crate::failure::Failure;

/// The variable of the environment that names the folder.
pub(crate) const FOLDER: &str = "REWEAVE_DRIVER";
/// This program, as recorded programs find it in the folder.
pub(super) const RECORDER: &str = "reweave";
const WANTED: &str = "wanted.json";
const COMMAND: &str = ".command";

/// How the programs are recorded.
#[derive(Serialize, Deserialize)]
pub(super) struct Wanted {
    pub(super) seed: u64,
    pub(super) policy: String,
    /// In milliseconds.
    pub(super) timeout: u64,
    pub(super) follow_child: bool,
    pub(super) dependences: bool,
}

/// How a program was started, as it stands beside its trace. Words need not be text.
#[derive(Serialize, Deserialize)]
struct Beginning {
    program: Vec<u8>,
    arguments: Vec<Vec<u8>>,
    folder: Vec<u8>,
    /// None while it runs, and where its recorder was killed.
    status: Option<u8>,
}

/// A program that the driver started.
pub(crate) struct Started {
    pub(crate) program: PathBuf,
    pub(crate) arguments: Vec<OsString>,
    /// Where it ran.
    pub(crate) folder: PathBuf,
    pub(super) status: Option<u8>,
    /// None where nothing was recorded.
    pub(super) trace: Option<PathBuf>,
}

impl Started {
    /// The program and its arguments.
    pub(crate) fn words(&self) -> Vec<OsString> {
        [self.program.clone().into_os_string()].into_iter().chain(self.arguments.iter().cloned()).collect()
    }
}

/// Makes the folder of a run of the driver; its full name.
pub(super) fn prepare(folder: &Path, wanted: &Wanted) -> anyhow::Result<PathBuf> {
    let name = || folder.display().to_string();
    // Traces of an earlier hunt would be taken for this one's.
    let _ = fs::remove_dir_all(folder);
    fs::create_dir_all(folder).with_context(name)?;
    let folder = folder.canonicalize().with_context(name)?;
    fs::write(folder.join(WANTED), serde_json::to_vec(wanted)?).with_context(name)?;
    let ours = std::env::current_exe().context("this program is not to be found")?;
    std::os::unix::fs::symlink(ours, folder.join(RECORDER)).with_context(name)?;
    Ok(folder)
}

/// What was started below a driver, in the order of names.
pub(super) fn started(folder: &Path) -> anyhow::Result<Vec<Started>> {
    let entries = fs::read_dir(folder).with_context(|| folder.display().to_string())?;
    let mut files: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    files.retain(|path| path.as_os_str().as_bytes().ends_with(COMMAND.as_bytes()));
    files.sort();
    Ok(files.iter().filter_map(|path| read(path)).collect())
}

/// How the program of a trace was started, where a driver did it.
pub(crate) fn of_trace(trace: &Path) -> Option<Started> {
    let mut path = trace.as_os_str().to_owned();
    path.push(COMMAND);
    read(Path::new(&path))
}

fn read(path: &Path) -> Option<Started> {
    let beginning: Beginning = serde_json::from_slice(&fs::read(path).ok()?).ok()?;
    let trace = path.with_extension("");
    Some(Started {
        program: OsString::from_vec(beginning.program).into(),
        arguments: beginning.arguments.into_iter().map(OsString::from_vec).collect(),
        folder: OsString::from_vec(beginning.folder).into(),
        status: beginning.status,
        trace: Some(trace).filter(|trace| trace.exists()),
    })
}

/// Records a program instead of what started over; what there is to say goes to a file beside the trace, since what the
/// program writes may be compared.
pub(crate) fn run(args: &DrivenArgs) -> anyhow::Result<Exit> {
    let folder = std::env::var_os(FOLDER).map(PathBuf::from).ok_or_else(|| {
        Failure::new("no driver started this").hint("`reweave hunt -- ./run-tests.sh` is a driver")
    })?;
    let wanted: Wanted = serde_json::from_slice(&fs::read(folder.join(WANTED))?)?;
    let Some((program, arguments)) = args.program.split_first() else {
        return Err(Failure::new("no program to record").into());
    };
    let bytes = |word: &OsString| word.as_bytes().to_vec();
    let mut beginning = Beginning {
        program: bytes(program),
        arguments: arguments.iter().map(bytes).collect(),
        folder: std::env::current_dir()?.into_os_string().into_vec(),
        status: None,
    };
    let stem = Path::new(program).file_name().unwrap_or_default().to_string_lossy().into_owned();
    let (trace, command) = claim(&folder, &stem, &beginning)?;
    let console = Console::to_file(File::create(trace.with_extension("log"))?);
    let mut line: Vec<OsString> = ["reweave", "record", "-o"].map(OsString::from).to_vec();
    line.push(trace.into());
    line.extend(["--seed", &wanted.seed.to_string(), "--policy", &wanted.policy].map(OsString::from));
    line.extend(["--timeout", &format!("{}ms", wanted.timeout)].map(OsString::from));
    line.extend(wanted.follow_child.then(|| "--follow-child".into()));
    line.extend(wanted.dependences.then(|| "--dependences".into()));
    line.push("--".into());
    line.extend(args.program.iter().cloned());
    let parsed = args::parse(&line).map_err(|error| Failure::new(error.to_string()))?;
    let Command::Record(recording) = parsed.command else {
        return Err(Failure::new("the flags were not understood").into());
    };
    let (ended, converted) = record::run_one(&recording, &console)?;
    if let Err(error) = converted {
        // Its driver must not find another program than without us.
        crate::failure::report(&error, &console);
    }
    beginning.status = Some(ended.code());
    fs::write(command, serde_json::to_vec(&beginning)?)?;
    Ok(ended)
}

/// Takes the first name that is free: the file of the trace, and of how the program was started.
fn claim(folder: &Path, stem: &str, beginning: &Beginning) -> anyhow::Result<(PathBuf, PathBuf)> {
    for number in 1u64.. {
        let trace = folder.join(format!("{stem}-{number}.rw"));
        let command = folder.join(format!("{stem}-{number}.rw{COMMAND}"));
        match File::create_new(&command) {
            Ok(mut file) => {
                file.write_all(&serde_json::to_vec(beginning)?)?;
                return Ok((trace, command));
            }
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error).with_context(|| command.display().to_string()),
        }
    }
    Err(Failure::new("there is no free name for a trace").into())
}
