//! The reader of names.

use core::ops::Range;

use super::group::GroupReader;
use super::quick::Quick;
use super::{Name, RECENT, State, lower, tag, upper};
use crate::column::ENTRIES;
use crate::varint::{Input, unzigzag};
use crate::{Damaged, MAX_NAME_BYTES, SPACES, Space};

/// Reads names.
#[derive(Clone, Debug)]
pub struct NameReader<'b> {
    input: Input<'b>,
    states: [State; SPACES],
    space: Space,
    run: u64,
    left: usize,
    groups: GroupReader,
    /// The numbers of a group, and which of them are still to be told.
    group: [u64; ENTRIES],
    told: Range<usize>,
}

impl<'b> NameReader<'b> {
    /// The names of a block that says it has `count` of them.
    pub(crate) fn new(stream: &'b [u8], count: usize) -> NameReader<'b> {
        let states = [State::START; SPACES];
        NameReader {
            input: Input::new(stream),
            states,
            space: Space::Thread,
            run: 0,
            left: count,
            groups: GroupReader::new(),
            group: [0; ENTRIES],
            told: 0..0,
        }
    }

    /// The next name and its space; in each space names come in order of their ids.
    #[inline]
    pub fn next_name(&mut self) -> Result<Option<(Space, Name<'_>)>, Damaged> {
        if self.run == 0 && self.told.is_empty() && self.input.is_empty() {
            return if self.left == 0 { Ok(None) } else { Err(Damaged("names are missing")) };
        }
        self.left = self.left.checked_sub(1).ok_or(Damaged("there are more names than announced"))?;
        let entry = self.entry().ok_or(Damaged("a name makes no sense"))?;
        let state = &self.states[self.space as usize];
        let name = match entry {
            Entry::Numbered => Name { shared: state.stem(), rest: &[], number: Some(state.value()) },
            Entry::Grouped(number) => Name { shared: state.stem(), rest: &[], number: Some(number) },
            Entry::Stem { shared, rest, numbered } => Name {
                shared: state.stem().get(..shared).unwrap_or_default(),
                rest,
                number: numbered.then(|| state.value()),
            },
        };
        Ok(Some((self.space, name)))
    }

    /// As [`NameReader::next_name`], with how many names are left out that follow in this space: each is the one before
    /// with its number plus one.
    #[inline]
    pub fn next_run(&mut self) -> Result<Option<(Space, Name<'_>, u32)>, Damaged> {
        if self.run == 0 && self.told.is_empty() && self.input.is_empty() {
            return if self.left == 0 { Ok(None) } else { Err(Damaged("names are missing")) };
        }
        self.left = self.left.checked_sub(1).ok_or(Damaged("there are more names than announced"))?;
        let entry = self.entry().ok_or(Damaged("a name makes no sense"))?;
        let state = &mut self.states[self.space as usize];
        let number = state.value();
        // The lower half starts anew after the largest, and what is not announced is refused when its turn comes.
        let more = self.run.min(self.left as u64).min(u64::from(u32::MAX - state.low)) as u32;
        if more > 0 {
            self.run -= u64::from(more);
            self.left -= more as usize;
            state.set_lower(state.low + more);
        }
        let stem = state.stem();
        let name = match entry {
            Entry::Numbered => Name { shared: stem, rest: &[], number: Some(number) },
            Entry::Grouped(number) => Name { shared: stem, rest: &[], number: Some(number) },
            Entry::Stem { shared, rest, numbered } => Name {
                shared: stem.get(..shared).unwrap_or_default(),
                rest,
                number: numbered.then_some(number),
            },
        };
        Ok(Some((self.space, name, more)))
    }

    /// Fills `numbers` with the names that are next in a space, as long as they are numbers without a stem and told in a few
    /// bytes; answers with the space, never that of texts, and how many there are. What follows is left to [`NameReader::next_run`], and so is
    /// whatever is wrong.
    pub fn numbers(&mut self, numbers: &mut [u64]) -> (Space, usize) {
        if self.run > 0 || !self.told.is_empty() {
            return (self.space, 0);
        }
        let mut input = self.input;
        if let Some(space) = input.first().and_then(|tag| Space::from_code(tag.checked_sub(tag::SPACE)?))
            && input.skip(1).is_some()
            && input.first().is_some_and(|tag| tag < tag::LONG_RUN || tag == tag::GROUP)
        {
            (self.space, self.input) = (space, input);
        }
        let state = &mut self.states[self.space as usize];
        if !state.whole || state.kept > 0 || self.space == Space::Text {
            return (self.space, 0);
        }
        let mut done = 0;
        loop {
            let room = numbers.get_mut(done..).unwrap_or_default();
            let count = if self.input.first() == Some(tag::GROUP) {
                let Some(room) = room.first_chunk_mut::<ENTRIES>() else { break };
                let mut input = self.input;
                let count = input.skip(1).and_then(|()| self.groups.read(&mut input, state, self.left, room));
                let Some(count) = count else { break };
                (self.input, self.left) = (input, self.left - count);
                count
            } else {
                let mut quick = Quick::new(state, self.input, self.left);
                let count = quick.all(room);
                quick.write_back(state);
                (self.input, self.left) = (quick.input, quick.left);
                count
            };
            if count == 0 {
                break;
            }
            done += count;
        }
        (self.space, done)
    }

    #[inline]
    fn entry(&mut self) -> Option<Entry<'b>> {
        if let Some(at) = self.told.next() {
            return self.group.get(at).copied().map(Entry::Grouped);
        }
        if self.run == 0 {
            let mut tag = self.input.byte()?;
            if let Some(space) = tag.checked_sub(tag::SPACE) {
                self.space = Space::from_code(space)?;
                tag = self.input.byte()?;
            }
            match tag {
                0..40 => return self.number(tag / 4, tag % 4),
                tag::RUN..tag::LONG_RUN => self.run = u64::from(tag - tag::RUN) + 1,
                tag::LONG_RUN => self.run = self.input.number()?,
                tag::GROUP => return self.first_of_group(),
                tag::NUMBERED | tag::PLAIN => return self.stem(tag == tag::NUMBERED),
                _ => return None,
            }
        }
        self.run = self.run.checked_sub(1)?;
        let state = self.states.get_mut(self.space as usize).filter(|state| state.whole)?;
        state.set_lower(state.low.wrapping_add(1));
        Some(Entry::Numbered)
    }

