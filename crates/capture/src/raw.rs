//! A raw recording: its events one after another, with what their names stand for.
//!
//! The recorder in the program writes `.rw` blocks in which a variable is named by the number
//! `address * 32 + bytes`, or `m<address>+<bytes>` where a block of the heap is born or dies, or `k<address>+<bytes>`
//! for the stack of a thread that starts; a site is named by the address after its call; a lock and a condition variable
//! by `[<generation>#]<address>`. Files are read block by block; one that was cut off ends at its last whole block.

use std::fs::File;
use std::io::{self, BufReader, ErrorKind, Read};
use std::path::Path;

use reweave_wire::{
    Block, CHUNK_BYTES, Chunk, ChunkKind, Columns, Damaged, Decoder, FileHeader, HEADER_BYTES, MAX_PAYLOAD,
    Name, Op, Space, VERSION, Value, crc,
};

use crate::Error;

/// What the name of a variable stands for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Target {
    /// So many bytes of memory, from 1 to 8.
    Bytes { at: u64, length: u8 },
    /// A semaphore, barrier or the like.
    StandIn { at: u64, what: StandIn },
    /// A block of the heap.
    Heap { at: u64, length: u64 },
    /// The stack of a thread.
    Stack { at: u64, length: u64 },
    /// A lock or condition variable, by its address and how often there was one before.
    Sync { at: u64, generation: u32 },
    /// A thread, by its number in the recording.
    Thread(u32),
    /// Nothing.
    None,
}

/// What a variable that is no memory stands for.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum StandIn {
    Semaphore,
    Barrier,
    Once,
    Futex,
}

/// One event.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RawEvent {
    pub(crate) thread: u32,
    pub(crate) op: Op,
    pub(crate) target: Target,
    /// The address after the call that told of it; 0 where there is none.
    pub(crate) code: u64,
    pub(crate) read: u64,
    pub(crate) written: u64,
}

/// What the names of a recording stand for, by their ids.
#[derive(Default)]
struct Names {
    threads: Vec<String>,
    variables: Vec<Target>,
    locks: Vec<Target>,
    conditions: Vec<Target>,
    sites: Vec<u64>,
}

/// What reading a recording found beside its events.
#[derive(Debug)]
pub(crate) struct Whole {
    /// The names of threads, by their numbers.
    pub(crate) threads: Vec<String>,
    /// Whether it has its end: the recorder had time to write it.
    pub(crate) finished: bool,
}

/// Reads a recording and gives `each` its events in order.
pub(crate) fn read(
    path: &Path,
    mut each: impl FnMut(&RawEvent) -> Result<(), Error>,
) -> Result<Whole, Error> {
    let failed = |source| Error::Io { path: path.to_owned(), source };
    let mut input = BufReader::with_capacity(1 << 20, File::open(path).map_err(failed)?);
    let mut header = [0; HEADER_BYTES];
    if !fill(&mut input, &mut header).map_err(failed)? {
        return Err(Error::damaged(path, "it is shorter than its header"));
    }
    let header = FileHeader::decode(&header).map_err(|Damaged(what)| Error::damaged(path, what))?;
    if header.version != VERSION {
        return Err(Error::damaged(path, "it has another version"));
    }
    let mut reader = Reader::default();
    loop {
        let mut head = [0; CHUNK_BYTES];
        if !fill(&mut input, &mut head).map_err(failed)? {
            return Ok(Whole { threads: reader.names.threads, finished: false });
        }
        let head = Chunk::decode(&head).map_err(|Damaged(what)| Error::damaged(path, what))?;
        if head.kind == ChunkKind::Footer {
            return Ok(Whole { threads: reader.names.threads, finished: true });
        }
        if head.payload as usize > MAX_PAYLOAD {
            return Err(Error::damaged(path, "a block is larger than blocks may be"));
        }
        reader.payload.resize(head.payload as usize, 0);
        let mut payload = std::mem::take(&mut reader.payload);
        if !fill(&mut input, &mut payload).map_err(failed)? {
            return Ok(Whole { threads: reader.names.threads, finished: false });
        }
        if crc(&payload) != head.payload_crc {
            return Err(Error::damaged(path, "a block does not match its checksum"));
        }
        reader.decode(&head, &payload).map_err(|Damaged(what)| Error::damaged(path, what))?;
        reader.payload = payload;
        reader
            .give(&mut each)
            .map_err(|error| error.unwrap_or_else(|| Error::damaged(path, "an id has no name")))?;
    }
}

/// Fills `bytes`; false where the input ends before.
fn fill(input: &mut impl Read, bytes: &mut [u8]) -> io::Result<bool> {
    match input.read_exact(bytes) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == ErrorKind::UnexpectedEof => Ok(false),
        Err(error) => Err(error),
    }
}

