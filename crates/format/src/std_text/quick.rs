//! The quick path of the STD reader: plain lines with short names, most of them seen before.
//!
//! Fields are found and compared as words of eight bytes, not byte by byte, because branches on lengths that vary from line to
//! line are what reading text spends its time on. The path must never decide anything: it takes a line only if it
//! has the form `thread|op(target)|site[|value]`, the thread is one that the careful path has accepted in these very bytes,
//! and the other names are either that too or beyond doubt. It leaves all else to the careful path.

use reweave_trace::{Builder, Event, EventValues, Kind, Op, SiteId, ThreadId, Value};

/// What recurs, by its text: a memory of the last few thousand names.
#[derive(Default)]
pub(super) struct Quick {
    threads: Memory,
    variables: Memory,
    locks: Memory,
    sites: Memory,
}

/// How far a quick line can reach: four names, an operation and what separates them.
const REACH: usize = 4 * NAME_BYTES + 8;

/// The longest name that is remembered: two words.
const NAME_BYTES: usize = 16;

impl Quick {
    /// Remembers that a line's thread, as it is written, is `id`.
    pub(super) fn remember_thread(&mut self, name: &str, id: ThreadId) {
        if name.len() <= NAME_BYTES {
            let name = Name::of(name.as_bytes());
            if self.threads.get(&name).is_none() {
                self.threads.set(&name, id.0);
            }
        }
    }

    /// Pushes the events of lines from `start` on, as long as they are plain; answers with where it stopped, at
    /// the start of a line, and how many there were.
    pub(super) fn lines(&mut self, text: &str, start: usize, builder: &mut Builder) -> (usize, u32) {
        let (mut at, mut count) = (start, 0);
        while let Some(end) = self.line(text, at, builder) {
            at = end;
            count += 1;
        }
        (at, count)
    }

    /// Pushes the event of the line at `start`, if it is plain; answers with the start of the next one.
    #[inline]
    fn line(&mut self, text: &str, start: usize, builder: &mut Builder) -> Option<usize> {
        let bytes = text.as_bytes().get(start..start + REACH)?;
        let thread = Name::up_to(bytes, 0, b'|')?;
        let thread_id = self.threads.get(&thread)?;
        let op = thread.len + 1;
        let (kind, at) = match word(bytes, op)?.to_le_bytes() {
            [b'r', b'(', ..] => (Kind::Read, op + 2),
            [b'w', b'(', ..] => (Kind::Write, op + 2),
            [b'a', b'c', b'q', b'(', ..] => (Kind::Acquire, op + 4),
            [b'r', b'e', b'l', b'(', ..] => (Kind::Release, op + 4),
            _ => return None,
        };
        let target = Name::up_to(bytes, at, b')')?;
        let site_at = at + target.len + 2;
        if *bytes.get(site_at - 1)? != b'|' {
            return None;
        }
        let locks = matches!(kind, Kind::Acquire | Kind::Release);
        let memory = if locks { &mut self.locks } else { &mut self.variables };
        let target_id = match memory.get(&target) {
            Some(id) => id,
            None => {
                let id = builder.target(kind, plain(text, start + at, target.len)?).ok()?;
                memory.set(&target, id);
                id
            }
        };
        let (site, value) = Name::up_to_either(bytes, site_at, b'\n', b'|')?;
        let site_end = site_at + site.len;
        let (values, end) = match value {
            false => (EventValues::NONE, site_end),
            true if locks => return None,
            true => {
                let value = Name::up_to(bytes, site_end + 1, b'\n')?;
                let id = builder.value(Value::parse(plain(text, start + site_end + 1, value.len)?)).ok()?;
                let values = if kind == Kind::Read {
                    EventValues { read: Some(id), written: None }
                } else {
                    EventValues { read: None, written: Some(id) }
                };
                (values, site_end + 1 + value.len)
            }
        };
        let site_id = match self.sites.get(&site) {
            Some(id) => id,
            None => {
                let id = builder.site(plain(text, start + site_at, site.len)?).ok()?;
                self.sites.set(&site, id.0);
                id.0
            }
        };
        let event =
            Event { thread: ThreadId(thread_id), op: Op::new(kind, target_id), site: SiteId(site_id) };
        builder.push(event, values).ok()?;
        Some(start + end + 1)
    }
}

