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
    /// How much of it was looked at, where the engine can say.
    #[serde(default)]
    pub estimate: Option<Estimate>,
    /// How long it took.
    #[serde(default)]
    pub seconds: f64,
    /// The report for people, with the failing schedule in columns.
    #[serde(default)]
    pub text: String,
}

/// How far an exploration came that a limit ended.
#[derive(Serialize, Deserialize, Clone, Copy, PartialEq, Debug)]
pub struct Estimate {
    /// In which pass over all states it was; 0 where that is not said.
    #[serde(default)]
    pub pass: u64,
    /// The part of it that was done, from 0 to 1.
    #[serde(alias = "done")]
    pub share: f64,
    /// How many executions there are in all, about.
    #[serde(default)]
    pub executions: Option<u64>,
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
                match explored.assumptions.len() + explored.relied_on.len() {
                    0 => "No interleaving of the test fails.".to_owned(),
                    _ => "No interleaving of the test fails, under the assumptions below.".to_owned(),
                },
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
        facts.extend(
            explored.estimate.map(|estimate| fact("Estimate", estimated(estimate, explored.executions))),
        );
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

/// What is known of how much there is, as if all moves of a state led to as much.
fn estimated(estimate: Estimate, looked_at: u64) -> String {
    let share = if estimate.share.is_finite() { estimate.share.clamp(0.0, 1.0) } else { 0.0 };
    let part = match 100.0 * share {
        percent if percent > 99.9 => "over 99.9 %".to_owned(),
        percent if percent < 0.1 => "less than 0.1 %".to_owned(),
        percent => format!("about {percent:.1} %"),
    };
    let pass = match estimate.pass {
        0 => String::new(),
        pass => format!(" of pass {pass} over all states"),
    };
    let of =
        estimate.executions.map(|all| format!(", {looked_at} of about {} executions", all.max(looked_at)));
    format!("{part}{pass} was done{}", of.unwrap_or_default())
}

fn looked_at(explored: &Explored) -> String {
    let mut text = format!("{}, {}", count(explored.runs, "run"), count(explored.states, "state"));
    if explored.engine == "trace" {
        text.push_str(&format!(", {}", count(explored.executions, "execution")));
    }
    text
}
