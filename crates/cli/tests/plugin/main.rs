//! Programs compiled with Reweave's own plugin: their branches, their values, and what a trace of them allows.

mod bugs;
mod common;
mod constructs;
mod depend;
mod forced;
mod fronts;
mod values;
