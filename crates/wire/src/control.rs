//! Control bytes: how far the predictions held, and what the first event they failed on has instead.
//!
//! A byte is `hits * 48 + site * 12 + op * 4 + target`. `hits` counts the wholly predicted events before this one, 4
//! standing for 4 plus a number in its own stream; the other three say how each field of this event is found.

/// How an event's site is found.
pub(crate) mod site {
    pub(crate) const FIRST: u8 = 0;
    pub(crate) const SECOND: u8 = 1;
    pub(crate) const FRESH: u8 = 2;
    pub(crate) const GIVEN: u8 = 3;
}

/// How an event's operation is found.
pub(crate) mod op {
    pub(crate) const GUESSED: u8 = 0;
    pub(crate) const PARTNER: u8 = 1;
    pub(crate) const GIVEN: u8 = 2;
}

/// How an event's target is found.
pub(crate) mod target {
    pub(crate) const GUESSED: u8 = 0;
    pub(crate) const LAST: u8 = 1;
    pub(crate) const OTHER: u8 = 2;
    pub(crate) const GIVEN: u8 = 3;
}

/// The number of hits from which on they are counted in their own stream.
pub(crate) const MANY_HITS: u32 = 4;

/// A byte that has no meaning.
pub(crate) const NONE: u8 = u8::MAX;

/// The hits of a control byte; more than [`MANY_HITS`] for a byte that has no meaning.
#[inline]
pub(crate) fn hits(byte: u8) -> u8 {
    byte / 48
}

/// A control byte taken apart.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Control {
    pub(crate) hits: u8,
    pub(crate) site: u8,
    pub(crate) op: u8,
    pub(crate) target: u8,
}

impl Control {
    #[inline]
    pub(crate) fn byte(self) -> u8 {
        self.hits * 48 + self.site * 12 + self.op * 4 + self.target
    }

    /// Nothing for the sixteen bytes that have no meaning.
    #[inline]
    pub(crate) fn from_byte(byte: u8) -> Option<Control> {
        TABLE[byte as usize]
    }
}

static TABLE: [Option<Control>; 256] = table();

const fn table() -> [Option<Control>; 256] {
    let mut table = [None; 256];
    let mut byte: u8 = 0;
    while byte < 240 {
        table[byte as usize] =
            Some(Control { hits: byte / 48, site: byte % 48 / 12, op: byte % 12 / 4, target: byte % 4 });
        byte += 1;
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_is_what_it_says_or_nothing() {
        for byte in 0..=u8::MAX {
            match Control::from_byte(byte) {
                Some(control) => {
                    assert_eq!(control.byte(), byte);
                    assert_eq!(control.hits, hits(byte));
                }
                None => assert!(byte >= 5 * 48 && u32::from(hits(byte)) > MANY_HITS),
            }
        }
        assert_eq!(Control::from_byte(NONE), None);
    }
}
