//! The steps of a recording: for every event of its trace, the place of code and how often its thread had been there.
//!
//! A trace names sites as people do; to find the same event again in another run, a replay needs the place of code, as an
//! offset in its module, the occurrence, and the number of the event among its thread's own. These lie beside the trace,
//! in a file that is compressed and read from its start. After a magic line come lines of text with the modules, which end
//! with an empty one. Then each event has: the number of its place,
//! counted from 1 (a new one is followed by its module, counted from 1, and offset), how much its thread's own number grew,
//! and how much the occurrence grew since the thread's last event at that place. All numbers are LEB128. A 0 ends the events;
//! lines of text with the threads follow.
//!
//! *Occurrences* count the calls of hooks at a place that told of an event, whether it is in the trace or not: so they mean the
//! same to the runtime, which does not know what was left out. *Own numbers* count them over all places of the program
//! itself, without allocations, which libc also does when it pleases. Those that have no place, because libc did them in a call
//! that had to wait, are no occurrences either.

use std::io::{self, BufRead, Read, Write};

use hashbrown::HashMap;
use reweave_trace::{ThreadId, Trace};
use reweave_wire::Op;

use crate::convert::thread_name;
use crate::modules::Modules;
use crate::raw::{RawEvent, Target};

const MAGIC: &[u8] = b"reweave steps 1\n";

/// A place of code: an offset in a module.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct CodePlace {
    /// The module, by its place in the list; none where the recorder does not know.
    pub module: Option<u32>,
    /// The offset from where the module begins in memory.
    pub offset: u64,
}

/// A step of a thread.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Step {
    /// Where.
    pub place: CodePlace,
    /// The how-manieth event of its thread there, counted from 1.
    pub occurrence: u64,
    /// The how-manieth event of its thread in the program; 0 where there was none yet.
    pub own: u64,
}

/// The build of a file that is neither program nor library.
pub const NO_BUILD: &str = "none";

/// A file that was mapped.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ModuleFile {
    /// The name of the file, without its folder.
    pub name: String,
    /// What tells this build from others; [`NO_BUILD`] for data.
    pub build: String,
}

/// Where a thread was made: the how-manieth by its parent at a place.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Creation {
    /// The thread that made it.
    pub parent: String,
    /// Where.
    pub place: CodePlace,
    /// The how-manieth there, counted from 1.
    pub nth: u64,
}

/// What a file of steps says beside the steps.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub struct About {
    /// The modules; the first is the program.
    pub modules: Vec<ModuleFile>,
    /// Threads by their name in the trace, with where they were made.
    pub threads: Vec<(String, Creation)>,
}

/// Writes steps while a recording is gone through.
pub(crate) struct StepWriter<'w> {
    out: zstd::stream::write::Encoder<'static, &'w mut dyn Write>,
    /// What is to be compressed next: many small pieces would take their time.
    pending: Vec<u8>,
    places: HashMap<u64, u32>,
    /// The last event's code and place.
    recent: (u64, u32),
    /// What was written last, per thread and per thread and place.
    last_own: Vec<u64>,
    last_occurrence: HashMap<(u32, u32), u64>,
    made: HashMap<(u32, u64), u64>,
    threads: Vec<(u32, u32, u64, u64)>,
}

fn grow(list: &mut Vec<u64>, thread: u32) -> &mut u64 {
    let place = thread as usize;
    if list.len() <= place {
        list.resize(place + 1, 0);
    }
    &mut list[place]
}

/// How much is compressed at once.
const PENDING: usize = 1 << 16;
const NO_PLACE: u32 = u32::MAX;

