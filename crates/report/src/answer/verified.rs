//! Whether a fix is enough.

use super::{Answer, Compared, Tone, count, fact};
use crate::json::{Verified, VerifiedBug, VerifiedClaim};

impl From<&Verified> for Answer {
    fn from(verified: &Verified) -> Answer {
        let (tone, title, summary) = verdict(&verified.verdict);
        let mut facts = vec![
            fact("Before", &verified.before),
            fact("After", &verified.after),
            fact(
                "Looked at",
                format!(
                    "{} of the new program, {} of them searched; {}, of which {} can happen in no schedule",
                    count(verified.runs.into(), "run"),
                    verified.traces,
                    count(verified.candidates, "candidate"),
                    verified.excluded,
                ),
            ),
        ];
        facts.extend(verified.schedules.iter().map(|path| fact("Schedule that shows it", path)));
        facts.extend(verified.hints.iter().map(|hint| fact("Hint", hint)));
        facts.extend(verified.notes.iter().map(|note| fact("Note", note)));
        let bugs = verified.bug.iter().chain(&verified.other_bugs).map(bug);
        // What lies in code that did not change is not about the fix.
        let claims = verified.claims.iter().filter(|claim| claim.relation != "other").map(claim);
        Answer {
            kind: "verification".to_owned(),
            tone,
            title: title.to_owned(),
            summary: summary.to_owned(),
            facts,
            reasons: verified.gaps.clone(),
            compared: bugs.chain(claims).collect(),
            pictures: verified.pictures.clone(),
            ..Answer::default()
        }
    }
}

fn verdict(name: &str) -> (Tone, &'static str, &'static str) {
    match name {
        "sufficient" => (
            Tone::Good,
            "The fix is sufficient, as far as was seen",
            "No schedule of the patched program that was looked at shows the bug or a new one.",
        ),
        "insufficient" => {
            (Tone::Bad, "The fix is not enough", "The bug can still happen in the patched program.")
        }
        "new-bug" => (
            Tone::Bad,
            "The fix brings a new bug",
            "The bug is gone, but the code that changed can go wrong in another way.",
        ),
        "not-shown" => (
            Tone::Open,
            "The bug was not shown",
            "No run of the old program shows the bug, so nothing can be said of the fix.",
        ),
        _ => (Tone::Open, "Undecided", "Whether the bug is gone is not known, for the reasons below."),
    }
}

fn tone(state: &str) -> Tone {
    match state {
        "shown" => Tone::Bad,
        "open" => Tone::Open,
        _ => Tone::Good,
    }
}

fn outcome(state: &str, by: &str) -> String {
    if by.is_empty() { state.to_owned() } else { format!("{state}: {by}") }
}

fn bug(bug: &VerifiedBug) -> Compared {
    let failed = bug.failed.iter().map(|how| format!("the program {how}"));
    let before: Vec<String> = bug.sites.iter().cloned().chain(failed).collect();
    let mut after = outcome(&bug.state, &bug.by);
    if let Some([came, all]) = bug.steps {
        after.push_str(&format!("; {came} of the {all} steps of its schedule came"));
    }
    Compared { title: bug.title.clone(), before: before.join("\n"), after, tone: tone(&bug.state) }
}

fn claim(claim: &VerifiedClaim) -> Compared {
    let before = match claim.sites_before.join("\n") {
        none if none.is_empty() => "not there".to_owned(),
        sites => sites,
    };
    let after = format!("{}\n{}", claim.sites_after.join("\n"), outcome(&claim.state, &claim.by));
    Compared { title: claim.title.clone(), before, after, tone: tone(&claim.state) }
}
