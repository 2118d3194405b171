//! The memory of the recorded program: which object is where, how it is cut, who touched it, what it held.
//!
//! *Cuts.* Memory is looked at in words of eight aligned bytes. Each access marks where in a word it begins and ends;
//! after a look at the whole recording, a variable is what lies between two marks. So every access is a union of
//! variables, and two accesses share a variable exactly when they share a byte. A word that is cut in one life of its
//! address is cut in all: finer than needed, never wrong.
//!
//! *Who touched it.* A word that one thread alone touched, in an object that it also allocated and freed, is in no
//! conflict, its reads observe that thread's own writes, and no schedule can change that: its accesses can be dropped,
//! and are. Nothing else is. This is exact because it is decided after the whole recording was seen.
//!
//! *What it held.* Each byte's last value, as far as it is known. A read that observes something else shows a write that
//! was not recorded, by code that was not compiled with `reweave cc`. The word is *hidden* from then on and from before.

use std::cell::Cell;

use hashbrown::{HashMap, HashSet};

const PAGE_WORDS: usize = 512;
const PAGE_BYTES: u64 = 4096;
const RECENT: usize = 1 << 10;

/// An object: a block of the heap or the stack of a thread. Number 0 is everything else.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Object {
    pub(crate) at: u64,
    pub(crate) length: u64,
    /// The thread that allocated it, or whose stack it is.
    pub(crate) owner: u32,
    /// Where it was allocated.
    pub(crate) code: u64,
    /// The thread that freed it.
    freed_by: Option<u32>,
    /// Where it was freed.
    pub(crate) freed_at: u64,
    /// Whether anybody is known to have touched it in between.
    pub(crate) touched: bool,
    /// Whether more than one thread had to do with it.
    pub(crate) shared: bool,
    pub(crate) is_stack: bool,
}

#[derive(Clone, Copy)]
struct Word {
    /// The object, or `INHERIT` the page's.
    object: u32,
    /// The thread that touched it first, plus one.
    first: u32,
    /// A bit per byte: a variable starts there. A word's first byte always starts one.
    starts: u8,
    several: bool,
    /// A bit per byte: its value is known.
    known: u8,
    value: u64,
}

const INHERIT: u32 = u32::MAX;
const FRESH: Word = Word { object: INHERIT, first: 0, starts: 1, several: false, known: 0, value: 0 };

impl Word {
    #[inline]
    fn touch(&mut self, part: Part, thread: u32) {
        let start = (part.at % 8) as u8;
        self.starts |= 1 << start;
        if let Some(end) = 1u8.checked_shl(u32::from(start + part.length)) {
            self.starts |= end;
        }
        if self.first == 0 {
            self.first = thread + 1;
        }
        self.several |= self.first != thread + 1;
    }

    #[inline]
    fn observe(&mut self, part: Part, value: u64) -> bool {
        let shift = (part.at % 8) as u32;
        let known = self.known >> shift & ((1u16 << part.length) - 1) as u8;
        let differs = (self.value >> (8 * shift) ^ value) & BYTES[usize::from(known)] != 0;
        self.store(part, value);
        differs
    }

    #[inline]
    fn store(&mut self, part: Part, value: u64) {
        let shift = 8 * (part.at % 8) as u32;
        let mask = if part.length == 8 { u64::MAX } else { (1 << (8 * part.length)) - 1 };
        self.value = self.value & !(mask << shift) | (value & mask) << shift;
        self.known |= (((1u16 << part.length) - 1) as u8) << (part.at % 8);
    }
}

/// All bits of the bytes whose bit is set.
const BYTES: [u64; 256] = {
    let mut masks = [0; 256];
    let mut bits = 0;
    while bits < 256 {
        let mut byte = 0;
        while byte < 8 {
            if bits >> byte & 1 != 0 {
                masks[bits] |= 0xFF << (8 * byte);
            }
            byte += 1;
        }
        bits += 1;
    }
    masks
};

struct Page {
    object: u32,
    words: Option<Box<[Word; PAGE_WORDS]>>,
}

/// A part of an access that lies in one word: its address, its length, and where in the access it begins.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Part {
    pub(crate) at: u64,
    pub(crate) length: u8,
    pub(crate) offset: u8,
}

