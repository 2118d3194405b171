//! Projects of Rust, built, run and tested by `reweave cargo`.

#[path = "../record/common.rs"]
#[expect(dead_code, reason = "what compiles C is not needed here")]
mod common;
mod initialised;
mod like_std;
mod other_toolchain;
mod overlap;
mod project;
mod published;
mod safe;
