//! The flags of `generate`.

use std::path::PathBuf;

use clap::Args;
use reweave_format::Format;
use reweave_format::synthetic::Shape;

/// Make a synthetic trace of any size
///
/// Threads work on variables of their own and, in critical sections, on shared ones. Each shared variable has a lock
/// that mostly guards it; some accesses take none or the wrong one, so that there is something to find. The trace is
/// well formed, and the same options give the same bytes.
#[derive(Args)]
#[command(after_help = HELP)]
pub(crate) struct GenerateArgs {
    /// The file to write, or - for standard output; its extension tells the format: .rw, .std, .std.zst or .data
    #[arg(value_name = "OUT")]
    pub(crate) output: PathBuf,
    /// The format to write: std, rapidbin or rw [default: by the name of OUT]
    #[arg(long, value_name = "FORMAT")]
    pub(crate) to: Option<Format>,
    /// How many events, exactly; k, M and G stand for thousands, millions and billions
    #[arg(long, value_name = "N", default_value = "100k", value_parser = events)]
    events: u64,
    /// How many threads
    #[arg(long, value_name = "N", default_value = "8", value_parser = number::<1, 1_000_000>)]
    threads: u32,
    /// How many locks
    #[arg(long, value_name = "N", default_value = "16", value_parser = number::<0, MANY>)]
    locks: u32,
    /// How many variables
    #[arg(long, value_name = "N", default_value = "1000", value_parser = number::<0, MANY>)]
    variables: u32,
    /// The share of the variables that several threads use, from 0 to 1
    #[arg(long, value_name = "SHARE", default_value = "0.1", value_parser = share)]
    shared: f64,
    /// How many locks a thread holds at once at most; 0 for no critical sections
    #[arg(long, value_name = "DEPTH", default_value = "2", value_parser = number::<0, 1000>)]
    nesting: u32,
    /// The share of the steps outside of critical sections that enter one, from 0 to 1
    #[arg(long, value_name = "SHARE", default_value = "0.1", value_parser = share)]
    sections: f64,
    /// Mark branches, and state that the trace has them all
    #[arg(long)]
    branches: bool,
    /// Record the values read and written, and state that the trace has them all
    #[arg(long)]
    values: bool,
    /// Let the first thread fork the others and join them in the end (the default)
    #[arg(long, overrides_with = "no_fork_join")]
    fork_join: bool,
    /// Let threads simply be there, without fork, join, begin and end
    #[arg(long, overrides_with = "fork_join")]
    no_fork_join: bool,
    /// How uneven the use of variables and locks is: the k-th is used k^-SKEW times as often as the first
    #[arg(long, value_name = "SKEW", default_value = "0.8", value_parser = skew)]
    skew: f64,
    /// The share of the accesses that are writes, from 0 to 1
    #[arg(long, value_name = "SHARE", default_value = "0.3", value_parser = share)]
    write_share: f64,
    /// The share of the shared variables and pairs of locks that the program is wrong about, from 0 to 1
    #[arg(long, value_name = "SHARE", default_value = "0.05", value_parser = share)]
    mistakes: f64,
    /// How many events a thread runs on average before another one does
    #[arg(long, value_name = "N", default_value = "20", value_parser = burst)]
    burst: f64,
    /// How many source sites
    #[arg(long, value_name = "N", default_value = "500", value_parser = number::<1, MANY>)]
    sites: u32,
    /// The share of the steps that are calls of methods of sets that all threads use, from 0 to 1
    #[arg(long, value_name = "SHARE", default_value = "0", value_parser = share)]
    calls: f64,
    /// What the choices are drawn from
    #[arg(long, value_name = "SEED", default_value_t = 0)]
    seed: u64,
}

const HELP: &str = "\
Memory grows with threads, locks, variables and sites, not with events.

Example: ten million events in which four threads fight for one lock
  reweave generate hot.rw --events 10M --threads 4 --locks 1 --burst 3 --seed 7";

/// Names for so many things still fit into memory.
const MANY: u64 = 100_000_000;

/// Traces have at most about 4 billion events.
const MAX_EVENTS: u64 = 4_000_000_000;

impl GenerateArgs {
    pub(crate) fn shape(&self) -> Shape {
        Shape {
            events: self.events,
            threads: self.threads,
            locks: self.locks,
            variables: self.variables,
            shared: self.shared,
            nesting: self.nesting,
            sections: self.sections,
            branches: self.branches,
            values: self.values,
            fork_join: self.fork_join || !self.no_fork_join,
            skew: self.skew,
            write_share: self.write_share,
            mistakes: self.mistakes,
            burst: self.burst,
            sites: self.sites,
            calls: self.calls,
            seed: self.seed,
        }
    }
}

fn events(text: &str) -> Result<u64, String> {
    within(text, 0, MAX_EVENTS)
}

fn number<const LEAST: u64, const MOST: u64>(text: &str) -> Result<u32, String> {
    within(text, LEAST, MOST).map(|number| number as u32)
}

/// A whole number, where `k`, `M` and `G` stand for zeros and `_` for nothing.
fn within(text: &str, least: u64, most: u64) -> Result<u64, String> {
    let (digits, unit) = match text.char_indices().last() {
        Some((at, 'k' | 'K')) => (&text[..at], 1000),
        Some((at, 'M')) => (&text[..at], 1_000_000),
        Some((at, 'G')) => (&text[..at], 1_000_000_000),
        _ => (text, 1),
    };
    let number: Option<u64> = digits.replace('_', "").parse().ok();
    number
        .and_then(|number| number.checked_mul(unit))
        .filter(|number| (least..=most).contains(number))
        .ok_or_else(|| format!("expected a whole number from {least} to {most}, such as 20 or 5k"))
}

fn share(text: &str) -> Result<f64, String> {
    real(text, 0.0, 1.0)
}

fn skew(text: &str) -> Result<f64, String> {
    real(text, 0.0, 20.0)
}

fn burst(text: &str) -> Result<f64, String> {
    real(text, 1.0, 1e9)
}

fn real(text: &str, least: f64, most: f64) -> Result<f64, String> {
    let number: Option<f64> = text.parse().ok();
    number
        .filter(|number| (least..=most).contains(number))
        .ok_or_else(|| format!("expected a number from {least} to {most}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_may_have_units_and_have_limits() {
        for (text, number) in [
            ("0", Some(0)),
            ("1_000", Some(1000)),
            ("5k", Some(5000)),
            ("4G", Some(MAX_EVENTS)),
            ("5G", None),
        ] {
            assert_eq!(events(text).ok(), number, "{text}");
        }
        for text in ["", "k", "-1", "1.5", "1kk", "é", "99999999999999999999", "99999999999999G"] {
            assert!(events(text).is_err(), "{text}");
        }
        assert!(number::<1, 5>("0").is_err() && number::<1, 5>("6").is_err());
        assert!(share("NaN").is_err() && share("1.1").is_err() && share("1").is_ok());
        assert!(burst("0.5").is_err() && skew("inf").is_err());
    }
}
