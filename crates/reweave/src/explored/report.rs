//! What an exploration came to, as text.

use std::fmt::Write as _;

use reweave_explore::{
    Error, Explorer, FOLLOWED, FOLLOWED_LONG, Failure, Move, Next, NodeId, Op, Outcome, Report, Shown,
    Stopped, ThreadId, tag,
};

use super::host::Host;
use super::places::{self, COUNTS};
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
    let (verdict, mut text) = match report.shown.first() {
        Some(shown) => failed(host, explorer, shown, report.followed_long),
        None if report.proved => {
            let part = if explorer.item.prefix.is_empty() { "" } else { " that begins as this part" };
            let text = format!(
                "explore: proved, no failure in any interleaving{part}\n  {}\n",
                assumptions(builder, host, report.unfollowed).join("; ")
            );
            (Verdict::Proved, text)
        }
        None => (
            Verdict::Stopped,
            format!(
                "explore: {}{}; no failure found, not proved\n",
                stopped(builder, host, explorer, &report),
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
    let failures = found(host, explorer, &report);
    list(&mut text, &failures);
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
        assumes: assumptions(builder, host, report.unfollowed),
        left_at: report.left_at.map(|now| (now.passes, now.share)),
        impossible: false,
    }
}

/// Says what fails, where it is more than one thing.
fn list(text: &mut String, failures: &[Found]) {
    if failures.len() < 2 {
        return;
    }
    let _ = write!(text, "\n  {} failures:", failures.len());
    for failure in failures {
        let first_line = failure.what.lines().next().unwrap_or_default();
        let _ = write!(text, "\n    {}: {first_line}", failure.kind);
    }
}

pub(super) fn no_answer(builder: &Builder, text: String) -> Exploration {
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
        assumes: Vec::new(),
        left_at: None,
        impossible: false,
    }
}

/// The failures, each once. All were run.
fn found(host: &Host, explorer: &mut Explorer, report: &Report) -> Vec<Found> {
    let mut all: Vec<Found> = Vec::new();
    for shown in &report.shown {
        let (kind, what) = what(host, explorer, &shown.failure);
        if !all.iter().any(|known| known.kind == kind && known.what == what) {
            let schedule = Some(write_schedule(host, &shown.schedule));
            let preemptions = Some(explorer.preemptions(&shown.schedule));
            all.push(Found { kind, what, schedule, preemptions });
        }
    }
    all
}

/// What *proved* relies on.
fn assumptions(builder: &Builder, host: &Host, unfollowed: usize) -> Vec<String> {
    let mut all: Vec<String> = [
        "for sequential consistency",
        "communication through reweave's types only, `Arc` counts not observed",
        "readers wait for waiting writers or not",
        "memory is never used again at the same address",
    ]
    .map(str::to_owned)
    .to_vec();
    let mut add = |is_so: bool, text: &str| all.extend(is_so.then(|| text.to_owned()));
    add(host.weaker(), "orderings weaker than SeqCst were taken as SeqCst");
    add(host.relies.data.get(), "data in locks changes through `&mut` only");
    add(
        host.relies.loops.get(),
        &format!("loops that wait were followed for {FOLLOWED} rounds, and go on as they did then"),
    );
    add(unfollowed > 0, &format!("but {unfollowed} of them, which never had to wait"));
    add(host.relies.waits.get(), "loops around waits that may end without cause keep nothing on the heap");
    let specifications = host.specified.relied_on().join(", ");
    let calls = format!(
        "the specifications of {specifications} hold, and what happens inside of calls is not looked at"
    );
    add(!specifications.is_empty(), &calls);
    add(!builder.spurious, "without spurious wake-ups and failures");
    add(!builder.timeouts, "without time-outs");
    add(builder.audit == 0, "not audited: nothing is hidden from the search");
    all
}

fn stopped(builder: &Builder, host: &Host, explorer: &Explorer, report: &Report) -> String {
    match report.stopped {
        Stopped::Asked => "stopped because the time was up".to_owned(),
        Stopped::Steps => {
            let most = report.too_long.map(|(thread, node)| {
                let name = host.names.borrow().show_thread(thread);
                format!(", most of the last ones of {name}{}", at(host, explorer, node))
            });
            format!(
                "stopped: a run took more than {} steps{}. A loop may wait for something without `yield_now` or \
                 `spin_loop`, or count its rounds; or set `max_steps`",
                builder.max_steps,
                most.unwrap_or_default()
            )
        }
        Stopped::Sampled => "stopped after so many schedules by chance".to_owned(),
        Stopped::Complete => match builder.preemptions {
            Some(bound) => format!("all schedules with at most {bound} preemptions"),
            None => "one schedule".to_owned(),
        },
        other => format!("stopped ({other:?})"),
    }
}

