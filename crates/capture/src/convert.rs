//! The two ways through a recording.

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use reweave_format::TraceWriter;
use reweave_trace::{Capabilities, Event, Kind, Op, SiteId, ThreadId, Value};
use reweave_wire as wire;

use crate::Error;
use crate::calls::Calls;
use crate::memory::{Memory, Part, parts};
use crate::modules::Modules;
use crate::names::Namer;
use crate::raw::{self, RawEvent, Target};
use crate::steps::StepWriter;

/// Two announcements further apart in the code do not belong to one copy.
const CLOSE: u64 = 48;

/// What became of a recording.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Summary {
    /// How many events the recording had.
    pub recorded: u64,
    /// How many events the trace has.
    pub written: u64,
    /// How many threads there were.
    pub threads: usize,
    /// How many words of shared memory were changed by code that was not instrumented, or, where threads ran freely, by
    /// races.
    pub unseen_writes: usize,
    /// The libraries that synchronise but do not tell of their accesses, and how often they did.
    pub silent: Vec<(String, u64)>,
}

/// A recording that was looked through once.
pub struct Recording<'p> {
    path: &'p Path,
    memory: Memory,
    modules: Rc<Modules>,
    known: Known,
    /// Whether threads ran freely.
    approximate: bool,
    /// Whether every branch was told that the law asks for.
    branches: bool,
    threads: u32,
    summary: Summary,
}

/// Of which two calls is known whether the code between them does anything.
type Known = RefCell<HashMap<(u64, u64), bool>>;

fn copies(modules: &Modules, known: &Known, first: u64, second: u64) -> bool {
    second.wrapping_sub(first) <= CLOSE
        && *known.borrow_mut().entry((first, second)).or_insert_with(|| modules.only_prepares(first, second))
}

impl<'p> Recording<'p> {
    /// Looks through the recording at `path`, of a program in which was mapped what `maps` says; `approximate` where its
    /// threads ran freely.
    pub fn survey(path: &'p Path, maps: &str, approximate: bool) -> Result<Recording<'p>, Error> {
        let mut summary = Summary::default();
        let mut memory = Memory::new();
        let (modules, known) = (Rc::new(Modules::new(maps)), Known::default());
        let mut synchronises: HashMap<u64, u64> = HashMap::new();
        let whole = raw::read(path, &|first, second| copies(&modules, &known, first, second), |event| {
            survey(&mut memory, event);
            if matches!(event.target, Target::Sync { .. } | Target::StandIn { .. }) {
                *synchronises.entry(event.code).or_insert(0) += 1;
            }
            summary.recorded += u64::from(!matches!(event.target, Target::Depth(_)));
            Ok(())
        })?;
        let strange = memory.hide_strange(!approximate);
        summary.unseen_writes = strange;
        summary.silent = modules.silent(synchronises);
        memory.rewind();
        let threads = whole.threads;
        Ok(Recording { path, memory, modules, known, approximate, branches: false, threads, summary })
    }

    /// Says that all that ran tells of its branches. Without, those that some of it told of are left out.
    pub fn tells_branches(mut self) -> Recording<'p> {
        self.branches = !self.approximate;
        self
    }

    /// Writes a line for each branch: its thread, the way taken, a number for the ways that were left out since the one before,
    /// and its site.
    pub fn write_ways(&self, out: &mut dyn Write) -> Result<(), Error> {
        let mut namer = Namer::new(Rc::clone(&self.modules));
        let copies = |first: u64, second: u64| copies(&self.modules, &self.known, first, second);
        raw::read(self.path, &copies, |event| {
            if event.op == wire::Op::Branch {
                let site = namer.site(event.code)?;
                let site = namer.builder.names().sites.get(site);
                let (thread, left_out, way) = (thread_name(event.thread), event.read, event.written);
                writeln!(out, "{thread} {way} {left_out:x} {site}")
                    .map_err(|source| Error::Io { path: PathBuf::from("ways"), source })?;
            }
            Ok(())
        })?;
        Ok(())
    }

