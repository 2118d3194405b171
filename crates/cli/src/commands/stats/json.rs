//! The figures for programs; `docs/json.md` describes them.

use std::collections::BTreeMap;
use std::path::Path;

use reweave_capture::ModuleFile;
use reweave_format::Loaded;
use reweave_trace::{Kind, LockId, Model, Space};
use serde::Serialize;

use super::measure::{Class, Stats};
use super::text::is_sound;
use crate::{input, words};

#[derive(Serialize)]
pub(super) struct Document {
    schema: u32,
    tool: &'static str,
    traces: Vec<TraceJson>,
}

#[derive(Serialize)]
struct TraceJson {
    path: String,
    format: String,
    bytes: u64,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    streams: BTreeMap<&'static str, u64>,
    events: u64,
    skipped: u64,
    kinds: BTreeMap<&'static str, u64>,
    threads: ThreadsJson,
    locks: LocksJson,
    variables: VariablesJson,
    objects: ObjectsJson,
    conditions: ConditionsJson,
    sites: u64,
    values: u64,
    capabilities: Vec<&'static str>,
    models: Vec<&'static str>,
    auto: &'static str,
    repairs: Vec<RepairJson>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    modules: Vec<ModuleJson>,
}

#[derive(Serialize)]
struct ModuleJson {
    name: String,
    build: String,
}

#[derive(Serialize)]
struct ThreadsJson {
    count: u64,
    forked: u64,
    joined: u64,
    events: SpreadJson,
}

#[derive(Serialize)]
struct SpreadJson {
    min: u64,
    median: u64,
    max: u64,
}

#[derive(Serialize)]
struct LocksJson {
    count: u64,
    of_several_threads: u64,
    acquires: u64,
    handovers: u64,
    sections: u64,
    max_nesting: u64,
    open_at_end: u64,
    most_used: Vec<LockJson>,
}

#[derive(Serialize)]
struct LockJson {
    name: String,
    acquires: u64,
    threads: u64,
}

#[derive(Serialize)]
struct VariablesJson {
    count: u64,
    shared: ClassJson,
    read_only: ClassJson,
    thread_local: ClassJson,
}

#[derive(Serialize)]
struct ClassJson {
    variables: u64,
    accesses: u64,
}

#[derive(Serialize)]
struct ObjectsJson {
    count: u64,
    freed: u64,
}

#[derive(Serialize)]
struct ConditionsJson {
    count: u64,
    woken: u64,
    not_woken: u64,
}

#[derive(Serialize)]
struct RepairJson {
    defect: String,
    remedy: &'static str,
    count: u64,
    first_event: u32,
    first_line: Option<u64>,
}

impl Document {
    pub(super) fn new() -> Document {
        Document { schema: 1, tool: concat!("reweave ", env!("CARGO_PKG_VERSION")), traces: Vec::new() }
    }

    /// Adds the figures of one trace.
    pub(super) fn add(&mut self, path: &Path, loaded: &Loaded, stats: &Stats, modules: Vec<ModuleFile>) {
        let trace = &loaded.trace;
        let kinds = Kind::ALL.iter().filter(|&&kind| kind != Kind::Skip);
        let [min, median, max] = stats.threads.events;
        self.traces.push(TraceJson {
            path: path.display().to_string(),
            format: loaded.format.to_string(),
            bytes: loaded.bytes,
            streams: loaded.streams.iter().copied().collect(),
            events: stats.events,
            skipped: stats.kinds[Kind::Skip as usize],
            kinds: kinds
                .map(|&kind| (words::word(kind), stats.kinds[kind as usize]))
                .filter(|&(_, number)| number > 0)
                .collect(),
            threads: ThreadsJson {
                count: stats.threads.running,
                forked: stats.threads.forked,
                joined: stats.threads.joined,
                events: SpreadJson { min, median, max },
            },
            locks: locks(loaded, stats),
            variables: variables(stats),
            objects: ObjectsJson { count: stats.objects.count, freed: stats.objects.freed },
            conditions: ConditionsJson {
                count: trace.count(Space::Condition) as u64,
                woken: stats.conditions.woken,
                not_woken: stats.conditions.not_woken,
            },
            sites: trace.names().sites.len() as u64,
            values: stats.with_value,
            capabilities: trace.capabilities().names().collect(),
            models: Model::ALL.into_iter().filter(|&model| is_sound(trace, model)).map(Model::name).collect(),
            auto: Model::auto(trace.carried()).name(),
            repairs: repairs(path, loaded),
            modules: modules
                .into_iter()
                .map(|module| ModuleJson { name: module.name, build: module.build })
                .collect(),
        });
    }
}

fn locks(loaded: &Loaded, stats: &Stats) -> LocksJson {
    let locks = &stats.locks;
    let name = |lock: usize| loaded.trace.lock_name(LockId::from_index(lock)).to_owned();
    LocksJson {
        count: locks.used,
        of_several_threads: locks.contended,
        acquires: locks.acquires,
        handovers: locks.handovers,
        sections: locks.sections,
        max_nesting: locks.deepest,
        open_at_end: locks.open,
        most_used: locks
            .most_used
            .iter()
            .map(|used| LockJson { name: name(used.lock), acquires: used.acquires, threads: used.threads })
            .collect(),
    }
}

fn variables(stats: &Stats) -> VariablesJson {
    let class = |class: Class| ClassJson { variables: class.variables, accesses: class.accesses };
    let classes = &stats.variables;
    VariablesJson {
        count: classes.shared.variables + classes.read_only.variables + classes.thread_local.variables,
        shared: class(classes.shared),
        read_only: class(classes.read_only),
        thread_local: class(classes.thread_local),
    }
}

fn repairs(path: &Path, loaded: &Loaded) -> Vec<RepairJson> {
    let one = |repair: input::Repair| RepairJson {
        defect: repair.defect.to_string(),
        remedy: repair.defect.remedy(),
        count: repair.count,
        first_event: repair.first_event,
        first_line: repair.first_line,
    };
    input::repairs(loaded, path).into_iter().map(one).collect()
}
