//! The cost of recording, against ThreadSanitizer and Helgrind: each program in one run.
//!
//! Times are from the program's start to its end, told by a script around it, so what comes after, such as making the
//! trace, is told apart. All are run one after another, several times over: a machine may be slow for a while, and then it
//! is for all of them. What is not installed is left out, and that is said.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

use crate::programs::{self, Program, checked};

/// How often each is run; the shortest counts.
const RUNS: usize = 5;

const TSAN: &str = "ThreadSanitizer, reports off";

/// Takes the time of a command, in a file beside it: a script can be recorded, too.
const TIMED: &str = "#!/bin/sh\nout=$1\nshift\nstart=$(date +%s%N)\n\"$@\" >/dev/null\nstatus=$?\n\
                     echo $(($(date +%s%N) - start)) >\"$out\"\nexit $status\n";

/// The program, and what is built of it.
pub(crate) struct Bench {
    folder: PathBuf,
    reweave: PathBuf,
    program: Program,
}

/// A program, where `reweave` is built to record it.
pub(crate) fn prepare(program: fn(&Path) -> Result<Program>) -> Result<Option<Bench>> {
    let here = std::env::current_exe()?;
    let target = here.parent().context("a program lies in a folder")?;
    let reweave = target.join("reweave");
    if !reweave.exists() {
        println!("not measured: build `reweave` first, beside this program");
        return Ok(None);
    }
    let folder = target.join("record-bench");
    fs::create_dir_all(&folder)?;
    let script = folder.join("timed");
    fs::write(&script, TIMED)?;
    checked(Command::new("chmod").arg("+x").arg(&script))?;
    let program = program(&folder).unwrap_or_else(|error| {
        println!("no sources ({error:#})");
        programs::own()
    });
    println!("{}\n", program.about);
    Ok(Some(Bench { folder, reweave, program }))
}

pub(crate) fn run() -> Result<()> {
    for program in [programs::pbzip2, programs::zstd] {
        let Some(bench) = prepare(program)? else { break };
        compare(&bench)?;
        println!();
        if bench.program.name == programs::OWN {
            break;
        }
    }
    Ok(())
}

/// One program, in every way.
fn compare(bench: &Bench) -> Result<()> {
    let native = bench.build("native", "gcc", "g++", &[])?;
    let mut others = vec![("native", bench.command(&[], &native), Duration::MAX)];
    match bench.build("libtsan", "gcc", "g++", &["-fsanitize=thread"]) {
        Ok(program) => {
            others.push((TSAN, bench.command(&[], &program), Duration::MAX));
        }
        Err(error) => println!("  ThreadSanitizer is not there: {error:#}"),
    }
    if Command::new("valgrind").arg("--version").output().is_ok() {
        let wrapper = ["valgrind", "--tool=helgrind", "--log-file=/dev/null", "--history-level=none"];
        others.push(("Helgrind, without history", bench.command(&wrapper, &native), Duration::MAX));
    } else {
        println!("  Helgrind is not there: valgrind is not installed");
    }
    let program = bench.build_ours("tsan")?;
    let mut ours = ["random", "free"].map(|policy| Recorded::new(&program, policy));
    for _ in 0..RUNS {
        for (_, words, best) in &mut others {
            *best = bench.once(words)?.min(*best);
        }
        for recorded in &mut ours {
            bench.record(recorded)?;
        }
    }
    let base = others.first().map_or(Duration::MAX, |(.., best)| *best);
    let tsan = others.iter().find(|(what, ..)| *what == TSAN).map(|&(.., best)| best);
    for (what, _, best) in others {
        row(what, best, base);
    }
    for recorded in &ours {
        recorded.print(base);
    }
    if let Some(tsan) = tsan {
        let share = ours[0].best.as_secs_f64() / tsan.as_secs_f64();
        println!("  recorded, the program takes {share:.2} of the time that it takes with ThreadSanitizer");
    }
    Ok(())
}

/// Recordings of a program under a policy: the one in which it ran the shortest.
pub(crate) struct Recorded<'p> {
    program: &'p Path,
    policy: &'static str,
    best: Duration,
    whole: Duration,
    bytes: u64,
    said: String,
}

impl Recorded<'_> {
    pub(crate) fn new<'p>(program: &'p Path, policy: &'static str) -> Recorded<'p> {
        Recorded { program, policy, best: Duration::MAX, whole: Duration::MAX, bytes: 0, said: String::new() }
    }

    /// How long the program ran at its best.
    pub(crate) fn seconds(&self) -> f64 {
        self.best.as_secs_f64()
    }

    pub(crate) fn print(&self, base: Duration) {
        let Recorded { policy, best, whole, said, .. } = self;
        row(&format!("reweave record --policy {policy}"), *best, base);
        let numbers: Vec<u64> = said
            .split(|character: char| !character.is_ascii_digit() && character != ',')
            .filter_map(|number| number.replace(',', "").parse().ok())
            .collect();
        let count = |before: &str| -> Option<u64> {
            let (front, _) = said.split_once(before)?;
            front.rsplit(' ').next()?.replace(',', "").parse().ok()
        };
        let recorded = count(" events as recorded").or(numbers.iter().copied().max()).unwrap_or(1).max(1);
        let written = count(" events of ").unwrap_or(1).max(1);
        println!(
            "    {recorded} events recorded, {:.1} ns each; {written} in the trace, {:.2} bytes each; trace ready {:.2} s \
             after the end",
            best.as_nanos() as f64 / recorded as f64,
            self.bytes as f64 / written as f64,
            (*whole - *best.min(whole)).as_secs_f64(),
        );
    }
}

