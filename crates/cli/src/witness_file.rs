//! The witness file: its JSON, and the way from there to a witness and a claim.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use anyhow::Context;
use reweave_trace::{EventId, Model};
use reweave_witness::{Claim, Witness};
use serde::Deserialize;
use serde::de::IgnoredAny;

use crate::failure::Failure;
use crate::input::is_standard;

/// The largest file that is read. A witness of half a billion steps has not this many bytes where it should have
/// been given with a prefix.
const MAX_BYTES: u64 = 1 << 30;

/// The version of the JSON that we know.
const SCHEMA: u32 = 1;

const HINT: &str = "a witness file is {\"model\": \"rf\", \"witness_prefix\": 0, \"witness\": [0, 1], \
                    \"claim\": {\"coenabled\": [2, 3]}}";

/// What a witness file says.
#[derive(Debug, PartialEq)]
pub(crate) struct Question {
    pub(crate) model: Model,
    pub(crate) witness: Witness,
    pub(crate) claim: Claim,
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
    witness: Vec<u32>,
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
    adjacent: Option<Vec<u32>>,
}

/// Reads a witness file, or standard input if `path` is `-`.
pub(crate) fn read(path: &Path) -> anyhow::Result<Question> {
    let name = if is_standard(path) { "standard input".to_owned() } else { path.display().to_string() };
    let text = read_bytes(path).with_context(|| name.clone())?;
    if text.len() as u64 > MAX_BYTES {
        let message = format!("{name}: the witness file is larger than 1 GiB");
        return Err(Failure::new(message)
            .hint("give the part that follows the observed order as witness_prefix")
            .into());
    }
    parse(&text).map_err(|message| Failure::new(format!("{name}{message}")).hint(HINT).into())
}

fn read_bytes(path: &Path) -> io::Result<Vec<u8>> {
    let mut text = Vec::new();
    let most = MAX_BYTES + 1;
    if is_standard(path) {
        io::stdin().lock().take(most).read_to_end(&mut text)?;
    } else {
        File::open(path)?.take(most).read_to_end(&mut text)?;
    }
    Ok(text)
}

/// A message that goes right after the name of the file.
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
    let witness = Witness { prefix: file.witness_prefix, tail: ids(file.witness) };
    Ok(Question { model, witness, claim: claim(file.claim)? })
}

fn ids(events: Vec<u32>) -> Vec<EventId> {
    events.into_iter().map(EventId).collect()
}

fn claim(json: ClaimJson) -> Result<Claim, String> {
    let ClaimJson { coenabled, deadlock, sequence, before, adjacent } = json;
    let (simple, places) = (adjacent.is_none(), adjacent.unwrap_or_default());
    let adjacent = places.into_iter().map(|place| place as usize).collect();
    match (coenabled, deadlock, sequence, before) {
        (Some(events), None, None, None) if simple => Ok(Claim::CoEnabled(ids(events))),
        (None, Some(events), None, None) if simple => Ok(Claim::Deadlock(ids(events))),
        (None, None, Some(events), None) => Ok(Claim::Sequence { events: ids(events), adjacent }),
        (None, None, None, Some(pairs)) => {
            let pairs = pairs.into_iter().map(|[a, b]| (EventId(a), EventId(b))).collect();
            Ok(Claim::Before { pairs, adjacent })
        }
        (Some(_), None, None, None) | (None, Some(_), None, None) => {
            Err(": only the claims sequence and before take adjacent".to_owned())
        }
        _ => Err(": the claim has to be one of coenabled, deadlock, sequence and before".to_owned()),
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
            (r#"{"model": "rf", "witness": [-1]}"#, "invalid value: integer `-1`"),
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
