//! The reader: blocks decoded on several threads, put together in order on one.
//!
//! Worker `w` of `n` decodes blocks `w`, `w + n`, … and holds at most two decoded ones, so memory beyond the trace is
//! bounded, and the result does not depend on `n`. Interning names and checking ids is left to the thread that puts
//! the blocks together. Linear in bytes plus events.

pub(super) mod parts;

use std::ops::Range;
use std::sync::mpsc;
use std::thread;

use reweave_trace::{Batch, Builder, Kind};
use reweave_wire::{Block, Claims, Columns, Damaged, Decoder, Op, SPACES, Space};

use super::contexts::{self, Around, Known};
use super::dependences;
use super::names::{Ids, Refused};
use super::scan::{Located, Scan, scan};
use super::values::DecodedValues;
use super::{codes, malformed};
use crate::error::Malformed;
use crate::huge;

/// What a file holds.
#[derive(Debug)]
pub(crate) struct Read {
    pub(crate) builder: Builder,
    /// What the user should know about the file.
    pub(crate) notices: Vec<String>,
}

/// Reads a file on up to `jobs` threads.
pub(crate) fn read(bytes: &[u8], jobs: usize) -> Result<Read, Malformed> {
    let scan = scan(bytes)?;
    let mut whole = Whole::new(bytes);
    whole.later = scan.contexts.iter().rev().copied().collect();
    let events = usize::try_from(scan.events).ok().filter(|&events| events < u32::MAX as usize);
    events
        .ok_or(reweave_trace::Error::TooMany { what: "events" })
        .and_then(|events| whole.builder.try_reserve(events))
        .map_err(|error| malformed(0, error.to_string()))?;
    if let Some((_, names)) = &scan.names {
        whole.expect(names);
    }
    whole.builder.reserved().into_iter().for_each(huge::fill);
    let workers = jobs.min(scan.blocks.len());
    if workers <= 1 || !whole.append_all(&scan.blocks, workers)? {
        let mut worker = Worker::new(bytes);
        let mut decoded = Decoded::default();
        for block in &scan.blocks {
            worker.decode(block, &mut decoded)?;
            whole.append(block, &mut decoded)?;
        }
    }
    whole.finish(scan)
}

/// The events of a block, as columns with the file's ids.
#[derive(Default)]
struct Decoded {
    ops: Vec<Op>,
    kinds: Vec<Kind>,
    threads: Vec<u32>,
    targets: Vec<u32>,
    sites: Vec<u32>,
    /// Empty where there are no values.
    values: DecodedValues,
}

impl Decoded {
    fn resize(&mut self, events: usize) {
        self.ops.resize(events, Op::Skip);
        self.threads.resize(events, 0);
        self.targets.resize(events, 0);
        self.sites.resize(events, 0);
        self.values.clear();
    }
}

/// Decodes blocks.
struct Worker<'b> {
    bytes: &'b [u8],
    decoder: Box<Decoder>,
}

impl<'b> Worker<'b> {
    fn new(bytes: &'b [u8]) -> Worker<'b> {
        Worker { bytes, decoder: Box::default() }
    }

    fn decode(&mut self, block: &Located, decoded: &mut Decoded) -> Result<(), Malformed> {
        let payload = block.payload(self.bytes)?;
        self.decode_payload(block, payload, decoded).map_err(|damage| damaged(block, damage))
    }

    fn decode_payload(
        &mut self,
        block: &Located,
        payload: &[u8],
        decoded: &mut Decoded,
    ) -> Result<(), Damaged> {
        let block = Block::new(&block.head, payload)?;
        decoded.resize(block.events());
        let Decoded { ops, threads, targets, sites, values, kinds } = decoded;
        let mut columns = Columns { ops, threads, targets, sites };
        self.decoder.events(&block, &mut columns)?;
        if block.has_values() {
            self.decoder.values(&block, &columns, values)?;
        }
        kinds.clear();
        kinds.extend(columns.ops.iter().map(|&op| codes::kind(op)));
        Ok(())
    }
}

fn damaged(block: &Located, damage: Damaged) -> Malformed {
    malformed(block.at, format!("the block here makes no sense: {}", damage.0))
}

/// The trace so far.
struct Whole<'b> {
    bytes: &'b [u8],
    builder: Builder,
    ids: Ids,
    contexts: Known,
    /// The contexts of blocks that were not read yet, the next one last.
    later: Vec<Located>,
    /// Where values are kept.
    values: Range<usize>,
}

