//! Loads a trace, predicts, asks whether two events can run at once, and prints the schedule that shows it.

use std::error::Error;
use std::fmt::Write;
use std::path::Path;

use reweave_decide::{Decider, Limits, Prepared, Verdict};
use reweave_detect::{Options, predict};
use reweave_format::{LoadOptions, load};
use reweave_trace::{EventId, Model};
use reweave_witness::Claim;

fn main() -> Result<(), Box<dyn Error>> {
    let path = std::env::args().nth(1).unwrap_or_else(|| "examples/bank.std".to_owned());
    print!("{}", look_into(Path::new(&path))?);
    Ok(())
}

pub(crate) fn look_into(path: &Path) -> Result<String, Box<dyn Error>> {
    let mut text = String::new();
    let trace = load(path, &LoadOptions::default())?.trace;

    // Everything that can be found; each finding has a witness that the checker has accepted.
    for finding in predict(&trace, Model::Rf, &Options::default())?.findings {
        writeln!(text, "{} on {}, {}", finding.kind(), finding.target(&trace), finding.fingerprint())?;
    }

    // One question: can Alice's write and Bob's read of the balance happen at once?
    let prepared = Prepared::new(&trace, trace.dependences());
    let question = Claim::CoEnabled(vec![EventId(5), EventId(10)]);
    match Decider::new(&prepared, Model::Rf)?.decide(&question, &Limits::none())? {
        Verdict::Feasible(checked) => {
            writeln!(text, "they can, after:")?;
            for id in checked.witness().schedule(&trace) {
                let event = trace.event(id);
                let (thread, site) = (trace.thread_name(event.thread), trace.site_name(event.site));
                let target = trace.target_name(event.op).unwrap_or_default();
                writeln!(text, "{:>4} {thread:6} {:?} {target} at {site}", id.0, event.op.kind())?;
            }
        }
        Verdict::Infeasible(why) => writeln!(text, "they cannot: {why:?}")?,
        Verdict::Unknown(reason) => writeln!(text, "that is not known: {reason:?}")?,
    }
    Ok(text)
}
