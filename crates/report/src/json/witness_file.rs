//! The witness file, which `reweave check` and `reweave replay` read.

use reweave_trace::{EventId, Model};
use reweave_witness::Claim;
use serde::Deserialize;
use serde::de::IgnoredAny;

use super::{Runs, SCHEMA, Schedule};

/// What a witness file says.
#[derive(Debug, PartialEq)]
pub struct Question {
    /// The model that the schedule is for.
    pub model: Model,
    /// The schedule.
    pub schedule: Schedule,
    /// What it shows.
    pub claim: Claim,
}

/// The file as it is written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FileJson {
    schema: Option<u32>,
    /// Who wrote it: for people to look at.
    #[serde(rename = "tool")]
    _tool: Option<String>,
    model: String,
    #[serde(default)]
    witness_prefix: u32,
    witness: Runs,
    claim: ClaimJson,
    // What else is in documents of `query` and in reports of bugs, which are witness files, too.
    #[serde(rename = "trace")]
    _trace: Option<IgnoredAny>,
    #[serde(rename = "query")]
    _query: Option<IgnoredAny>,
    #[serde(rename = "verdict")]
    _verdict: Option<IgnoredAny>,
    #[serde(rename = "rejection")]
    _rejection: Option<IgnoredAny>,
    #[serde(rename = "seconds")]
    _seconds: Option<IgnoredAny>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ClaimJson {
    coenabled: Option<Vec<u32>>,
    deadlock: Option<Vec<u32>>,
    sequence: Option<Vec<u32>>,
    before: Option<Vec<[u32; 2]>>,
    asleep: Option<u32>,
    unwritten: Option<u32>,
    ahead: Option<[u32; 2]>,
    adjacent: Option<Vec<u32>>,
}

impl Question {
    /// Reads the content of a witness file. The error is a message that goes right after the name of the file.
    pub fn parse(text: &[u8]) -> Result<Question, String> {
        parse(text)
    }
}

fn parse(text: &[u8]) -> Result<Question, String> {
    let file: FileJson = serde_json::from_slice(text).map_err(|error| {
        let message = error.to_string();
        // The line goes to the front, as in every other message.
        let suffix = format!(" at line {} column {}", error.line(), error.column());
        format!(":{}: {}", error.line(), message.strip_suffix(&suffix).unwrap_or(&message))
    })?;
    if let Some(schema) = file.schema.filter(|&schema| schema != SCHEMA) {
        return Err(format!(": schema {schema} is not known: expected {SCHEMA}"));
    }
    let model = file.model.parse().map_err(|error| format!(": {error}"))?;
    let schedule = Schedule { witness_prefix: file.witness_prefix, witness: file.witness };
    Ok(Question { model, schedule, claim: claim(file.claim)? })
}

fn ids(events: Vec<u32>) -> Vec<EventId> {
    events.into_iter().map(EventId).collect()
}

