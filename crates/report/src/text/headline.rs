//! A finding in one line.

use reweave_detect::Kind;
use reweave_trace::EventId;

use crate::claim::and;
use crate::event::{clean, thread};
use crate::json::predict::Finding;
use crate::scene::Scene;

/// `data race on balance`.
pub fn headline(finding: &Finding, scene: Option<&Scene<'_>>) -> String {
    let target = clean(&finding.target);
    match (finding.kind, finding.pattern.as_str()) {
        (Kind::Race, _) => format!("data race on {target}"),
        (Kind::Deadlock, _) => match scene {
            Some(scene) => {
                let mut threads: Vec<String> = Vec::new();
                for &event in &finding.events {
                    threads.push(thread(scene.trace, EventId(event)).into_owned());
                }
                format!("deadlock of {} on {target}", and(&threads))
            }
            None => format!("deadlock on {target}"),
        },
        (Kind::Atomicity, _) => format!("atomicity violation on {target}"),
        (Kind::Order, "lost-wake-up") => {
            // The other target is the lock of the wait.
            format!("lost wake-up on {}", target.split(", ").next().unwrap_or_default())
        }
        (Kind::Order, "use-before-initialisation") => format!("use of {target} before its initialisation"),
        (Kind::Order, _) => format!("order violation on {target}"),
        (Kind::UseAfterFree, "double-free") => format!("double free of {target}"),
        (Kind::UseAfterFree, _) => {
            format!("use after free of {}", target.split(", ").next().unwrap_or_default())
        }
    }
}
