//! Dependences, looked for while a recording is gone through.

use std::collections::BTreeMap;
use std::rc::Rc;

use hashbrown::HashMap;
use reweave_depend::{Analysis, Event, InTrace, Kind as Does, Rule, Shape, Where, is_followed};
use reweave_program::Linkage;
use reweave_trace::{DependenceBuilder, Dependences, Dependent, EventId, Kind, ThreadId};
use reweave_wire::Op;

use crate::binary::Binary;
use crate::modules::Modules;
use crate::raw::{RawEvent, Target};
use crate::word::Part;

/// The dependences of the events that were written so far.
pub(crate) struct Depending {
    modules: Rc<Modules>,
    analysis: Analysis,
    without: Option<Rule>,
    table: DependenceBuilder,
    events: u32,
    threads: u32,
    /// What the code addresses of events stand for.
    places: HashMap<u64, Where>,
    /// The functions that were met, by where their table has them.
    functions: HashMap<usize, usize>,
    /// By module and name, how many arguments the functions name that other code may call.
    defined: HashMap<usize, BTreeMap<String, u32>>,
    /// For each event of the trace, the number of the recorded event that it comes from.
    origins: Vec<u64>,
    recorded: u64,
}

/// What came of looking for dependences.
#[derive(Clone, Default, Debug)]
pub struct Found {
    /// The sets.
    pub table: Dependences,
    /// How many events depend on everything, by what was not understood.
    pub reasons: BTreeMap<String, u64>,
    /// For each event of the trace, the number of the recorded event that it comes from.
    pub origins: Vec<u64>,
}

impl Depending {
    pub(crate) fn new(modules: Rc<Modules>, threads: u32, without: Option<Rule>) -> Depending {
        Depending {
            modules,
            analysis: Analysis::without(without),
            without,
            table: DependenceBuilder::new(),
            events: 0,
            threads,
            places: HashMap::new(),
            functions: HashMap::new(),
            defined: HashMap::new(),
            origins: Vec::new(),
            recorded: 0,
        }
    }

    /// A recorded event begins.
    pub(crate) fn begin(&mut self, event: &RawEvent) {
        let thread = event.thread as usize;
        if let Target::Depth(depth) = event.target {
            if event.op == Op::Enter {
                let function = self.function(event.written);
                let told = self.modules.has_table(event.code);
                self.analysis.enter(thread, depth, function, told);
            } else {
                self.analysis.leave(thread, depth);
            }
            return;
        }
        let place = self.place(event.code);
        let kind = does(event);
        self.analysis.begin(&Event { thread, place, part: event.part, kind });
    }

    /// The event under way touches memory that is not in the trace.
    pub(crate) fn private(&mut self, part: Part) {
        self.analysis.private(part.at, part.length);
    }

    /// The event under way becomes an event of the trace.
    pub(crate) fn put(&mut self, kind: Kind, op: Op) {
        let sets = self.analysis.put(InTrace {
            transparent: kind.is_transparent(),
            root: kind.reads() || matches!(kind, Kind::Wait | Kind::Call),
            branch: op == Op::Branch,
            update: matches!(kind, Kind::Update | Kind::FailedAttempt),
        });
        let id = EventId(self.events);
        self.events += 1;
        self.origins.push(self.recorded);
        let reads = |list: Vec<u32>| list.into_iter().map(EventId).collect::<Vec<_>>();
        if !sets.needs.is_empty() {
            self.table.set(Dependent::Needs(id), &reads(sets.needs));
        }
        if !sets.feeds.is_empty() {
            self.table.set(Dependent::Feeds(id), &reads(sets.feeds));
        }
    }

    /// The event under way is over.
    pub(crate) fn finish(&mut self, event: &RawEvent) {
        if !matches!(event.target, Target::Depth(_)) {
            self.analysis.finish();
        }
        self.recorded += 1;
    }

    /// All events were written.
    pub(crate) fn end(mut self) -> Found {
        for thread in 0..self.threads {
            let open: Vec<EventId> = self.analysis.end(thread as usize).into_iter().map(EventId).collect();
            self.table.set(Dependent::End(ThreadId(thread)), &open);
        }
        let reasons = self.analysis.reasons().clone();
        Found { table: self.table.finish(), reasons, origins: self.origins }
    }

    /// The function whose site is at an address.
    fn function(&mut self, site: u64) -> Option<usize> {
        let modules = Rc::clone(&self.modules);
        let (module, binary, found) = modules.described(site)?;
        found.number.is_none().then(|| self.shape(module, binary, found))
    }

    fn place(&mut self, code: u64) -> Where {
        if let Some(&known) = self.places.get(&code) {
            return known;
        }
        let modules = Rc::clone(&self.modules);
        let place = match modules.described(code) {
            Some((module, binary, found)) => {
                let shape = self.shape(module, binary, found);
                found.number.map_or(Where::Start, |number| Where::Instruction(shape, number))
            }
            None if modules.has_table(code) => Where::Called,
            None => Where::Elsewhere,
        };
        self.places.insert(code, place);
        place
    }

    fn shape(&mut self, module: usize, binary: &Binary, found: reweave_program::Found<'_>) -> usize {
        // Tables stay where they are for as long as this does.
        let key = std::ptr::from_ref(found.function).addr();
        if let Some(&known) = self.functions.get(&key) {
            return known;
        }
        let defined = self.defined.entry(module).or_insert_with(|| defined(binary));
        let defines = |name: &str| defined.get(name).copied();
        let shape = Shape::without(found.table, found.function, &defines, self.without);
        let shape = self.analysis.add(shape);
        self.functions.insert(key, shape);
        shape
    }
}

/// The functions of a binary that are recorded and that its modules may call, with how many arguments they name.
fn defined(binary: &Binary) -> BTreeMap<String, u32> {
    let mut defined = BTreeMap::new();
    for (.., table) in &binary.program.modules {
        for function in &table.functions {
            let global = table.globals.get(function.global as usize);
            let external = global.is_some_and(|global| global.linkage == Linkage::External);
            if external && is_followed(function) {
                defined.insert(table.function_name(function).to_owned(), function.arguments.len() as u32);
            }
        }
    }
    defined
}

/// What a recorded event does.
fn does(event: &RawEvent) -> Does {
    match (event.op, event.target) {
        (Op::Branch, _) => Does::Branch,
        (Op::Acquire | Op::Release | Op::TryAcquire | Op::SharedAcquire | Op::SharedRelease, _) => Does::Lock,
        (_, Target::StandIn { .. }) => Does::Outside,
        (_, Target::Bytes { .. }) => {
            Does::Access { reads: event.op.carries_read(), writes: event.op.writes() }
        }
        _ => Does::Plain,
    }
}
