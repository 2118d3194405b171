//! What an exploration of a test came to.

use serde::{Deserialize, Serialize};

use super::{Answer, Listing, Tone, count, fact};

/// The document that the crate `reweave` writes of an exploration, as far as a page shows it.
#[derive(Serialize, Deserialize, Clone, PartialEq, Debug)]
pub struct Explored {
    /// The version of the form.
    pub schema: u32,
    /// `proved`, `failed` or `stopped`.
    pub verdict: String,
    /// The engine.
    pub engine: String,
    /// How often the test ran.
    pub runs: u64,
    /// How many executions there are, for the engine that counts them.
    #[serde(default)]
    pub executions: u64,
    /// How many states were looked at.
    #[serde(default)]
    pub states: u64,
    /// The failures.
    #[serde(default)]
    pub failures: Vec<Failure>,
    /// The specifications that the verdict relies on.
    #[serde(default)]
    pub relied_on: Vec<String>,
    /// What else it assumes.
    #[serde(default)]
    pub assumptions: Vec<String>,
    /// How long it took.
    #[serde(default)]
    pub seconds: f64,
    /// The report for people, with the failing schedule in columns.
    #[serde(default)]
    pub text: String,
}

/// One failure of a test.
#[derive(Serialize, Deserialize, Clone, PartialEq, Eq, Debug)]
pub struct Failure {
    /// What kind it is.
    pub kind: String,
    /// What happened, and where.
    pub site: String,
    /// The schedule that shows it again.
    #[serde(default)]
    pub schedule: Option<String>,
    /// How many preemptions it takes.
    #[serde(default)]
    pub preemptions: Option<u64>,
}

impl From<&Explored> for Answer {
    fn from(explored: &Explored) -> Answer {
        let (tone, title, summary) = match explored.verdict.as_str() {
            "proved" => (
                Tone::Good,
                "Proved".to_owned(),
                "No interleaving of the test fails, under the assumptions below.".to_owned(),
            ),
            "failed" => {
                let first = explored.failures.first();
                let what = first.and_then(|failure| failure.site.lines().next()).unwrap_or("it fails");
                (Tone::Bad, "An interleaving fails".to_owned(), what.to_owned())
            }
            _ => (
                Tone::Open,
                "Stopped, not proved".to_owned(),
                "No failure was found as far as the exploration came.".to_owned(),
            ),
        };
        let mut facts = vec![
            fact("Engine", &explored.engine),
            fact("Looked at", looked_at(explored)),
            fact("Time", format!("{:.2} s", explored.seconds)),
        ];
        facts.extend(explored.assumptions.iter().map(|text| fact("Assumes", text)));
        if !explored.relied_on.is_empty() {
            facts.push(fact("Specifications relied on", explored.relied_on.join(", ")));
        }
        let reasons = explored.failures.iter().map(|failure| format!("{}: {}", failure.kind, failure.site));
        let schedules = explored.failures.iter().filter_map(|failure| failure.schedule.clone());
        let schedules =
            schedules.map(|text| Listing { title: "The schedule, to run it again".to_owned(), text });
        let report = (!explored.text.is_empty())
            .then(|| Listing { title: "The report".to_owned(), text: explored.text.clone() });
        Answer {
            kind: "exploration".to_owned(),
            tone,
            title,
            summary,
            facts,
            reasons: reasons.collect(),
            listings: report.into_iter().chain(schedules).collect(),
            ..Answer::default()
        }
    }
}

fn looked_at(explored: &Explored) -> String {
    let mut text = format!("{}, {}", count(explored.runs, "run"), count(explored.states, "state"));
    if explored.engine == "trace" {
        text.push_str(&format!(", {}", count(explored.executions, "execution")));
    }
    text
}