/// ` at lock mutex main#1 (src/queue.rs:12)`: the next step after a history.
fn at(host: &Host, explorer: &Explorer, node: NodeId) -> String {
    let Some(next) = explorer.next(node) else { return String::new() };
    let place = places::show(next.place).map(|place| format!(" ({place})"));
    format!(" at {}{}", show_op(host, &next.op), place.unwrap_or_default())
}

fn why(host: &Host, explorer: &Explorer, error: &Error) -> String {
    if let Error::Counts(node) = error {
        let name = host.names.borrow().show_thread(explorer.thread(*node));
        return format!("{error}: {name}{}", at(host, explorer, *node));
    }
    let Error::Differs(differs) = error else { return error.to_string() };
    let (first, now) = &*differs.steps;
    let thread = host.names.borrow().show_thread(explorer.thread(differs.node));
    let place = |next: &Next| places::show(next.place).map(|place| format!(" ({place})")).unwrap_or_default();
    format!(
        "{thread} did different things after the same observations: first {}{}, then {}{}. Something is hidden from the search: \
         a static, a std lock or atomic, the clock, random numbers, addresses, `Arc` counts",
        show_op(host, &first.op),
        place(first),
        show_op(host, &now.op),
        place(now)
    )
}

/// The kind of a failure, and what it says.
fn what(host: &Host, explorer: &Explorer, failure: &Failure) -> (&'static str, String) {
    let names = |threads: &[(ThreadId, NodeId)]| {
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
    for (index, (thread, op, outcome, place)) in steps.into_iter().enumerate() {
        let column = threads.iter().position(|&other| other == thread).unwrap_or(0);
        let before = if beside { " ".repeat(column * WIDTH) } else { format!("{:<10} ", name(thread)) };
        let _ = writeln!(
            text,
            "  {:>4}  {before}{}{}{}",
            index + 1,
            show_op(host, &op),
            show_outcome(&op, outcome),
            places::show(place).map(|place| format!("  ({place})")).unwrap_or_default()
        );
    }
    text
}

fn failed(host: &Host, explorer: &mut Explorer, shown: &Shown, followed: bool) -> (Verdict, String) {
    let (_, what) = what(host, explorer, &shown.failure);
    let mut text = format!("explore: FAILED  {what}\n");
    text.push_str(&columns(host, explorer, &shown.schedule));
    if matches!(shown.failure, Failure::Livelock { .. }) && followed {
        let _ = writeln!(text, "  each loop was followed for {FOLLOWED_LONG} rounds, and changed nothing");
    }
    if !shown.searched {
        let _ = writeln!(text, "  the search for a smaller schedule was given up");
    }
    let schedule = write_schedule(host, &shown.schedule);
    let _ = writeln!(text, "  replay: REWEAVE_REPLAY=FILE with this in the file:\n  {schedule}");
    (Verdict::Failed { schedule }, text)
}

/// What blocked threads wait for.
fn awaited(host: &Host, explorer: &Explorer, waiting: &[(ThreadId, NodeId)]) -> String {
    let mut text = String::new();
    for &(thread, node) in waiting {
        let name = host.names.borrow().show_thread(thread);
        let _ = write!(text, "\n          {name}{}", at(host, explorer, node));
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
    let mut words: Vec<String> = moves.iter().map(word).collect();
    if !host.counting.is_empty() {
        words.insert(0, format!("{COUNTS}{}", host.counting.join(",")));
    }
    words.join(" ")
}

/// Reads such a schedule.
pub(super) fn read_schedule(host: &Host, text: &str) -> Option<Vec<Move>> {
    let (_, text) = places::counting(text);
    let mut names = host.names.borrow_mut();
    text.split_whitespace()
        .map(|word| {
            let (thread, choice) = word.split_once(':').unwrap_or((word, "0"));
            Some(Move { thread: names.read_thread(thread)?, choice: choice.parse().ok()? })
        })
        .collect()
}
