//! The recorded events of each thread, followed with what is known of its code.
//!
//! Per thread there are the activations of functions that are under way, a shadow of the memory that it keeps to itself, the reads that
//! no event has needed yet (*open*; the others are settled, and in no set any more), and what decided since its last event in the
//! trace.
//!
//! **Branches.** A trace with branches has one between a read and anything that the read decides, so what comes with no branch in
//! between does not need the read, whatever the paths that were not taken would have needed: such reads are left
//! out. So whatever the model `branch` accepts, `dep` accepts.

use std::collections::BTreeMap;
use std::rc::Rc;

use crate::event::{Event, InTrace, Kind, Sets, Where};
use crate::frame::Frame;
use crate::rule::Rule;
use crate::set::Set;
use crate::shape::{Shape, Stretch, Target};
use crate::thread::Thread;

/// A value that is computed from more reads than this is taken to decide.
const MOST_FEEDS: usize = 64;

/// More calls than the recorder keeps are not to be believed.
const MAX_DEPTH: usize = 1 << 15;

/// The dependences of a recording, found while it is gone through.
#[derive(Default)]
pub struct Analysis {
    shapes: Vec<Shape>,
    threads: Vec<Thread>,
    current: Current,
    /// The number of the next event of the trace.
    events: u32,
    /// How many events depend on everything, by what was not understood.
    reasons: BTreeMap<String, u64>,
    without: Option<Rule>,
}

/// The event under way.
#[derive(Default)]
struct Current {
    thread: usize,
    at: Option<u32>,
    reads: bool,
    writes: bool,
    /// Whether what it loads comes in place of what was loaded there before.
    again: bool,
    foreign: bool,
    /// Whether what it puts into the trace depends on everything.
    outside: bool,
    value: Set,
    loaded: Set,
}

impl Analysis {
    /// One that leaves out a rule, for tests.
    pub fn without(rule: Option<Rule>) -> Analysis {
        Analysis { without: rule, ..Analysis::default() }
    }

    /// Adds a function; by its number it is named from then on.
    pub fn add(&mut self, shape: Shape) -> usize {
        self.shapes.push(shape);
        self.shapes.len() - 1
    }

    fn thread(&mut self, thread: usize) -> &mut Thread {
        if self.threads.len() <= thread {
            self.threads.resize_with(thread + 1, Thread::default);
        }
        &mut self.threads[thread]
    }

    /// The calls from `depth` on are over, and a function is entered there, perhaps a known one; `told` where the caller is
    /// instrumented code.
    pub fn enter(&mut self, thread: usize, depth: usize, function: Option<usize>, told: bool) {
        let depth = depth.min(MAX_DEPTH);
        self.leave(thread, depth);
        let now = self.events;
        let Some(function) = function else {
            self.not_understood(thread, "a function that is not known");
            self.thread(thread).frames.push(Frame::unknown(now));
            return;
        };
        let caller = self.thread(thread).frames.last().map(|frame| (frame.shape, frame.at));
        let stretch = match caller {
            Some((Some(shape), at)) if told => self.entering(shape, at, function),
            _ => None,
        };
        let Some(stretch) = stretch else {
            self.not_understood(thread, "a function that a library calls");
            self.thread(thread).frames.push(Frame::known(function, now, Vec::new(), Vec::new()));
            return;
        };
        self.apply(thread, &stretch);
        let frame = match caller.and_then(|(shape, _)| shape) {
            Some(shape) if stretch.unknown.is_none() && self.shapes[shape].strange.is_none() => {
                let passed = self.passed(thread, shape, &stretch.ends);
                Frame::known(function, now, passed, stretch.ends.clone())
            }
            _ => Frame::known(function, now, Vec::new(), Vec::new()),
        };
        self.thread(thread).frames.push(frame);
    }

    fn entering(&mut self, shape: usize, at: Option<u32>, function: usize) -> Option<Rc<Stretch>> {
        let [caller, called] = match self.shapes.get_disjoint_mut([shape, function]) {
            Ok(both) => both,
            // A recursion.
            Err(_) => {
                let name = self.shapes[function].name.clone();
                return self.shapes[shape].entering(at, function, &name);
            }
        };
        caller.entering(at, function, &called.name)
    }

    /// What the arguments were computed from, at whichever of some calls.
    fn passed(&self, thread: usize, shape: usize, calls: &[u32]) -> Vec<Set> {
        let thread = &self.threads[thread];
        let Some(frame) = thread.frames.last() else { return Vec::new() };
        if thread.open.is_empty() {
            return Vec::new();
        }
        let count = calls.iter().map(|&call| self.shapes[shape].arguments(call).len()).min().unwrap_or(0);
        let mut passed = vec![Set::EMPTY; count];
        if self.without == Some(Rule::Argument) {
            return passed;
        }
        for &call in calls {
            for (set, sources) in passed.iter_mut().zip(self.shapes[shape].arguments(call)) {
                set.add(&frame.value(sources, self.events, &thread.open));
            }
        }
        passed
    }

