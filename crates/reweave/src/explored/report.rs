//! What an exploration came to, as text.

use std::fmt::Write as _;

use reweave_explore::{Error, Explorer, Failure, Move, Op, Outcome, Report, Stopped, ThreadId, tag};

use super::host::Host;
use super::progress::far;
use super::{Builder, Engine, Exploration, Found, Verdict};

pub(super) fn exploration(
    builder: &Builder,
    host: &Host,
    explorer: &mut Explorer,
    result: Result<Report, Error>,
) -> Exploration {
    let impossible = super::items::is_impossible(&result);
    let report = match result {
        _ if host.troubled().is_some() => {
            let text = format!("explore: stopped, not proved: {}", host.troubled().unwrap_or_default());
            return no_answer(builder, text);
        }
        Ok(report) => report,
        Err(error) => {
            let text = format!("explore: stopped, not proved: {}", why(host, explorer, &error));
            return Exploration { impossible, ..no_answer(builder, text) };
        }
    };
    let counts = report.counts;
    let (verdict, mut text) = match &report.first {
        Some((failure, schedule)) => failed(host, explorer, failure, schedule),
        None if report.proved => {
            let part = if explorer.item.prefix.is_empty() { "" } else { " that begins as this part" };
            let text = format!(
                "explore: proved, no failure in any interleaving{part}\n  {}\n",
                assumptions(builder, host)
            );
            (Verdict::Proved, text)
        }
        None => (
            Verdict::Stopped,
            format!(
                "explore: {}{}; no failure found, not proved\n",
                stopped(builder, report.stopped),
                report.left_at.map(|now| format!(" after {}", far(&now))).unwrap_or_default()
            ),
        ),
    };
    let _ = write!(
        text,
        "  {} threads, {} runs of the closure, {} states",
        report.threads, counts.runs, counts.states
    );
    if builder.engine == Engine::Trace {
        let _ = write!(text, ", {} executions ({} given up)", counts.executions, counts.blocked);
    }
    let audit = report.audit;
    if audit.runs > 0 {
        let _ = write!(
            text,
            "\n  checked by {} runs more: {} of {} histories occurred twice or more",
            audit.runs, audit.twice, report.histories
        );
    }
    let failures = found(host, explorer, &report, &verdict);
    if failures.len() > 1 {
        let _ = write!(text, "\n  {} failures:", failures.len());
        for failure in &failures {
            let first_line = failure.what.lines().next().unwrap_or_default();
            let _ = write!(text, "\n    {}: {first_line}", failure.kind);
        }
    }
    Exploration {
        verdict,
        runs: counts.runs,
        states: counts.states,
        executions: counts.executions,
        failures,
        relied_on: host.specified.relied_on(),
        engine: builder.engine,
        seconds: 0.0,
        text,
        assumes: assumptions(builder, host),
        impossible: false,
    }
}

fn no_answer(builder: &Builder, text: String) -> Exploration {
    Exploration {
        verdict: Verdict::Stopped,
        runs: 0,
        states: 0,
        executions: 0,
        failures: Vec::new(),
        relied_on: Vec::new(),
        engine: builder.engine,
        seconds: 0.0,
        text,
        assumes: String::new(),
        impossible: false,
    }
}

/// The failures, the one with a schedule first, each once.
fn found(host: &Host, explorer: &mut Explorer, report: &Report, verdict: &Verdict) -> Vec<Found> {
    let Some((first, moves)) = &report.first else { return Vec::new() };
    let schedule = match verdict {
        Verdict::Failed { schedule } => Some(schedule.clone()),
        _ => None,
    };
    let preemptions = Some(explorer.preemptions(moves));
    let (kind, text) = what(host, explorer, first);
    let mut all = vec![Found { kind, what: text, schedule, preemptions }];
    for failure in &report.failures {
        let (kind, text) = what(host, explorer, failure);
        if !all.iter().any(|known| known.kind == kind && known.what == text) {
            all.push(Found { kind, what: text, schedule: None, preemptions: None });
        }
    }
    all
}

