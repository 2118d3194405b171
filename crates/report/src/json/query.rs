//! The document of `reweave query`.

use reweave_decide::{Reason, Verdict};
use reweave_trace::Trace;
use serde::{Deserialize, Serialize};

use super::{Claim, Counts, Head, Refutation, Schedule, seconds};

/// A question and its answer. A feasible one is a witness file as well.
#[derive(Serialize, Deserialize, Clone, PartialEq, Debug)]
pub struct Query {
    /// The trace and the model.
    #[serde(flatten)]
    pub head: Head,
    /// The question and its answer.
    #[serde(flatten)]
    pub answer: Answer,
}

/// Every pair of accesses of two source lines that conflict, and whether they can race.
#[derive(Serialize, Deserialize, Clone, PartialEq, Debug)]
pub struct Race {
    /// The trace and the model.
    #[serde(flatten)]
    pub head: Head,
    /// The two source lines, as they were given.
    pub race: [String; 2],
    /// How many accesses each of them has.
    pub accesses: [u64; 2],
    /// How many pairs came to what; those that were not looked at are unknown.
    pub counts: Counts,
    /// The answers, in the order in which they were decided.
    pub answers: Vec<Answer>,
    /// How long the decisions took.
    pub seconds: f64,
}

/// A question and its answer, of a trace and a model that are known.
#[derive(Serialize, Deserialize, Clone, PartialEq, Debug)]
pub struct Answer {
    /// The question.
    pub query: Claim,
    /// The answer.
    pub verdict: VerdictName,
    /// The witness, where it is feasible.
    #[serde(flatten)]
    pub schedule: Option<Schedule>,
    /// What the witness shows, where there is one: the question.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub claim: Option<Claim>,
    /// Why not, where it is infeasible.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refutation: Option<Vec<Refutation>>,
    /// Why that is not known, where it is not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<Undecided>,
    /// How long the decision took.
    pub seconds: f64,
}

/// An answer in a word.
#[derive(Serialize, Deserialize, Clone, Copy, PartialEq, Eq, Debug)]
#[serde(rename_all = "lowercase")]
pub enum VerdictName {
    /// Some schedule shows it.
    Feasible,
    /// No schedule does.
    Infeasible,
    /// That is not known.
    Unknown,
}

/// Why there is no answer.
#[derive(Serialize, Deserialize, Clone, Copy, PartialEq, Eq, Debug)]
#[serde(rename_all = "lowercase")]
pub enum Undecided {
    /// The time was up.
    Budget,
    /// The work limit was reached.
    Work,
    /// The stages that were allowed do not settle it.
    Inconclusive,
}

impl From<Reason> for Undecided {
    fn from(reason: Reason) -> Undecided {
        match reason {
            Reason::Stopped => Undecided::Budget,
            Reason::Work => Undecided::Work,
            // The enum is open: whatever else there may be one day, the question was not settled.
            _ => Undecided::Inconclusive,
        }
    }
}

impl Query {
    /// The document that says that `claim` was found to be `verdict`, in `time` seconds.
    pub fn new(
        trace: &Trace,
        head: Head,
        claim: &reweave_witness::Claim,
        verdict: &Verdict,
        time: f64,
    ) -> Query {
        Query { head, answer: Answer::new(trace, claim, verdict, time) }
    }
}

impl Answer {
    /// That `claim` was found to be `verdict`, in `time` seconds.
    pub fn new(trace: &Trace, claim: &reweave_witness::Claim, verdict: &Verdict, time: f64) -> Answer {
        let query = Claim::from(claim);
        let mut answer = Answer {
            query: query.clone(),
            verdict: VerdictName::Unknown,
            schedule: None,
            claim: None,
            refutation: None,
            reason: None,
            seconds: seconds(time),
        };
        match verdict {
            Verdict::Feasible(checked) => {
                answer.verdict = VerdictName::Feasible;
                answer.schedule = Some(checked.witness().into());
                answer.claim = Some(query);
            }
            Verdict::Infeasible(refutation) => {
                answer.verdict = VerdictName::Infeasible;
                answer.refutation = Some(Refutation::list(trace, refutation));
            }
            Verdict::Unknown(reason) => answer.reason = Some((*reason).into()),
        }
        answer
    }
}