fn claim(json: ClaimJson) -> Result<Claim, String> {
    let ClaimJson { coenabled, deadlock, sequence, before, asleep, unwritten, ahead, adjacent } = json;
    let (simple, places) = (adjacent.is_none(), adjacent.unwrap_or_default());
    let adjacent = places.into_iter().map(|place| place as usize).collect();
    let mut takes_adjacent = false;
    let mut claims: Vec<Claim> = Vec::new();
    claims.extend(coenabled.map(|events| Claim::CoEnabled(ids(events))));
    claims.extend(deadlock.map(|events| Claim::Deadlock(ids(events))));
    claims.extend(asleep.map(|wait| Claim::Asleep(EventId(wait))));
    claims.extend(unwritten.map(|read| Claim::Unwritten(EventId(read))));
    claims.extend(ahead.map(|[first, then]| Claim::Ahead { first: EventId(first), then: EventId(then) }));
    if sequence.is_some() && before.is_some() {
        return Err(": sequence and before are two claims".to_owned());
    }
    if let Some(events) = sequence {
        takes_adjacent = true;
        claims.push(Claim::Sequence { events: ids(events), adjacent });
    } else if let Some(pairs) = before.as_ref() {
        takes_adjacent = true;
        let pairs = pairs.iter().map(|&[a, b]| (EventId(a), EventId(b))).collect();
        claims.push(Claim::Before { pairs, adjacent });
    }
    match claims.len() {
        1 if simple || takes_adjacent => Ok(claims.remove(0)),
        1 => Err(": only the claims sequence and before take adjacent".to_owned()),
        _ => Err(
            ": the claim has to be one of coenabled, deadlock, sequence, before, asleep, unwritten and ahead"
                .to_owned(),
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn claim_of(text: &str) -> Result<Claim, String> {
        parse(format!(r#"{{"model": "rf", "witness": [], "claim": {text}}}"#).as_bytes())
            .map(|question| question.claim)
    }

    #[test]
    fn every_claim_is_read() {
        let (a, b) = (EventId(1), EventId(2));
        assert_eq!(claim_of(r#"{"coenabled": [1, 2]}"#), Ok(Claim::CoEnabled(vec![a, b])));
        assert_eq!(claim_of(r#"{"deadlock": [1, 2]}"#), Ok(Claim::Deadlock(vec![a, b])));
        let sequence = |adjacent| Ok(Claim::Sequence { events: vec![a, b], adjacent });
        assert_eq!(claim_of(r#"{"sequence": [1, 2]}"#), sequence(vec![]));
        assert_eq!(claim_of(r#"{"sequence": [1, 2], "adjacent": [0]}"#), sequence(vec![0]));
        assert_eq!(claim_of(r#"{"asleep": 1}"#), Ok(Claim::Asleep(a)));
        assert_eq!(claim_of(r#"{"unwritten": 2}"#), Ok(Claim::Unwritten(b)));
        assert_eq!(claim_of(r#"{"ahead": [1, 2]}"#), Ok(Claim::Ahead { first: a, then: b }));
        let before = Claim::Before { pairs: vec![(a, b)], adjacent: vec![0] };
        assert_eq!(claim_of(r#"{"before": [[1, 2]], "adjacent": [0]}"#), Ok(before));
    }

    #[test]
    fn what_is_not_a_witness_file_is_refused_with_a_reason() {
        for (text, reason) in [
            ("", ":1: EOF"),
            ("[]", ":1: "),
            (r#"{"model": "rf"}"#, "missing field `witness`"),
            ("{\n\"extra\": 1}", ":2: unknown field `extra`"),
            (r#"{"model": "rf", "witness": [-1]}"#, "invalid type: integer `-1`"),
            (r#"{"model": "rf", "witness": [[2, 1]]}"#, "ends before it begins"),
            (r#"{"model": "rf", "witness": [4294967296]}"#, "invalid value: integer `4294967296`"),
            (r#"{"model": "xx", "witness": [], "claim": {"deadlock": []}}"#, "there is no model `xx`"),
            (r#"{"schema": 2, "model": "rf", "witness": [], "claim": {}}"#, "schema 2 is not known"),
            (r#"{"model": "rf", "witness": [], "claim": {}}"#, "has to be one of"),
            (r#"{"model": "rf", "witness": [], "claim": {"race": [1, 2]}}"#, "unknown field `race`"),
            (r#"{"model": "rf", "witness": [], "claim": {"coenabled": [], "deadlock": []}}"#, "one of"),
            (
                r#"{"model": "rf", "witness": [], "claim": {"coenabled": [], "adjacent": []}}"#,
                "take adjacent",
            ),
            (r#"{"model": "rf", "model": "rf"}"#, "duplicate field `model`"),
        ] {
            let message = parse(text.as_bytes()).expect_err(text);
            assert!(message.contains(reason), "{text}: {message}");
        }
        let deep = "[".repeat(1_000_000);
        assert!(parse(deep.as_bytes()).is_err());
    }
}
