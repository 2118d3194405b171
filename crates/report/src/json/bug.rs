//! The report of a bug of ours: a schedule that was called a witness and is none.

use reweave_decide::Unsound;
use serde::{Deserialize, Serialize};

use super::{Claim, Head, Schedule};

/// All that it takes to see the bug again. It is a witness file, so that `reweave check` shows the same.
#[derive(Serialize, Deserialize, Clone, PartialEq, Eq, Debug)]
pub struct Bug {
    /// The trace and the model.
    #[serde(flatten)]
    pub head: Head,
    /// The schedule.
    #[serde(flatten)]
    pub schedule: Schedule,
    /// What it was said to show.
    pub claim: Claim,
    /// Why the checker refused it.
    pub rejection: String,
}

impl Bug {
    /// The report of `unsound`, on the trace of `head`.
    pub fn new(head: Head, unsound: &Unsound) -> Bug {
        Bug {
            head,
            schedule: (&unsound.witness).into(),
            claim: (&unsound.claim).into(),
            rejection: unsound.rejection.to_string(),
        }
    }
}
