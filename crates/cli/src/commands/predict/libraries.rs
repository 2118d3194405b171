//! Libraries without hooks: what is assumed of them, and what that takes away.

use std::path::Path;

use reweave_decide::Error;
use reweave_detect::Options;
use reweave_report::json::predict::{Library, TraceResult};
use reweave_trace::{Model, Trace};

use crate::args::PredictArgs;
use crate::console::Console;

/// The libraries that are taken to order what passes through them; the trace is left without those that the user trusts.
pub(super) fn assumed(trace: &mut Trace, args: &PredictArgs, path: &Path, console: &Console) -> Vec<Library> {
    let mut all = trace.libraries();
    for trusted in &args.trust_library {
        if all.iter().all(|library| !is_meant(trusted, &library.name)) {
            let names: Vec<&str> = all.iter().map(|library| library.name.as_str()).collect();
            let those = if names.is_empty() {
                "there is none".to_owned()
            } else {
                format!("there is {}", names.join(", "))
            };
            console.warn(format_args!(
                "{}: --trust-library {trusted}: the trace has no library of that name that was not compiled with \
                 `reweave cc`; {those}",
                path.display()
            ));
        }
    }
    let trusts = |name: &str| args.trust_library.iter().any(|trusted| is_meant(trusted, name));
    if all.iter().any(|library| trusts(&library.name)) {
        *trace = trace.trusting(trusts);
        all.retain(|library| !trusts(&library.name));
    }
    let shared = all.into_iter().filter(|library| library.shared);
    shared.map(|library| Library { name: library.name, steps: library.steps }).collect()
}

/// Whether a name that the user gave means a library: its file's name, or that without what comes after a dot.
fn is_meant(given: &str, name: &str) -> bool {
    name.strip_prefix(given).is_some_and(|rest| rest.is_empty() || rest.starts_with('.')) && !given.is_empty()
}

/// How many more findings there are when all libraries are trusted.
pub(super) fn taken_away(
    trace: &Trace,
    libraries: &[Library],
    model: Model,
    options: &Options<'_>,
    result: &TraceResult,
) -> Result<u64, Error> {
    if libraries.is_empty() {
        return Ok(0);
    }
    let trusting = reweave_detect::predict(&trace.trusting(|_| true), model, options)?;
    let listed = result.findings.len() as u64 + result.hidden.suppressed + result.hidden.baseline;
    Ok((trusting.findings.len() as u64).saturating_sub(listed))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_library_is_meant_with_and_without_its_version() {
        assert!(is_meant("libgomp.so.1.0.0", "libgomp.so.1.0.0") && is_meant("libgomp", "libgomp.so.1.0.0"));
        assert!(
            is_meant("libgomp.so.1", "libgomp.so.1.0.0") && is_meant("inline assembly", "inline assembly")
        );
        assert!(
            !is_meant("libgo", "libgomp.so.1")
                && !is_meant("", "libgomp.so.1")
                && !is_meant("libz", "libgomp.so.1")
        );
    }
}
