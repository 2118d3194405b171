//! The two ways through a recording.

use std::cell::RefCell;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use hashbrown::HashMap;
use reweave_depend::Rule;
use reweave_format::TraceWriter;
use reweave_trace::Capabilities;
use reweave_wire as wire;

use crate::Error;
use crate::depend::{Depending, Found};
use crate::given::Given;
use crate::identity::Identities;
use crate::lives::Lives;
use crate::memory::Memory;
use crate::modules::Modules;
use crate::names::Namer;
use crate::outside::Uses;
use crate::raw::{self, Pair, RawEvent, StandIn, Target};
use crate::rewrite::{Rewriter, lifetimes};
use crate::sieve::Sieve;
use crate::steps::StepWriter;
use crate::word::{Part, only_part, parts};

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
    /// The sites of the reads that found what nobody is known to have written, and how many of them there were, most first.
    pub unseen: Vec<(String, u64)>,
    /// The libraries that synchronise but do not tell of their accesses, and how often they did.
    pub silent: Vec<(String, u64)>,
    /// The variables that stand for libraries without hooks, and how often each was updated.
    pub borders: Vec<(String, u64)>,
    /// How many events depend on everything, by what was not understood, most first; none where nobody looked.
    pub dependent: Option<Vec<(String, u64)>>,
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
    /// Whether to look for dependences, and without which rule.
    dependences: bool,
    without: Option<Rule>,
    threads: u32,
    /// Which state outside of memory was used by whom.
    outside: Uses,
    /// Which lives were used and ended by whom.
    lives: Lives,
    /// Which memory was given away.
    given: Given,
    summary: Summary,
}

/// Of which two calls is known whether the first one's write comes after the second.
type Known = RefCell<HashMap<Pair, bool>>;

fn copies(modules: &Modules, known: &Known, pair: Pair) -> bool {
    *known.borrow_mut().entry(pair).or_insert_with(|| modules.only_prepares(pair))
}

impl<'p> Recording<'p> {
    /// Looks through the recording at `path`, of a program in which was mapped what `maps` says; `approximate` where its
    /// threads ran freely.
    pub fn survey(path: &'p Path, maps: &str, approximate: bool) -> Result<Recording<'p>, Error> {
        let mut summary = Summary::default();
        let (mut memory, mut identities) = (Memory::new(), Identities::default());
        let (modules, known) = (Rc::new(Modules::new(maps)), Known::default());
        let (mut synchronises, mut outside) = (HashMap::<u64, u64>::new(), Uses::default());
        let (mut lives, mut given) = (Lives::default(), Given::default());
        let whole = raw::read(path, &|pair| copies(&modules, &known, pair), |event| {
            match event.target {
                Target::StandIn { at, what: StandIn::Assembled } => memory.assembled(at, event.read),
                Target::StandIn { at, what: StandIn::Given } => {
                    given.note(&memory, &modules, at, event.read, event.thread);
                }
                Target::StandIn { what: StandIn::Library, .. } => {}
                Target::Bytes { at, length } => {
                    touch(&mut memory, event, at, length);
                    if memory.reuses && identities.survey(&memory, event) {
                        memory.is_strange(at, event.thread);
                    }
                }
                _ if outside.note(&modules, event) || lives.note(event) => {}
                Target::Sync { .. } | Target::StandIn { .. } => {
                    if let Target::Sync { at, .. } = event.target {
                        memory.used(at, event.thread);
                    }
                    *synchronises.entry(event.code).or_insert(0) += 1;
                }
                _ => _ = lifetimes(&mut memory, event),
            }
            summary.recorded += u64::from(!matches!(event.target, Target::Depth(_)));
            Ok(())
        })?;
        given.settle(&memory);
        let strange = memory.hide_strange(!approximate, &given);
        summary.unseen_writes = strange;
        summary.silent = modules.silent(synchronises);
        memory.rewind();
        let threads = whole.threads;
        let (branches, dependences) = (false, false);
        Ok(Recording {
            path,
            memory,
            modules,
            known,
            approximate,
            branches,
            dependences,
            without: None,
            threads,
            outside,
            lives,
            given,
            summary,
        })
    }

    /// What the program or library at an address is called.
    pub fn library(&self, at: u64) -> String {
        self.modules.library(at)
    }

    /// Says that all that ran tells of its branches. Without, those that some of it told of are left out.
    pub fn tells_branches(mut self) -> Recording<'p> {
        self.branches = !self.approximate;
        self
    }

