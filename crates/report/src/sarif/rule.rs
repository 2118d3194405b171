//! The kinds of bugs as rules of SARIF, with what code hosts show about them.

use std::collections::BTreeMap;

use reweave_detect::Kind;
use serde_json::Value;
use serde_sarif::sarif::{
    MultiformatMessageString, PropertyBag, ReportingConfiguration, ReportingDescriptor,
};

/// The rule of a kind.
pub(super) fn descriptor(kind: Kind) -> ReportingDescriptor {
    let text = |text: &str| MultiformatMessageString::builder().text(text).build();
    let help = MultiformatMessageString::builder()
        .text(format!("{} {}", full(kind), remedy(kind)))
        .markdown(format!("{}\n\n**What to do.** {}\n\n{WITNESS}", full(kind), remedy(kind)))
        .build();
    let level = if matches!(kind, Kind::Atomicity | Kind::Order) { "warning" } else { "error" };
    let configuration = ReportingConfiguration::builder().level(Value::from(level)).build();
    ReportingDescriptor::builder()
        .id(kind.name())
        .name(name(kind))
        .short_description(text(title(kind)))
        .full_description(text(full(kind)))
        .help(help)
        .default_configuration(configuration)
        .properties(properties(kind, level))
        .build()
}

/// The rule of runs that failed by themselves.
pub(super) const FAILED: &str = "failed-run";

/// That rule.
pub(super) fn failed() -> ReportingDescriptor {
    let text = |text: &str| MultiformatMessageString::builder().text(text).build();
    let full = "A run that was recorded crashed, failed its assertion, hung or ended with a status that it should not: nothing \
                needed to be predicted. The same seed gives the same run.";
    let tags = ["concurrency", "correctness"].map(str::to_owned).to_vec();
    let more = BTreeMap::from([
        ("precision".to_owned(), "very-high".into()),
        ("problem.severity".to_owned(), "error".into()),
    ]);
    ReportingDescriptor::builder()
        .id(FAILED)
        .name("FailedRun")
        .short_description(text("A recorded run failed by itself"))
        .full_description(text(full))
        .help(text(full))
        .default_configuration(ReportingConfiguration::builder().level(Value::from("error")).build())
        .properties(PropertyBag::builder().tags(tags).additional_properties(more).build())
        .build()
}

/// The rule of fixes about which nothing can be said.
pub(super) const UNDECIDED: &str = "fix-undecided";

/// That rule.
pub(super) fn undecided() -> ReportingDescriptor {
    let text = |text: &str| MultiformatMessageString::builder().text(text).build();
    let full =
        "Whether the bug is gone is not known: something could not be looked at that the verdict depends on.";
    let tags = ["concurrency", "correctness"].map(str::to_owned).to_vec();
    let more = BTreeMap::from([("problem.severity".to_owned(), "warning".into())]);
    ReportingDescriptor::builder()
        .id(UNDECIDED)
        .name("FixUndecided")
        .short_description(text("It is not known whether a fix is enough"))
        .full_description(text(full))
        .help(text(full))
        .default_configuration(ReportingConfiguration::builder().level(Value::from("warning")).build())
        .properties(PropertyBag::builder().tags(tags).additional_properties(more).build())
        .build()
}

const WITNESS: &str = "Every finding comes with a schedule of the recorded run's own events that shows it, checked step by \
step. `reweave replay` makes it happen on the program.";

fn properties(kind: Kind, level: &str) -> PropertyBag {
    let mut tags = vec!["concurrency", "correctness"];
    tags.extend(cwe(kind));
    let precision = if matches!(kind, Kind::Atomicity | Kind::Order) { "high" } else { "very-high" };
    let mut more: BTreeMap<String, Value> = BTreeMap::from([
        ("precision".to_owned(), precision.into()),
        ("problem.severity".to_owned(), level.into()),
    ]);
    if kind == Kind::UseAfterFree {
        tags.push("security");
        more.insert("security-severity".to_owned(), "8.1".into());
    }
    let tags = tags.into_iter().map(str::to_owned).collect::<Vec<_>>();
    PropertyBag::builder().tags(tags).additional_properties(more).build()
}

fn cwe(kind: Kind) -> Option<&'static str> {
    match kind {
        Kind::Race => Some("external/cwe/cwe-362"),
        Kind::Deadlock => Some("external/cwe/cwe-833"),
        Kind::Atomicity => Some("external/cwe/cwe-366"),
        Kind::Order => None,
        Kind::UseAfterFree => Some("external/cwe/cwe-416"),
    }
}

fn name(kind: Kind) -> &'static str {
    match kind {
        Kind::Race => "DataRace",
        Kind::Deadlock => "Deadlock",
        Kind::Atomicity => "AtomicityViolation",
        Kind::Order => "OrderViolation",
        Kind::UseAfterFree => "UseAfterFree",
    }
}

fn title(kind: Kind) -> &'static str {
    match kind {
        Kind::Race => "Two conflicting accesses can happen at the same time",
        Kind::Deadlock => "Threads can wait for each other for ever",
        Kind::Atomicity => "Accesses that are meant to be one step can be interleaved with others",
        Kind::Order => "Two events can come in the wrong order",
        Kind::UseAfterFree => "An object can be used after its end",
    }
}

fn full(kind: Kind) -> &'static str {
    match kind {
        Kind::Race => {
            "Two threads can access the same variable at the same time, at least one of them writes, and nothing orders \
             the two. In C, C++ and Rust that is undefined behaviour."
        }
        Kind::Deadlock => {
            "Threads can come to wait for each other in a circle, each for a lock or notification of the next, or for a \
             lock whose holder has ended. None of them goes on."
        }
        Kind::Atomicity => {
            "A thread does in several steps what is meant to be one, and another thread can come in between: what the \
             first one read is no longer so when it acts on it."
        }
        Kind::Order => {
            "Two events of different threads came in the right order in the recorded run, but nothing makes them: a \
             notification can come before the wait, or a use before the initialisation."
        }
        Kind::UseAfterFree => {
            "A thread can use an object that another thread has freed, or free it a second time: nothing makes the use \
             come first."
        }
    }
}

fn remedy(kind: Kind) -> &'static str {
    match kind {
        Kind::Race => "Let both accesses hold the same lock, or make both atomic.",
        Kind::Deadlock => "Take these locks in the same order everywhere, or hold only one at a time.",
        Kind::Atomicity => "Hold one lock from the first step to the last, and around what can come between.",
        Kind::Order => {
            "Wait for what has to be there: set a flag under the lock before the notification and wait in a loop while \
             it is not set; initialise before the thread that uses it is created."
        }
        Kind::UseAfterFree => "Free only after every user has been joined, or count the owners.",
    }
}
