//! Benchmarks, as ratios in one run.
//!
//! `cargo run --release -p reweave-bench [section…]` runs the sections named, or all. Times vary with the machine and
//! with what else it does; the ratios of one run are what counts.
#![forbid(unsafe_code)]

mod decide;
mod depend;
mod explore;
mod formats;
mod loops;
mod naive;
mod plain;
mod plugin;
mod predict;
mod programs;
mod record;
mod scale;
mod straightforward;
mod stream;
mod stream_naive;
mod table;
mod threads;
mod z3;

use anyhow::{Result, bail};

type Section = (&'static str, &'static str, fn() -> Result<()>);

const SECTIONS: &[Section] = &[
    ("formats", "reading and writing traces, against a straightforward reader", formats::run),
    ("decide", "queries on long traces", decide::run),
    ("z3", "queries against Z3, where it is installed", z3::run),
    ("predict", "all kinds of bugs in long traces", predict::run),
    ("scale", "all kinds of bugs in traces of growing size; only when it is named", scale::run),
    ("stream", "one-pass analyses, against straightforward ones on vector clocks", stream::run),
    (
        "record",
        "recording programs, against ThreadSanitizer and Helgrind; only when it is named",
        record::run,
    ),
    (
        "plugin",
        "compiling and recording with the plugin, against ThreadSanitizer's hooks; only when it is named",
        plugin::run,
    ),
    (
        "depend",
        "finding and using dependences, of programs compiled with the plugin; only when it is named",
        depend::run,
    ),
    ("threads", "recording many threads on one lock; only when it is named", threads::run),
    ("explore", "runs and executions of small programs, against published counts", explore::run),
    ("stream-memory", "the memory of one-pass analyses; only when it is named", stream::memory),
];

fn main() -> Result<()> {
    let wanted: Vec<String> = std::env::args().skip(1).collect();
    if let [flag, analysis, path] = &wanted[..]
        && flag == stream::CHILD
    {
        return stream::measured_child(analysis, path);
    }
    match &wanted[..] {
        [flag, with, raw, path] if flag == depend::CHILD => return depend::convert(with, raw, path),
        [flag, program @ ..] if flag == depend::PROGRAM => return depend::of_program(program),
        _ => {}
    }
    if let Some(unknown) = wanted.iter().find(|name| !SECTIONS.iter().any(|(section, ..)| section == name)) {
        let known: Vec<&str> = SECTIONS.iter().map(|&(name, ..)| name).collect();
        bail!("there is no section `{unknown}`: expected {}", known.join(", "));
    }
    for (name, about, run) in SECTIONS {
        let large = matches!(*name, "scale" | "record" | "plugin" | "depend" | "threads" | "stream-memory");
        if wanted.is_empty() && !large || wanted.iter().any(|w| w == name) {
            println!("## {name}: {about}\n");
            run()?;
            println!();
        }
    }
    Ok(())
}
