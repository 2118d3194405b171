//! Random small well-formed traces.
//!
//! The generator runs an imaginary program: threads take turns at random, and each turn is an operation that is
//! possible there and then. So the trace is well formed by construction, and every value is one that was there.

mod run;
mod shape;

use reweave_trace::Trace;

use crate::Rng;
use run::Run;
pub use shape::{Shape, ValueMode, Weights};

/// The trace of `shape` with this seed: always the same one.
///
/// # Panics
/// When the generator has a bug and the trace is not well formed.
pub fn generate(shape: &Shape, seed: u64) -> Trace {
    let mut rng = Rng::new(seed);
    let builder = Run::new(shape, &mut rng).finish();
    builder.finish().unwrap_or_else(|error| panic!("seed {seed} is not well formed: {error}"))
}