    fn first_of_group(&mut self) -> Option<Entry<'b>> {
        let state = self.states.get_mut(self.space as usize)?;
        // This name counts as told already.
        let count = self.groups.read(&mut self.input, state, self.left + 1, &mut self.group)?;
        self.told = 1..count;
        self.group.first().copied().map(Entry::Grouped)
    }

    fn number(&mut self, above: u8, below: u8) -> Option<Entry<'b>> {
        let state = self.states.get_mut(self.space as usize).filter(|state| state.whole)?;
        let (place, high) = match above {
            upper::LARGEST => (RECENT - 1, state.largest.wrapping_add(1)),
            upper::STEP => {
                let high = i64::from(state.recent[0]).checked_add(self.input.step()?)?;
                (RECENT - 1, u32::try_from(high).ok()?)
            }
            place => (usize::from(place), *state.recent.get(usize::from(place))?),
        };
        state.set_upper(place, high);
        let low = match below {
            lower::NEXT => state.low.wrapping_add(1),
            lower::LARGEST => state.largest.wrapping_add(1),
            lower::WHOLE => self.input.small()?,
            _ => u32::try_from(i64::from(state.low).checked_add(unzigzag(self.input.number()?))?).ok()?,
        };
        state.set_lower(low);
        Some(Entry::Numbered)
    }

    fn stem(&mut self, numbered: bool) -> Option<Entry<'b>> {
        let state = self.states.get_mut(self.space as usize)?;
        let (shared, length) = (self.input.length()?, self.input.length()?);
        if shared > usize::from(state.kept) || length > MAX_NAME_BYTES {
            return None;
        }
        let rest = self.input.take(length)?;
        state.set_stem(shared, rest);
        if numbered {
            state.set_number(self.input.number()?);
        }
        Some(Entry::Stem { shared, rest, numbered })
    }
}

/// What an entry of the stream names; the number is in the state of its space.
enum Entry<'b> {
    Numbered,
    /// A number of a group, of which the state knows the last only.
    Grouped(u64),
    Stem {
        shared: usize,
        rest: &'b [u8],
        numbered: bool,
    },
}
