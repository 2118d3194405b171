//! What came of the program itself in a replay, beside what came of the finding.

use std::os::unix::process::ExitStatusExt;

use crate::outcome::Outcome;
use crate::run::Ended;

/// What came of the program; the worst first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Harm {
    /// It crashed.
    Crash,
    /// An assertion of its own failed, or it panicked.
    Assertion,
    /// It waited for ever, or until its time was up.
    Hang,
    /// It had other output, or another status, than the recorded run.
    Difference,
    /// Nothing that can be seen from outside.
    None,
}

/// What the program does under the recorded schedule: what other runs are compared with.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Reference {
    harm: Harm,
    status: Option<i32>,
    /// The lines that it wrote, sorted; none where two runs wrote different ones.
    lines: Option<Vec<String>>,
}

impl Reference {
    /// What two runs under the recorded schedule have in common; none where they ended in different ways, or did not
    /// follow it.
    pub fn new(first: &Ended, second: &Ended) -> Option<Reference> {
        let followed = [first, second].iter().all(|run| run.report.outcome == Outcome::Confirmed);
        let (status, harm) = (first.code(), first.own_harm());
        if !followed || status != second.code() || harm != second.own_harm() {
            return None;
        }
        let lines = Some(first.sorted_lines()).filter(|lines| *lines == second.sorted_lines());
        Some(Reference { harm, status, lines })
    }
}

impl Ended {
    /// What came of the program, compared with the recorded run where that could be run again. What the recorded run
    /// does as well is no harm of the finding.
    pub fn harm(&self, reference: Option<&Reference>) -> Harm {
        let own = self.own_harm();
        let counts = match own {
            Harm::Crash | Harm::Assertion => true,
            // Without the finding, the program may wait for what the schedule withholds from it.
            Harm::Hang | Harm::Difference => self.report.outcome == Outcome::Confirmed,
            Harm::None => false,
        };
        match reference {
            Some(reference) if own >= reference.harm && own != Harm::None => Harm::None,
            _ if counts => own,
            Some(reference) if self.report.outcome == Outcome::Confirmed && own == Harm::None => {
                let other = self.code() != reference.status
                    || reference.lines.as_ref().is_some_and(|lines| *lines != self.sorted_lines());
                if other { Harm::Difference } else { Harm::None }
            }
            _ => Harm::None,
        }
    }

    fn own_harm(&self) -> Harm {
        if self.report.deadlocked || self.report.timed_out {
            return Harm::Hang;
        }
        let Some(status) = self.status else { return Harm::Hang };
        // The runtime passes signals on as shells say them.
        let signal = status.signal().or_else(|| status.code().map(|code| code - 128));
        let asserted = self.err.lines().any(|line| {
            line.contains("Assertion") && line.contains("failed") || line.contains("panicked at ")
        });
        match (signal, status.code()) {
            (Some(6), _) | (_, Some(101)) if asserted => Harm::Assertion,
            (Some(4 | 6 | 7 | 8 | 11), _) => Harm::Crash,
            _ if status.signal().is_some() => Harm::Crash,
            _ => Harm::None,
        }
    }

    /// The status, as shells say it; none where the program was ended.
    fn code(&self) -> Option<i32> {
        let status = self.status?;
        status.code().or_else(|| status.signal().map(|signal| 128 + signal))
    }

    fn sorted_lines(&self) -> Vec<String> {
        let mut lines = self.lines();
        lines.sort_unstable();
        lines
    }

    /// What the program wrote, without what the runtime says.
    pub fn lines(&self) -> Vec<String> {
        let lines = self.out.lines().chain(self.err.lines());
        lines.filter(|line| !line.starts_with("reweave: ")).map(str::to_owned).collect()
    }

    /// How the program ended, in words.
    pub fn ending(&self) -> String {
        match self.status {
            _ if self.report.deadlocked => "every thread waits for another: it was ended".to_owned(),
            _ if self.report.timed_out => "its time was up: it was ended".to_owned(),
            None => "its time was up: it was ended".to_owned(),
            Some(status) => match (status.code(), status.signal()) {
                (Some(134), _) => "aborted (status 134)".to_owned(),
                (Some(139), _) => "crashed (status 139)".to_owned(),
                (Some(code), _) => format!("ended with status {code}"),
                (None, Some(6)) => "aborted (signal 6)".to_owned(),
                (None, Some(11)) => "crashed (signal 11)".to_owned(),
                (None, signal) => format!("ended by signal {}", signal.unwrap_or(0)),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use std::process::ExitStatus;

    use super::*;
    use crate::outcome::Report;

    fn ended(outcome: Outcome, status: i32, out: &str, err: &str) -> Ended {
        let report = Report {
            outcome,
            steps: 0,
            given_up: Vec::new(),
            events: Vec::new(),
            threads: Vec::new(),
            held: Vec::new(),
            deadlocked: false,
            timed_out: false,
            stopped_at: None,
        };
        let status = Some(ExitStatus::from_raw(status));
        Ended { report, status, out: out.to_owned(), err: err.to_owned(), recording: None }
    }

    #[test]
    fn what_is_worse_than_the_recorded_run_is_harm() {
        let good = ended(Outcome::Confirmed, 0, "a\nb\n", "");
        let reference = Reference::new(&good, &good);
        let harm = |run: &Ended| run.harm(reference.as_ref());
        assert_eq!(harm(&good), Harm::None);
        assert_eq!(harm(&ended(Outcome::Confirmed, 0, "b\na\n", "")), Harm::None, "lines in another order");
        assert_eq!(harm(&ended(Outcome::Confirmed, 0, "a\nc\n", "")), Harm::Difference);
        assert_eq!(harm(&ended(Outcome::Confirmed, 3 << 8, "a\nb\n", "")), Harm::Difference);
        assert_eq!(harm(&ended(Outcome::Finished, 3 << 8, "a\nb\n", "")), Harm::None);
        assert_eq!(harm(&ended(Outcome::Finished, 11, "", "")), Harm::Crash, "whatever came of the finding");
        assert_eq!(harm(&ended(Outcome::Diverged, 139 << 8, "", "")), Harm::Crash);
        let failed = "x: x.c:3: main: Assertion `a == b' failed.";
        assert_eq!(harm(&ended(Outcome::Confirmed, 6, "", failed)), Harm::Assertion);
        let panicked = "thread 'main' panicked at src/main.rs:3:5:\n";
        assert_eq!(harm(&ended(Outcome::Confirmed, 101 << 8, "", panicked)), Harm::Assertion);
    }

    #[test]
    fn what_the_recorded_run_does_as_well_is_none() {
        let crash = ended(Outcome::Confirmed, 11, "", "");
        let reference = Reference::new(&crash, &crash);
        assert_eq!(crash.harm(reference.as_ref()), Harm::None);
        assert_eq!(crash.harm(None), Harm::Crash);
        let (one, two) = (ended(Outcome::Confirmed, 0, "1", ""), ended(Outcome::Confirmed, 0, "2", ""));
        let unsteady = Reference::new(&one, &two).expect("they end alike");
        assert_eq!(ended(Outcome::Confirmed, 0, "3", "").harm(Some(&unsteady)), Harm::None);
        assert_eq!(Reference::new(&one, &ended(Outcome::Diverged, 0, "1", "")), None);
    }
}