/// The parts of an access of up to eight bytes.
pub(crate) fn parts(at: u64, length: u8) -> impl Iterator<Item = Part> {
    let first = length.min(8 - (at % 8) as u8);
    [
        Part { at, length: first, offset: 0 },
        Part { at: at + u64::from(first), length: length - first, offset: first },
    ]
    .into_iter()
    .filter(|part| part.length > 0)
}

/// The memory at some time of the recording.
pub(crate) struct Memory {
    /// Where in `pages` each page is, by its number.
    places: HashMap<u64, u32>,
    pages: Vec<Page>,
    /// The pages that were looked for last: most accesses are to few.
    recent: Vec<Cell<(u64, u32)>>,
    pub(crate) objects: Vec<Object>,
    /// The next object to be born, when the recording is gone through again.
    next: u32,
    /// Words that held what no recorded write left there, by object and address.
    strange: HashSet<(u32, u64)>,
    hidden: HashSet<(u32, u64)>,
}

impl Memory {
    pub(crate) fn new() -> Memory {
        let rest = Object {
            at: 0,
            length: 0,
            owner: 0,
            code: 0,
            freed_by: None,
            freed_at: 0,
            touched: true,
            shared: true,
            is_stack: false,
        };
        Memory {
            places: HashMap::new(),
            pages: Vec::new(),
            recent: vec![Cell::new((u64::MAX, 0)); RECENT],
            objects: vec![rest],
            next: 1,
            strange: HashSet::new(),
            hidden: HashSet::new(),
        }
    }

    /// Starts again at the beginning of the recording; cuts, and who touched what, stay known.
    pub(crate) fn rewind(&mut self) {
        self.next = 1;
        for page in &mut self.pages {
            page.object = 0;
            for word in page.words.iter_mut().flat_map(|words| words.iter_mut()) {
                word.object = INHERIT;
                word.known = 0;
            }
        }
    }

    /// Where the page of `at` is, if there is one.
    #[inline]
    fn find(&self, at: u64) -> Option<usize> {
        let number = at / PAGE_BYTES;
        let recent = self.recent.get(number as usize % RECENT)?;
        let (known, place) = recent.get();
        if known == number {
            return Some(place as usize);
        }
        let place = *self.places.get(&number)?;
        recent.set((number, place));
        Some(place as usize)
    }

    #[inline]
    fn page(&mut self, at: u64) -> &mut Page {
        let place = self.find(at).unwrap_or_else(|| {
            let place = self.pages.len();
            self.pages.push(Page { object: 0, words: None });
            self.places.insert(at / PAGE_BYTES, place as u32);
            place
        });
        &mut self.pages[place]
    }

    fn word(&mut self, at: u64) -> &mut Word {
        self.word_and_object(at).0
    }

    /// The word at `at`, and the object that has it.
    #[inline]
    fn word_and_object(&mut self, at: u64) -> (&mut Word, u32) {
        let page = self.page(at);
        let words = page.words.get_or_insert_with(|| Box::new([FRESH; PAGE_WORDS]));
        let word = &mut words[(at % PAGE_BYTES / 8) as usize];
        let object = if word.object == INHERIT { page.object } else { word.object };
        (word, object)
    }

    /// The object that has the byte at `at`.
    pub(crate) fn object_at(&self, at: u64) -> u32 {
        let Some(page) = self.find(at).and_then(|place| self.pages.get(place)) else { return 0 };
        match page.words.as_ref().map(|words| words[(at % PAGE_BYTES / 8) as usize].object) {
            None | Some(INHERIT) => page.object,
            Some(object) => object,
        }
    }

    /// An object is born; whether for the first time tells if the recording is gone through for the first time.
    pub(crate) fn born(&mut self, at: u64, length: u64, owner: u32, code: u64, is_stack: bool) -> u32 {
        let object = self.next;
        self.next += 1;
        if object as usize == self.objects.len() {
            self.objects.push(Object {
                at,
                length,
                owner,
                code,
                freed_by: None,
                freed_at: 0,
                touched: false,
                shared: false,
                is_stack,
            });
        }
        self.assign(at, length, Some(object));
        object
    }

    /// The object at `at` dies; none where none is known to begin there.
    pub(crate) fn dies(&mut self, at: u64, by: u32, code: u64) -> Option<u32> {
        let number = self.object_at(at);
        let object = self.objects.get_mut(number as usize).filter(|object| object.at == at && number != 0)?;
        object.shared |= object.owner != by;
        object.freed_by = Some(by);
        object.freed_at = code;
        let length = object.length;
        self.assign(at, length, None);
        Some(number)
    }

