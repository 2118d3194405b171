//! The flags of `cargo`.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

use super::record::{Policy, time};

/// Build, run or test a project of Rust so that it is recorded
///
/// Takes the arguments of `cargo build`, `cargo run` and `cargo test`, and those of `reweave record` (-o, --seed, --policy,
/// --timeout …) among them. Everything goes to a target folder of its own, `target/reweave`. `run` records the program;
/// `test` runs each test in a process of its own and records it to `target/reweave/traces/PROGRAM/TEST.rw`.
#[derive(Args)]
#[command(after_help = HELP)]
pub(crate) struct CargoArgs {
    /// Cargo's arguments
    #[arg(value_name = "ARGUMENT", trailing_var_arg = true, allow_hyphen_values = true)]
    pub(crate) arguments: Vec<OsString>,
}

const HELP: &str = "\
Exits as cargo does.

Example: record each test of a project, and predict what else could have happened
  reweave cargo test
  reweave predict target/reweave/traces";

/// Record a program that a driver started: what programs below `reweave hunt -- DRIVER` start over as
#[derive(Args)]
#[command(after_help = "Example: see `reweave hunt`")]
pub(crate) struct DrivenArgs {
    /// The program and its arguments, after `--`
    #[arg(value_name = "PROGRAM", required = true, last = true)]
    pub(crate) program: Vec<OsString>,
}

/// Runs each test of a test program on its own: what cargo is told to run test programs with
#[derive(Args)]
#[command(after_help = "Example: see `reweave cargo test`")]
pub(crate) struct CargoTestArgs {
    /// Where the traces go
    #[arg(long, value_name = "FOLDER")]
    pub(crate) traces: PathBuf,
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) seed: u64,
    #[arg(long, value_name = "POLICY", default_value = "random")]
    pub(crate) policy: Policy,
    #[arg(long, value_name = "TIME", value_parser = time)]
    pub(crate) timeout: Option<Duration>,
    #[arg(long, value_name = "K")]
    pub(crate) runs: Option<u32>,
    #[arg(long, value_name = "N")]
    pub(crate) max_events: Option<u64>,
    #[arg(long, value_name = "BYTES")]
    pub(crate) max_size: Option<String>,
    #[arg(long, value_name = "N")]
    pub(crate) last: Option<u64>,
    /// The test program and its arguments
    #[arg(value_name = "PROGRAM", required = true, trailing_var_arg = true, allow_hyphen_values = true)]
    pub(crate) program: Vec<OsString>,
}

impl CargoTestArgs {
    /// What `reweave record` is told.
    pub(crate) fn recording(&self) -> Vec<String> {
        let mut flags = vec![format!("--seed={}", self.seed), format!("--policy={}", self.policy.name())];
        flags.extend(self.timeout.map(|time| format!("--timeout={}ms", time.as_millis())));
        flags.extend(self.runs.map(|runs| format!("--runs={runs}")));
        flags.extend(self.max_events.map(|events| format!("--max-events={events}")));
        flags.extend(self.max_size.as_ref().map(|size| format!("--max-size={size}")));
        flags.extend(self.last.map(|events| format!("--last={events}")));
        flags
    }
}