    /// What its trace can promise. Where threads ran freely and raced, values do not agree with the order.
    pub fn capabilities(&self) -> Capabilities {
        let values = !self.approximate || self.summary.unseen_writes == 0;
        let branches = self.branches;
        Capabilities { values, branches, approximate: self.approximate, ..Capabilities::default() }
    }

    /// Writes it as a trace. The trace is well formed, and each of its accesses carries its value where it promises that.
    pub fn write(self, writer: &mut dyn TraceWriter) -> Result<Summary, Error> {
        self.write_with_steps(writer, None)
    }

    /// The same, and writes the step of every event to `steps`.
    pub fn write_with_steps<'w>(
        self,
        writer: &'w mut dyn TraceWriter,
        steps: Option<&'w mut dyn Write>,
    ) -> Result<Summary, Error> {
        let unwritable = |source| Error::Io { path: self.path.to_owned(), source };
        let steps = steps.map(|steps| StepWriter::new(steps, &self.modules));
        let steps = steps.transpose().map_err(unwritable)?;
        let values = self.capabilities().values;
        let Recording { path, memory, modules, known, approximate, branches, threads, mut summary } = self;
        let namer = Namer::new(Rc::clone(&modules));
        let mut rewriter = Rewriter {
            memory,
            namer,
            calls: Calls::default(),
            unjudged: HashSet::new(),
            texts: std::fs::read(texts_path(path)).unwrap_or_default(),
            writer,
            written: 0,
            values,
            approximate,
            branches: branches.then(|| vec![false; threads as usize]),
            steps,
        };
        for number in 0..threads {
            rewriter.namer.builder.thread(&thread_name(number))?;
        }
        let copies = |first: u64, second: u64| copies(&modules, &known, first, second);
        raw::read(path, &copies, |event| {
            if let Some(steps) = &mut rewriter.steps {
                steps.count(event, &modules);
            }
            rewriter.event(event)
        })?;
        if let Some(steps) = rewriter.steps.take() {
            steps.finish(&modules).map_err(|source| Error::Io { path: path.to_owned(), source })?;
        }
        rewriter.writer.finish()?;
        summary.written = rewriter.written;
        summary.threads = threads as usize;
        Ok(summary)
    }
}

/// Writes the recording at `path` as a trace, with names from what was mapped according to `maps`.
pub fn convert(path: &Path, maps: &str, writer: &mut dyn TraceWriter) -> Result<Summary, Error> {
    Recording::survey(path, maps, false)?.write(writer)
}

/// Where the recorder writes the texts of calls on objects.
fn texts_path(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".calls");
    name.into()
}

/// What a thread is called.
pub(crate) fn thread_name(number: u32) -> String {
    if number == 0 { "main".to_owned() } else { format!("T{number}") }
}

/// Objects are born and die in the same order each time.
fn lifetimes(memory: &mut Memory, event: &RawEvent) -> Option<u32> {
    match (event.op, event.target) {
        (wire::Op::Alloc, Target::Heap { at, length }) => {
            Some(memory.born(at, length, event.thread, event.code, false))
        }
        (wire::Op::Alloc, Target::Stack { at, length }) => {
            Some(memory.born(at, length, event.thread, event.code, true))
        }
        (wire::Op::Free, Target::Heap { at, .. }) => memory.dies(at, event.thread, event.code),
        _ => None,
    }
}

fn survey(memory: &mut Memory, event: &RawEvent) {
    lifetimes(memory, event);
    let Target::Bytes { at, length } = event.target else { return };
    let (reads, writes) = (event.op.carries_read(), event.op.carries_written());
    for part in parts(at, length) {
        let read = reads.then_some(event.read >> (8 * part.offset));
        let written = writes.then_some(event.written >> (8 * part.offset));
        if memory.touch(part, event.thread, read, written) {
            memory.is_strange(part.at);
        }
    }
}

struct Rewriter<'w> {
    memory: Memory,
    namer: Namer,
    calls: Calls,
    /// The texts of calls on objects.
    texts: Vec<u8>,
    /// Objects whose birth and death are not told.
    unjudged: HashSet<u32>,
    writer: &'w mut dyn TraceWriter,
    written: u64,
    values: bool,
    approximate: bool,
    /// Where branches are told: per thread, whether it has read since one, or since what counts as one.
    branches: Option<Vec<bool>>,
    steps: Option<StepWriter<'w>>,
}