    /// Gives a range to an object, if there is one, and forgets what it held.
    fn assign(&mut self, at: u64, length: u64, object: Option<u32>) {
        let end = at.saturating_add(length.max(1));
        let mut at = at / 8 * 8;
        while at < end {
            let page = self.page(at);
            let page_end = (at / PAGE_BYTES + 1) * PAGE_BYTES;
            let whole = at.is_multiple_of(PAGE_BYTES) && page_end <= end;
            if let (true, Some(object)) = (whole, object) {
                page.object = object;
            }
            let stop = page_end.min(end);
            if page.words.is_some() || (!whole && object.is_some()) {
                let words = page.words.get_or_insert_with(|| Box::new([FRESH; PAGE_WORDS]));
                for word in at % PAGE_BYTES / 8..(stop - at / PAGE_BYTES * PAGE_BYTES).div_ceil(8) {
                    let word = &mut words[word as usize];
                    word.known = 0;
                    if let Some(object) = object {
                        word.object = if whole { INHERIT } else { object };
                    }
                }
            }
            at = page_end;
        }
    }

    /// Notes on the first way through that `thread` touched a part, and what it read and wrote there; whether a write before
    /// it was not recorded.
    pub(crate) fn touch(&mut self, part: Part, thread: u32, read: Option<u64>, written: Option<u64>) -> bool {
        let (word, object) = self.word_and_object(part.at);
        word.touch(part, thread);
        let strange = read.is_some_and(|value| word.observe(part, value));
        if let Some(value) = written {
            word.store(part, value);
        }
        if let Some(object) = self.objects.get_mut(object as usize) {
            object.shared |= object.owner != thread;
            object.touched = true;
        }
        strange
    }

    /// Whether accesses to the word at `at` can matter to another thread.
    pub(crate) fn matters(&mut self, at: u64) -> bool {
        let (&mut word, number) = self.word_and_object(at);
        self.matters_as(number, word)
    }

    /// The same in a certain life of its address.
    fn matters_as(&self, number: u32, word: Word) -> bool {
        let Word { first, several, .. } = word;
        let Some(object) = self.objects.get(number as usize).filter(|_| number != 0) else { return several };
        let foreign = |thread: u32| first != thread + 1;
        object.shared && (several || foreign(object.owner) || object.freed_by.is_some_and(foreign))
    }

    /// A read of a part observed `value`: whether a write before it was not recorded.
    pub(crate) fn observe(&mut self, part: Part, value: u64) -> bool {
        self.word(part.at).observe(part, value)
    }

    /// A part was written.
    pub(crate) fn store(&mut self, part: Part, value: u64) {
        self.word(part.at).store(part, value);
    }

    /// Takes note that this word holds what no recorded write left there.
    pub(crate) fn is_strange(&mut self, at: u64) {
        self.strange.insert((self.object_at(at), at / 8));
    }

    /// Hides the strange words, where asked to, now that is known which memory matters: only there do they count.
    pub(crate) fn hide_strange(&mut self, hide: bool) -> usize {
        let mut count = 0;
        for (object, word) in std::mem::take(&mut self.strange) {
            let touched = *self.word(word * 8);
            if self.matters_as(object, touched) {
                count += 1;
                if hide {
                    self.hidden.insert((object, word));
                }
            }
        }
        count
    }

    /// Whether a write to this word was not recorded.
    pub(crate) fn is_hidden(&self, at: u64) -> bool {
        !self.hidden.is_empty() && self.hidden.contains(&(self.object_at(at), at / 8))
    }

