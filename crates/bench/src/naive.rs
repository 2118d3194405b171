//! The straightforward reader that ours is compared with.

use std::collections::HashMap;
use std::io::BufRead;

/// A trace as one would first write it.
#[derive(Default)]
pub(crate) struct NaiveTrace {
    pub(crate) events: Vec<(u32, String, u32, u32)>,
    threads: HashMap<String, u32>,
    targets: HashMap<String, u32>,
    sites: HashMap<String, u32>,
}

/// Reads STD text line by line.
pub(crate) fn read(input: impl BufRead) -> std::io::Result<NaiveTrace> {
    let mut trace = NaiveTrace::default();
    for line in input.lines() {
        let line = line?;
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let fields: Vec<&str> = line.split('|').collect();
        let (op, target) = match fields[1].split_once('(') {
            Some((op, rest)) => (op, rest.trim_end_matches(')')),
            None => (fields[1], ""),
        };
        let thread = id(&mut trace.threads, fields[0]);
        let target = id(&mut trace.targets, target);
        let site = id(&mut trace.sites, fields.get(2).copied().unwrap_or_default());
        trace.events.push((thread, op.to_owned(), target, site));
    }
    Ok(trace)
}

fn id(names: &mut HashMap<String, u32>, name: &str) -> u32 {
    let next = names.len() as u32;
    *names.entry(name.to_owned()).or_insert(next)
}
