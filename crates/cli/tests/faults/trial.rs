//! One trial.

use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::Mutex;
use std::thread;
use std::time::{Duration, Instant};

use reweave_testkit::Rng;
use tempfile::TempDir;

use crate::processes::{LIMIT, child_of, ended, send};

/// What goes wrong.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Kind {
    SignalToProgram,
    SignalToRecorder,
    KilledProgram,
    KilledRecorder,
    FullDisk,
    NoMemory,
    HostileFile,
}

const KINDS: [Kind; 7] = [
    Kind::SignalToProgram,
    Kind::HostileFile,
    Kind::KilledProgram,
    Kind::NoMemory,
    Kind::KilledRecorder,
    Kind::FullDisk,
    Kind::SignalToRecorder,
];

/// What all trials use.
pub(crate) struct Campaign {
    folder: TempDir,
    program: PathBuf,
    recorders: Mutex<Vec<u32>>,
    /// The memory, in kB, that the command needs to say its version: with less not even its own code finds room.
    least_memory: u64,
}

impl Campaign {
    /// Compiles the program, and records it once without a fault.
    pub(crate) fn prepare() -> Campaign {
        let folder = tempfile::tempdir().expect("a folder");
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs/victim.c");
        let program = folder.path().join("victim");
        let ran = reweave()
            .env("REWEAVE_CC", "gcc")
            .args(["cc", "-O1"])
            .args([&source, Path::new("-o"), &program])
            .output()
            .expect("the command starts");
        assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
        let campaign =
            Campaign { folder, program, recorders: Mutex::default(), least_memory: least_memory() };
        fs::create_dir(campaign.traces()).expect("a folder");
        let good = campaign.folder.path().join("good.rw");
        let ran = reweave()
            .args(["record", "-o"])
            .args([&good, Path::new("--"), &campaign.program])
            .output()
            .unwrap();
        assert_eq!(ran.stdout, b"ok\n", "{}", String::from_utf8_lossy(&ran.stderr));
        for to in ["good.std", "good.std.zst"] {
            let to = campaign.folder.path().join(to);
            assert!(reweave().arg("convert").args([&good, &to]).status().unwrap().success());
        }
        campaign
    }

    /// Where trials write to.
    pub(crate) fn traces(&self) -> PathBuf {
        self.folder.path().join("traces")
    }

    /// The recorders that were started.
    pub(crate) fn recorders(&self) -> Vec<u32> {
        self.recorders.lock().unwrap().clone()
    }

    /// The next recording removes what killed recorders left in memory.
    pub(crate) fn clear_rings(&self) {
        let trace = self.folder.path().join("last.rw");
        let ran =
            reweave().args(["record", "-o"]).args([&trace, Path::new("--"), &self.program]).output().unwrap();
        assert_eq!(ran.stdout, b"ok\n", "{}", String::from_utf8_lossy(&ran.stderr));
    }

    /// The processes that were started here and still run.
    pub(crate) fn processes(&self) -> Vec<String> {
        let processes = fs::read_dir("/proc").into_iter().flatten().flatten();
        let program = &self.program;
        processes
            .filter(|entry| fs::read_link(entry.path().join("exe")).is_ok_and(|exe| exe == *program))
            .map(|entry| entry.file_name().to_string_lossy().into_owned())
            .collect()
    }
}

fn least_memory() -> u64 {
    let runs = |limit: &u64| {
        let line = format!("ulimit -v {limit}; exec \"$0\" --version");
        let ran = Command::new("bash").args(["-c", &line, env!("CARGO_BIN_EXE_reweave")]).output();
        ran.is_ok_and(|ran| ran.status.success())
    };
    (10_000..400_000).step_by(5_000).find(runs).expect("it runs with so much")
}

fn reweave() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_reweave"));
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// One trial in a folder of its own.
pub(crate) struct Trial<'c> {
    campaign: &'c Campaign,
    pub(crate) kind: Kind,
    folder: PathBuf,
    rng: Rng,
}

