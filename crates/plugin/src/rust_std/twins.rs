//! Functions that are called instead of those that were compiled with the standard library.

use crate::ir::{Cursor, Module, Value};

use super::names::{self, Twin};

/// Makes twins for all that the module uses; whether there were any.
pub(super) fn make(module: &Module) -> bool {
    let mut made = false;
    for function in module.declarations() {
        let Some(twin) = names::twin(&function.name()) else { continue };
        if !function.users().is_empty() {
            make_one(module, function, twin);
            made = true;
        }
    }
    made
}

fn make_one(module: &Module, original: Value, twin: Twin) {
    let (of, result) = original.function_type();
    let own = module.define_twin(original, "reweave_twin");
    // Everybody calls the twin; what the twin itself calls is put in afterwards.
    original.replace_uses_with(own);
    let block = module.entry(own);
    let cursor = Cursor::new(module);
    cursor.at_end(block);
    let arguments = own.parameters();
    let called = match twin {
        Twin::Instead(hook) => {
            let mut all: Vec<Value> = arguments.clone();
            all.push(original);
            let types: Vec<_> = all.iter().map(|argument| argument.of()).collect();
            let function = module.declare_unwinding(hook, result, &types);
            cursor.call(function, &all)
        }
        Twin::Around(before, after) => {
            let this = arguments.first().copied().filter(|this| this.of().is_pointer());
            let this = this.unwrap_or_else(|| module.null());
            let hook = |name: &str| module.declare(name, module.void(), &[module.pointer()]);
            if let Some(before) = before {
                cursor.call(hook(before), &[this]);
            }
            let called = cursor.call((original, of), &arguments);
            if let Some(after) = after {
                cursor.call(hook(after), &[this]);
            }
            called
        }
    };
    cursor.give(called, result);
}
