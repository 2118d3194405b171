//! The memory of the recorded program: which object is where, how it is cut, who touched it, what it held.
//!
//! *Cuts.* Memory is looked at in words of eight aligned bytes. Each access marks where in a word it begins and ends;
//! after a look at the whole recording, a variable is what lies between two marks. So every access is a union of
//! variables, and two accesses share a variable exactly when they share a byte. A word that is cut in one life of its
//! address is cut in all: finer than needed, never wrong.
//!
//! *Who touched it.* A word that one thread alone touched, in an object that it also allocated and freed, is in no
//! conflict, its reads observe that thread's own writes, and no schedule can change that: its accesses can be dropped,
//! and are. So are those of a word that nobody ever changed, unless it is in a block of the heap, whose birth and death
//! count as writes: its reads observe the initial value in every schedule. Nothing else is. This is exact because it is
//! decided after the whole recording was seen.
//!
//! *What it held.* Each byte's last value, as far as it is known. A read that observes something else shows a write that
//! was not recorded, by code that was not compiled with `reweave cc`. The word is *hidden* from then on and from before.

use std::ops::Range;

use hashbrown::HashSet;

use crate::given::Given;
use crate::page_table::{PAGE_BYTES, PAGE_WORDS, PageTable};
use crate::word::{FRESH, Part, Word};

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
    /// How many objects had some of its memory before it, one after another.
    pub(crate) generation: u32,
    /// Whether another thread than the one that freed it got some of its memory later.
    pub(crate) passed_on: bool,
}

const INHERIT: u32 = u32::MAX;

#[derive(Default)]
struct Page {
    object: u32,
    /// Per word its object, or `INHERIT` the page's; nothing where all have the page's.
    objects: Option<Box<[u32; PAGE_WORDS]>>,
    words: Option<Box<[Word; PAGE_WORDS]>>,
}

impl Page {
    fn object_of(&self, word: usize) -> u32 {
        match self.objects.as_ref().map(|objects| objects[word]) {
            None | Some(INHERIT) => self.object,
            Some(object) => object,
        }
    }

    /// Adds the objects that have these words.
    fn add_objects(&self, words: Range<usize>, to: &mut Vec<u32>) {
        let mut add = |object: u32| {
            if object != 0 && to.last() != Some(&object) {
                to.push(object);
            }
        };
        match &self.objects {
            None => add(self.object),
            Some(_) => words.for_each(|word| add(self.object_of(word))),
        }
    }

    #[inline]
    fn words(&mut self) -> &mut [Word; PAGE_WORDS] {
        self.words.get_or_insert_with(|| Box::new([FRESH; PAGE_WORDS]))
    }
}

/// Which word of its page is at `at`.
#[inline]
fn place_in_page(at: u64) -> usize {
    (at % PAGE_BYTES / 8) as usize
}

