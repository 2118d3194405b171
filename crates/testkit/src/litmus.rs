//! Litmus traces: small traces with the verdicts that the law gives them, model by model.
//!
//! Each is a folder of `litmus/` with a `trace.std` and an `expected.json`:
//!
//! ```json
//! {
//!   "about": "what it pins, and why the verdicts are what they are",
//!   "dependences": {"needs": {"3": [1]}, "feeds": {"2": [1]}, "end_needs": {"T1": [1]}},
//!   "models": {
//!     "rf": {
//!       "races": [[0, 1]],
//!       "deadlocks": [],
//!       "sequences": [{"order": [3, 0], "adjacent": [], "feasible": true}]
//!     }
//!   }
//! }
//! ```
//!
//! Races and deadlocks are all there are. `dependences` is there for the dependence models only.

use std::fs;
use std::path::{Path, PathBuf};

use reweave_trace::{DependenceBuilder, Dependences, EventId, Model, Space, ThreadId, Trace};
use serde_json::Value;

use crate::{Oracle, Refused, parse};

/// A trace with its expected verdicts.
#[derive(Clone, Debug)]
pub struct Litmus {
    /// The name of its folder.
    pub name: String,
    /// What it pins, and why.
    pub about: String,
    /// The trace.
    pub trace: Trace,
    /// The table for the dependence models.
    pub dependences: Option<Dependences>,
    /// The verdicts of each model that it is about.
    pub expected: Vec<(Model, Verdicts)>,
    folder: PathBuf,
    /// The table as written.
    table: Value,
}

/// What is feasible in a trace under one model.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Verdicts {
    /// Every race, sorted.
    pub races: Vec<(EventId, EventId)>,
    /// Every deadlock as its sorted acquires, sorted.
    pub deadlocks: Vec<Vec<EventId>>,
    /// Some sequences.
    pub sequences: Vec<Sequence>,
}

/// Whether some schedule has these events in this order.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Sequence {
    /// The events.
    pub order: Vec<EventId>,
    /// The places after which the next event follows at once.
    pub adjacent: Vec<usize>,
    /// The verdict.
    pub feasible: bool,
}

/// Every litmus trace, by name.
///
/// # Panics
/// When a file is missing or wrong: that is a mistake in the tests.
pub fn all() -> Vec<Litmus> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../litmus");
    let entries = fs::read_dir(&root).unwrap_or_else(|error| panic!("{}: {error}", root.display()));
    let mut folders: Vec<PathBuf> = entries.map(|entry| entry.expect("a readable folder").path()).collect();
    folders.retain(|folder| folder.join("trace.std").exists());
    folders.sort();
    folders
        .into_iter()
        .map(|folder| Litmus::read(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display())))
        .collect()
}

impl Litmus {
    fn read(folder: &Path) -> Result<Litmus, String> {
        let text = |name| fs::read_to_string(folder.join(name)).map_err(|error| format!("{name}: {error}"));
        let trace = parse(&text("trace.std")?)?;
        let json: Value = serde_json::from_str(&text("expected.json")?).map_err(|error| error.to_string())?;
        let table = json["dependences"].clone();
        let dependences = table.is_object().then(|| dependences(&trace, &table)).transpose()?;
        let models = json["models"].as_object().ok_or("no models")?;
        let unknown = models.keys().find(|name| name.parse::<Model>().is_err());
        if let Some(name) = unknown {
            return Err(format!("there is no model `{name}`"));
        }
        let listed = Model::ALL.into_iter().filter(|model| models.contains_key(model.name()));
        let expected = listed
            .map(|model| Ok((model, verdicts(&models[model.name()])?)))
            .collect::<Result<Vec<_>, String>>()?;
        let about = json["about"].as_str().ok_or("no about line")?.to_owned();
        let name = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
        Ok(Litmus { name, about, trace, dependences, expected, folder: folder.to_owned(), table })
    }

    /// What the oracle says about the trace under `model`, and about the expected sequences.
    pub fn judge(&self, model: Model, expected: &Verdicts) -> Result<Verdicts, Refused> {
        let oracle = Oracle::new(&self.trace, model, self.dependences.as_ref())?;
        let judged = |asked: &Sequence| Sequence {
            feasible: oracle.sequence(&asked.order, &asked.adjacent),
            ..asked.clone()
        };
        Ok(Verdicts {
            races: oracle.races(),
            deadlocks: oracle.deadlocks(),
            sequences: expected.sequences.iter().map(judged).collect(),
        })
    }

