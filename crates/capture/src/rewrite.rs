//! Events of a recording as events of a trace.

use std::collections::{BTreeMap, HashSet};
use std::io;
use std::path::PathBuf;

use reweave_format::TraceWriter;
use reweave_trace::{Event, Kind, Op, SiteId, ThreadId};
use reweave_wire as wire;

use crate::Error;
use crate::borders::Borders;
use crate::calls::Calls;
use crate::depend::Depending;
use crate::given::Given;
use crate::identity::{Identified, Identities};
use crate::kind::{atomic, kind};
use crate::lives::Thing;
use crate::memory::Memory;
use crate::names::Namer;
use crate::raw::{RawEvent, StandIn, Target};
use crate::sieve::Passed;
use crate::steps::StepWriter;
use crate::word::{Part, parts};

mod given;

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

/// What the variable for an object's memory holds once it was freed.
const PASSED_ON: u64 = 1;

/// Writes a trace.
pub(crate) struct Rewriter<'w> {
    memory: Memory,
    pub(crate) namer: Namer,
    calls: Calls,
    pub(crate) borders: Borders,
    /// The texts of calls on objects.
    pub(crate) texts: Vec<u8>,
    /// Objects whose birth and death are not told.
    unjudged: HashSet<u32>,
    /// The state outside of memory that matters.
    pub(crate) outside: hashbrown::HashSet<u64>,
    /// The memory that was given away, where that matters.
    pub(crate) given: Given,
    /// The lives that matter.
    pub(crate) lives: hashbrown::HashSet<Thing>,
    pub(crate) writer: &'w mut dyn TraceWriter,
    pub(crate) written: u64,
    /// By site, how many reads found what nobody is known to have written.
    pub(crate) unseen: BTreeMap<SiteId, u64>,
    /// Whether values are told.
    pub(crate) values: bool,
    /// Whether threads ran freely.
    pub(crate) approximate: bool,
    /// Where branches are told: per thread, whether it has read since one, or since what counts as one.
    pub(crate) branches: Option<Vec<bool>>,
    /// Where dependences are looked for.
    pub(crate) depend: Option<Depending>,
    steps: Option<StepWriter<'w>>,
    /// The occurrence of the event under way, and its thread's own number.
    step: (u64, u64),
    /// Where it is, once that was looked for.
    found: Option<(u64, usize, SiteId)>,
    identities: Identities,
    /// Room for the texts of values.
    room: [String; 2],
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
            borders: Borders::default(),
            texts: Vec::new(),
            unjudged: HashSet::new(),
            outside: hashbrown::HashSet::new(),
            given: Given::default(),
            lives: hashbrown::HashSet::new(),
            writer,
            written: 0,
            unseen: BTreeMap::new(),
            values: true,
            approximate: false,
            branches: None,
            depend: None,
            steps,
            step: (0, 0),
            found: None,
            identities: Identities::default(),
            room: Default::default(),
        }
    }

    /// Writes what comes of an event.
    pub(crate) fn event(&mut self, passed: &Passed) -> Result<(), Error> {
        if self.depend.is_none() {
            return self.rewrite(passed);
        }
        self.depend.iter_mut().for_each(|depend| depend.begin(&passed.event));
        let result = self.rewrite(passed);
        self.depend.iter_mut().for_each(|depend| depend.finish(&passed.event));
        result
    }

    fn rewrite(&mut self, passed: &Passed) -> Result<(), Error> {
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
            Target::StandIn { what: StandIn::Assembled | StandIn::Mapped, .. } => Ok(()),
            Target::StandIn { at, what: StandIn::Given } => self.gives(event, at),
            Target::StandIn { at, what: StandIn::Library } => {
                self.borders.cross(event.thread, at);
                let (target, values) = self.namer.library(at, &mut self.borders)?;
                self.put_alone(event, Kind::Update, target, (Some(values.0.into()), Some(values.1.into())))
            }
            Target::StandIn { at, what: StandIn::Outside } if self.is_left_out(event, at) => Ok(()),
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
            Target::Life { of, at, ends, generation } if self.lives.contains(&(of, at, generation)) => {
                let target = self.namer.life(&self.memory, (of, at, generation), ends)?;
                self.put(event, kind(event.op), target, (None, None))
            }
            Target::Life { .. } => Ok(()),
            Target::Thread(thread) => self.put(event, kind(event.op), thread, (None, None)),
            Target::None if event.op == wire::Op::Branch => self.branch(event),
            Target::None => self.put(event, kind(event.op), 0, (None, None)),
        }
    }

    /// The object that is born or dies.
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
        Some(object)
    }

    /// Writes the birth or death of an object that more than one thread had to do with.
    fn lifetime(&mut self, event: &RawEvent, object: Option<u32>) -> Result<(), Error> {
        if event.op == wire::Op::Alloc {
            self.take_over(event)?;
        } else if let Some(object) = object {
            for region in self.given.of_object(object) {
                self.uses_given(event, region, true)?;
            }
        }
        self.birth_or_death(event, object)?;
        if event.op == wire::Op::Free { self.pass_on(event, object) } else { Ok(()) }
    }

    fn birth_or_death(&mut self, event: &RawEvent, object: Option<u32>) -> Result<(), Error> {
        let found = object.and_then(|object| self.memory.objects.get(object as usize));
        match (object, found) {
            (Some(number), Some(found))
                if found.shared
                    && !found.is_stack
                    && !self.unjudged.contains(&number)
                    && self.namer.is_known(found) =>
            {
                let target = self.namer.object(&self.memory, number)?;
                self.put(event, kind(event.op), target, (None, None))
            }
            _ => Ok(()),
        }
    }

    /// Memory that another thread freed before is handed out: not before that.
    fn take_over(&mut self, event: &RawEvent) -> Result<(), Error> {
        if !matches!(event.target, Target::Heap { .. }) || !self.memory.reuses {
            return Ok(());
        }
        let before: Vec<u32> = self.memory.taken_over(event.thread).collect();
        for object in before {
            let target = self.namer.memory_of(&self.memory, object)?;
            self.put(event, Kind::Update, target, (Some(PASSED_ON.into()), Some(PASSED_ON.into())))?;
            self.branch(event)?;
        }
        Ok(())
    }

    /// Memory is freed that another thread will get.
    fn pass_on(&mut self, event: &RawEvent, object: Option<u32>) -> Result<(), Error> {
        let Some(object) = object else { return Ok(()) };
        if !self.memory.objects.get(object as usize).is_some_and(|object| object.passed_on) {
            return Ok(());
        }
        let target = self.namer.memory_of(&self.memory, object)?;
        self.put(event, Kind::AtomicWrite, target, (None, Some(PASSED_ON.into())))
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
        let given = self.given.find(&self.memory, part.at);
        self.around(event, given)?;
        if !self.memory.matters(part.at) {
            self.depend.iter_mut().for_each(|depend| depend.private(part));
            // What was copied to this thread's own memory decides as what it was copied from.
            return if event.in_turn { self.branch(event) } else { Ok(()) };
        }
        let hidden = self.memory.is_hidden(part.at);
        let kind = if hidden { atomic(kind(event.op)) } else { kind(event.op) };
        let unseen = event.op.carries_read() && self.memory.observe(part, event.read >> (8 * part.offset));
        if event.op.writes() {
            self.memory.store(part, event.written >> (8 * part.offset));
        }
        let written = Identities::written(&self.memory, event);
        for variable in self.memory.variables(part) {
            let cut = |value: u64, generation: u32| {
                let mask = if variable.length >= 8 { u64::MAX } else { (1 << (8 * variable.length)) - 1 };
                Identified { number: value >> (8 * variable.offset) & mask, generation }
            };
            let target = self.namer.variable(&self.memory, variable.at)?;
            let unseen = unseen || hidden && self.identities.is_strange(&self.memory, event, variable);
            if unseen && !self.approximate {
                let found = Identities::found(&self.memory, event);
                let (_, _, site) = self.place(event)?;
                if given.is_none() {
                    *self.unseen.entry(site).or_insert(0) += 1;
                }
                // Somebody wrote it since the last access; that it happened here is a guess, so nothing of this
                // variable counts as racing.
                self.identities.hold(&self.memory, variable, found);
                self.put(event, Kind::Unseen, target, (None, Some(cut(event.read, found))))?;
            }
            let held = self.identities.held(&self.memory, variable);
            if event.op.writes() {
                self.identities.hold(&self.memory, variable, written);
            }
            let mut values = values(event.op, cut(event.read, held), cut(event.written, written));
            if Identities::is_ambiguous(&self.memory, event) {
                values.1 = None;
            }
            self.put(event, kind, target, values)?;
            if event.in_turn {
                self.branch(event)?;
            }
        }
        self.around(event, given)
    }

    /// Writes an event, after what a library without hooks may have brought about before it.
    fn put(
        &mut self,
        event: &RawEvent,
        kind: Kind,
        target: u32,
        values: (Option<Identified>, Option<Identified>),
    ) -> Result<(), Error> {
        // A thread's first event stays the first, and a wait stays with the release that it starts at.
        let apart = !matches!(kind, Kind::Begin | Kind::Wait);
        if apart && let Some(at) = self.borders.before(event.thread, event.code, &self.namer.modules) {
            let (library, (before, after)) = self.namer.library(at, &mut self.borders)?;
            self.put_alone(event, Kind::Update, library, (Some(before.into()), Some(after.into())))?;
        }
        self.put_alone(event, kind, target, values)
    }

    fn put_alone(
        &mut self,
        event: &RawEvent,
        kind: Kind,
        target: u32,
        (read, written): (Option<Identified>, Option<Identified>),
    ) -> Result<(), Error> {
        let (read, written) = (read.filter(|_| self.values), written.filter(|_| self.values));
        if let Some(has_read) = self.has_read(event.thread) {
            // What is not transparent runs in a clean thread only, as a branch does. An attempt that failed by its value may find another.
            let failed = kind == Kind::FailedAttempt && read != written;
            *has_read = failed || kind.is_transparent() && (*has_read || kind.reads());
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
        self.depend.iter_mut().for_each(|depend| depend.put(kind, event.op));
        let op = Op::new(kind, target);
        let names = self.namer.builder.names();
        let event = Event { thread: ThreadId(event.thread), op, site };
        let [room, more] = &mut self.room;
        let (read, written) = (read.map(|read| read.value(room)), written.map(|written| written.value(more)));
        self.writer.event(names, &event, read, written)?;
        self.written += 1;
        Ok(())
    }
}

/// The values that an operation carries.
fn values(
    op: wire::Op,
    read: impl Into<Identified>,
    written: impl Into<Identified>,
) -> (Option<Identified>, Option<Identified>) {
    let (read, written) = (read.into(), written.into());
    (op.carries_read().then_some(read), op.carries_written().then_some(written))
}
