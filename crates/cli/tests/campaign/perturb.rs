//! Dependences against the real thing, by a test that knows nothing of how they are found.
//!
//! A program runs again, as it was recorded, but one read finds another value. Nothing may be different before the first event that
//! needs that read, or one that the other value reached through memory: the same events at the same addresses, and the same
//! values wherever the other one does not reach.

use std::collections::{BTreeMap, HashSet};
use std::path::{Path, PathBuf};
use std::process::Command;

use reweave_capture::{
    Binary as Tables, DependenceRule as Rule, FoundDependences, Recording, Told, read_told,
};
use reweave_format::{LoadOptions, load};
use reweave_program::Operation;
use reweave_testkit::Rng;
use reweave_trace::{Dependences, EventId, Kind, Trace};
use reweave_wire::Op;

use crate::build::{Binary, Front};
use crate::flows;
use crate::number;
use crate::record::{beside, run};

/// The hooks that put memory back, those of atomic accesses aside.
const HOOKS: &[&str] = &[
    "write1",
    "write2",
    "write4",
    "write8",
    "branch",
    "before",
    "wrote",
    "updated",
    "entered",
    "exit",
    "calls",
    "memcpy",
    "memset",
    "strlen",
    "copy_out",
    "copy_unseen",
    "set_unseen",
    "read_lane",
    "wrote_lane",
];
const ATOMIC: &[&str] = &["store", "exchange", "add", "sub", "and", "or", "xor", "nand", "compare"];
const CALLS: &str = "pthread_mutex_lock pthread_mutex_trylock pthread_mutex_unlock pthread_mutex_destroy pthread_rwlock_rdlock \
                     pthread_rwlock_wrlock pthread_rwlock_unlock pthread_create pthread_join pthread_cond_wait \
                     pthread_cond_timedwait pthread_cond_signal pthread_cond_broadcast sem_wait sem_post sem_trywait sem_destroy \
                     malloc calloc realloc free qsort longjmp printf fprintf puts fputs putchar snprintf usleep nanosleep \
                     sched_yield open close read write pipe fopen fclose strdup strcmp";
/// The hooks of reads that can be changed.
const READS: &[&str] = &[
    "read1",
    "read2",
    "read4",
    "read8",
    "read",
    "memmove",
    "copy_in",
    "atomic1_load",
    "atomic2_load",
    "atomic4_load",
    "atomic8_load",
];

/// What was recorded of a run, and what comes of it.
struct Base {
    told: Vec<Told>,
    trace: Trace,
    found: FoundDependences,
    /// What is found without one of the rules.
    broken: Vec<(Rule, Dependences)>,
    /// Which of `told` are loads that can be changed, in order.
    loads: Vec<usize>,
}

fn build(texts: &[&str], levels: &str) -> Binary {
    let folder = tempfile::tempdir().expect("a folder");
    let at = |name: &str| folder.path().join(name);
    let sources: Vec<PathBuf> = (0..texts.len()).map(|number| at(&format!("program{number}.c"))).collect();
    for (source, text) in sources.iter().zip(texts) {
        std::fs::write(source, text).expect("it is written");
    }
    std::fs::write(at("perturb.c"), include_str!("perturb.c")).expect("it is written");
    let names = HOOKS.iter().map(|hook| format!("__reweave_{hook}"));
    let sized = [1, 2, 4, 8]
        .into_iter()
        .flat_map(|size| ATOMIC.iter().map(move |name| format!("__reweave_atomic{size}_{name}")));
    let names: Vec<String> = names.chain(sized).chain(CALLS.split_whitespace().map(str::to_owned)).collect();
    let hooks: String = names.iter().map(|name| format!("HOOK({name})\n")).collect();
    std::fs::write(at("hooks.h"), hooks).expect("it is written");
    let mut object = Command::new("clang-22");
    object
        .args(["-O1", "-fno-builtin", "-mgeneral-regs-only", "-fno-stack-protector", "-fno-pie", "-c"])
        .arg(at("perturb.c"))
        .arg("-o");
    must(object.arg(at("perturb.o")));
    let mut command = Command::new(env!("CARGO_BIN_EXE_reweave"));
    command.args(["cc", "--reweave-front=plugin", "-w", "-fwrapv", "-no-pie", "-fno-pie"]);
    command.args(levels.split(' ')).args(sources).arg(at("perturb.o")).arg("-pthread");
    let reads: Vec<String> = READS.iter().map(|name| format!("__reweave_{name}")).collect();
    command.args(names.iter().chain(&reads).map(|name| format!("-Wl,--wrap={name}")));
    let path = at("program");
    must(command.arg("-o").arg(&path));
    Binary { folder, path, front: Front::Plugin, programs: Vec::new(), forced: false }
}