fn row(what: &str, time: Duration, base: Duration) {
    let slower = time.as_secs_f64() / base.as_secs_f64();
    println!("  {what:<34} {:>8.3} s {slower:>8.1}×", time.as_secs_f64());
}

impl Bench {
    /// The program is called with these from now on.
    pub(crate) fn set_arguments(&mut self, arguments: Vec<String>) {
        self.program.arguments = arguments;
    }

    /// What the program is called with.
    pub(crate) fn arguments(&self) -> Vec<OsString> {
        self.program.arguments.iter().map(OsString::from).collect()
    }

    /// Compiles the program with these compilers, each perhaps with a first argument.
    pub(crate) fn build(&self, name: &str, c: &str, cpp: &str, flags: &[&str]) -> Result<PathBuf> {
        let mut objects = Vec::new();
        let compiler = |text: &str| {
            let mut words = text.split('\n');
            let mut command = Command::new(words.next().unwrap_or_default());
            command.args(words).args(["-O2", "-g", "-w", "-pthread"]).args(flags);
            command
        };
        let Program { sources, flags, name: of, .. } = &self.program;
        let folders: BTreeSet<&Path> =
            sources.iter().flatten().filter_map(|source| source.parent()).collect();
        for (sources, text) in sources.iter().zip([c, cpp]) {
            for source in sources {
                let stem = source.file_stem().unwrap_or_default().to_string_lossy();
                let object = self.folder.join(format!("{of}-{name}-{stem}.o"));
                let mut command = compiler(text);
                command.args(*flags);
                for folder in &folders {
                    command.arg("-I").arg(folder);
                }
                checked(command.arg("-c").arg(source).arg("-o").arg(&object))?;
                objects.push(object);
            }
        }
        let program = self.folder.join(format!("{of}-{name}"));
        let linker = if sources[1].is_empty() { c } else { cpp };
        checked(compiler(linker).args(&objects).arg("-o").arg(&program))?;
        Ok(program)
    }

    /// The program to be recorded, compiled through one front.
    pub(crate) fn build_ours(&self, front: &str) -> Result<PathBuf> {
        let compiler = |name: &str| format!("{}\n{name}\n--reweave-front={front}", self.reweave.display());
        // A newer language than the program's takes what is next to a text for a part of it.
        self.build(front, &compiler("cc"), &compiler("c++"), &["-Wno-reserved-user-defined-literal"])
    }

    /// Checks the trace that was recorded last, and looks for races and deadlocks in it.
    pub(crate) fn predicted(&self) -> Result<()> {
        let trace = self.folder.join("trace.rw");
        checked(Command::new(&self.reweave).args(["validate", "--quiet"]).arg(&trace))?;
        let start = Instant::now();
        let mut command = Command::new(&self.reweave);
        command.args(["predict", "--quiet", "--kinds", "race,deadlock"]).arg(&trace);
        let ran = command.stdin(Stdio::null()).output()?;
        // Findings are no failure.
        if !matches!(ran.status.code(), Some(0 | 1 | 3)) {
            bail!("{command:?}: {}", String::from_utf8_lossy(&ran.stderr));
        }
        let found = String::from_utf8_lossy(&ran.stdout).matches("WARNING: ").count();
        println!(
            "    well formed; {found} races and deadlocks found in {:.2} s",
            start.elapsed().as_secs_f64()
        );
        Ok(())
    }

    /// The words of a command that runs the program below `wrapper` and takes its time.
    pub(crate) fn command(&self, wrapper: &[&str], program: &Path) -> Vec<String> {
        let script = self.folder.join("timed").display().to_string();
        let mut words = vec![script, self.folder.join("time").display().to_string()];
        words.extend(wrapper.iter().map(|word| (*word).to_owned()));
        words.push(program.display().to_string());
        words.extend(self.program.arguments.iter().cloned());
        words
    }

    /// How long a command takes, at its best.
    pub(crate) fn measure(&self, words: &[String]) -> Result<Duration> {
        (0..RUNS).try_fold(Duration::MAX, |best, _| Ok(self.once(words)?.min(best)))
    }

    pub(crate) fn once(&self, words: &[String]) -> Result<Duration> {
        let (program, arguments) = words.split_first().context("no command")?;
        checked(Command::new(program).args(arguments).env("TSAN_OPTIONS", "report_bugs=0"))?;
        self.time()
    }

    fn time(&self) -> Result<Duration> {
        Ok(Duration::from_nanos(fs::read_to_string(self.folder.join("time"))?.trim().parse()?))
    }

    pub(crate) fn record(&self, recorded: &mut Recorded<'_>) -> Result<()> {
        let (trace, start) = (self.folder.join("trace.rw"), Instant::now());
        let mut command = Command::new(&self.reweave);
        command.args(["record", "--seed", "1", "--policy", recorded.policy, "-o"]).arg(&trace).arg("--");
        let ran = checked(command.args(self.command(&[], recorded.program)))?;
        let time = self.time()?;
        if time < recorded.best {
            (recorded.best, recorded.whole) = (time, start.elapsed());
            recorded.bytes = fs::metadata(&trace)?.len();
            recorded.said = String::from_utf8_lossy(&ran.stderr).into_owned();
        }
        Ok(())
    }

    /// Records a program several times, and says what that took.
    pub(crate) fn ours(&self, base: Duration, program: &Path) -> Result<()> {
        let mut recorded = Recorded::new(program, "random");
        for _ in 0..RUNS {
            self.record(&mut recorded)?;
        }
        recorded.print(base);
        Ok(())
    }
}
