//! The second way through a recording, up to the events that a trace may have.
//!
//! Most of what is recorded concerns one thread only. So this counts every event and passes on few, and it does so beside
//! the writer of the trace.

use std::ops::Range;
use std::path::Path;
use std::sync::mpsc;
use std::thread;

use hashbrown::HashMap;
use reweave_wire::Op;

use crate::Error;
use crate::memory::SharedWords;
use crate::raw::{self, Pair, RawEvent, Target};
use crate::word::{only_part, parts};

/// How many events are passed on at once, and how many times so many may wait.
const BATCH: usize = 1 << 12;
const BATCHES: usize = 8;

/// An event that a trace may have.
#[derive(Clone, Copy)]
pub(crate) struct Passed {
    pub(crate) event: RawEvent,
    /// Its index among the events of its thread at its instruction, counted from 1.
    pub(crate) occurrence: u64,
    /// How many events of its thread were in the program so far, this one included.
    pub(crate) own: u64,
}

/// What a sieve has to know.
pub(crate) struct Sieve {
    shared: SharedWords,
    /// Whether to pass on bytes that are read in turn, of all threads.
    in_turn: bool,
    /// Whether to pass on everything.
    pub(crate) all: bool,
    counts: Counts,
    batch: Vec<Passed>,
}

impl Sieve {
    /// Passes on accesses to the words that are `shared`, and all that is no access to memory; `program` is where the
    /// program itself lies. Bytes that are read `in_turn` decide what comes next, of all threads.
    pub(crate) fn new(shared: SharedWords, program: Range<u64>, in_turn: bool) -> Sieve {
        Sieve { shared, in_turn, all: false, counts: Counts::new(program), batch: Vec::with_capacity(BATCH) }
    }

    /// Goes through the recording at `path` on another thread and gives `each` what passes.
    pub(crate) fn run(
        mut self,
        path: &Path,
        copies: &(dyn Fn(Pair) -> bool + Sync),
        mut each: impl FnMut(&Passed) -> Result<(), Error>,
    ) -> Result<(), Error> {
        thread::scope(|scope| {
            let (send, batches) = mpsc::sync_channel(BATCHES);
            let read = move || {
                raw::read(path, &|pair| copies(pair), |event| self.event(event, &send))?;
                // Whoever does not listen any more has an error of its own.
                let _ = send.send(self.batch);
                Ok(())
            };
            let made = thread::Builder::new().spawn_scoped(scope, read);
            let reader = made.map_err(|error| Error::no_thread(path, &error))?;
            for batch in batches {
                batch.iter().try_for_each(&mut each)?;
            }
            reader.join().unwrap_or_else(|_| Err(Error::damaged(path, "it could not be read to its end")))
        })
    }

    #[inline]
    fn event(&mut self, event: &RawEvent, send: &mpsc::SyncSender<Vec<Passed>>) -> Result<(), Error> {
        let (occurrence, own) = self.counts.count(event);
        if let Target::Bytes { at, length } = event.target
            && !self.shared.has(at)
            && (only_part(at, length).is_some() || !parts(at, length).any(|part| self.shared.has(part.at)))
            && !(event.in_turn && self.in_turn)
            && !self.all
        {
            return Ok(());
        }
        self.batch.push(Passed { event: *event, occurrence, own });
        if self.batch.len() < BATCH {
            return Ok(());
        }
        let batch = std::mem::replace(&mut self.batch, Vec::with_capacity(BATCH));
        let gone = |_| Error::Io { path: "trace".into(), source: std::io::ErrorKind::BrokenPipe.into() };
        send.send(batch).map_err(gone)
    }
}

/// How often each thread was at each place of code, and how often in the program.
struct Counts {
    program: Range<u64>,
    /// Where in `occurrences` a thread's at a place are.
    places: HashMap<(u64, u32), u32>,
    /// The places that were looked for last.
    recent: Vec<(u64, u32, u32)>,
    occurrences: Vec<u64>,
    own: Vec<u64>,
}

const RECENT: usize = 1 << 12;

impl Counts {
    fn new(program: Range<u64>) -> Counts {
        Counts {
            program,
            places: [((0, 0), 0)].into_iter().collect(),
            recent: vec![(0, 0, 0); RECENT],
            occurrences: vec![0],
            own: Vec::new(),
        }
    }

    /// Counts an event, whatever becomes of it; says how many there were at its place and in the program.
    #[inline]
    fn count(&mut self, event: &RawEvent) -> (u64, u64) {
        let thread = event.thread as usize;
        if self.own.len() <= thread {
            self.own.resize(thread + 1, 0);
        }
        let place = self.place(event.code, event.thread);
        let (own, occurrence) = (&mut self.own[thread], &mut self.occurrences[place]);
        let lifetime = matches!(event.op, Op::Alloc | Op::Free);
        // Calls and returns are told where something else is, and branches not always: they are no steps. Nor is what libc
        // allocates in a call that had to wait, which has no place.
        let is_none = matches!(event.op, Op::Enter | Op::Exit | Op::Branch) || lifetime && event.code == 0;
        if !event.part && !is_none {
            *occurrence += 1;
            let counts = !lifetime && self.program.contains(&event.code);
            *own += u64::from(counts);
        }
        (*occurrence, *own)
    }

    #[inline]
    fn place(&mut self, code: u64, thread: u32) -> usize {
        let hash = code ^ code >> 12 ^ u64::from(thread) << 7;
        let recent = &mut self.recent[hash as usize % RECENT];
        if (recent.0, recent.1) != (code, thread) {
            let next = self.occurrences.len() as u32;
            let place = *self.places.entry((code, thread)).or_insert(next);
            if place == next {
                self.occurrences.push(0);
            }
            *recent = (code, thread, place);
        }
        recent.2 as usize
    }
}