    /// Looks for dependences, too, where all that ran tells of its branches and threads ran one at a time.
    pub fn find_dependences(mut self) -> Recording<'p> {
        self.dependences = self.branches && !self.approximate;
        self
    }

    /// Leaves out a rule of dependences, for tests that have to notice.
    pub fn without_rule(mut self, rule: Option<Rule>) -> Recording<'p> {
        self.without = rule;
        self
    }

    /// Writes a line for each branch: its thread, the way taken, a number for the ways that were left out since the one before,
    /// and its site.
    pub fn write_ways(&self, out: &mut dyn Write) -> Result<(), Error> {
        let mut namer = Namer::new(Rc::clone(&self.modules));
        let copies = |pair| copies(&self.modules, &self.known, pair);
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

    /// The places of the program itself that ran, in order: also those whose events are not in the trace.
    pub fn ran(&self) -> Result<Vec<u64>, Error> {
        let mut codes = hashbrown::HashSet::new();
        let copies = |pair| copies(&self.modules, &self.known, pair);
        raw::read(self.path, &copies, |event| {
            codes.insert(event.code);
            Ok(())
        })?;
        let located = codes.iter().filter_map(|&code| self.modules.locate(code));
        let mut ran: Vec<u64> =
            located.filter(|(module, _)| *module == 0).map(|(_, offset)| offset).collect();
        ran.sort_unstable();
        Ok(ran)
    }

    /// What its trace can promise. Where threads ran freely and raced, values do not agree with the order.
    pub fn capabilities(&self) -> Capabilities {
        let values = !self.approximate || self.summary.unseen_writes == 0;
        let (branches, dependences) = (self.branches, self.dependences);
        Capabilities { values, branches, dependences, approximate: self.approximate }
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
        self.write_with_dependences(writer, steps).map(|(summary, _)| summary)
    }

    /// The same; gives the dependences as well, where they were looked for.
    pub fn write_with_dependences<'w>(
        self,
        writer: &'w mut dyn TraceWriter,
        steps: Option<&'w mut dyn Write>,
    ) -> Result<(Summary, Option<Found>), Error> {
        let unwritable = |source| Error::Io { path: self.path.to_owned(), source };
        let steps = steps.map(|steps| StepWriter::new(steps, &self.modules));
        let steps = steps.transpose().map_err(unwritable)?;
        let values = self.capabilities().values;
        let Recording { path, memory, modules, known, approximate, branches, threads, .. } = self;
        let (outside, lives, given, mut summary) = (self.outside, self.lives, self.given, self.summary);
        let mut sieve = Sieve::new(memory.shared_words(&given), modules.program(), branches);
        sieve.all = self.dependences;
        let depend = self.dependences.then(|| Depending::new(Rc::clone(&modules), threads, self.without));
        let mut rewriter = Rewriter::new(memory, Namer::new(modules), writer, steps);
        rewriter.depend = depend;
        (rewriter.values, rewriter.approximate) = (values, approximate);
        rewriter.branches = branches.then(|| vec![false; threads as usize]);
        (rewriter.outside, rewriter.lives) = (outside.shared(), lives.shared());
        rewriter.given = given;
        rewriter.texts = std::fs::read(texts_path(path)).unwrap_or_default();
        for number in 0..threads {
            rewriter.namer.builder.thread(&thread_name(number))?;
        }
        // The first way through asked all that this one asks.
        let known = known.into_inner();
        let copies = |pair| known.get(&pair).is_some_and(|&copies| copies);
        sieve.run(path, &copies, |passed| rewriter.event(passed))?;
        rewriter.finish_steps().map_err(|source| Error::Io { path: path.to_owned(), source })?;
        rewriter.writer.stable_sites(rewriter.namer.builder.names())?;
        let found = rewriter.depend.take().map(Depending::end);
        if let Some(found) = &found {
            rewriter.writer.dependences(rewriter.namer.builder.names(), &found.table)?;
            let mut reasons: Vec<_> =
                found.reasons.iter().map(|(why, &count)| (why.clone(), count)).collect();
            reasons.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
            summary.dependent = Some(reasons);
        }
        rewriter.writer.finish()?;
        summary.written = rewriter.written;
        let sites = &rewriter.namer.builder.names().sites;
        let unseen = rewriter.unseen.iter().map(|(site, &count)| (sites.get(site.0).to_owned(), count));
        summary.unseen = unseen.collect();
        summary.unseen.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        summary.borders = rewriter.borders.crossed();
        summary.threads = threads as usize;
        Ok((summary, found))
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

#[inline]
fn touch(memory: &mut Memory, event: &RawEvent, at: u64, length: u8) {
    let (reads, writes) = (event.op.carries_read(), event.op.writes());
    let mut touch = |part: Part| {
        let read = reads.then_some(event.read >> (8 * part.offset));
        let written = writes.then_some(event.written >> (8 * part.offset));
        memory.touch(part, event.thread, read, written);
    };
    match only_part(at, length) {
        Some(part) => touch(part),
        None => parts(at, length).for_each(touch),
    }
}