fn number(out: &mut Vec<u8>, mut number: u64) {
    while number > 0x7F {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

impl<'w> StepWriter<'w> {
    pub(crate) fn new(out: &'w mut dyn Write, modules: &Modules) -> io::Result<StepWriter<'w>> {
        let mut out = zstd::stream::write::Encoder::new(out, 3)?;
        out.write_all(MAGIC)?;
        for file in modules.files() {
            writeln!(out, "module\t{}\t{}", file.build, clean(&file.name))?;
        }
        writeln!(out)?;
        Ok(StepWriter {
            out,
            pending: Vec::with_capacity(PENDING + 64),
            places: HashMap::new(),
            recent: (0, NO_PLACE),
            last_own: Vec::new(),
            last_occurrence: HashMap::new(),
            made: HashMap::new(),
            threads: Vec::new(),
        })
    }

    /// Takes note of an event that makes a thread.
    pub(crate) fn note(&mut self, event: &RawEvent) {
        if let (Op::Fork, Target::Thread(child), false) = (event.op, event.target, event.part) {
            let made = self.made.entry((event.thread, event.code)).or_insert(0);
            *made += 1;
            self.threads.push((child, event.thread, event.code, *made));
        }
    }

    /// Writes the step of the next event of the trace.
    pub(crate) fn put(
        &mut self,
        event: &RawEvent,
        (occurrence, own): (u64, u64),
        modules: &Modules,
    ) -> io::Result<()> {
        if self.pending.len() >= PENDING {
            self.out.write_all(&self.pending)?;
            self.pending.clear();
        }
        let place = self.place(event.code, modules);
        let last = grow(&mut self.last_own, event.thread);
        number(&mut self.pending, own - *last);
        *last = own;
        let last = self.last_occurrence.entry((event.thread, place)).or_insert(0);
        number(&mut self.pending, occurrence - *last);
        *last = occurrence;
        Ok(())
    }

    /// Writes the number of a place, and what it is where it is new.
    fn place(&mut self, code: u64, modules: &Modules) -> u32 {
        if self.recent.0 == code && self.recent.1 != NO_PLACE {
            number(&mut self.pending, u64::from(self.recent.1) + 1);
            return self.recent.1;
        }
        let next = self.places.len() as u32;
        let place = *self.places.entry(code).or_insert(next);
        self.recent = (code, place);
        number(&mut self.pending, u64::from(place) + 1);
        if place == next {
            let (module, offset) =
                modules.locate(code).map_or((0, 0), |(module, offset)| (module as u64 + 1, offset));
            number(&mut self.pending, module);
            number(&mut self.pending, offset);
        }
        place
    }

    pub(crate) fn finish(mut self, modules: &Modules) -> io::Result<()> {
        number(&mut self.pending, 0);
        self.out.write_all(&self.pending)?;
        for &(child, parent, code, nth) in &self.threads {
            let (module, offset) = modules.locate(code).map_or((-1, 0), |(module, at)| (module as i64, at));
            let name = thread_name;
            writeln!(self.out, "thread\t{}\t{}\t{module}\t{offset}\t{nth}", name(child), name(parent))?;
        }
        self.out.finish()?.flush()
    }
}

/// Without what separates fields.
fn clean(name: &str) -> String {
    name.replace(['\t', '\n', ' '], "_")
}

/// Why a file of steps was refused.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StepsError {
    /// It could not be read.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// It is not one, or damaged.
    #[error("it is not a file of steps, or damaged: {0}")]
    Damaged(&'static str),
    /// It belongs to another trace.
    #[error("it belongs to another trace: it has {0} events")]
    Other(usize),
}

struct Reader<R> {
    input: R,
}

impl<R: Read> Reader<R> {
    fn number(&mut self) -> Result<u64, StepsError> {
        let mut value = 0u64;
        for shift in (0..64).step_by(7) {
            let mut byte = [0];
            self.input.read_exact(&mut byte)?;
            value |= u64::from(byte[0] & 0x7F) << shift;
            if byte[0] < 0x80 {
                return Ok(value);
            }
        }
        Err(StepsError::Damaged("a number is too long"))
    }
}

/// The modules of a recording, from the file of its steps; the first is the program.
pub fn read_modules(input: impl Read) -> Result<Vec<ModuleFile>, StepsError> {
    let mut input = io::BufReader::new(zstd::stream::read::Decoder::new(input)?);
    modules(&mut input)
}

/// The longest line, and the most lines, that tell of modules.
const MOST: u64 = 1 << 16;

fn modules(input: &mut impl BufRead) -> Result<Vec<ModuleFile>, StepsError> {
    let mut magic = [0; MAGIC.len()];
    input.read_exact(&mut magic)?;
    if magic != *MAGIC {
        return Err(StepsError::Damaged("it does not begin as one"));
    }
    let mut modules = Vec::new();
    for _ in 0..MOST {
        let mut line = String::new();
        input.take(MOST).read_line(&mut line)?;
        let Some(line) = line.strip_suffix('\n') else { break };
        match line.split('\t').collect::<Vec<&str>>()[..] {
            [""] => return Ok(modules),
            ["module", build, name] => {
                modules.push(ModuleFile { name: name.to_owned(), build: build.to_owned() });
            }
            _ => break,
        }
    }
    Err(StepsError::Damaged("a line that tells of a module is not understood"))
}

/// Reads the steps of `trace`, and gives `each` those of its events in order.
pub fn read_steps(
    input: impl Read,
    trace: &Trace,
    mut each: impl FnMut(usize, Step),
) -> Result<About, StepsError> {
    let mut input = io::BufReader::new(zstd::stream::read::Decoder::new(input)?);
    let modules = modules(&mut input)?;
    let mut reader = Reader { input };
    let mut places: Vec<CodePlace> = Vec::new();
    let mut own: HashMap<ThreadId, u64> = HashMap::new();
    let mut occurrences: HashMap<(ThreadId, u64), u64> = HashMap::new();
    let mut events = trace.events();
    let mut count = 0;
    loop {
        let place = match reader.number()? {
            0 => break,
            place => place - 1,
        };
        if place == places.len() as u64 {
            let module = reader.number()?;
            let module = u32::try_from(module).map_err(|_| StepsError::Damaged("a module is not one"))?;
            places.push(CodePlace { module: module.checked_sub(1), offset: reader.number()? });
        }
        let found = usize::try_from(place).ok().and_then(|place| places.get(place));
        let Some(&found) = found else { return Err(StepsError::Damaged("a place is not one")) };
        let Some((_, event)) = events.next() else { return Err(StepsError::Other(count + 1)) };
        let own = own.entry(event.thread).or_insert(0);
        *own = own.wrapping_add(reader.number()?);
        let occurrence = occurrences.entry((event.thread, place)).or_insert(0);
        *occurrence = occurrence.wrapping_add(reader.number()?);
        each(count, Step { place: found, occurrence: *occurrence, own: *own });
        count += 1;
    }
    if events.next().is_some() {
        return Err(StepsError::Other(count));
    }
    let mut text = String::new();
    reader.input.take(1 << 26).read_to_string(&mut text)?;
    about(&text, modules)
}

fn about(text: &str, modules: Vec<ModuleFile>) -> Result<About, StepsError> {
    let mut about = About { modules, threads: Vec::new() };
    let wrong = StepsError::Damaged("a line at its end is not understood");
    for line in text.lines() {
        let fields: Vec<&str> = line.split('\t').collect();
        match fields[..] {
            ["thread", name, parent, module, offset, nth] => {
                let (Ok(module), Ok(offset), Ok(nth)) = (module.parse::<i64>(), offset.parse(), nth.parse())
                else {
                    return Err(wrong);
                };
                let place = CodePlace { module: u32::try_from(module).ok(), offset };
                about.threads.push((name.to_owned(), Creation { parent: parent.to_owned(), place, nth }));
            }
            _ => return Err(wrong),
        }
    }
    Ok(about)
}

/// What tells the build of a program or library from others: its build id, else a checksum of the file.
pub fn build_of(bytes: &[u8]) -> String {
    use object::Object;
    let id =
        object::File::parse(bytes).ok().and_then(|file| file.build_id().ok().flatten().map(<[u8]>::to_vec));
    match id {
        Some(id) => id.iter().map(|byte| format!("{byte:02x}")).collect(),
        None => format!("crc{:08x}-{}", reweave_wire::crc(bytes), bytes.len()),
    }
}
