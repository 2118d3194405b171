//! One run of a program under the recorder.

use std::collections::VecDeque;
use std::io;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, ChildStderr, ChildStdout, Command, ExitStatus};
use std::thread;
use std::time::{Duration, Instant};

use reweave_capture::{Drain, Stop, Taken};

use crate::folder::Folder;
use crate::interrupt::Running;
use crate::launch::Launch;
use crate::patience::{Patience, Step};
use crate::processes;

/// How long to wait before looking for slots again: short while they come, longer while they do not.
const NAPS: [Duration; 2] = [Duration::from_micros(60), Duration::from_millis(1)];
/// What was recorded is written after so long without anything new.
const STALE: Duration = Duration::from_millis(100);
/// How many slots are taken in a row before the program is looked after.
const SPELL: u32 = 64;
/// How much later than the recorder this ends the program, which then does not reach the recorder at all.
const GRACE: Duration = Duration::from_secs(2);
/// How many statuses of orphans are kept.
const MOST_ORPHANS: usize = 64;
/// How often a program is looked for that goes on after the process that was started.
const LOOK: Duration = Duration::from_millis(5);

/// Why the program was ended from here.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Stopped {
    /// Its time was up, and it did not end by itself.
    Timeout,
    /// This process was asked to end by a signal, and the program did not end by itself.
    Signal(i32),
}

/// How a run ended.
#[derive(Debug)]
pub struct End {
    /// The program's status.
    pub status: ExitStatus,
    /// Whether it was ended from here, and why.
    pub stopped: Option<Stopped>,
    /// The signal that asked this process to end meanwhile.
    pub asked: Option<i32>,
}

/// A program under way. Should this go before the program has ended, all of the program is ended.
pub struct Session {
    child: Child,
    drain: Drain,
    folder: PathBuf,
    has_group: bool,
    limit: Option<Duration>,
    started: Instant,
    patience: Patience,
    /// The status of the child.
    status: Option<ExitStatus>,
    /// Those of the last orphans: the recorded process may be one.
    orphans: VecDeque<(i32, ExitStatus)>,
    ended: bool,
    _running: Running,
}

impl Session {
    pub(crate) fn start(
        mut command: Command,
        drain: Drain,
        folder: &Folder,
        launch: &Launch<'_>,
    ) -> io::Result<Session> {
        let running = Running::new();
        if launch.own_group {
            command.process_group(0);
        }
        let child = command.spawn()?;
        Ok(Session {
            child,
            drain,
            folder: folder.path().to_owned(),
            has_group: launch.own_group,
            limit: launch.timeout,
            started: Instant::now(),
            patience: Patience::new(Some(launch.patience), !launch.own_group),
            status: None,
            orphans: VecDeque::new(),
            ended: false,
            _running: running,
        })
    }

    /// The program's output, where that is a pipe.
    pub fn output(&mut self) -> (Option<ChildStdout>, Option<ChildStderr>) {
        (self.child.stdout.take(), self.child.stderr.take())
    }

    /// What becomes of the recording.
    pub fn drain(&self) -> &Drain {
        &self.drain
    }

    fn id(&self) -> i32 {
        self.child.id() as i32
    }

    /// Drains the ring until the program has ended, and ends what is left of it. `fails` is called once if the recording
    /// cannot go on, as soon as that is known.
    pub fn wait(&mut self, mut fails: impl FnMut(&io::Error)) -> io::Result<End> {
        let mut said = false;
        let mut quiet = Instant::now();
        let mut stopped = None;
        loop {
            let taken = (0..SPELL).take_while(|_| self.drain.take() == Taken::Some).count();
            if !said && let Some(Stop::Failed(error)) = self.drain.stopped() {
                said = true;
                fails(error);
            }
            if taken == SPELL as usize {
                continue;
            }
            if taken > 0 {
                quiet = Instant::now();
            } else if quiet.elapsed() > STALE {
                self.drain.flush();
            }
            if self.has_ended()? {
                break;
            }
            stopped = self.is_to_end();
            if stopped.is_some() {
                break;
            }
            let nap = if quiet.elapsed() < NAPS[1] { NAPS[0] } else { NAPS[1] };
            thread::sleep(if self.status.is_some() { LOOK } else { nap });
        }
        let status = self.end()?;
        self.drain.finish();
        if !said && let Some(Stop::Failed(error)) = self.drain.stopped() {
            fails(error);
        }
        Ok(End { status, stopped, asked: self.patience.asked() })
    }

    /// Whether the program has ended: the process that was started, and the one that is recorded, if that is another.
    fn has_ended(&mut self) -> io::Result<bool> {
        self.orphans.extend(processes::bury(self.id()));
        while self.orphans.len() > MOST_ORPHANS {
            self.orphans.pop_front();
        }
        if self.status.is_none() {
            self.status = self.child.try_wait()?;
        }
        Ok(self.status.is_some() && !self.goes_on())
    }