impl Rewriter<'_> {
    fn event(&mut self, event: &RawEvent) -> Result<(), Error> {
        let object = match event.target {
            Target::Heap { .. } => {
                // Whose it is, is told by who asked the library for it.
                let (code, _) = self.calls.own(event.thread, event.code, &mut self.namer);
                let object = lifetimes(&mut self.memory, event);
                let found = object.and_then(|object| self.memory.objects.get_mut(object as usize));
                if let Some(found) = found {
                    let (born, freed) = (found.code, found.freed_at);
                    // What std allocates or frees by itself it orders by itself, and nobody sees how.
                    if event.op == wire::Op::Alloc {
                        found.code = code;
                        if self.namer.is_unseen(born) || self.namer.is_unseen(freed) {
                            self.unjudged.extend(object);
                        }
                    }
                }
                object.filter(|object| !self.unjudged.contains(object))
            }
            _ => lifetimes(&mut self.memory, event),
        };
        match event.target {
            Target::Bytes { at, length } => {
                for part in parts(at, length) {
                    self.access(event, part)?;
                }
                Ok(())
            }
            Target::StandIn { at, what } => {
                let target = self.namer.stand_in(&self.memory, at, what)?;
                self.put(event, kind(event.op), target, values(event.op, event.read, event.written))?;
                // What is received decides what comes next.
                self.branch(event)
            }
            Target::Heap { .. } | Target::Stack { .. } => {
                let matters = object.and_then(|object| self.memory.objects.get(object as usize));
                match (object, matters) {
                    (Some(number), Some(found))
                        if found.shared && !found.is_stack && self.namer.is_known(found) =>
                    {
                        let target = self.namer.object(&self.memory, number)?;
                        self.put(event, kind(event.op), target, (None, None))
                    }
                    _ => Ok(()),
                }
            }
            Target::Sync { at, generation } => {
                let target = match event.op.space() {
                    Some(wire::Space::Condition) => self.namer.condition(&self.memory, at, generation)?,
                    _ => self.namer.lock(&self.memory, at, generation)?,
                };
                self.put(event, kind(event.op), target, (None, None))
            }
            Target::Depth(depth) => {
                let call = (event.op == wire::Op::Enter).then_some(event.code);
                self.calls.change(event.thread, depth, call);
                Ok(())
            }
            Target::Call { at, text, length } => {
                let text = usize::try_from(text)
                    .ok()
                    .and_then(|from| self.texts.get(from..from.checked_add(length)?));
                let text = String::from_utf8_lossy(text.unwrap_or_default());
                let target = self.namer.call(&self.memory, at, &text)?;
                self.put(event, kind(event.op), target, (None, None))
            }
            Target::Thread(thread) => self.put(event, kind(event.op), thread, (None, None)),
            Target::None if event.op == wire::Op::Branch => self.branch(event),
            Target::None => self.put(event, kind(event.op), 0, (None, None)),
        }
    }

    /// Writes a branch, where the trace has them and its thread has read since the last one. One that follows
    /// another with nothing read in between may run exactly when that one may: it says nothing.
    fn branch(&mut self, event: &RawEvent) -> Result<(), Error> {
        match self.has_read(event.thread) {
            Some(true) => self.put(event, Kind::Branch, 0, (None, None)),
            _ => Ok(()),
        }
    }

    fn has_read(&mut self, thread: u32) -> Option<&mut bool> {
        self.branches.as_mut()?.get_mut(thread as usize)
    }

    /// Writes an access to a part of a word, variable by variable.
    fn access(&mut self, event: &RawEvent, part: Part) -> Result<(), Error> {
        if !self.memory.matters(part.at) {
            return Ok(());
        }
        let hidden = self.memory.is_hidden(part.at);
        let kind = if hidden { atomic(kind(event.op)) } else { kind(event.op) };
        let unseen = event.op.carries_read() && self.memory.observe(part, event.read >> (8 * part.offset));
        if event.op.carries_written() {
            self.memory.store(part, event.written >> (8 * part.offset));
        }
        let variables: Vec<Part> = self.memory.variables(part).collect();
        for variable in variables {
            let cut = |value: u64| {
                let mask = if variable.length >= 8 { u64::MAX } else { (1 << (8 * variable.length)) - 1 };
                value >> (8 * variable.offset) & mask
            };
            let target = self.namer.variable(&self.memory, variable.at)?;
            if unseen && !self.approximate {
                // Somebody wrote it since the last access; that it happened here is a guess, so nothing of this
                // variable counts as racing.
                self.put(event, Kind::AtomicWrite, target, (None, Some(cut(event.read))))?;
            }
            self.put(event, kind, target, values(event.op, cut(event.read), cut(event.written)))?;
            if event.in_turn {
                self.branch(event)?;
            }
        }
        Ok(())
    }

    fn put(
        &mut self,
        event: &RawEvent,
        kind: Kind,
        target: u32,
        (read, written): (Option<u64>, Option<u64>),
    ) -> Result<(), Error> {
        let (read, written) = (read.filter(|_| self.values), written.filter(|_| self.values));
        if let Some(has_read) = self.has_read(event.thread) {
            // What is not transparent runs in a clean thread only, as a branch does.
            *has_read = kind.is_transparent() && (*has_read || kind.reads());
        }
        if let Some(steps) = &mut self.steps {
            let failed = |source| Error::Io { path: PathBuf::from("steps"), source };
            steps.put(event, &self.namer.modules).map_err(failed)?;
        }
        let (code, left_out) = self.calls.own(event.thread, event.code, &mut self.namer);
        let site = SiteId(self.namer.site(code)?);
        if let Some(context) = self.calls.context(event.thread, left_out, &mut self.namer)? {
            self.writer.context(self.namer.builder.names(), ThreadId(event.thread), context)?;
        }
        let op = Op::new(kind, target);
        let names = self.namer.builder.names();
        let event = Event { thread: ThreadId(event.thread), op, site };
        self.writer.event(names, &event, read.map(Value::Number), written.map(Value::Number))?;
        self.written += 1;
        Ok(())
    }
}

