//! The names of a file, and which id of the builder each stands for.

use std::ops::Range;

use reweave_trace::{Builder, Error, Kind, Value, ValueId};
use reweave_wire::{Block, Damaged, Name, SPACES, Space};

use super::codes;

/// The ids of a file as ids of a builder.
///
/// They are the same as long as no name is defined twice. A recorder with little memory may do that; from then on
/// the space has a table.
#[derive(Default)]
pub(super) struct Ids {
    counts: [u32; SPACES],
    tables: [Option<Vec<u32>>; SPACES],
    /// The values that are not numbers, in order of their ids.
    texts: Vec<ValueId>,
    scratch: Vec<u8>,
    /// Numbers that are about to be added.
    numbers: Vec<u64>,
}

/// How many numbers are added together: so many stay in cache.
const AT_ONCE: usize = 1 << 10;

/// Why the names of a block were refused.
pub(super) enum Refused {
    Damaged(Damaged),
    Trace(Error),
}

impl Ids {
    /// How many names each space has so far.
    pub(super) fn counts(&self) -> &[u32; SPACES] {
        &self.counts
    }

    /// The table of `space`, where ids differ.
    pub(super) fn table(&self, space: Space) -> Option<&[u32]> {
        self.tables[space as usize].as_deref()
    }

    /// The value that a text's id stands for.
    pub(super) fn text(&self, id: u32) -> Option<ValueId> {
        self.texts.get(id as usize).copied()
    }

    /// Adds the names of `block` to `builder`.
    pub(super) fn add(&mut self, block: &Block<'_>, builder: &mut Builder) -> Result<(), Refused> {
        if *block.base() != self.counts {
            return Err(Refused::Damaged(Damaged("a block counts names otherwise than those before it")));
        }
        self.numbers.resize(AT_ONCE, 0);
        let mut names = block.names();
        loop {
            // Addresses and the like, of which large traces are full, need not be spelled to be known.
            let (space, count) = names.numbers(&mut self.numbers);
            self.add_numbers(space, count, builder)?;
            if count > 0 {
                continue;
            }
            let Some((space, mut name, more)) = names.next_run().map_err(Refused::Damaged)? else { break };
            if let (Some(number), Some(named)) = (number(&name), codes::named(space)) {
                self.add_run(space, named, number, more, builder)?;
                continue;
            }
            for _ in 0..=more {
                self.add_text(space, &name, builder)?;
                name.number = name.number.map(|number| number.wrapping_add(1));
            }
        }
        Ok(())
    }

    fn add_text(&mut self, space: Space, name: &Name<'_>, builder: &mut Builder) -> Result<(), Refused> {
        let count = &mut self.counts[space as usize];
        spell(name, &mut self.scratch);
        let name = std::str::from_utf8(&self.scratch)
            .map_err(|_| Refused::Damaged(Damaged("a name is not UTF-8")))?;
        let id = intern(builder, &mut self.texts, space, name, *count).map_err(Refused::Trace)?;
        note(count, &mut self.tables[space as usize], id);
        check(*count)
    }

    /// Adds `number` and the `more` numbers after it.
    fn add_run(
        &mut self,
        space: Space,
        named: Option<reweave_trace::Space>,
        number: u64,
        more: u32,
        builder: &mut Builder,
    ) -> Result<(), Refused> {
        if let Some(id) = builder.numbered_new(named, number, more + 1) {
            note_run(&mut self.counts[space as usize], &mut self.tables[space as usize], id..id + more + 1);
            return check(self.counts[space as usize]);
        }
        let mut numbers = number..=number.saturating_add(u64::from(more));
        loop {
            let room = self.numbers.iter_mut().zip(&mut numbers);
            let count = room.map(|(room, number)| *room = number).count();
            if count == 0 {
                return Ok(());
            }
            self.add_numbers(space, count, builder)?;
        }
    }

    /// Adds the first `count` of the numbers that are at hand.
    fn add_numbers(&mut self, space: Space, count: usize, builder: &mut Builder) -> Result<(), Refused> {
        let numbers = &self.numbers[..count];
        if let Some(named) = codes::named(space).filter(|_| !numbers.is_empty()) {
            let (count, table) = (&mut self.counts[space as usize], &mut self.tables[space as usize]);
            builder
                .numbered_all(named, numbers, |ids| note_run(count, table, ids))
                .map_err(Refused::Trace)?;
        }
        check(self.counts[space as usize])
    }
}

/// The name that is next in its space has this id.
#[inline]
fn note(count: &mut u32, table: &mut Option<Vec<u32>>, id: u32) {
    if id != *count && table.is_none() {
        *table = Some((0..*count).collect());
    }
    if let Some(table) = table {
        table.push(id);
    }
    *count = count.saturating_add(1);
}

/// The names that are next in their space have these ids.
#[inline]
fn note_run(count: &mut u32, table: &mut Option<Vec<u32>>, ids: Range<u32>) {
    if ids.start == *count && table.is_none() {
        *count = count.saturating_add(ids.len() as u32);
    } else {
        ids.for_each(|id| note(count, table, id));
    }
}

fn check(count: u32) -> Result<(), Refused> {
    if count == u32::MAX { Err(Refused::Damaged(Damaged("there are too many names"))) } else { Ok(()) }
}

/// The builder's id of a name; for a text, which is looked up in `texts`, the file's own.
fn intern(
    builder: &mut Builder,
    texts: &mut Vec<ValueId>,
    space: Space,
    name: &str,
    text: u32,
) -> Result<u32, Error> {
    match space {
        Space::Thread => builder.thread(name).map(|id| id.0),
        Space::Lock => builder.lock(name).map(|id| id.0),
        Space::Variable => builder.target(Kind::Read, name),
        Space::Condition => builder.condition(name).map(|id| id.0),
        Space::Region => builder.region(name).map(|id| id.0),
        Space::Call => builder.call(name).map(|id| id.0),
        Space::Site => builder.site(name).map(|id| id.0),
        Space::Text => {
            texts.push(builder.value(Value::parse(name))?);
            Ok(text)
        }
    }
}

/// The number that is all of `name`.
fn number(name: &Name<'_>) -> Option<u64> {
    name.number.filter(|_| name.shared.is_empty() && name.rest.is_empty())
}

/// Puts the bytes of `name` in `text`.
fn spell(name: &Name<'_>, text: &mut Vec<u8>) {
    text.clear();
    text.extend_from_slice(name.shared);
    text.extend_from_slice(name.rest);
    if let Some(mut number) = name.number {
        let (mut digits, mut at) = ([0; 20], 20);
        loop {
            at -= 1;
            digits[at] = b'0' + (number % 10) as u8;
            number /= 10;
            if number == 0 {
                break;
            }
        }
        text.extend_from_slice(&digits[at..]);
    }
}