impl<'c> Trial<'c> {
    pub(crate) fn new(campaign: &'c Campaign, seed: u64, number: u64) -> Trial<'c> {
        let rng = Rng::new(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ number);
        let kind = KINDS[number as usize % KINDS.len()];
        Trial { campaign, kind, folder: campaign.traces().join(number.to_string()), rng }
    }

    pub(crate) fn run(mut self) -> Result<(), String> {
        fs::create_dir(&self.folder).map_err(|error| error.to_string())?;
        let result = match self.kind {
            Kind::SignalToProgram => {
                self.signal(&["TERM", "INT", "USR1", "ALRM", "SEGV", "ABRT", "PIPE", "STOP"], false)
            }
            Kind::SignalToRecorder => self.signal(&["TERM", "INT", "HUP", "QUIT"], true),
            Kind::KilledProgram => self.signal(&["KILL"], false),
            Kind::KilledRecorder => self.killed_recorder(),
            Kind::FullDisk => self.full_disk(),
            Kind::NoMemory => self.no_memory(),
            Kind::HostileFile => self.hostile(),
        };
        let _ = fs::remove_dir_all(&self.folder);
        result
    }

    fn below(&mut self, end: u64) -> u64 {
        self.rng.below(end as usize) as u64
    }

    fn trace(&self) -> PathBuf {
        self.folder.join("trace.rw")
    }

    /// Starts to record the program.
    fn record(&mut self) -> Child {
        let seed = self.below(1000).to_string();
        let policy = ["random", "pct", "plain", "free"][self.below(4) as usize];
        let child = reweave()
            .args(["record", "--timeout", "20s", "--policy", policy, "--seed", &seed, "-o"])
            .args([&self.trace(), Path::new("--"), &self.campaign.program])
            .spawn()
            .expect("the command starts");
        self.campaign.recorders.lock().unwrap().push(child.id());
        child
    }

    /// Sends a signal at a random moment, and sees the recording to its end.
    fn signal(&mut self, names: &[&str], to_recorder: bool) -> Result<(), String> {
        let name = names[self.below(names.len() as u64) as usize];
        let recorder = self.record();
        let moment = Duration::from_micros(self.below(120_000));
        thread::sleep(moment);
        let target = if to_recorder { Some(recorder.id()) } else { child_of(recorder.id()) };
        if let Some(target) = target {
            send(name, target);
            if name == "STOP" {
                thread::sleep(Duration::from_millis(30));
                send("CONT", target);
            }
        }
        let ran = ended(recorder)?;
        // Before it is prepared for signals it has not begun anything.
        let is_empty = fs::read_dir(&self.folder).is_ok_and(|mut files| files.next().is_none());
        if to_recorder && ran.status.signal().is_some() && is_empty {
            return Ok(());
        }
        self.is_well(&ran, name)
    }

    /// The trace is there and right, or there is none and somebody said why.
    fn is_well(&self, ran: &Output, what: &str) -> Result<(), String> {
        let said = String::from_utf8_lossy(&ran.stderr).into_owned();
        if ran.status.code().is_none_or(|code| code == 70) {
            return Err(format!("{what}: {:?}: {said}", ran.status));
        }
        if self.trace().exists() {
            self.is_well_formed(&self.trace()).map_err(|error| format!("{what}: {error}{said}"))?;
        } else if said.is_empty() {
            return Err(format!("{what}: no trace, and no word"));
        }
        let left: Vec<_> = fs::read_dir(&self.folder)
            .into_iter()
            .flatten()
            .flatten()
            .map(|entry| entry.file_name())
            .collect();
        let ours = |name: &std::ffi::OsString| {
            name.to_string_lossy().starts_with("trace.rw") && !name.to_string_lossy().contains(".recording")
        };
        // A recording that no trace could be made of is kept, and that is said.
        if !left.iter().all(ours) && !said.contains("is kept in") {
            return Err(format!("{what}: files are left: {left:?}: {said}"));
        }
        Ok(())
    }

    fn is_well_formed(&self, trace: &Path) -> Result<(), String> {
        let ran = ended(reweave().arg("validate").arg(trace).spawn().expect("the command starts"))?;
        match ran.status.code() {
            Some(0) => Ok(()),
            _ => {
                Err(format!("the trace is wrong: {:?}: {}", ran.status, String::from_utf8_lossy(&ran.stderr)))
            }
        }
    }

    /// The recorder is gone: the program goes on, and what was written can be finished.
    fn killed_recorder(&mut self) -> Result<(), String> {
        let mut recorder = self.record();
        thread::sleep(Duration::from_micros(self.below(120_000)));
        let _ = recorder.kill();
        self.see_off(recorder)
    }

    fn see_off(&self, recorder: Child) -> Result<(), String> {
        ended(recorder)?;
        let started = Instant::now();
        while self.runs() {
            if started.elapsed() > LIMIT {
                return Err("the program does not end without its recorder".to_owned());
            }
            thread::sleep(Duration::from_millis(5));
        }
        let files = fs::read_dir(&self.folder).into_iter().flatten().flatten().map(|entry| entry.path());
        let left = files.into_iter().find(|path| path.to_string_lossy().contains(".recording."));
        // Before anything was written there is nothing to finish.
        let has_raw = |path: &PathBuf| path.join("raw").metadata().is_ok_and(|about| about.len() > 0);
        let Some(raw) = left.filter(has_raw) else { return Ok(()) };
        let finish = reweave()
            .args(["record", "--finish"])
            .args([&raw, Path::new("-o"), &self.trace()])
            .spawn()
            .expect("the command starts");
        let ran = ended(finish)?;
        self.is_well(&ran, "finish")
    }

    /// Whether a program runs whose recording is in the folder of this trial.
    fn runs(&self) -> bool {
        let mark = self.folder.as_os_str().as_encoded_bytes();
        self.campaign.processes().iter().any(|id| {
            let environment = fs::read(format!("/proc/{id}/environ")).unwrap_or_default();
            let mut mark = mark.to_vec();
            mark.push(b'/');
            environment.windows(mark.len()).any(|part| part == mark)
        })
    }

    /// The trace is to go to a disk that is full soon: a small one where that may be mounted, else files are limited.
    fn full_disk(&mut self) -> Result<(), String> {
        let size = 4 * (1 + self.below(60));
        let mounted = Command::new("mount")
            .args(["-t", "tmpfs", "-o", &format!("size={size}k"), "none"])
            .arg(&self.folder)
            .stderr(Stdio::null())
            .status()
            .is_ok_and(|status| status.success());
        let blocks = self.below(20_000);
        let limit = if mounted { String::new() } else { format!("trap '' XFSZ; ulimit -f {blocks}; ") };
        let child = Command::new("bash")
            .args(["-c", &format!("{limit}exec \"$@\""), "bash", env!("CARGO_BIN_EXE_reweave")])
            .args(["record", "--timeout", "20s", "-o"])
            .args([&self.trace(), Path::new("--"), &self.campaign.program])
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("bash starts");
        self.campaign.recorders.lock().unwrap().push(child.id());
        let result = ended(child).and_then(|ran| self.is_well(&ran, &format!("{size} kB")));
        if mounted {
            let _ = Command::new("umount").arg("-l").arg(&self.folder).status();
        }
        result
    }

    fn no_memory(&mut self) -> Result<(), String> {
        let limit = self.campaign.least_memory + 2_000 + self.below(200_000);
        let good = self.campaign.folder.path().join("good.rw");
        let command = ["validate", "predict", "stream", "stats"][self.below(4) as usize];
        let line = format!("ulimit -v {limit}; exec \"$@\"");
        let child = Command::new("bash")
            .args(["-c", &line, "bash", env!("CARGO_BIN_EXE_reweave"), command, "--jobs", "1"])
            .arg(&good)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("bash starts");
        let ran = ended(child)?;
        match ran.status.code() {
            Some(0 | 1 | 3) => Ok(()),
            _ => Err(format!(
                "{command} in {limit} kB: {:?}: {}",
                ran.status,
                String::from_utf8_lossy(&ran.stderr)
            )),
        }
    }

    fn hostile(&mut self) -> Result<(), String> {
        let name = ["good.rw", "good.std", "good.std.zst"][self.below(3) as usize];
        let mut bytes = fs::read(self.campaign.folder.path().join(name)).expect("it is there");
        for _ in 0..=self.below(8) {
            let at = self.below(bytes.len() as u64) as usize;
            match self.below(4) {
                0 => bytes.truncate(at.max(1)),
                1 => bytes[at] ^= 1 << self.below(8),
                2 => bytes[at] = [0, 0x7f, 0x80, 0xff][self.below(4) as usize],
                _ => {
                    let from = self.below(bytes.len() as u64) as usize;
                    let part = bytes[from..(from + 64).min(bytes.len())].to_vec();
                    bytes.splice(at..at, part);
                }
            }
        }
        let file = self.folder.join(name);
        fs::write(&file, &bytes).expect("it is written");
        for command in
            [&["validate"][..], &["stream"], &["predict", "--budget", "10ms"], &["record", "--finish"]]
        {
            let mut line = reweave();
            line.args(command).arg(&file);
            if command[0] == "record" {
                line.arg("-o").arg(self.trace());
            }
            let ran = ended(line.spawn().expect("the command starts"))?;
            if !matches!(ran.status.code(), Some(0..=3)) {
                let kept =
                    std::env::temp_dir().join(format!("reweave-hostile-{}-{name}", std::process::id()));
                let _ = fs::write(&kept, &bytes);
                let said = String::from_utf8_lossy(&ran.stderr).into_owned();
                return Err(format!("{command:?} of {}: {:?}: {said}", kept.display(), ran.status));
            }
        }
        Ok(())
    }
}
