//! Fixes that are enough, and fixes that are not: `reweave verify` against programs whose answer is known.

mod common;
mod inputs;
mod kernels;
mod twins;
mod verdicts;
