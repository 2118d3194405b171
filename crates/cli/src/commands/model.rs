//! The model that a trace is judged in.

use std::path::Path;

use reweave_format::Loaded;
use reweave_trace::Model;

use crate::args::ModelChoice;
use crate::console::Console;
use crate::failure::Failure;

/// The model to decide in, if it is sound on the trace.
pub(super) fn choose(
    choice: ModelChoice,
    path: &Path,
    loaded: &Loaded,
    console: &Console,
) -> anyhow::Result<Model> {
    let path = path.display();
    let stated = loaded.trace.capabilities();
    let usable = loaded.trace.carried();
    let best = Model::auto(usable);
    let ModelChoice::This(model) = choice else {
        if stated.dependences && !usable.dependences {
            console
                .warn(format_args!("{path}: it comes without a table of dependences: the model is {best}"));
        }
        return Ok(best);
    };
    if model == Model::Sync {
        console.warn("the model sync ignores what reads observe: what is feasible in it is only a candidate");
    }
    let has = |name: &&str| usable.names().any(|stated| stated == *name);
    let missing: Vec<&str> = model.needs().names().filter(|name| !has(name)).collect();
    if missing.is_empty() {
        return Ok(model);
    }
    let message =
        format!("{path}: the model {model} needs what the trace does not carry: {}", missing.join(", "));
    let remedy = if missing.contains(&"dependences") {
        "a table of dependences has lines such as `#! needs 8: 5 3`, and is claimed with \
         `#! capabilities: dependences` at the top"
    } else {
        "a recorder that marks every branch or records every value says so in the trace, for example with \
         `#! capabilities: branches` at its top"
    };
    let hint = format!("{remedy}; the most permissive model that is sound here is {best}");
    Err(Failure::new(message).hint(hint).into())
}