    /// The variables that make up a part.
    pub(crate) fn variables(&mut self, part: Part) -> impl Iterator<Item = Part> + use<> {
        let starts = self.word(part.at).starts;
        let base = part.at / 8 * 8;
        let (first, end) = ((part.at % 8) as u8, (part.at % 8) as u8 + part.length);
        let mut at = first;
        std::iter::from_fn(move || {
            (at < end).then(|| {
                let start = at;
                at += 1;
                while at < end && starts >> at & 1 == 0 {
                    at += 1;
                }
                Part { at: base + u64::from(start), length: at - start, offset: part.offset + start - first }
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn access(memory: &mut Memory, at: u64, length: u8, thread: u32) {
        parts(at, length).for_each(|part| _ = memory.touch(part, thread, None, None));
    }

    fn variables(memory: &mut Memory, at: u64, length: u8) -> Vec<(u64, u8)> {
        let parts: Vec<Part> = parts(at, length).collect();
        parts.into_iter().flat_map(|part| memory.variables(part)).map(|part| (part.at, part.length)).collect()
    }

    #[test]
    fn two_accesses_share_a_variable_exactly_when_they_share_a_byte() {
        let mut random = 7u64;
        let mut draw = |bound: u64| {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (random >> 33) % bound
        };
        for _ in 0..300 {
            let accesses: Vec<(u64, u8)> = (0..6).map(|_| (4090 + draw(20), 1 + draw(8) as u8)).collect();
            let mut memory = Memory::new();
            accesses.iter().for_each(|&(at, length)| access(&mut memory, at, length, 0));
            for &(at, length) in &accesses {
                let found = variables(&mut memory, at, length);
                // Together they are the access.
                let mut next = at;
                for &(start, bytes) in &found {
                    assert_eq!(start, next);
                    next += u64::from(bytes);
                }
                assert_eq!(next, at + u64::from(length));
                for &(other, bytes) in &accesses {
                    let overlap = at < other + u64::from(bytes) && other < at + u64::from(length);
                    let others = variables(&mut memory, other, bytes);
                    assert_eq!(overlap, found.iter().any(|variable| others.contains(variable)));
                }
            }
        }
    }

    #[test]
    fn memory_of_one_thread_does_not_matter_and_any_second_thread_makes_it_matter() {
        let mut memory = Memory::new();
        access(&mut memory, 64, 4, 1);
        assert!(!memory.matters(64));
        access(&mut memory, 68, 4, 2);
        assert!(memory.matters(64), "the word is looked at as a whole");
        // Allocated by one thread, used by another, freed by the first.
        memory.born(4096, 64, 1, 0, false);
        access(&mut memory, 4096, 8, 2);
        access(&mut memory, 4104, 8, 1);
        assert!(memory.matters(4096) && !memory.matters(4104));
        memory.dies(4096, 3, 0);
        assert!(memory.matters(4104), "freed by a third thread");
        // All by one thread.
        memory.born(8192, 64, 1, 0, false);
        access(&mut memory, 8192, 8, 1);
        memory.dies(8192, 1, 0);
        assert!(!memory.matters(8192));
    }

    #[test]
    fn an_address_belongs_to_the_last_object_born_there() {
        let mut memory = Memory::new();
        let large = memory.born(4096, 3 * 4096, 0, 0, false);
        let small = memory.born(8192 + 16, 32, 0, 0, false);
        for (at, object) in
            [(4095, 0), (4096, large), (8200, large), (8208, small), (8239, small), (8240, large)]
        {
            assert_eq!(memory.object_at(at), object, "{at}");
        }
        memory.dies(4096, 0, 0);
        assert_eq!(memory.object_at(5000), large, "a use after the end is one of the same object");
        let again = memory.born(4096, 3 * 4096, 0, 0, false);
        assert_eq!(memory.object_at(8208), again);
        memory.rewind();
        assert_eq!(memory.object_at(5000), 0);
        assert_eq!(memory.born(4096, 3 * 4096, 0, 0, false), large);
        assert_eq!(memory.objects.len(), 4);
    }

    #[test]
    fn a_value_that_nobody_wrote_is_noticed() {
        let mut memory = Memory::new();
        let part = |at, length| Part { at, length, offset: 0 };
        assert!(!memory.observe(part(8, 4), 7), "the initial value may be anything");
        assert!(!memory.observe(part(8, 4), 7));
        memory.store(part(10, 2), 0x0102);
        assert!(!memory.observe(part(8, 4), 0x0102_0007));
        assert!(memory.observe(part(8, 4), 0x0102_0008));
        assert!(!memory.observe(part(12, 4), 5));
        memory.store(part(8, 8), u64::MAX);
        assert!(memory.observe(part(15, 1), 0));
        memory.born(8, 8, 0, 0, false);
        assert!(!memory.observe(part(8, 8), 3), "new memory holds anything");
    }
}