/// A block in memory, and all names so far.
#[derive(Default)]
struct Reader {
    names: Names,
    payload: Vec<u8>,
    decoder: Box<Decoder>,
    ops: Vec<Op>,
    threads: Vec<u32>,
    targets: Vec<u32>,
    sites: Vec<u32>,
    values: Vec<Value>,
}

impl Reader {
    fn decode(&mut self, head: &Chunk, payload: &[u8]) -> Result<(), Damaged> {
        let block = Block::new(head, payload)?;
        let mut names = block.names();
        while let Some((space, name)) = names.next_name()? {
            self.names.add(space, &name)?;
        }
        let count = block.events();
        self.ops.resize(count, Op::Skip);
        for column in [&mut self.threads, &mut self.targets, &mut self.sites] {
            column.resize(count, 0);
        }
        let mut columns = Columns {
            ops: &mut self.ops,
            threads: &mut self.threads,
            targets: &mut self.targets,
            sites: &mut self.sites,
        };
        self.decoder.events(&block, &mut columns)?;
        self.values.clear();
        if block.has_values() {
            let values = &mut self.values;
            self.decoder.values(&block, &columns, &mut |op: Op, read, written| {
                values.extend(op.carries_read().then_some(read));
                values.extend(op.carries_written().then_some(written));
            })?;
        }
        Ok(())
    }

    /// Gives each event; an error without a reason is an id without a name.
    fn give(&self, each: &mut impl FnMut(&RawEvent) -> Result<(), Error>) -> Result<(), Option<Error>> {
        let mut values = self.values.iter();
        let columns = self.ops.iter().zip(&self.threads).zip(&self.targets).zip(&self.sites);
        for (((&op, &thread), &target), &site) in columns {
            let mut value = |there: bool| match values.next() {
                Some(Value::Number(number)) if there => *number,
                _ => 0,
            };
            let read = if op.carries_read() { value(true) } else { 0 };
            let written = if op.carries_written() { value(true) } else { 0 };
            let event = RawEvent {
                thread,
                op,
                target: self.names.target(op, target).ok_or(None)?,
                code: *self.names.sites.get(site as usize).ok_or(None)?,
                read,
                written,
            };
            self.names.threads.get(thread as usize).ok_or(None)?;
            each(&event).map_err(Some)?;
        }
        Ok(())
    }
}

impl Names {
    fn add(&mut self, space: Space, name: &Name<'_>) -> Result<(), Damaged> {
        let stem = [name.shared, name.rest].concat();
        let stem = std::str::from_utf8(&stem).map_err(|_| Damaged("a name is not text"))?;
        let unknown = Damaged("a name is not one that a recorder gives");
        match (space, name.number) {
            (Space::Thread, number) => {
                self.threads
                    .push(format!("{stem}{}", number.map(|number| number.to_string()).unwrap_or_default()));
            }
            (Space::Site, Some(number)) if stem.is_empty() => self.sites.push(number),
            (Space::Variable, Some(number)) if stem.is_empty() => {
                self.variables.push(numbered(number).ok_or(unknown)?);
            }
            (Space::Variable, Some(length)) => {
                let (kind, at) =
                    stem.strip_suffix('+').and_then(|stem| stem.split_at_checked(1)).ok_or(unknown)?;
                let at = at.parse().map_err(|_| unknown)?;
                self.variables.push(match kind {
                    "m" => Target::Heap { at, length },
                    "k" => Target::Stack { at, length },
                    _ => return Err(unknown),
                });
            }
            (Space::Lock, Some(at)) => self.locks.push(sync(stem, at).ok_or(unknown)?),
            (Space::Condition, Some(at)) => self.conditions.push(sync(stem, at).ok_or(unknown)?),
            _ => return Err(unknown),
        }
        Ok(())
    }

    fn target(&self, op: Op, id: u32) -> Option<Target> {
        let id = id as usize;
        match op.space() {
            Some(Space::Variable) => self.variables.get(id).copied(),
            Some(Space::Lock) => self.locks.get(id).copied(),
            Some(Space::Condition) => self.conditions.get(id).copied(),
            Some(Space::Thread) => self.threads.get(id).map(|_| Target::Thread(id as u32)),
            Some(_) => None,
            None => Some(Target::None),
        }
    }
}

/// What a number that names a variable stands for.
fn numbered(number: u64) -> Option<Target> {
    let at = number >> 5;
    Some(match number & 31 {
        length @ 1..=8 => Target::Bytes { at, length: length as u8 },
        16 => Target::StandIn { at, what: StandIn::Semaphore },
        17 => Target::StandIn { at, what: StandIn::Barrier },
        18 => Target::StandIn { at, what: StandIn::Once },
        19 => Target::StandIn { at, what: StandIn::Futex },
        _ => return None,
    })
}

fn sync(stem: &str, at: u64) -> Option<Target> {
    let generation = match stem.strip_suffix('#') {
        Some(generation) => generation.parse().ok()?,
        None if stem.is_empty() => 0,
        None => return None,
    };
    Some(Target::Sync { at, generation })
}
