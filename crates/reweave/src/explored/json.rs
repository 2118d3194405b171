//! What an exploration came to, for machines.

use std::fmt::Write as _;

use super::{Engine, Exploration, Verdict};

/// A text as JSON has it.
fn quoted(text: &str) -> String {
    let mut all = String::from("\"");
    for letter in text.chars() {
        match letter {
            '"' => all.push_str("\\\""),
            '\\' => all.push_str("\\\\"),
            '\n' => all.push_str("\\n"),
            letter if u32::from(letter) < 0x20 => {
                let _ = write!(all, "\\u{:04x}", u32::from(letter));
            }
            letter => all.push(letter),
        }
    }
    all.push('"');
    all
}

impl Exploration {
    /// The verdict as JSON; docs/json.md has the form.
    #[must_use]
    pub fn json(&self) -> String {
        let verdict = match self.verdict {
            Verdict::Proved => "proved",
            Verdict::Failed { .. } => "failed",
            Verdict::Stopped => "stopped",
        };
        let engine = match self.engine {
            Engine::Saturate => "saturate",
            Engine::Trace => "trace",
        };
        let failures: Vec<String> = self
            .failures
            .iter()
            .map(|failure| {
                let schedule = failure.schedule.as_deref().map_or("null".to_owned(), quoted);
                let preemptions = failure.preemptions.map_or("null".to_owned(), |count| count.to_string());
                format!(
                    "{{\"kind\": {}, \"site\": {}, \"schedule\": {schedule}, \"preemptions\": {preemptions}}}",
                    quoted(failure.kind),
                    quoted(&failure.what)
                )
            })
            .collect();
        let list = |all: &[String]| all.iter().map(|name| quoted(name)).collect::<Vec<_>>().join(", ");
        let left_at =
            self.left_at.map(|(pass, share)| format!("{{\"pass\": {pass}, \"share\": {share:.4}}}"));
        format!(
            "{{\"schema\": 1, \"verdict\": \"{verdict}\", \"engine\": \"{engine}\", \"runs\": {}, \"executions\": {}, \
             \"states\": {}, \"failures\": [{}], \"relied_on\": [{}], \"assumptions\": [{}], \
             \"estimate\": {}, \"seconds\": {:.3}, \"text\": {}}}",
            self.runs,
            self.executions,
            self.states,
            failures.join(", "),
            list(&self.relied_on),
            list(&self.assumes),
            left_at.as_deref().unwrap_or("null"),
            self.seconds,
            quoted(&self.text)
        )
    }
}