/// What *proved* relies on.
fn assumptions(builder: &Builder, host: &Host) -> String {
    let mut text =
        "for sequential consistency; communication through reweave's types only, `Arc` counts not observed; \
                    readers wait for waiting writers or not; memory is never used again at the same address"
            .to_owned();
    if host.weaker() {
        text.push_str("; orderings weaker than SeqCst were taken as SeqCst");
    }
    let (data, loops) = host.relies.get();
    if data {
        text.push_str("; data in locks changes through `&mut` only");
    }
    if loops {
        text.push_str("; loops that wait keep nothing on the heap");
    }
    let specifications = host.specified.relied_on();
    if !specifications.is_empty() {
        text.push_str("; the specifications of ");
        text.push_str(&specifications.join(", "));
        text.push_str(" hold, and what happens inside of calls is not looked at");
    }
    if !builder.spurious {
        text.push_str("; without spurious wake-ups and failures");
    }
    if !builder.timeouts {
        text.push_str("; without time-outs");
    }
    text
}

fn stopped(builder: &Builder, stopped: Stopped) -> String {
    match stopped {
        Stopped::Asked => "stopped because the time was up".to_owned(),
        Stopped::Steps => format!(
            "stopped: a run took more than {} steps. A loop may wait for something without `yield_now` or `spin_loop`; \
             or set `max_steps`",
            builder.max_steps
        ),
        Stopped::Sampled => "stopped after so many schedules by chance".to_owned(),
        Stopped::Complete => match builder.preemptions {
            Some(bound) => format!("all schedules with at most {bound} preemptions"),
            None => "one schedule".to_owned(),
        },
        other => format!("stopped ({other:?})"),
    }
}

fn why(host: &Host, explorer: &Explorer, error: &Error) -> String {
    let Error::Differs(differs) = error else { return error.to_string() };
    let (first, now) = &*differs.steps;
    let thread = host.names.borrow().show_thread(explorer.thread(differs.node));
    format!(
        "{thread} did different things after the same observations: first {}, then {}. Something is hidden from the search: \
         a static, a std lock or atomic, the clock, random numbers, addresses, `Arc` counts",
        show_op(host, &first.op),
        show_op(host, &now.op)
    )
}

/// The kind of a failure, and what it says.
fn what(host: &Host, explorer: &Explorer, failure: &Failure) -> (&'static str, String) {
    let names = |threads: &[(ThreadId, reweave_explore::NodeId)]| {
        let names = host.names.borrow();
        threads.iter().map(|at| names.show_thread(at.0)).collect::<Vec<_>>().join(", ")
    };
    match failure {
        Failure::Failed { site, .. } => ("panic", host.message(*site)),
        Failure::Panicked { at } => ("panic", format!("{} panicked, and nobody joined it", names(&[*at]))),
        Failure::Deadlock { waiting } => {
            ("deadlock", format!("deadlock of {}{}", names(waiting), awaited(host, explorer, waiting)))
        }
        Failure::Livelock { waiting } => {
            ("livelock", format!("livelock of {}{}", names(waiting), awaited(host, explorer, waiting)))
        }
        Failure::Race { at } => ("race", format!("data race of {}", names(&[at.0, at.1]))),
        Failure::Misuse { at, what } => ("misuse", format!("{}: {what:?}", names(&[*at]))),
        Failure::Exit { code, .. } => ("exit", format!("exit with code {code}")),
    }
}

/// More threads do not fit beside each other.
const COLUMNS: usize = 4;
const WIDTH: usize = 28;

/// The steps of a schedule, a column for each thread where they fit.
fn columns(host: &Host, explorer: &mut Explorer, moves: &[Move]) -> String {
    let steps = explorer.steps(moves);
    let mut threads: Vec<ThreadId> = Vec::new();
    for (thread, ..) in &steps {
        if !threads.contains(thread) {
            threads.push(*thread);
        }
    }
    let name = |thread: ThreadId| host.names.borrow().show_thread(thread);
    let beside = threads.len() <= COLUMNS;
    let mut text = String::new();
    if beside {
        let heads: Vec<String> = threads.iter().map(|&thread| format!("{:<WIDTH$}", name(thread))).collect();
        let _ = writeln!(text, "        {}", heads.concat().trim_end());
    }
    for (index, (thread, op, outcome)) in steps.into_iter().enumerate() {
        let column = threads.iter().position(|&other| other == thread).unwrap_or(0);
        let before = if beside { " ".repeat(column * WIDTH) } else { format!("{:<10} ", name(thread)) };
        let _ = writeln!(
            text,
            "  {:>4}  {before}{}{}",
            index + 1,
            show_op(host, &op),
            show_outcome(&op, outcome)
        );
    }
    text
}