impl<'b> Whole<'b> {
    fn new(bytes: &'b [u8]) -> Whole<'b> {
        Whole {
            bytes,
            builder: Builder::new(),
            ids: Ids::default(),
            contexts: Known::default(),
            later: Vec::new(),
            values: 0..0,
        }
    }

    /// Adds the contexts of the block that is being added, where it has some.
    fn add_contexts(&mut self, block: &Located, decoded: &Decoded) -> Result<(), Malformed> {
        let Some(contexts) = self.later.pop_if(|next| next.head.first_event == block.head.first_event) else {
            return Ok(());
        };
        let around = Around {
            first: self.builder.len(),
            threads: &decoded.threads,
            thread_table: self.ids.table(Space::Thread),
            site_table: self.ids.table(Space::Site),
        };
        let payload = contexts.payload(self.bytes)?;
        self.contexts.add(&contexts.head, payload, &around, &mut self.builder).map_err(
            |refused| match refused {
                contexts::Refused::Damaged(damage) => damaged(&contexts, damage),
                contexts::Refused::Trace(error) => malformed(contexts.at, error.to_string()),
            },
        )
    }

    /// Sets memory aside for as many names as the footer tells of.
    fn expect(&mut self, names: &[u32; SPACES]) {
        for (&space, &count) in Space::ALL.iter().zip(names) {
            if let Some(space) = codes::named(space) {
                self.builder.expect_names(space, count as usize);
            }
        }
    }

    /// Adds all blocks, which several threads decode; false, and nothing was added, where there is no memory for the threads.
    fn append_all(&mut self, blocks: &[Located], workers: usize) -> Result<bool, Malformed> {
        let bytes = self.bytes;
        thread::scope(|scope| {
            let lines: Option<Vec<_>> = (0..workers)
                .map(|first| {
                    let (send, receive) = mpsc::sync_channel::<Result<Decoded, Malformed>>(1);
                    let (give_back, used) = mpsc::channel::<Decoded>();
                    let work = move || {
                        let mut worker = Worker::new(bytes);
                        for block in blocks.iter().skip(first).step_by(workers) {
                            let mut decoded = used.try_recv().unwrap_or_default();
                            let result = worker.decode(block, &mut decoded).map(|()| decoded);
                            // The other side hangs up at the first error: nobody wants the rest.
                            if send.send(result).is_err() {
                                return;
                            }
                        }
                    };
                    thread::Builder::new().spawn_scoped(scope, work).ok().map(|_| (receive, give_back))
                })
                .collect();
            let Some(lines) = lines else { return Ok(false) };
            for (block, (receive, give_back)) in blocks.iter().zip(lines.iter().cycle()) {
                let hung_up = |_| malformed(block.at, "the thread that decodes this block stopped");
                let mut decoded = receive.recv().map_err(hung_up)??;
                self.append(block, &mut decoded)?;
                // A worker that has no block left takes nothing back.
                let _ = give_back.send(decoded);
            }
            Ok(true)
        })
    }

    fn append(&mut self, located: &Located, decoded: &mut Decoded) -> Result<(), Malformed> {
        let start = located.at + reweave_wire::CHUNK_BYTES;
        let payload = self.bytes.get(start..start + located.head.payload as usize).unwrap_or_default();
        let block = Block::new(&located.head, payload).map_err(|damage| damaged(located, damage))?;
        self.ids.add(&block, &mut self.builder).map_err(|refused| match refused {
            Refused::Damaged(damage) => damaged(located, damage),
            Refused::Trace(error) => malformed(located.at, error.to_string()),
        })?;
        self.add_contexts(located, decoded)?;
        self.rename(decoded)
            .and_then(|()| decoded.values.intern(&decoded.kinds, &mut self.builder, &self.ids))
            .ok_or_else(|| damaged(located, Damaged("an event refers to a name that is not defined")))?;
        let batch = Batch {
            kinds: &decoded.kinds,
            threads: &decoded.threads,
            targets: &decoded.targets,
            sites: &decoded.sites,
            values: decoded.values.batch(),
        };
        self.builder.extend(&batch).map_err(|error| malformed(located.at, error.to_string()))?;
        // The memory for values is set aside with the first one.
        let [.., values] = self.builder.reserved();
        if values != self.values {
            huge::fill(values.clone());
            self.values = values;
        }
        Ok(())
    }

    /// Turns ids of the file into ids of the builder, where they differ.
    fn rename(&self, decoded: &mut Decoded) -> Option<()> {
        let rename = |table: &[u32], id: &mut u32| {
            *id = *table.get(*id as usize)?;
            Some(())
        };
        if let Some(table) = self.ids.table(Space::Thread) {
            decoded.threads.iter_mut().try_for_each(|id| rename(table, id))?;
        }
        if let Some(table) = self.ids.table(Space::Site) {
            decoded.sites.iter_mut().try_for_each(|id| rename(table, id))?;
        }
        if Space::ALL.iter().any(|&space| space != Space::Site && self.ids.table(space).is_some()) {
            for (op, id) in decoded.ops.iter().zip(&mut decoded.targets) {
                if let Some(table) = op.space().and_then(|space| self.ids.table(space)) {
                    rename(table, id)?;
                }
            }
        }
        Some(())
    }

    fn finish(mut self, scan: Scan) -> Result<Read, Malformed> {
        if let Some((at, names)) = scan.names
            && names != *self.ids.counts()
        {
            return Err(malformed(at, "the footer disagrees with the file about the number of names"));
        }
        self.builder.claim(codes::capabilities(scan.claims));
        // Without a footer, what there is of the table is not of the whole trace.
        let parts = scan.dependences.iter().filter(|_| scan.claims.include(Claims::DEPENDENCES));
        for part in parts {
            let payload = part.payload(self.bytes)?;
            dependences::read(part, payload, self.ids.table(Space::Thread), &mut self.builder)
                .map_err(|damage| damaged(part, damage))?;
        }
        for part in &scan.sites {
            let sites = self.ids.table(Space::Site);
            super::sites::read(part, self.bytes, sites, &mut self.builder)?;
        }
        if let Some(ending) = &scan.ending {
            super::ending::read(ending, self.bytes, &mut self.builder)?;
        }
        Ok(Read { builder: self.builder, notices: scan.notices })
    }
}
