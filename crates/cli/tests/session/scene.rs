//! One run and its end.

use std::fs;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{self, Child, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use tempfile::TempDir;

#[path = "family.rs"]
mod family;

pub(crate) use family::Family;
use family::{MOST_SCENES, reweave, test_name};

/// Nothing takes longer.
const LIMIT: Duration = Duration::from_secs(120);

/// What runs the program.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Command {
    Record,
    Replay,
    Confirm,
    Hunt,
    CargoRun,
    CargoTest,
}

/// What ends the run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum End {
    /// The program ends, its children do not.
    Own,
    /// Ctrl-C in a terminal.
    Terminal,
    /// A signal to the command alone.
    Signal(&'static str),
    /// A signal to its process group.
    GroupSignal(&'static str),
    /// The command `timeout`.
    UnderTimeout,
    /// Our own limit.
    OwnTimeout,
    /// Nobody reads the output any more.
    ClosedPipe,
    /// A signal to the command, which the program does not heed.
    Ignored(&'static str),
}

/// One run, with a folder and temporary files of its own.
pub(crate) struct Scene<'f> {
    family: &'f Family,
    command: Command,
    end: End,
    folder: TempDir,
    mark: String,
    /// Which of the tests of a family in Rust is run.
    number: usize,
}

impl<'f> Scene<'f> {
    pub(crate) fn new(family: &'f Family, command: Command, end: End) -> Scene<'f> {
        static NUMBER: AtomicUsize = AtomicUsize::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let folder = tempfile::tempdir().expect("a folder");
        fs::create_dir(folder.path().join("tmp")).expect("a folder");
        fs::create_dir(folder.path().join("out")).expect("a folder");
        let mark = format!("9{:07}{number:03}", process::id());
        Scene { family, command, end, folder, mark, number: number % MOST_SCENES }
    }

    /// Has it all happen, and looks at what is left.
    pub(crate) fn play(self) -> Result<(), String> {
        let result = self.try_to();
        // A failure leaves what it complains about.
        for (id, _) in running(&self.mark) {
            let _ = process::Command::new("kill").args(["-KILL", &id]).status();
        }
        result.map_err(|what| format!("{:?}, {:?}: {what}", self.command, self.end))
    }

    fn how(&self) -> &'static str {
        let prints = matches!(self.command, Command::Record | Command::CargoRun);
        match self.end {
            End::Own => "exit",
            End::ClosedPipe if prints => "write",
            End::ClosedPipe => "exit",
            End::Ignored(_) => "ignore",
            _ => "wait",
        }
    }

    fn out(&self) -> PathBuf {
        self.folder.path().join("out")
    }

    /// The arguments of the command.
    fn line(&self) -> Vec<String> {
        let text = |path: PathBuf| path.to_str().expect("text").to_owned();
        let own = self.end == End::OwnTimeout;
        let (limit, replay_limit) = if own { ("1s", "1s") } else { ("100s", "100s") };
        let words = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
        let trace = text(self.out().join("trace.rw"));
        let first = text(self.family.trace.clone());
        let mut line = match self.command {
            Command::Record => words(&format!("record --timeout {limit} -o {trace} --")),
            Command::Replay => {
                words(&format!("replay --replay-timeout {replay_limit} {first} {} --", self.family.finding))
            }
            Command::Confirm => {
                words(&format!("predict --kinds race --confirm --replay-timeout {replay_limit} {first} --"))
            }
            Command::Hunt => words(&format!(
                "hunt --runs 1 --kinds race --timeout {limit} --replay-timeout {replay_limit} --keep {} --",
                text(self.out())
            )),
            Command::CargoRun => words(&format!("cargo run --timeout {limit} -o {trace}")),
            Command::CargoTest => {
                words(&format!("cargo test --timeout {limit} --test lives {}", test_name(self.number)))
            }
        };
        if !matches!(self.command, Command::CargoRun | Command::CargoTest) {
            let ready = text(self.ready());
            line.extend([text(self.family.program.clone()), self.mark.clone(), self.how().to_owned(), ready]);
        }
        line
    }

    fn ready(&self) -> PathBuf {
        self.folder.path().join("ready")
    }

    fn start(&self) -> Child {
        let ours = reweave();
        let line = self.line();
        let mut command = match self.end {
            End::Terminal => {
                let mut command = process::Command::new("script");
                let quoted: Vec<String> = line.iter().map(|word| format!("'{word}'")).collect();
                let text = format!("{} {}", env!("CARGO_BIN_EXE_reweave"), quoted.join(" "));
                command.args(["-qefc", &text, "/dev/null"]).stdin(Stdio::piped());
                command
            }
            End::UnderTimeout => {
                let mut command = process::Command::new("timeout");
                command.arg("500").arg(ours.get_program()).args(&line).stdin(Stdio::null());
                command
            }
            _ => {
                let mut command = ours;
                command.args(&line).stdin(Stdio::null());
                command
            }
        };
        for name in ["CARGO_TARGET_DIR", "RUSTFLAGS", "CARGO_ENCODED_RUSTFLAGS", "RUST_BACKTRACE"] {
            command.env_remove(name);
        }
        command.env("TMPDIR", self.folder.path().join("tmp")).current_dir(self.family.folder.path());
        command
            .env("FAMILY_MARK", &self.mark)
            .env("FAMILY_HOW", self.how())
            .env("FAMILY_READY", self.ready());
        let log = fs::File::create(self.folder.path().join("log")).expect("a file");
        command.stderr(log.try_clone().expect("a file")).process_group(0);
        if self.end == End::ClosedPipe {
            command.stdout(Stdio::piped())
        } else {
            command.stdout(log)
        };
        command.spawn().expect("the command starts")
    }

    fn try_to(&self) -> Result<(), String> {
        let mut child = self.start();
        if self.end == End::ClosedPipe {
            drop(child.stdout.take());
        }
        let started = Instant::now();
        while !self.ready().exists() && child.try_wait().expect("a child").is_none() {
            if started.elapsed() > LIMIT {
                return Err(format!("it does not begin: {}", self.log()));
            }
            thread::sleep(Duration::from_millis(5));
        }
        self.strike(&mut child);
        let started = Instant::now();
        while child.try_wait().expect("a child").is_none() {
            if started.elapsed() > LIMIT {
                let _ = child.kill();
                return Err(format!("it does not end: {}", self.log()));
            }
            thread::sleep(Duration::from_millis(5));
        }
        self.look(child.id())
    }

    fn strike(&self, child: &mut Child) {
        let send = |name: &str, to: String| {
            let sent = process::Command::new("kill").arg(format!("-{name}")).args(["--", &to]).status();
            assert!(sent.is_ok_and(|sent| sent.success()), "{name} to {to}");
        };
        match self.end {
            End::Own | End::OwnTimeout | End::ClosedPipe => {}
            End::Terminal => {
                let terminal = child.stdin.as_mut().expect("a terminal");
                std::io::Write::write_all(terminal, b"\x03").expect("somebody reads it");
            }
            End::Signal(name) | End::Ignored(name) => send(name, child.id().to_string()),
            End::GroupSignal(name) => send(name, format!("-{}", child.id())),
            End::UnderTimeout => send("ALRM", child.id().to_string()),
        }
    }

    fn log(&self) -> String {
        fs::read_to_string(self.folder.path().join("log")).unwrap_or_default()
    }

    /// No process, no file, a readable trace.
    fn look(&self, id: u32) -> Result<(), String> {
        let left = running(&self.mark);
        if !left.is_empty() {
            return Err(format!("processes are left: {left:?}: {}", self.log()));
        }
        let names = |folder: PathBuf| -> Vec<String> {
            let entries = fs::read_dir(folder).into_iter().flatten().flatten();
            entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
        };
        let temporary = names(self.folder.path().join("tmp"));
        let wrong = |name: &&String| name.contains("recording") || name.contains(".raw");
        let out = names(self.out());
        if !temporary.is_empty() || out.iter().any(|name| wrong(&name)) {
            return Err(format!("files are left: {temporary:?} {out:?}: {}", self.log()));
        }
        let rings = names("/dev/shm".into());
        if rings.iter().any(|name| name.starts_with(&format!("reweave-{id}-"))) {
            return Err(format!("a ring is left: {rings:?}"));
        }
        let trace = match self.command {
            Command::Record | Command::CargoRun => self.out().join("trace.rw"),
            Command::Hunt => self.out().join("run.rw"),
            Command::CargoTest => {
                let traces = self.family.folder.path().join("target/reweave/traces/lives");
                traces.join(test_name(self.number)).with_extension("rw")
            }
            _ => return Ok(()),
        };
        // A command that cannot print may end before the program begins.
        if self.end == End::ClosedPipe && !self.ready().exists() {
            return Ok(());
        }
        let ran = reweave().arg("validate").arg(&trace).output().expect("it starts");
        match ran.status.code() {
            Some(0) => Ok(()),
            code => Err(format!(
                "the trace is wrong: {code:?}: {}{}",
                String::from_utf8_lossy(&ran.stderr),
                self.log()
            )),
        }
    }
}

/// The processes with this mark among their arguments, with those.
fn running(mark: &str) -> Vec<(String, String)> {
    let processes = fs::read_dir("/proc").into_iter().flatten().flatten();
    let line = |entry: &fs::DirEntry| {
        let line = fs::read(entry.path().join("cmdline")).unwrap_or_default();
        String::from_utf8_lossy(&line).replace('\0', " ")
    };
    let named = processes.map(|entry| (entry.file_name().to_string_lossy().into_owned(), line(&entry)));
    named.filter(|(_, line)| line.contains(mark)).collect()
}
