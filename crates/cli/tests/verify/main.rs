//! Fixes that are enough, and fixes that are not: `reweave verify` against programs whose answer is known.

mod common;
mod fronts;
mod inputs;
mod kernels;
mod limits;
mod sarif;
mod twins;
mod verdicts;