/// The values that an operation carries.
fn values(op: wire::Op, read: u64, written: u64) -> (Option<u64>, Option<u64>) {
    (op.carries_read().then_some(read), op.carries_written().then_some(written))
}

/// The same access as an atomic one.
fn atomic(kind: Kind) -> Kind {
    match kind {
        Kind::Read => Kind::AtomicRead,
        Kind::Write => Kind::AtomicWrite,
        kind => kind,
    }
}

fn kind(op: wire::Op) -> Kind {
    match op {
        wire::Op::Read => Kind::Read,
        wire::Op::Write => Kind::Write,
        wire::Op::AtomicRead => Kind::AtomicRead,
        wire::Op::AtomicWrite => Kind::AtomicWrite,
        wire::Op::Acquire => Kind::Acquire,
        wire::Op::Release => Kind::Release,
        wire::Op::SharedAcquire => Kind::SharedAcquire,
        wire::Op::SharedRelease => Kind::SharedRelease,
        wire::Op::TryAcquire => Kind::TryAcquire,
        wire::Op::Busy => Kind::Busy,
        wire::Op::Fork => Kind::Fork,
        wire::Op::Join => Kind::Join,
        wire::Op::Wait => Kind::Wait,
        wire::Op::Notify => Kind::Notify,
        wire::Op::NotifyAll => Kind::NotifyAll,
        wire::Op::Branch => Kind::Branch,
        wire::Op::Alloc => Kind::Alloc,
        wire::Op::Free => Kind::Free,
        wire::Op::Enter => Kind::Enter,
        wire::Op::Exit => Kind::Exit,
        wire::Op::Begin => Kind::Begin,
        wire::Op::End => Kind::End,
        wire::Op::Call => Kind::Call,
        wire::Op::Update => Kind::Update,
        wire::Op::Skip => Kind::Skip,
    }
}