    /// The calls from `depth` on are over.
    pub fn leave(&mut self, thread: usize, depth: usize) {
        let (now, depth) = (self.events, depth.min(MAX_DEPTH));
        while self.thread(thread).frames.len() > depth {
            let Some(frame) = self.threads[thread].frames.last() else { return };
            if self.threads[thread].open.is_empty() {
                // Every set is empty.
                self.threads[thread].frames.pop();
                continue;
            }
            let (shape, at) = (frame.shape, frame.at);
            let stretch = shape.and_then(|shape| self.shapes[shape].stretch(at, Target::Leaves));
            match stretch {
                Some(stretch) => self.apply(thread, &stretch),
                None => self.not_understood(thread, "a function that is left unseen"),
            }
            let thread = &mut self.threads[thread];
            let Some(frame) = thread.frames.pop() else { return };
            let returned = match shape.map(|shape| &self.shapes[shape]) {
                Some(shape) if shape.strange.is_none() => frame.value(&shape.returns, now, &thread.open),
                _ => Set::all_before(now),
            };
            if let Some(caller) = thread.frames.last_mut()
                && self.without != Some(Rule::Result)
            {
                caller.returned(&frame.called_from, &returned);
            }
        }
        let thread = self.thread(thread);
        thread.frames.resize_with(depth, || Frame::unknown(now));
    }

    /// Everything that the thread has read so far may decide about its next event.
    fn not_understood(&mut self, thread: usize, why: &str) {
        let (now, without) = (self.events, self.without);
        let thread = self.thread(thread);
        if without == Some(Rule::Unknown) || thread.open.is_empty() {
            return;
        }
        thread.firm = Set::all_before(now);
        thread.why.get_or_insert_with(|| why.to_owned());
    }

    /// What may have been executed.
    fn apply(&mut self, thread: usize, stretch: &Stretch) {
        let now = self.events;
        let Some(frame) = self.threads[thread].frames.last() else { return };
        let Some(shape) = frame.shape.map(|shape| &self.shapes[shape]) else { return };
        let why = match (&shape.strange, stretch.unknown) {
            (Some(strange), _) => Some(strange.clone()),
            (None, unknown) => unknown.map(|unknown| shape.reason(unknown)),
        };
        if let Some(why) = why {
            return self.not_understood(thread, &why);
        }
        let thread = &mut self.threads[thread];
        let decided = thread.frames.last().map(|frame| frame.value(&stretch.decides, now, &thread.open));
        thread.pending.add(&decided.unwrap_or_default());
    }

    /// A recorded event begins.
    pub fn begin(&mut self, event: &Event) {
        let now = self.events;
        let (reads, writes) = match event.kind {
            Kind::Access { reads, writes } => (reads, writes),
            _ => (false, false),
        };
        self.current = Current {
            thread: event.thread,
            reads,
            writes,
            value: Set::all_before(now),
            ..Current::default()
        };
        self.current.outside = event.kind == Kind::Outside;
        let top = self.thread(event.thread).frames.last().map(|frame| (frame.shape, frame.at));
        match (event.place, top) {
            (Where::Instruction(shape, number), Some((Some(top), at))) if shape == top => {
                self.step(event, shape, number, at);
            }
            (Where::Instruction(..), _) => {
                self.not_understood(event.thread, "code that nobody is known to have called");
                if let Some(frame) = self.threads[event.thread].frames.last_mut() {
                    *frame = Frame::unknown(now);
                }
            }
            // What an allocator or a thread's start is given decides at the call.
            (Where::Start, _) => {}
            (Where::Called | Where::Elsewhere, _) if matches!(event.kind, Kind::Plain | Kind::Outside) => {}
            (Where::Called, Some((Some(top), at))) if event.kind == Kind::Lock => {
                match self.shapes[top].stretch(at, Target::Locks) {
                    Some(stretch) => self.apply(event.thread, &stretch),
                    None => self.not_understood(event.thread, "a lock that a library uses"),
                }
            }
            // The call itself decides in the function that makes it.
            (Where::Called | Where::Elsewhere, _) if matches!(event.kind, Kind::Access { .. }) => {
                (self.current.outside, self.current.foreign) = (true, writes);
            }
            (Where::Called | Where::Elsewhere, _) => {
                self.not_understood(event.thread, "a function of a library");
            }
        }
    }