/// The memory at some time of the recording.
pub(crate) struct Memory {
    table: PageTable,
    pages: Vec<Page>,
    pub(crate) objects: Vec<Object>,
    /// The next object to be born, when the recording is gone through again.
    next: u32,
    /// The objects that had memory of the one that was born last.
    before: Vec<u32>,
    /// Whether any memory was used for two objects.
    pub(crate) reuses: bool,
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
            generation: 0,
            passed_on: false,
        };
        Memory {
            table: PageTable::new(),
            pages: Vec::new(),
            objects: vec![rest],
            next: 1,
            before: Vec::new(),
            reuses: false,
            strange: HashSet::new(),
            hidden: HashSet::new(),
        }
    }

    /// Starts again at the beginning of the recording; cuts, and who touched what, stay known.
    pub(crate) fn rewind(&mut self) {
        self.next = 1;
        for page in &mut self.pages {
            (page.object, page.objects) = (0, None);
            page.words.iter_mut().flat_map(|words| words.iter_mut()).for_each(Word::renew);
        }
    }

    fn page(&self, at: u64) -> Option<&Page> {
        self.pages.get(self.table.find(at)?)
    }

    #[inline]
    fn page_mut(&mut self, at: u64) -> &mut Page {
        let place = self.table.find(at).unwrap_or_else(|| self.add_page(at));
        &mut self.pages[place]
    }

    #[cold]
    fn add_page(&mut self, at: u64) -> usize {
        let place = self.pages.len();
        self.pages.push(Page::default());
        self.table.insert(at, place as u32);
        place
    }

    #[inline(always)]
    fn word(&mut self, at: u64) -> &mut Word {
        &mut self.page_mut(at).words()[place_in_page(at)]
    }

    /// The object that has the byte at `at`.
    pub(crate) fn object_at(&self, at: u64) -> u32 {
        self.page(at).map_or(0, |page| page.object_of(place_in_page(at)))
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
                generation: 0,
                passed_on: false,
            });
        }
        self.before.clear();
        self.assign(at, length, Some(object));
        self.inherits(object);
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
            let place = self.table.find(at).unwrap_or_else(|| self.add_page(at));
            let (page, before) = (&mut self.pages[place], &mut self.before);
            let start = at / PAGE_BYTES * PAGE_BYTES;
            let words = place_in_page(at)..(end - start).min(PAGE_BYTES).div_ceil(8) as usize;
            if let Some(object) = object {
                page.add_objects(words.clone(), before);
                if words.len() == PAGE_WORDS {
                    (page.object, page.objects) = (object, None);
                } else {
                    let objects = page.objects.get_or_insert_with(|| Box::new([INHERIT; PAGE_WORDS]));
                    objects[words.clone()].fill(object);
                }
            }
            if let Some(all) = &mut page.words {
                all[words].iter_mut().for_each(Word::renew);
            }
            let Some(next) = start.checked_add(PAGE_BYTES) else { break };
            at = next;
        }
    }

    /// Notes on the first way through that `thread` touched a part, and what it read and wrote there.
    #[inline]
    pub(crate) fn touch(&mut self, part: Part, thread: u32, read: Option<u64>, written: Option<u64>) {
        let word = self.word(part.at);
        let news = word.touch(part, thread);
        let strange = read.is_some_and(|value| word.observe(part, value));
        if let Some(value) = written {
            word.store(part, value);
        }
        if news || strange {
            self.news(part.at, thread, strange);
        }
    }

    /// What an object has to know of a touch, and whether it shows a write that was not recorded.
    fn news(&mut self, at: u64, thread: u32, strange: bool) {
        let number = self.object_at(at);
        if let Some(object) = self.objects.get_mut(number as usize) {
            object.shared |= object.owner != thread;
            object.touched = true;
        }
        self.word(at).told(thread);
        if strange {
            self.word(at).changed();
            self.strange.insert((number, at / 8));
        }
    }

    /// Notes on the first way through that `thread` used a lock or condition variable at `at`.
    pub(crate) fn used(&mut self, at: u64, thread: u32) {
        let number = self.object_at(at);
        if let Some(object) = self.objects.get_mut(number as usize) {
            object.shared |= object.owner != thread;
        }
    }

    /// Whether accesses to the word at `at` can matter to another thread.
    pub(crate) fn matters(&self, at: u64) -> bool {
        self.matters_as(self.object_at(at), self.known_word(at))
    }

    /// The same in a certain life of its address.
    fn matters_as(&self, number: u32, word: Word) -> bool {
        let Some(object) = self.objects.get(number as usize).filter(|_| number != 0) else {
            return word.is_several() && word.is_changed();
        };
        let foreign = |thread: u32| word.is_foreign_to(thread);
        object.shared
            && (word.is_several() || foreign(object.owner) || object.freed_by.is_some_and(foreign))
            && (word.is_changed() || !object.is_stack)
    }

    /// The words that matter in any life of their addresses.
    pub(crate) fn shared_words(&self, given: &Given) -> SharedWords {
        let bits = vec![[0; PAGE_WORDS / 64]; self.pages.len()];
        let mut shared = SharedWords { table: self.table.clone(), bits };
        for (page, bits) in self.pages.iter().zip(&mut shared.bits) {
            for (place, &word) in page.words.iter().flat_map(|words| words.iter()).enumerate() {
                bits[place / 64] |= u64::from(self.matters_as(0, word)) << (place % 64);
            }
        }
        // Most blocks of a heap were there before, with the same threads.
        let mut seen = HashSet::new();
        for (number, object) in self.objects.iter().enumerate().skip(1).filter(|(_, object)| object.shared) {
            if seen.insert((object.at, object.length, object.owner, object.freed_by, object.is_stack)) {
                self.mark(number as u32, object, &mut shared);
            }
        }
        self.mark_given(given, &mut shared);
        shared
    }

    /// Marks the words of an object that matter in its life.
    fn mark(&self, number: u32, object: &Object, shared: &mut SharedWords) {
        let end = object.at.saturating_add(object.length.max(1));
        let mut at = object.at / 8 * 8;
        while at < end {
            let start = at / PAGE_BYTES * PAGE_BYTES;
            let found = self.table.find(at);
            if let Some((place, words)) =
                found.and_then(|place| Some((place, self.pages.get(place)?.words.as_ref()?)))
            {
                for word in place_in_page(at)..(end - start).min(PAGE_BYTES).div_ceil(8) as usize {
                    let matters = self.matters_as(number, words[word]);
                    shared.bits[place][word / 64] |= u64::from(matters) << (word % 64);
                }
            }
            let Some(next) = start.checked_add(PAGE_BYTES) else { break };
            at = next;
        }
    }

    /// A read of a part observed `value`: whether a write before it was not recorded.
    pub(crate) fn observe(&mut self, part: Part, value: u64) -> bool {
        self.word(part.at).observe(part, value)
    }

    /// A part was written.
    pub(crate) fn store(&mut self, part: Part, value: u64) {
        self.word(part.at).store(part, value);
    }

    /// Inline assembly updates so many bytes: nothing of their words counts as racing.
    pub(crate) fn assembled(&mut self, at: u64, length: u64) {
        for word in at / 8..=at.saturating_add(length.max(1) - 1) / 8 {
            self.hidden.insert((self.object_at(word * 8), word));
        }
    }

    /// Hides the strange words, where asked to, now that is known which memory matters: only there do they count.
    pub(crate) fn hide_strange(&mut self, hide: bool, given: &Given) -> usize {
        let mut count = 0;
        for (object, word) in std::mem::take(&mut self.strange) {
            let touched = *self.word(word * 8);
            if self.matters_as(object, touched) {
                count += usize::from(!given.has(object, word * 8));
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
    #[inline]
    pub(crate) fn variables(&self, part: Part) -> impl Iterator<Item = Part> + use<> {
        self.known_word(part.at).variables(part)
    }

    /// How many variables of its word lie before `at`, where one begins.
    #[inline]
    pub(crate) fn variables_before(&self, at: u64) -> u32 {
        self.known_word(at).variables_before(at)
    }

    #[inline]
    fn known_word(&self, at: u64) -> Word {
        self.page(at).and_then(|page| page.words.as_ref()).map_or(FRESH, |words| words[place_in_page(at)])
    }
}

/// A bit for each word: whether it matters in any life of its address. It is small, and asked for every access.
pub(crate) struct SharedWords {
    table: PageTable,
    bits: Vec<[u64; PAGE_WORDS / 64]>,
}

impl SharedWords {
    #[inline]
    pub(crate) fn has(&self, at: u64) -> bool {
        let bits = self.table.find(at).and_then(|place| self.bits.get(place));
        let place = place_in_page(at);
        bits.is_some_and(|bits| bits[place / 64] >> (place % 64) & 1 != 0)
    }
}

mod ranges;
mod reuse;
#[cfg(test)]
mod tests;
