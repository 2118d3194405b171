//! Events of a recording as events of a trace.

use std::collections::HashSet;
use std::io;
use std::path::PathBuf;

use reweave_format::TraceWriter;
use reweave_trace::{Event, Kind, Op, SiteId, ThreadId, Value};
use reweave_wire as wire;

use crate::Error;
use crate::calls::Calls;
use crate::memory::Memory;
use crate::names::Namer;
use crate::raw::{RawEvent, Target};
use crate::sieve::Passed;
use crate::steps::StepWriter;
use crate::word::{Part, parts};

/// Objects are born and die in the same order each time.
pub(crate) fn lifetimes(memory: &mut Memory, event: &RawEvent) -> Option<u32> {
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

/// Writes a trace.
pub(crate) struct Rewriter<'w> {
    memory: Memory,
    pub(crate) namer: Namer,
    calls: Calls,
    /// The texts of calls on objects.
    pub(crate) texts: Vec<u8>,
    /// Objects whose birth and death are not told.
    unjudged: HashSet<u32>,
    pub(crate) writer: &'w mut dyn TraceWriter,
    pub(crate) written: u64,
    /// Whether values are told.
    pub(crate) values: bool,
    /// Whether threads ran freely.
    pub(crate) approximate: bool,
    /// Where branches are told: per thread, whether it has read since one, or since what counts as one.
    pub(crate) branches: Option<Vec<bool>>,
    steps: Option<StepWriter<'w>>,
    /// The occurrence of the event under way, and its thread's own number.
    step: (u64, u64),
    /// Where it is, once that was looked for.
    found: Option<(u64, usize, SiteId)>,
}

impl<'w> Rewriter<'w> {
    pub(crate) fn new(
        memory: Memory,
        namer: Namer,
        writer: &'w mut dyn TraceWriter,
        steps: Option<StepWriter<'w>>,
    ) -> Rewriter<'w> {
        Rewriter {
            memory,
            namer,
            calls: Calls::default(),
            texts: Vec::new(),
            unjudged: HashSet::new(),
            writer,
            written: 0,
            values: true,
            approximate: false,
            branches: None,
            steps,
            step: (0, 0),
            found: None,
        }
    }

    /// Writes what comes of an event.
    pub(crate) fn event(&mut self, passed: &Passed) -> Result<(), Error> {
        let event = &passed.event;
        self.step = (passed.occurrence, passed.own);
        self.found = None;
        if let Some(steps) = &mut self.steps {
            steps.note(event);
        }
        let object = self.object(event);
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
            Target::Heap { .. } | Target::Stack { .. } => self.lifetime(event, object),
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

    /// The object that is born or dies, where that is told.
    fn object(&mut self, event: &RawEvent) -> Option<u32> {
        if !matches!(event.target, Target::Heap { .. }) {
            return lifetimes(&mut self.memory, event);
        }
        // Whose it is, is told by who asked the library for it.
        let (code, _) = self.calls.own(event.thread, event.code, &mut self.namer);
        let object = lifetimes(&mut self.memory, event)?;
        let found = self.memory.objects.get_mut(object as usize)?;
        if event.op == wire::Op::Alloc {
            let (born, freed) = (std::mem::replace(&mut found.code, code), found.freed_at);
            // What std allocates or frees by itself it orders by itself, and nobody sees how.
            if self.namer.is_unseen(born) || self.namer.is_unseen(freed) {
                self.unjudged.insert(object);
            }
        }
        (!self.unjudged.contains(&object)).then_some(object)
    }

    /// Writes the birth or death of an object that more than one thread had to do with.
    fn lifetime(&mut self, event: &RawEvent, object: Option<u32>) -> Result<(), Error> {
        let found = object.and_then(|object| self.memory.objects.get(object as usize));
        match (object, found) {
            (Some(number), Some(found)) if found.shared && !found.is_stack && self.namer.is_known(found) => {
                let target = self.namer.object(&self.memory, number)?;
                self.put(event, kind(event.op), target, (None, None))
            }
            _ => Ok(()),
        }
    }

    /// Writes the end of the steps.
    pub(crate) fn finish_steps(&mut self) -> io::Result<()> {
        self.steps.take().map_or(Ok(()), |steps| steps.finish(&self.namer.modules))
    }

    /// Where an event is: in the program's own code, how many calls of libraries lead on from there, and its site. An
    /// access to several variables is looked for once.
    fn place(&mut self, event: &RawEvent) -> Result<(u64, usize, SiteId), Error> {
        if let Some(found) = self.found {
            return Ok(found);
        }
        let (code, left_out) = self.calls.own(event.thread, event.code, &mut self.namer);
        let found = (code, left_out, SiteId(self.namer.site(code)?));
        self.found = Some(found);
        Ok(found)
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
            // What was copied to this thread's own memory decides as what it was copied from.
            return if event.in_turn { self.branch(event) } else { Ok(()) };
        }
        let hidden = self.memory.is_hidden(part.at);
        let kind = if hidden { atomic(kind(event.op)) } else { kind(event.op) };
        let unseen = event.op.carries_read() && self.memory.observe(part, event.read >> (8 * part.offset));
        if event.op.carries_written() {
            self.memory.store(part, event.written >> (8 * part.offset));
        }
        for variable in self.memory.variables(part) {
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
            steps.put(event, self.step, &self.namer.modules).map_err(failed)?;
        }
        let (code, left_out, site) = self.place(event)?;
        if let Some(context) = self.calls.context(event.thread, left_out, &mut self.namer)? {
            self.writer.context(self.namer.builder.names(), ThreadId(event.thread), context)?;
        }
        self.writer.place(code);
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