    /// Whether the recorded process is another one than was started, and has not ended.
    fn goes_on(&self) -> bool {
        let recorded = self.orphan();
        // It may have ended after it said that its child goes on.
        recorded.is_some_and(processes::is_descendant) || recorded != self.orphan()
    }

    /// The recorded process where that is another one than was started, and is waited for here.
    fn orphan(&self) -> Option<i32> {
        self.drain.program().filter(|&id| processes::adopts() && id != self.id())
    }

    /// Whether the program is to be ended from here, and why. Passes signals on.
    fn is_to_end(&mut self) -> Option<Stopped> {
        match self.patience.look() {
            Step::Nothing => {}
            Step::Forward(signal) => self.forward(signal),
            Step::End => return self.patience.asked().map(Stopped::Signal),
        }
        let limit = self.limit.map(|limit| limit + GRACE);
        limit.is_some_and(|limit| self.started.elapsed() > limit).then_some(Stopped::Timeout)
    }

    fn forward(&self, signal: i32) {
        let recorded = self.drain.program().filter(|&id| processes::adopts() && processes::is_descendant(id));
        for id in [Some(self.id()), recorded.filter(|&id| id != self.id())].into_iter().flatten() {
            // It has been waited for already where there is a status: its number may be another's.
            if self.status.is_none() || id != self.id() {
                processes::send(id, signal);
            }
        }
    }

    /// Ends whatever is left, and gives the status.
    fn end(&mut self) -> io::Result<ExitStatus> {
        self.ended = true;
        // What is recorded may have ended since they were last asked for.
        self.orphans.extend(processes::bury(self.id()));
        // Once waited for, the number of the child may be another's; that of its group is not while the group has members.
        processes::end_all(self.id(), self.has_group, &self.folder);
        self.orphans.extend(processes::bury(self.id()));
        let status = self.child.wait()?;
        // That of what was recorded says more than that of what started it.
        let recorded = self.orphans.iter().rfind(|&&(id, _)| Some(id) == self.orphan());
        Ok(recorded.map_or(status, |&(_, status)| status))
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        if !self.ended {
            // There is nobody to hear of a failure.
            let _ = self.end();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::ffi::OsString;
    use std::fs;
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::process::Stdio;

    use super::*;

    /// What a panic leaves of a program is nothing, and of its files too.
    #[test]
    fn a_panic_ends_the_program_and_removes_its_files() {
        let within = tempfile::tempdir().unwrap();
        let ready = within.path().join("ready");
        let mark = format!("9{:08}", std::process::id());
        let line = format!("trap '' TERM; sleep {mark} & touch {}; sleep {mark}", ready.display());
        let arguments = ["-c".into(), OsString::from(line)];
        let launch = Launch { own_group: true, ..Launch::new("sh".as_ref(), &arguments) };
        let result = catch_unwind(AssertUnwindSafe(|| {
            let folder = Folder::make(within.path(), "test").unwrap();
            let _session = launch.start(&folder, |command| _ = command.stdout(Stdio::null())).unwrap();
            while !ready.exists() {
                thread::sleep(NAPS[1]);
            }
            panic!("in the middle of it");
        }));
        assert!(result.is_err());
        let left: Vec<_> = fs::read_dir(within.path()).unwrap().map(|entry| entry.unwrap().path()).collect();
        assert_eq!(left, [ready]);
        // The dead have no arguments, also where nobody has taken leave of them yet.
        let lines =
            fs::read_dir("/proc").unwrap().flatten().map(|entry| fs::read(entry.path().join("cmdline")));
        let is_left = |line: Vec<u8>| String::from_utf8_lossy(&line).contains(&mark);
        assert!(!lines.flatten().any(is_left), "a process is left");
    }

    #[test]
    fn the_status_is_the_programs_and_its_limit_holds() {
        for (line, timeout, code, stopped) in [
            ("exit 5", None, Some(5), None),
            ("sleep 98765", Some(Duration::ZERO), None, Some(Stopped::Timeout)),
        ] {
            let folder = Folder::temporary().unwrap();
            let arguments = ["-c".into(), OsString::from(line)];
            let launch = Launch { own_group: true, timeout, ..Launch::new("sh".as_ref(), &arguments) };
            let mut session = launch.start(&folder, |_| ()).unwrap();
            let end = session.wait(|_| ()).unwrap();
            assert_eq!((end.status.code(), end.stopped, end.asked), (code, stopped, None), "{line}");
            assert!(!session.drain().has_begun());
        }
    }
}