    /// Rewrites the expected verdicts.
    pub fn bless(&self, verdicts: &[(Model, Verdicts)]) -> std::io::Result<()> {
        let mut text = format!("{{\n  \"about\": {},\n", Value::from(self.about.as_str()));
        if self.table.is_object() {
            text += &format!("  \"dependences\": {},\n", self.table);
        }
        let models: Vec<String> = verdicts.iter().map(|(model, verdicts)| shown(*model, verdicts)).collect();
        text += &format!("  \"models\": {{\n{}\n  }}\n}}\n", models.join(",\n"));
        fs::write(self.folder.join("expected.json"), text)
    }
}

fn shown(model: Model, verdicts: &Verdicts) -> String {
    let list = |events: &[EventId]| {
        let events: Vec<String> = events.iter().map(|event| event.0.to_string()).collect();
        format!("[{}]", events.join(", "))
    };
    let races: Vec<String> = verdicts.races.iter().map(|&(a, b)| list(&[a, b])).collect();
    let deadlocks: Vec<String> = verdicts.deadlocks.iter().map(|deadlock| list(deadlock)).collect();
    let sequences: Vec<String> = verdicts
        .sequences
        .iter()
        .map(|Sequence { order, adjacent, feasible }| {
            let order = list(order);
            format!("        {{\"order\": {order}, \"adjacent\": {adjacent:?}, \"feasible\": {feasible}}}")
        })
        .collect();
    let mut lines = vec![
        format!("      \"races\": [{}]", races.join(", ")),
        format!("      \"deadlocks\": [{}]", deadlocks.join(", ")),
    ];
    if !sequences.is_empty() {
        lines.push(format!("      \"sequences\": [\n{}\n      ]", sequences.join(",\n")));
    }
    format!("    \"{model}\": {{\n{}\n    }}", lines.join(",\n"))
}

fn verdicts(json: &Value) -> Result<Verdicts, String> {
    let pair = |race: &Value| match events(race)?[..] {
        [a, b] => Ok((a, b)),
        _ => Err("a race is of two events".to_owned()),
    };
    let sequence = |json: &Value| {
        let adjacent = events(&json["adjacent"])?.into_iter().map(EventId::index).collect();
        let feasible = json["feasible"].as_bool().ok_or("a sequence is feasible or not")?;
        Ok(Sequence { order: events(&json["order"])?, adjacent, feasible })
    };
    Ok(Verdicts {
        races: list(&json["races"])?.iter().map(pair).collect::<Result<_, String>>()?,
        deadlocks: list(&json["deadlocks"])?.iter().map(events).collect::<Result<_, String>>()?,
        sequences: match &json["sequences"] {
            Value::Null => Vec::new(),
            sequences => list(sequences)?.iter().map(sequence).collect::<Result<_, String>>()?,
        },
    })
}

fn list(json: &Value) -> Result<&Vec<Value>, String> {
    json.as_array().ok_or_else(|| format!("expected a list, found {json}"))
}

fn events(json: &Value) -> Result<Vec<EventId>, String> {
    let event = |json: &Value| json.as_u64().and_then(|id| u32::try_from(id).ok()).map(EventId);
    list(json)?.iter().map(|json| event(json).ok_or_else(|| format!("{json} is no event"))).collect()
}

fn dependences(trace: &Trace, json: &Value) -> Result<Dependences, String> {
    let mut table = DependenceBuilder::new();
    let entries = |name: &str| json[name].as_object().cloned().unwrap_or_default();
    let event = |key: &str| key.parse().map(EventId).map_err(|_| format!("{key} is no event"));
    for (key, reads) in entries("needs") {
        table.needs(event(&key)?, &events(&reads)?);
    }
    for (key, reads) in entries("feeds") {
        table.feeds(event(&key)?, &events(&reads)?);
    }
    for (key, reads) in entries("end_needs") {
        let thread = trace.names().space(Space::Thread).find(&key);
        table.end_needs(ThreadId(thread.ok_or_else(|| format!("{key} is no thread"))?), &events(&reads)?);
    }
    Ok(table.finish())
}
