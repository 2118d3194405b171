//! Runs in which a thread observes what none did before, so that what hangs on it is seen, too.
//!
//! Each schedule comes from a recorded run ([`reweave_detect::news`]), is forced on the program and recorded; the recording is looked at
//! in turn. Nothing is given to the program but what it would get by itself: inputs of the recorded run may not be those of another
//! order. So a run that fails here is a run of the program, like any other. It is reported where it fails again under
//! the same schedule.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs::{self, File};
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use reweave_decide::Limits;
use reweave_detect::{Histories, News, Novelty, news};
use reweave_replay::build::{Continued, Title};
use reweave_replay::{DEEPENED, Ended, Order, Schedule, text};
use reweave_report::json::predict::{FailedRun, ending, quoted};
use reweave_session::interrupt;
use reweave_trace::Trace;

use super::runs::Run;
use crate::args::{Global, HuntArgs, ModelChoice, Reading};
use crate::commands::clock::{Clock, Phase};
use crate::commands::replay::Replayer;
use crate::commands::replay::finding::Context;
use crate::commands::{model, record};
use crate::console::Console;
use crate::exit::Exit;
use crate::{input, plural};

/// What one schedule may take to find: steps of the search, which are the same on every machine.
const WORK: u64 = 1_000_000;
/// Longer runs are not deepened: a schedule for each of many reads takes long to find.
const MOST_EVENTS: usize = 1 << 20;
/// A step is not waited for longer: its thread may wait in a loop, and each round is recorded.
const PATIENCE: u64 = 5_000;
/// How often a run that failed has to fail again.
const AGAIN: u32 = 2;

/// What came of it.
#[derive(Default)]
pub(super) struct Deepened {
    /// Recordings that have something new.
    pub(super) traces: Vec<PathBuf>,
    pub(super) failed: Vec<FailedRun>,
    /// What there was no time for.
    pub(super) cut: Option<String>,
}

/// A run to be made.
struct Planned {
    continued: Continued,
    key: u64,
    novelty: Novelty,
    /// How many schedules were forced on the way to the run that it comes from.
    depth: u32,
}

/// Makes such runs until there is nothing new, one has failed, or there were as many as are allowed.
pub(super) fn deepen(
    args: &HuntArgs,
    runs: &[Run],
    folder: &Path,
    clock: &Clock,
    global: &Global,
    console: &Console,
) -> anyhow::Result<Deepened> {
    let traces: Vec<&Path> = runs.iter().filter_map(|run| run.trace.as_deref()).collect();
    let traces: Vec<&Path> = traces.into_iter().filter(|trace| trace.exists()).collect();
    if args.deepen() == 0 || traces.is_empty() || runs.iter().any(|run| run.failed || run.folder.is_some()) {
        return Ok(Deepened::default());
    }
    let Some((name, arguments)) = args.program.split_first() else { return Ok(Deepened::default()) };
    let program = record::find(name)?;
    let replayer = Replayer::new(&program, arguments, &args.replaying, None);
    let mut impatient = Replayer::new(&program, arguments, &args.replaying, None);
    impatient.set_patience(PATIENCE);
    impatient.dependences = args.dependences;
    let log = folder.join("deepened.log");
    let quiet = Console::to_file(File::create(&log).with_context(|| log.display().to_string())?);
    let mut deepening = Deepening {
        args,
        global,
        console,
        quiet,
        folder,
        replayer,
        impatient,
        clock,
        known: Histories::new(),
        planned: Vec::new(),
        tried: BTreeSet::new(),
        runs: 0,
        done: Deepened::default(),
    };
    match deepening.run(&traces) {
        // What was found until then is there.
        Err(_) if interrupt::requested() => {}
        result => result?,
    }
    Ok(deepening.done)
}

struct Deepening<'a> {
    args: &'a HuntArgs,
    global: &'a Global,
    console: &'a Console,
    /// What the recorder says goes to a file.
    quiet: Console,
    folder: &'a Path,
    replayer: Replayer<'a>,
    /// The same for runs that are recorded.
    impatient: Replayer<'a>,
    clock: &'a Clock,
    known: Histories,
    planned: Vec<Planned>,
    /// What was planned, also what is over.
    tried: BTreeSet<u64>,
    runs: u32,
    done: Deepened,
}

