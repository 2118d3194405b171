//! The answer to a question about schedules.

use reweave_decide::{Refutation, Step, Verdict, Why};
use reweave_trace::{EventId, Model, Trace};
use reweave_witness::Claim;

use super::{Answer, Arrow, Circle, Listing, Stop, Tone, count, fact};
use crate::{claim, event, refutation, schedule};

impl Answer {
    /// What became of the question `claim`, asked of a trace that the user calls `path`.
    pub fn of_query(trace: &Trace, path: &str, model: Model, asked: &Claim, verdict: &Verdict) -> Answer {
        let question = claim::text(asked);
        let mut answer = Answer {
            kind: "query".to_owned(),
            facts: vec![
                fact("Question", question.clone()),
                fact("Trace", format!("{path}, {}", count(trace.len() as u64, "event"))),
                fact("Model", model.name()),
            ],
            ..Answer::default()
        };
        let events: Vec<String> =
            claim::events(asked).into_iter().map(|id| event::numbered(trace, id)).collect();
        answer.facts.push(fact("Events", events.join("\n")));
        match verdict {
            Verdict::Feasible(checked) => {
                answer.tone = Tone::Bad;
                answer.title = "Possible".to_owned();
                answer.summary = format!("A schedule that a separate checker accepted shows it: {question}.");
                let text = schedule::text(trace, checked, schedule::Options::default());
                answer.listings.push(Listing { title: "The schedule".to_owned(), text });
            }
            Verdict::Infeasible(why) => answer.refute(trace, model, asked, why),
            Verdict::Unknown(reason) => {
                answer.title = "Not known".to_owned();
                answer.summary = refutation::unknown(*reason).to_owned();
            }
        }
        answer
    }

    fn refute(&mut self, trace: &Trace, model: Model, asked: &Claim, why: &Refutation) {
        self.kind = "refutation".to_owned();
        self.tone = Tone::Good;
        self.title = "Impossible".to_owned();
        match why {
            Refutation::Static(impossible) => {
                self.summary = refutation::contradiction(trace, *impossible);
            }
            Refutation::Cycle(steps) => {
                let steps = refutation::circle(steps);
                self.summary = match steps.first() {
                    Some(first) => format!(
                        "Event {} would have to come before itself: no schedule of these events shows it.",
                        first.from.0
                    ),
                    None => "No schedule of these events shows it.".to_owned(),
                };
                self.circle = Some(circle(trace, asked, &steps));
            }
            Refutation::Clash(demands) => {
                self.summary = "No schedule meets all of these demands.".to_owned();
                self.reasons = demands.iter().map(|&one| refutation::demand(trace, model, one)).collect();
            }
        }
    }
}

fn circle(trace: &Trace, asked: &Claim, steps: &[Step]) -> Circle {
    let mut ids: Vec<EventId> = steps.iter().flat_map(|step| [step.from, step.to]).collect();
    ids.sort_unstable();
    ids.dedup();
    let mut threads: Vec<String> = Vec::new();
    let mut stop = |id: EventId| {
        let name = event::thread(trace, id).into_owned();
        let thread = threads.iter().position(|known| *known == name).unwrap_or_else(|| {
            threads.push(name);
            threads.len() - 1
        });
        let op = event::op(trace, id);
        Stop {
            event: id.0,
            thread,
            op: op.map_or("", |op| event::word(op.kind())).to_owned(),
            text: op.map_or_else(String::new, |op| event::operation(trace, op)),
            site: trace.site_name(trace.site(id)).to_owned(),
        }
    };
    let events = ids.into_iter().map(&mut stop).collect();
    let arrows = steps.iter().map(|step| Arrow {
        from: step.from.0,
        to: step.to.0,
        reason: refutation::reason(trace, asked, step),
        asked: matches!(step.why, Why::Asked | Why::Adjacent),
    });
    Circle { events, steps: arrows.collect(), threads }
}
