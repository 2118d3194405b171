//! The names of a file, and which id of the builder each stands for.

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
    /// By space, numbers that are still to be added.
    numbers: [Vec<u64>; SPACES],
}

/// From how many numbers on they are added: so many stay in cache.
const AT_ONCE: usize = 1 << 12;

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
        let mut names = block.names();
        while let Some((space, mut name, more)) = names.next_run().map_err(Refused::Damaged)? {
            // Addresses and the like, of which large traces are full, need not be spelled to be known.
            if let (Some(number), true) = (number(&name), codes::named(space).is_some()) {
                let numbers = &mut self.numbers[space as usize];
                numbers.extend(number..=number.saturating_add(u64::from(more)));
                if numbers.len() >= AT_ONCE {
                    self.add_numbers(space, builder)?;
                }
                continue;
            }
            self.add_numbers(space, builder)?;
            for _ in 0..=more {
                self.add_text(space, &name, builder)?;
                name.number = name.number.map(|number| number.wrapping_add(1));
            }
        }
        Space::ALL.iter().try_for_each(|&space| self.add_numbers(space, builder))
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

    /// Adds the numbers of `space` that are waiting.
    fn add_numbers(&mut self, space: Space, builder: &mut Builder) -> Result<(), Refused> {
        let numbers = &mut self.numbers[space as usize];
        if let Some(named) = codes::named(space).filter(|_| !numbers.is_empty()) {
            let (count, table) = (&mut self.counts[space as usize], &mut self.tables[space as usize]);
            builder.numbered_all(named, numbers, |id| note(count, table, id)).map_err(Refused::Trace)?;
            numbers.clear();
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