impl Deepening<'_> {
    fn run(&mut self, traces: &[&Path]) -> anyhow::Result<()> {
        for trace in traces {
            let loaded = input::load_silently(trace, Reading::default(), self.global, &self.quiet)?;
            if loaded.trace.len() > MOST_EVENTS {
                return Ok(());
            }
            self.known.add(&loaded.trace);
        }
        for trace in traces {
            if !self.is_late() {
                self.plan(trace, 0)?;
            }
        }
        if self.is_late() {
            self.done.cut = Some("no run was deepened".to_owned());
            return Ok(());
        }
        if self.planned.is_empty() || !self.ends_alone(traces)? {
            return Ok(());
        }
        while self.runs < self.args.deepen() && !self.is_late() && !interrupt::requested() {
            let Some(next) = self.next() else { break };
            self.runs += 1;
            if self.console.shows_progress() {
                self.console.note(format_args!(
                    "deepening, run {} of at most {}: {}",
                    self.runs,
                    self.args.deepen(),
                    next.continued.schedule.title
                ));
            }
            if self.force(&next)? {
                break;
            }
        }
        if self.is_late() && !self.planned.is_empty() && self.runs < self.args.deepen() {
            let (tried, most) = (self.runs, self.args.deepen());
            self.done.cut = Some(format!("{tried} of up to {most} runs were deepened"));
        }
        if self.runs > 0 {
            let new = plural::count(self.done.traces.len() as u64, "run");
            let left = match self.planned.len() {
                _ if !self.done.failed.is_empty() => "one failed".to_owned(),
                0 => "nothing that is known is left to try".to_owned(),
                left if self.is_late() => {
                    format!("{} more left to try: --time allows more", plural::count(left as u64, "schedule"))
                }
                left => format!("{} more left to try: see --deepen", plural::count(left as u64, "schedule")),
            };
            let all = plural::count(u64::from(self.runs), "schedule");
            self.console.note(format_args!("deepened: {all} tried, {new} with something new, {left}"));
        }
        Ok(())
    }

    fn is_late(&self) -> bool {
        self.clock.is_over(Phase::Deepen)
    }

    /// Whether the program ends as it should when it is run by itself, under the schedule of a recorded run: it may need input
    /// that it has not got here.
    fn ends_alone(&self, traces: &[&Path]) -> anyhow::Result<bool> {
        let Some(trace) = traces.first() else { return Ok(false) };
        let loaded = input::load_silently(trace, Reading::default(), self.global, &self.quiet)?;
        let Some(schedule) = Context::new(&loaded.trace, trace)?.recorded() else { return Ok(false) };
        self.replayer.check(&schedule)?;
        let ended = self.replayer.replay(&schedule, Order::Ab)?;
        let alone = self.status(&ended).is_some_and(|status| self.args.expect_status.contains(&status));
        if !alone {
            self.console.note(format_args!(
                "not deepened: by itself, with nothing but `--input` to read, the program ends otherwise ({})",
                ended.ending()
            ));
        }
        Ok(alone)
    }

    /// How a run ended; none where it had to be ended.
    fn status(&self, ended: &Ended) -> Option<u8> {
        ended.status.filter(|_| !ended.report.timed_out).map(|status| Exit::of_program(status).code())
    }

    /// Plans what is new after a recorded run.
    fn plan(&mut self, path: &Path, depth: u32) -> anyhow::Result<()> {
        let loaded = input::load_silently(path, Reading::default(), self.global, &self.quiet)?;
        let trace = &loaded.trace;
        let model = model::choose(ModelChoice::Auto, path, &loaded, &self.quiet)?;
        let limits = Limits { work: Some(WORK), stop: None };
        let found = news(trace, model, &self.known, &limits, self.args.deepen() as usize)?;
        let context = Context::new(trace, path)?;
        for one in found {
            if self.tried.contains(&one.key) {
                continue;
            }
            if let Ok(continued) = plan_of(&context, trace, &one) {
                let News { key, novelty, .. } = one;
                self.tried.insert(key);
                self.planned.push(Planned { continued, key, novelty, depth });
            }
        }
        Ok(())
    }

    /// The best of what is planned, and still new.
    fn next(&mut self) -> Option<Planned> {
        let known = &self.known;
        self.planned.retain(|planned| planned.novelty == Novelty::Order || !known.contains(planned.key));
        let rank = |planned: &Planned| (planned.novelty, planned.depth);
        let best = (0..self.planned.len()).min_by_key(|&place| (rank(&self.planned[place]), place))?;
        Some(self.planned.remove(best))
    }

    /// Makes a run, and looks at it; whether it failed.
    fn force(&mut self, planned: &Planned) -> anyhow::Result<bool> {
        let trace = self.folder.join(format!("deepened-{}.rw", self.runs));
        let ended = match self.impatient.record(&planned.continued.schedule, Order::Ab, &trace, &self.quiet) {
            Ok(ended) => ended,
            Err(_) if interrupt::requested() => return Ok(true),
            Err(error) => return Err(error),
        };
        let status = self.status(&ended);
        if let Some(status) = status.filter(|status| !self.args.expect_status.contains(status)) {
            return self.failed(planned, status, &ended, &trace);
        }
        if status.is_none() || !trace.exists() {
            return Ok(false);
        }
        let loaded = input::load_silently(&trace, Reading::default(), self.global, &self.quiet)?;
        if loaded.trace.len() > MOST_EVENTS || !self.known.add(&loaded.trace) {
            return Ok(false);
        }
        drop(loaded);
        self.plan(&trace, planned.depth + 1)?;
        self.done.traces.push(trace);
        Ok(false)
    }

    /// Reports a run that failed, if it does so again.
    fn failed(&mut self, planned: &Planned, status: u8, ended: &Ended, trace: &Path) -> anyhow::Result<bool> {
        let Some(schedule) = self.shortest(&planned.continued, status)? else {
            self.console.warn(format_args!(
                "a run under a schedule ended {}, and not so under the same one again: the program depends on more than \
                 the order of its threads",
                ending(status)
            ));
            return Ok(false);
        };
        let file = format!("deepened-{}.schedule", self.runs);
        let path = self.folder.join(&file);
        fs::write(&path, text::write(&schedule)).with_context(|| path.display().to_string())?;
        let kept = self.args.keep.is_some();
        let shown = |path: &Path| path.display().to_string();
        self.done.failed.push(FailedRun {
            program: words(&self.args.program),
            seed: None,
            status,
            how: ending(status),
            again: self.again(&path, &file),
            trace: Some(trace).filter(|trace| kept && trace.exists()).map(shown),
            threads: Vec::new(),
            differs: Some(planned.continued.schedule.title.clone()),
            schedule: kept.then(|| shown(&path)),
            output: ended.lines().join("\n").chars().take(OUTPUT).collect(),
        });
        Ok(true)
    }

    /// The schedule with as few segments as it takes to end so each time; none where it does not.
    fn shortest(&self, continued: &Continued, status: u8) -> anyhow::Result<Option<Schedule>> {
        let mut schedule = continued.schedule.clone();
        let ends_so = |schedule: &Schedule| -> anyhow::Result<bool> {
            Ok(self.status(&self.replayer.replay(schedule, Order::Ab)?) == Some(status))
        };
        let cut = |length: usize| {
            let mut schedule = continued.schedule.clone();
            schedule.segments.truncate(length);
            schedule
        };
        let (mut too_few, mut enough) = (continued.needed, schedule.segments.len());
        if ends_so(&cut(too_few))? {
            enough = too_few;
        }
        while too_few + 1 < enough {
            let middle = too_few.midpoint(enough);
            if ends_so(&cut(middle))? { enough = middle } else { too_few = middle }
        }
        schedule.segments.truncate(enough);
        for _ in 0..AGAIN {
            if !ends_so(&schedule)? {
                return Ok(None);
            }
        }
        Ok(Some(schedule))
    }

    /// The command that runs it again; a schedule that is not kept has to be found again first.
    fn again(&self, path: &Path, file: &str) -> String {
        let words: Vec<String> = words(&self.args.program).iter().map(|word| quoted(word)).collect();
        let words = words.join(" ");
        if self.args.keep.is_some() {
            return format!("reweave replay --schedule {} -- {words}", quoted(&path.to_string_lossy()));
        }
        format!("reweave hunt … --keep hunted -- {words}; reweave replay --schedule hunted/{file} -- {words}")
    }
}

/// So many characters of a program's output are kept.
const OUTPUT: usize = 4_000;

fn words(program: &[OsString]) -> Vec<String> {
    program.iter().map(|word| word.to_string_lossy().into_owned()).collect()
}

/// The schedule up to a read that observes something new, and that read.
fn plan_of(context: &Context<'_>, trace: &Trace, news: &News) -> Result<Continued, reweave_replay::Error> {
    let at = |event| trace.site_name(trace.site(event)).to_owned();
    let variable = trace.target_name(trace.op(news.read)).unwrap_or("memory");
    let instead = match news.write {
        Some(write) => {
            format!("observes what {} wrote at {}", trace.thread_name(trace.thread(write)), at(write))
        }
        None => "comes before what it observed was written".to_owned(),
    };
    let reader = trace.thread_name(trace.thread(news.read));
    let title = Title {
        fingerprint: "-".to_owned(),
        kind: DEEPENED.to_owned(),
        text: format!("{reader}'s read of {variable} at {} {instead}", at(news.read)),
    };
    context.continued(&news.witness, news.read, title)
}