#[track_caller]
fn must(command: &mut Command) {
    let built = command.output().expect("the command starts");
    assert!(built.status.success(), "{command:?}: {}", String::from_utf8_lossy(&built.stderr));
}

fn told(raw: &Path) -> Vec<Told> {
    let mut all = Vec::new();
    read_told(raw, |told| all.push(*told)).expect("a recording");
    all
}

/// Which load is to be changed, and how. It is as long in every run: the stack lies behind it.
fn environment(load: u64, mask: u64) -> [(&'static str, String); 2] {
    [("PERTURB", format!("{load:020}")), ("PERTURB_MASK", format!("{mask:020}"))]
}

/// Nothing where a run does not end well.
fn record(binary: &Binary, seed: u64) -> Option<Base> {
    let raw = binary.folder.path().join("base.raw");
    let (status, whole) = run(binary, &[], seed, &raw, &environment(i64::MAX as u64, 0));
    if !whole || status != Some(0) {
        return None;
    }
    let maps = std::fs::read_to_string(beside(&raw, ".maps")).expect("maps");
    let analysed = |rule: Option<Rule>| {
        let recording = Recording::survey(&raw, &maps, false).expect("a recording");
        let recording = recording.tells_branches().find_dependences().without_rule(rule);
        let path = raw.with_extension("rw");
        let mut writer = reweave_format::create(&path, None, recording.capabilities()).expect("a writer");
        let (_, found) = recording.write_with_dependences(&mut *writer, None).expect("a trace");
        drop(writer);
        (path, found.expect("dependences"))
    };
    let (path, found) = analysed(None);
    let trace = load(&path, &LoadOptions::default()).expect("a trace").trace;
    let broken = Rule::ALL.into_iter().map(|rule| (rule, analysed(Some(rule)).1.table)).collect();
    let tables = Tables::open(&binary.path).expect("tables");
    let told = told(&raw);
    let loads = (0..told.len()).filter(|&place| is_load(&tables, &told[place])).collect();
    Some(Base { told, trace, found, broken, loads })
}

/// Whether a recorded event is told by a hook of [`READS`].
fn is_load(tables: &Tables, told: &Told) -> bool {
    let reads = matches!(told.op, Op::Read | Op::AtomicRead) && !told.part;
    let Some(found) = tables.find(told.code).filter(|_| reads) else { return false };
    let Some(instruction) = found.instruction() else { return false };
    let bytes = instruction.access().map_or(0, |access| access.bytes);
    match instruction.operation {
        Operation::Load => told.op == Op::Read || matches!(bytes, 1 | 2 | 4 | 8),
        Operation::Call => {
            let name = found.table.callee_name(instruction).unwrap_or_default();
            let copies = ["llvm.memcpy.", "llvm.memmove."].iter().any(|start| name.starts_with(start));
            copies || instruction.call().is_some_and(|call| !call.by_value.is_empty())
        }
        _ => false,
    }
}

/// Up to which recorded event nothing may differ when some reads do, and which recorded events may have other values.
fn reach(base: &Base, table: &Dependences, changed: &[EventId]) -> (u64, HashSet<u64>) {
    let (mut unclean, mut tainted): (HashSet<EventId>, HashSet<u32>) =
        (changed.iter().copied().collect(), HashSet::new());
    let mut values: HashSet<u64> = changed.iter().map(|read| base.found.origins[read.index()]).collect();
    let first = changed.iter().map(|read| read.0).max().unwrap_or(0) + 1;
    // What a thread does between two events of the trace is up to what the second one needs.
    let mut last: BTreeMap<u32, u64> = BTreeMap::new();
    for id in (0..first).map(EventId) {
        last.insert(base.trace.thread(id).0, base.found.origins[id.index()]);
    }
    for id in (first..base.trace.len() as u32).map(EventId) {
        let before = last.insert(base.trace.thread(id).0, base.found.origins[id.index()]);
        let (kind, origin) = (base.trace.kind(id), base.found.origins[id.index()]);
        let target = base.trace.op(id).target();
        let memory = kind.reads() || matches!(kind, Kind::Write | Kind::AtomicWrite);
        let finds = memory && tainted.contains(&target);
        let conditional = matches!(kind, Kind::Update | Kind::FailedAttempt) && finds;
        if conditional || table.needs(id).iter().any(|read| unclean.contains(read)) {
            last.extend(before.map(|before| (base.trace.thread(id).0, before)));
            return (until(base, table, id, &unclean, &last), values);
        }
        if kind.reads() && finds {
            unclean.insert(id);
            values.insert(origin);
        }
        if matches!(kind, Kind::Write | Kind::AtomicWrite | Kind::Update) {
            if table.feeds(id).iter().any(|read| unclean.contains(read)) {
                tainted.insert(target);
                values.insert(origin);
            } else {
                tainted.remove(&target);
            }
        }
    }
    (u64::MAX, values)
}

/// Up to which recorded event nothing may differ where `stop` may: no thread whose next event needs an unclean read is known to do
/// the same after its last one.
fn until(
    base: &Base,
    table: &Dependences,
    stop: EventId,
    unclean: &HashSet<EventId>,
    last: &BTreeMap<u32, u64>,
) -> u64 {
    let mut until = last.get(&base.trace.thread(stop).0).map_or(0, |before| before + 1);
    let (mut seen, mut needed) = (HashSet::from([base.trace.thread(stop).0]), Vec::new());
    for id in (stop.0 + 1..base.trace.len() as u32).map(EventId) {
        let thread = base.trace.thread(id).0;
        if seen.insert(thread) && table.needs(id).iter().any(|read| unclean.contains(read)) {
            needed.push(thread);
        }
    }
    for thread in needed {
        until = until.min(last.get(&thread).map_or(0, |before| before + 1));
    }
    until
}

/// What came of a run in which a load found another value.
struct Changed {
    what: Told,
    reads: Vec<EventId>,
    other: Vec<Told>,
}

/// Runs with another value for a load; nothing where that load is no read of the trace.
fn change(binary: &Binary, base: &Base, seed: u64, load: usize, mask: u64) -> Option<Changed> {
    let what = base.told[base.loads[load]];
    let is_it = |id: &EventId| base.found.origins[id.index()] == what.number && base.trace.kind(*id).reads();
    let reads: Vec<EventId> = base.trace.ids().filter(is_it).collect();
    if reads.is_empty() {
        return None;
    }
    let raw: PathBuf = binary.folder.path().join("other.raw");
    run(binary, &[], seed, &raw, &environment(load as u64, mask));
    let other = told(&raw);
    for ending in ["", ".maps", ".note", ".inputs", ".calls"] {
        let _ = std::fs::remove_file(beside(&raw, ending));
    }
    Some(Changed { what, reads, other })
}

/// How many recorded events were compared, or what differs that must not, by a table.
fn difference(base: &Base, table: &Dependences, changed: &Changed) -> Result<u64, String> {
    let (until, values) = reach(base, table, &changed.reads);
    let in_trace: HashSet<u64> = base.found.origins.iter().copied().collect();
    let mut compared = 0;
    for (place, one) in base.told.iter().enumerate().take_while(|(_, one)| one.number < until) {
        compared += 1;
        let same = changed.other.get(place).is_some_and(|two| {
            let values = !in_trace.contains(&one.number)
                || values.contains(&one.number)
                || (one.read, one.written) == (two.read, two.written);
            let address = (one.thread, one.code, one.op, one.at, one.part)
                == (two.thread, two.code, two.op, two.at, two.part);
            address && values
        });
        if !same {
            return Err(format!(
                "event {} of the trace changed, recorded as {:?}; up to {until} nothing may differ, but {one:?} became {:?}",
                changed.reads[0].0,
                changed.what,
                changed.other.get(place)
            ));
        }
    }
    Ok(compared)
}

#[derive(Default, Debug)]
struct Tally {
    reads: u64,
    compared: u64,
    /// Branches that need nothing.
    free: u64,
    events: u64,
    needing: u64,
    everything: BTreeMap<String, u64>,
    /// How often it was noticed that a rule was missing.
    caught: BTreeMap<Rule, u64>,
    wrong: Vec<String>,
}

/// Changes reads of a program; whether its run ended well.
fn check(texts: &[&str], seed: u64, levels: &str, most: usize, tally: &mut Tally) -> bool {
    let binary = build(texts, levels);
    let Some(base) = record(&binary, seed) else { return false };
    let mut rng = Rng::new(seed);
    let start = rng.below(base.loads.len().max(1));
    let mut tried = 0;
    for step in 0..base.loads.len() {
        let load = (start + step) % base.loads.len();
        let mask = [1, u64::MAX, 0x0404_0404_0404_0404][rng.below(3)];
        let Some(changed) = change(&binary, &base, seed, load, mask) else { continue };
        match difference(&base, &base.found.table, &changed) {
            Ok(same) => tally.compared += same,
            Err(what) => {
                let kept = std::env::temp_dir().join(format!("perturb-{seed}.c"));
                let _ = std::fs::write(&kept, texts[0]);
                tally.wrong.push(format!("{} {levels}: mask {mask:#x}: {what}", kept.display()));
            }
        }
        for (rule, table) in &base.broken {
            *tally.caught.entry(*rule).or_default() += u64::from(difference(&base, table, &changed).is_err());
        }
        tried += 1;
        if tried == most {
            break;
        }
    }
    let table = &base.found.table;
    let needs_nothing = |&id: &EventId| table.needs(id).is_empty();
    tally.reads += tried as u64;
    tally.events += base.trace.len() as u64;
    tally.needing += base.trace.ids().filter(|id| !needs_nothing(id)).count() as u64;
    let branches = base.trace.ids().filter(|&id| base.trace.kind(id) == Kind::Branch);
    tally.free += branches.filter(needs_nothing).count() as u64;
    for (why, count) in &base.found.reasons {
        *tally.everything.entry(why.clone()).or_default() += count;
    }
    true
}

impl Tally {
    /// Demands that no need was missed.
    #[track_caller]
    fn judge(&mut self) {
        self.wrong.iter().for_each(|what| eprintln!("{what}\n"));
        let wrong = std::mem::take(&mut self.wrong).len();
        eprintln!("{self:?}");
        assert!(wrong == 0, "{wrong} of {}", self.reads);
        assert!(self.reads > 0 && self.compared > 0 && self.free > 0);
    }
}

/// `REWEAVE_PERTURB` is the number of programs, `REWEAVE_PERTURB_FROM` the first seed, `REWEAVE_PERTURB_READS` how many reads of each
/// are changed. Each rule is left out in turn, too: that has to be noticed.
#[test]
fn nothing_differs_before_what_needs_a_read_that_found_another_value() {
    if !Front::all().contains(&Front::Plugin) {
        return;
    }
    let (count, from) = (number("REWEAVE_PERTURB", 12), number("REWEAVE_PERTURB_FROM", 0));
    let most = number("REWEAVE_PERTURB_READS", 30) as usize;
    let mut tally = Tally::default();
    for seed in from..from + count {
        let levels = ["-O0", "-O2", "-O1", "-O3 -mavx2"][seed as usize % 4];
        let ran = check(&[&flows::program(seed), flows::SECOND], seed, levels, most, &mut tally);
        assert!(ran, "seed {seed}");
        if seed % 50 == 49 {
            eprintln!("{} reads, {} wrong", tally.reads, tally.wrong.len());
        }
    }
    tally.judge();
    let unnoticed: Vec<Rule> = Rule::ALL.into_iter().filter(|rule| tally.caught[rule] == 0).collect();
    assert!(unnoticed.is_empty(), "{unnoticed:?}");
}

/// The same for the example programs, as far as they end well; `REWEAVE_PERTURB_EXAMPLES` is the number of schedules.
#[test]
fn nothing_differs_in_the_examples_either() {
    if !Front::all().contains(&Front::Plugin) {
        return;
    }
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/bugs");
    let found = std::fs::read_dir(folder).expect("examples").map(|entry| entry.expect("an entry").path());
    let mut sources: Vec<PathBuf> =
        found.filter(|path| path.extension().is_some_and(|end| end == "c")).collect();
    sources.sort();
    let (schedules, most) =
        (number("REWEAVE_PERTURB_EXAMPLES", 1), number("REWEAVE_PERTURB_READS", 6) as usize);
    let (mut tally, mut ran) = (Tally::default(), 0);
    for (place, source) in (0..).zip(&sources) {
        let text = std::fs::read_to_string(source).expect("a text");
        for seed in place..place + schedules {
            let levels = ["-O0", "-O2"][(place + seed) as usize % 2];
            ran += usize::from(check(&[&text], seed, levels, most, &mut tally));
        }
    }
    eprintln!("{ran} runs");
    assert!(ran > sources.len() / 2);
    tally.judge();
}
