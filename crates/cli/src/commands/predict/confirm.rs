//! Findings that are replayed on the program.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use reweave_replay::{Order, Outcome};
use reweave_report::json::predict::Replay;
use reweave_trace::Trace;

use crate::args::PredictArgs;
use crate::commands::record;
use crate::commands::replay::finding::{Context, title};
use crate::commands::replay::{self, Replayer};
use crate::console::Console;

/// Replays the findings of traces, each fingerprint until it is confirmed.
pub(super) struct Confirm<'a> {
    args: &'a PredictArgs,
    program: PathBuf,
    known: RefCell<BTreeMap<String, Replay>>,
}

impl<'a> Confirm<'a> {
    /// None where nothing is to be replayed.
    pub(super) fn new(args: &'a PredictArgs) -> anyhow::Result<Option<Confirm<'a>>> {
        if !args.confirm {
            return Ok(None);
        }
        let program = record::find(replay::program(&args.program)?.0)?;
        Ok(Some(Confirm { args, program, known: RefCell::default() }))
    }

    /// What came of each of these findings, in their order.
    pub(super) fn all(
        &self,
        trace: &Trace,
        path: &Path,
        findings: &[reweave_detect::Finding],
        console: &Console,
    ) -> anyhow::Result<Vec<Option<Replay>>> {
        if findings.is_empty() {
            return Ok(Vec::new());
        }
        let context = Context::new(trace, path)?;
        let (_, arguments) = replay::program(&self.args.program)?;
        let replayer = Replayer::new(&self.program, arguments, &self.args.replaying, Some(path));
        let one = |finding: &reweave_detect::Finding| self.one(&context, &replayer, trace, finding, console);
        findings.iter().map(one).collect()
    }

    fn one(
        &self,
        context: &Context<'_>,
        replayer: &Replayer<'_>,
        trace: &Trace,
        finding: &reweave_detect::Finding,
        console: &Console,
    ) -> anyhow::Result<Option<Replay>> {
        let name = finding.fingerprint();
        let known = self.known.borrow().get(name).copied();
        if known == Some(Replay::Confirmed) || crate::interrupt::requested() {
            return Ok(known);
        }
        let schedule = match context.schedule(finding.witness(), title(trace, finding)) {
            Ok(schedule) => schedule,
            Err(error) => {
                console.warn(format_args!("finding {name} cannot be replayed: {error}"));
                return Ok(known);
            }
        };
        replayer.check(&schedule)?;
        let mut worst = Outcome::Confirmed;
        for _ in 0..self.args.replaying.times {
            worst = worst.max(replayer.replay(&schedule, Order::Ab)?.report.outcome);
        }
        let outcome = match worst {
            Outcome::Confirmed => Replay::Confirmed,
            Outcome::Diverged => Replay::Diverged,
            Outcome::Hung => Replay::Hung,
            Outcome::Finished => Replay::Finished,
        };
        self.known.borrow_mut().insert(name.to_owned(), outcome);
        Ok(Some(outcome))
    }
}
