//! The z3 executable, spoken to in SMT-LIB.

use std::io::{self, BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

/// A running z3.
pub(crate) struct Z3 {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    /// Sent after every reset.
    options: String,
}

impl Z3 {
    /// Starts z3 if it is installed: what `REWEAVE_Z3` names, else on the path, else beside the Python package.
    ///
    /// A check that takes longer than `seconds` is given up. Of its arithmetic solvers, 1 is for difference logic
    /// and 6 is what it uses by itself.
    pub(crate) fn start(arithmetic: u32, seconds: u32) -> Option<Z3> {
        let named = std::env::var_os("REWEAVE_Z3").map(PathBuf::from);
        let candidates = named.map_or_else(|| vec![PathBuf::from("z3")], |path| vec![path]);
        let found = candidates.into_iter().chain(beside_python()).find_map(|path| spawn(&path));
        let Some(mut child) = found else {
            println!("z3 is not installed: nothing was compared");
            return None;
        };
        let input = child.stdin.take()?;
        let output = BufReader::new(child.stdout.take()?);
        let options = format!(
            "(set-option :smt.arith.solver {arithmetic})(set-option :smt.auto_config false)\
             (set-option :timeout {})(set-option :smt.phase_selection 5)",
            seconds * 1000
        );
        Some(Z3 { child, input, output, options })
    }

    /// Forgets everything, then takes in `script`; returns when it is read, so that a check is timed without it.
    pub(crate) fn load(&mut self, script: &str) -> io::Result<()> {
        let options = self.options.clone();
        match self.ask(&format!("(reset){options}\n{script}\n(echo \"loaded\")\n"))?.as_str() {
            "loaded" => Ok(()),
            other => Err(io::Error::other(format!("z3 says {other}"))),
        }
    }

    /// Whether `script` can be satisfied together with what was loaded; none where z3 gave up.
    pub(crate) fn check(&mut self, script: &str) -> io::Result<Option<bool>> {
        match self.ask(&format!("(push)\n{script}\n(check-sat)\n(pop)\n"))?.as_str() {
            "sat" => Ok(Some(true)),
            "unsat" => Ok(Some(false)),
            "unknown" | "timeout" => Ok(None),
            other => Err(io::Error::other(format!("z3 says {other}"))),
        }
    }

    /// The line that answers `script`.
    fn ask(&mut self, script: &str) -> io::Result<String> {
        self.input.write_all(script.as_bytes())?;
        self.input.flush()?;
        let mut line = String::new();
        self.output.read_line(&mut line)?;
        Ok(line.trim().to_owned())
    }
}

impl Drop for Z3 {
    fn drop(&mut self) {
        // It may have gone by itself, and nothing depends on how it ends.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn spawn(path: &PathBuf) -> Option<Child> {
    Command::new(path).arg("-in").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().ok()
}

/// The executable that the Python package brings along.
fn beside_python() -> Vec<PathBuf> {
    let program = "import os, sys, z3; d = os.path.dirname(z3.__file__); \
                   print(os.path.join(d, '..', 'bin', 'z3')); print(os.path.join(sys.prefix, 'bin', 'z3'))";
    let output = Command::new("python3").args(["-c", program]).stderr(Stdio::null()).output();
    let text = output.map(|output| String::from_utf8_lossy(&output.stdout).into_owned()).unwrap_or_default();
    text.lines().map(PathBuf::from).collect()
}
