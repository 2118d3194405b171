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
}

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
        while let Some((space, name)) = names.next_name().map_err(Refused::Damaged)? {
            let expected = self.counts[space as usize];
            let id = match codes::named(space).and_then(|space| Some((space, number(&name)?))) {
                // Addresses and the like, of which large traces are full, need not be spelled to be known.
                Some((space, number)) => builder.numbered(space, number).map_err(Refused::Trace)?,
                None => {
                    spell(&name, &mut self.scratch);
                    let name = std::str::from_utf8(&self.scratch)
                        .map_err(|_| Refused::Damaged(Damaged("a name is not UTF-8")))?;
                    intern(builder, &mut self.texts, space, name, expected).map_err(Refused::Trace)?
                }
            };
            let table = &mut self.tables[space as usize];
            if id != expected && table.is_none() {
                *table = Some((0..expected).collect());
            }
            if let Some(table) = table {
                table.push(id);
            }
            self.counts[space as usize] =
                expected.checked_add(1).ok_or(Refused::Damaged(Damaged("there are too many names")))?;
        }
        Ok(())
    }
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