    /// A thread comes to an instruction.
    fn step(&mut self, event: &Event, shape: usize, number: u32, at: Option<u32>) {
        let now = self.events;
        let is_whole = self.shapes[shape].is_whole(number);
        if self.threads[event.thread].open.is_empty() {
            // Every set is empty: it is enough to know where the thread is.
            if let Some(frame) = self.threads[event.thread].frames.last_mut() {
                frame.at = Some(number);
            }
            (self.current.at, self.current.again) = (Some(number), is_whole && !event.part);
            return;
        }
        if !event.part || at != Some(number) {
            match self.shapes[shape].stretch(at, Target::At(number)) {
                Some(stretch) => self.apply(event.thread, &stretch),
                None if at == Some(number) => {}
                None => self.not_understood(event.thread, "a path that the code does not have"),
            }
        }
        let (found, thread) = (&self.shapes[shape], &mut self.threads[event.thread]);
        let Some(frame) = thread.frames.last_mut() else { return };
        frame.at = Some(number);
        self.current.at = Some(number);
        self.current.again = is_whole && !event.part;
        if self.current.writes && found.strange.is_none() {
            self.current.value = frame.value(found.written(number), now, &thread.open);
        }
    }

    /// The event under way touches memory that is not in the trace.
    pub fn private(&mut self, at: u64, length: u8) {
        let (thread, current) = (&mut self.threads[self.current.thread], &mut self.current);
        let bytes = (0..u64::from(length)).map(|byte| at.wrapping_add(byte));
        if current.reads && !thread.open.is_empty() && self.without != Some(Rule::OwnMemory) {
            let mut found = Set::all_before(thread.foreign);
            let mut last: Option<&Rc<Set>> = None;
            for set in bytes.clone().filter_map(|byte| thread.shadow.get(&byte)) {
                // Bytes that were stored at once share their set.
                if !last.is_some_and(|last| Rc::ptr_eq(last, set)) {
                    found.add(set);
                }
                last = Some(set);
            }
            found.prune(&thread.open);
            current.loaded.add(&found);
        }
        if current.writes && !(thread.open.is_empty() && thread.shadow.is_empty()) {
            let mut value = current.value.clone();
            if current.reads {
                value.add(&current.loaded);
            }
            value.prune(&thread.open);
            if value.is_empty() && thread.shadow.is_empty() {
                return;
            }
            let value = (!value.is_empty()).then(|| Rc::new(value));
            for byte in bytes {
                match &value {
                    Some(value) => _ = thread.shadow.insert(byte, Rc::clone(value)),
                    None => _ = thread.shadow.remove(&byte),
                }
            }
        }
    }

    /// The event under way puts an event into the trace.
    pub fn put(&mut self, event: InTrace) -> Sets {
        let number = self.events;
        self.events += 1;
        let current = &mut self.current;
        if self.threads.len() <= current.thread {
            self.threads.resize_with(current.thread + 1, Thread::default);
        }
        let thread = &mut self.threads[current.thread];
        let (pending, firm) = (std::mem::take(&mut thread.pending), std::mem::take(&mut thread.firm));
        let mut needs = pending;
        if current.outside {
            needs = Set::all_before(number);
            current.foreign = true;
        } else if event.transparent {
            needs.cut(thread.last_branch);
        } else if !(event.branch || event.update && current.at.is_some()) {
            needs = Set::all_before(number);
        }
        needs.add(&firm);
        let why = thread.why.take();
        let mut sets = Sets { needs: thread.settle(&needs), feeds: Vec::new() };
        if let Some(why) = why.filter(|_| !sets.needs.is_empty()) {
            *self.reasons.entry(why).or_insert(0) += 1;
        }
        if current.writes {
            let fed = current.value.among(&thread.open);
            if fed.len() > MOST_FEEDS {
                let fed = thread.settle(&current.value);
                sets.needs.extend(fed);
                sets.needs.sort_unstable();
            } else {
                if self.without == Some(Rule::Settled) {
                    thread.settle(&current.value);
                }
                sets.feeds = fed;
            }
            if event.update {
                sets.feeds.push(number);
            }
        }
        if event.root {
            thread.open.insert(number);
            current.loaded.add(&Set::one(number));
        }
        if !event.transparent {
            thread.last_branch = number;
        }
        sets
    }

    /// The event under way is over.
    pub fn finish(&mut self) {
        let (now, current) = (self.events, std::mem::take(&mut self.current));
        let thread = self.thread(current.thread);
        if current.outside && !current.loaded.is_empty() {
            // What a library reads decides what it does next.
            thread.firm.add(&current.loaded);
            thread.why.get_or_insert_with(|| "a function of a library".to_owned());
        }
        if current.foreign {
            thread.foreign = now;
        }
        if let (Some(number), true, Some(frame)) = (current.at, current.reads, thread.frames.last_mut()) {
            frame.loaded(number, &current.loaded, current.again, &thread.open);
        }
    }

    /// What the end of a thread needs, at the end of the recording.
    pub fn end(&self, thread: usize) -> Vec<u32> {
        self.threads.get(thread).map(|thread| thread.open.iter().copied().collect()).unwrap_or_default()
    }

    /// How many events depend on everything, by what was not understood.
    pub fn reasons(&self) -> &BTreeMap<String, u64> {
        &self.reasons
    }
}
