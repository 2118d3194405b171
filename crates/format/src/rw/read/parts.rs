//! The reader of one block after another, of a file that need not be in memory, nor have an end yet.
//!
//! It says what the reader of whole files says, but for values, which it passes over: their block has its checksum.

use reweave_trace::{Batch, Builder};
use reweave_wire::{
    Block, CHUNK_BYTES, Chunk, ChunkKind, Columns, Damaged, Decoder, END_BYTES, FileHeader, HEADER_BYTES,
};

use super::super::names::Refused;
use super::super::scan::{Located, Scan, file_header, head};
use super::super::{codes, malformed};
use super::{Decoded, Whole, damaged};
use crate::Error;
use crate::error::Malformed;
use crate::source::Source;

/// How much is looked at at once for bytes that are not zero.
const PIECE: usize = 1 << 16;

/// A file under way.
pub(crate) struct Parts {
    header: FileHeader,
    scan: Scan,
    /// Where the next block is.
    at: usize,
    decoder: Box<Decoder>,
    decoded: Decoded,
    whole: Whole<'static>,
    ended: bool,
}

/// What was read.
enum Read {
    Block,
    Passed,
    End,
}

/// Why a file could not be read further.
pub(crate) enum Stopped {
    Malformed(Malformed),
    Io(Error),
}

impl From<Malformed> for Stopped {
    fn from(defect: Malformed) -> Stopped {
        Stopped::Malformed(defect)
    }
}

impl Parts {
    /// Reads the start of a file.
    pub(crate) fn new(source: &mut Source<'_>) -> Result<Parts, Stopped> {
        let header = file_header(&take(source, HEADER_BYTES)?)?;
        let whole = Whole::new(&[]);
        Ok(Parts {
            header,
            scan: Scan::new(header),
            at: HEADER_BYTES,
            decoder: Box::default(),
            decoded: Decoded::default(),
            whole,
            ended: false,
        })
    }

    /// The names so far, and the events of the last part.
    pub(crate) fn builder(&self) -> &Builder {
        &self.whole.builder
    }

    /// What the user should know about the file, complete at its end.
    pub(crate) fn notices(&self) -> &[String] {
        &self.scan.notices
    }

    /// Puts the events of the next block in the builder, in place of those before; false at the end.
    pub(crate) fn next(&mut self, source: &mut Source<'_>) -> Result<bool, Stopped> {
        self.whole.builder.forget_events();
        loop {
            match self.chunk(source)? {
                Read::Passed => {}
                Read::Block => return Ok(true),
                Read::End => return Ok(false),
            }
        }
    }

    fn chunk(&mut self, source: &mut Source<'_>) -> Result<Read, Stopped> {
        if self.ended {
            return Ok(Read::End);
        }
        let at = self.at;
        let bytes = take(source, CHUNK_BYTES)?;
        if bytes.first() == Some(&0) {
            if !zeros(&bytes, source)? {
                let message = "the file is damaged here: a block or the footer should start";
                return Err(malformed(at, message).into());
            }
            self.cut_off(false);
            return Ok(Read::End);
        }
        let Some(head) = head(&bytes).map_err(|message| malformed(at, message))? else {
            self.cut_off(bytes.is_empty());
            return Ok(Read::End);
        };
        let block = Located { at, head };
        if head.kind != ChunkKind::Footer {
            // Refused, if it is too large, before it takes memory.
            block.check_size()?;
        }
        let payload = take(source, head.payload as usize)?;
        if payload.len() < head.payload as usize {
            self.cut_off(false);
            return Ok(Read::End);
        }
        self.at += CHUNK_BYTES + payload.len();
        match head.kind {
            ChunkKind::Block => {
                self.scan.block(block)?;
                self.block(&block, &payload)?;
                Ok(Read::Block)
            }
            // Nobody who looks at a trace part by part looks at stacks.
            ChunkKind::Contexts => {
                self.scan.contexts(block)?;
                block.check(&payload)?;
                Ok(Read::Passed)
            }
            // Nor at dependences: they are of a whole trace.
            ChunkKind::Dependences => {
                self.scan.dependences(block)?;
                block.check(&payload)?;
                Ok(Read::Passed)
            }
            // Nor at what findings are named by.
            ChunkKind::Sites => {
                self.scan.sites(block)?;
                block.check(&payload)?;
                Ok(Read::Passed)
            }
            // Nor at how the run ended.
            ChunkKind::Ending => {
                self.scan.ending(block)?;
                block.check(&payload)?;
                Ok(Read::Passed)
            }
            ChunkKind::Footer => {
                self.footer(at, &head, &payload, &take(source, END_BYTES + 1)?)?;
                Ok(Read::End)
            }
        }
    }

    fn cut_off(&mut self, nothing_follows: bool) {
        self.ended = true;
        self.scan.cut_off(self.at, nothing_follows);
    }

    fn footer(&mut self, at: usize, head: &Chunk, payload: &[u8], rest: &[u8]) -> Result<(), Malformed> {
        self.ended = true;
        self.scan.footer(at, head, payload, self.header)?;
        self.scan.end(at, self.at, rest)?;
        match self.scan.names {
            Some((at, names)) if names != *self.whole.ids.counts() => {
                Err(malformed(at, "the footer disagrees with the file about the number of names"))
            }
            _ => Ok(()),
        }
    }

    fn block(&mut self, located: &Located, payload: &[u8]) -> Result<(), Malformed> {
        located.check(payload)?;
        self.decode(located, payload).map_err(|damage| damaged(located, damage))?;
        let undefined = || damaged(located, Damaged("an event refers to a name that is not defined"));
        self.whole.rename(&mut self.decoded).ok_or_else(undefined)?;
        let batch = Batch {
            kinds: &self.decoded.kinds,
            threads: &self.decoded.threads,
            targets: &self.decoded.targets,
            sites: &self.decoded.sites,
            values: None,
        };
        self.whole.builder.extend(&batch).map_err(|error| malformed(located.at, error.to_string()))
    }

    fn decode(&mut self, located: &Located, payload: &[u8]) -> Result<(), Damaged> {
        let block = Block::new(&located.head, payload)?;
        self.decoded.resize(block.events());
        let Decoded { ops, threads, targets, sites, kinds, .. } = &mut self.decoded;
        let mut columns = Columns { ops, threads, targets, sites };
        self.decoder.events(&block, &mut columns)?;
        kinds.clear();
        kinds.extend(columns.ops.iter().map(|&op| codes::kind(op)));
        self.whole.ids.add(&block, &mut self.whole.builder).map_err(|refused| match refused {
            Refused::Damaged(damage) => damage,
            Refused::Trace(_) => Damaged("its names are too many or too long"),
        })
    }
}

fn take<'a>(source: &mut Source<'a>, count: usize) -> Result<std::borrow::Cow<'a, [u8]>, Stopped> {
    source.take(count).map_err(|error| Stopped::Io(Error::io(error)))
}

/// Whether there are only zeros left, which a recorder that was killed leaves behind.
fn zeros(first: &[u8], source: &mut Source<'_>) -> Result<bool, Stopped> {
    let mut zeros = first.iter().all(|&byte| byte == 0);
    while zeros {
        let piece = take(source, PIECE)?;
        if piece.is_empty() {
            break;
        }
        zeros = piece.iter().all(|&byte| byte == 0);
    }
    Ok(zeros)
}