fn failed(host: &Host, explorer: &mut Explorer, failure: &Failure, moves: &[Move]) -> (Verdict, String) {
    let (_, what) = what(host, explorer, failure);
    let mut text = format!("explore: FAILED  {what}\n");
    text.push_str(&columns(host, explorer, moves));
    let schedule = write_schedule(host, moves);
    let _ = writeln!(text, "  replay: REWEAVE_REPLAY=FILE with this in the file:\n  {schedule}");
    (Verdict::Failed { schedule }, text)
}

/// What blocked threads wait for.
fn awaited(host: &Host, explorer: &Explorer, waiting: &[(ThreadId, reweave_explore::NodeId)]) -> String {
    let mut text = String::new();
    for &(thread, node) in waiting {
        if let Some(next) = explorer.next(node) {
            let name = host.names.borrow().show_thread(thread);
            let _ = write!(text, "\n          {name} at {}", show_op(host, &next.op));
        }
    }
    text
}

/// `read(atomic main#1)`.
fn show_op(host: &Host, op: &Op) -> String {
    let names = host.names.borrow();
    let object = |id| names.show_object(id);
    match op {
        Op::Read { cell, .. } => format!("read {}", object(*cell)),
        Op::Write { cell, value, .. } => format!("write {} = {value}", object(*cell)),
        Op::Update { cell, update } => format!("{:?}({}) {}", update.function, update.operand, object(*cell)),
        Op::Exchange { cell, expected, new, .. } => {
            format!("exchange {} {expected} for {new}", object(*cell))
        }
        Op::Await { watched } => {
            let cells: Vec<String> = watched.iter().map(|watch| object(watch.object())).collect();
            format!("spin on {}", cells.join(", "))
        }
        Op::Lock { lock, .. } => format!("lock {}", object(*lock)),
        Op::TryLock { lock, .. } => format!("try lock {}", object(*lock)),
        Op::Unlock { lock, .. } => format!("unlock {}", object(*lock)),
        Op::ReadLock { lock } => format!("read-lock {}", object(*lock)),
        Op::ReadUnlock { lock } => format!("read-unlock {}", object(*lock)),
        Op::WriteLock { lock } => format!("write-lock {}", object(*lock)),
        Op::WriteUnlock { lock, .. } => format!("write-unlock {}", object(*lock)),
        Op::Downgrade { lock, .. } => format!("downgrade {}", object(*lock)),
        Op::Wait { condition, .. } => format!("wait for {}", object(*condition)),
        Op::Notify { condition, .. } => format!("notify {}", object(*condition)),
        Op::Send { channel, .. } => format!("send to {}", object(*channel)),
        Op::Receive { channel, .. } => format!("receive from {}", object(*channel)),
        Op::Touch { cell } => format!("change {}", object(*cell)),
        Op::Call { call, .. } => host.specified.show(*call),
        Op::SpawnSame { thread, .. } | Op::Spawn { thread } => {
            format!("spawn {}", names.show_thread(*thread))
        }
        Op::Join { thread } => format!("join {}", names.show_thread(*thread)),
        Op::Unpark { thread } => format!("unpark {}", names.show_thread(*thread)),
        Op::End { .. } => "end".to_owned(),
        other => format!("{other:?}"),
    }
}

fn show_outcome(op: &Op, outcome: Option<Outcome>) -> String {
    let Some(outcome) = outcome else { return String::new() };
    let mut text = String::new();
    if matches!(op, Op::Read { .. } | Op::Update { .. } | Op::Exchange { .. } | Op::Choose { .. }) {
        let _ = write!(text, " -> {}", outcome.value);
    }
    for (bit, word) in [(tag::FAILED, "failed"), (tag::TIMEOUT, "timed out"), (tag::POISONED, "poisoned")] {
        if outcome.tag & bit != 0 {
            let _ = write!(text, " ({word})");
        }
    }
    text
}

/// A schedule as words: a thread for each step, and its choice where there is one.
pub(super) fn write_schedule(host: &Host, moves: &[Move]) -> String {
    let names = host.names.borrow();
    let word = |step: &Move| {
        let thread = names.show_thread(step.thread);
        if step.choice == 0 { thread } else { format!("{thread}:{}", step.choice) }
    };
    moves.iter().map(word).collect::<Vec<_>>().join(" ")
}

/// Reads such a schedule.
pub(super) fn read_schedule(host: &Host, text: &str) -> Option<Vec<Move>> {
    let mut names = host.names.borrow_mut();
    text.split_whitespace()
        .map(|word| {
            let (thread, choice) = word.split_once(':').unwrap_or((word, "0"));
            Some(Move { thread: names.read_thread(thread)?, choice: choice.parse().ok()? })
        })
        .collect()
}
