//! Specifications: what is read can be checked, and nothing panics.
#![no_main]

use reweave_spec::{Spec, check};

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let Ok(spec) = Spec::parse(text) else { return };
    // The check takes time with the number of methods and parameters, as it should.
    let small =
        |of: &reweave_spec::Type| of.methods.len() < 3 && of.methods.iter().all(|each| each.arity() < 3);
    if spec.types.len() < 3 && spec.types.iter().all(small) {
        check(&spec);
    }
});