/// A name that is beyond doubt wherever it stands: not empty, and nothing in it that the careful path looks for.
#[inline]
fn plain(text: &str, start: usize, len: usize) -> Option<&str> {
    let name = text.get(start..start + len)?;
    let plain = |byte: u8| byte > b' ' && !matches!(byte, b'(' | b')' | b'|');
    (!name.is_empty() && name.bytes().all(plain)).then_some(name)
}

/// A text of up to 16 bytes: its first and last words, zeros where it is shorter.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
struct Name {
    words: [u64; 2],
    len: usize,
}

impl Name {
    fn of(bytes: &[u8]) -> Name {
        let mut padded = [0; NAME_BYTES];
        padded[..bytes.len()].copy_from_slice(bytes);
        Name { words: [0, 8].map(|at| word(&padded, at).unwrap_or(0)), len: bytes.len() }
    }

    /// The name at `start` that ends before `end`, if it is short enough.
    #[inline]
    fn up_to(bytes: &[u8], start: usize, end: u8) -> Option<Name> {
        Name::cut(bytes, start, |word| zeros(word ^ repeat(end)))
    }

    /// The name at `start` that ends before `end` or `other`, and whether it was `other`.
    #[inline]
    fn up_to_either(bytes: &[u8], start: usize, end: u8, other: u8) -> Option<(Name, bool)> {
        let name = Name::cut(bytes, start, |word| zeros(word ^ repeat(end)) | zeros(word ^ repeat(other)))?;
        Some((name, bytes[start + name.len] == other))
    }

    /// The name at `start` up to the first byte that `ends` marks in its highest bit.
    #[inline]
    fn cut(bytes: &[u8], start: usize, ends: impl Fn(u64) -> u64) -> Option<Name> {
        let first = word(bytes, start)?;
        let marks = ends(first);
        if marks != 0 {
            let len = (marks.trailing_zeros() / 8) as usize;
            return Some(Name { words: [first & below(len), 0], len });
        }
        let second = word(bytes, start + 8)?;
        let marks = ends(second);
        let len = (marks.trailing_zeros() / 8) as usize;
        (marks != 0).then(|| Name { words: [first, second & below(len)], len: 8 + len })
    }
}

/// Eight bytes as a number, the first one lowest.
#[inline]
fn word(bytes: &[u8], at: usize) -> Option<u64> {
    bytes.get(at..at + 8)?.first_chunk().map(|chunk| u64::from_le_bytes(*chunk))
}

/// The byte in every place of a word.
const fn repeat(byte: u8) -> u64 {
    u64::from_le_bytes([byte; 8])
}

/// Marks the highest bit of each byte that is zero; of those above the lowest marked one, others may be marked too.
#[inline]
fn zeros(word: u64) -> u64 {
    word.wrapping_sub(repeat(1)) & !word & repeat(0x80)
}

/// The bits of the first `len` bytes, less than 8.
#[inline]
fn below(len: usize) -> u64 {
    (1 << (8 * len)) - 1
}

/// Ids by name, as many as fit: a name can be forgotten for another. It starts small and grows with what it forgets,
/// so that a short text does not pay for a large memory.
struct Memory {
    entries: Vec<(Name, u32)>,
    shift: u32,
    /// How many names were set since it has this size.
    set: usize,
}

/// A memory's first size, last size and growth, as powers of 2.
const FIRST_BITS: u32 = 4;
const LAST_BITS: u32 = 12;
const GROWTH_BITS: u32 = 2;

impl Default for Memory {
    fn default() -> Memory {
        Memory::new(FIRST_BITS)
    }
}

impl Memory {
    fn new(bits: u32) -> Memory {
        // No name has this length: empty entries match nothing.
        let nothing = Name { len: usize::MAX, ..Name::default() };
        Memory { entries: vec![(nothing, 0); 1 << bits], shift: 64 - bits, set: 0 }
    }

    #[inline]
    fn slot(&self, name: &Name) -> usize {
        let [first, second] = name.words;
        let mixed = (first ^ second.rotate_left(29)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        (mixed >> self.shift) as usize
    }

    #[inline]
    fn get(&self, name: &Name) -> Option<u32> {
        let (known, id) = self.entries[self.slot(name)];
        (known == *name).then_some(id)
    }

    #[inline]
    fn set(&mut self, name: &Name, id: u32) {
        self.set += 1;
        if self.set > 2 * self.entries.len() && self.shift > 64 - LAST_BITS {
            *self = Memory::new(64 - self.shift + GROWTH_BITS);
        }
        let slot = self.slot(name);
        self.entries[slot] = (*name, id);
    }
}
