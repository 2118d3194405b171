//! The hash of a table's content.

use std::fmt;

/// 128 bits of FNV-1a: enough to tell builds apart by accident, not by malice.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Hash(pub u128);

const START: u128 = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d;
const PRIME: u128 = 0x0000_0000_0100_0000_0000_0000_0000_013b;

impl Hash {
    /// The hash of `bytes`.
    pub fn of(bytes: &[u8]) -> Hash {
        let mut hash = Hash(START);
        hash.add(bytes);
        hash
    }

    pub(crate) fn add(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.0 = (self.0 ^ u128::from(byte)).wrapping_mul(PRIME);
        }
    }

    /// What sites name the table by.
    pub fn tag(self) -> u32 {
        self.0 as u32
    }
}

impl fmt::Display for Hash {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{:032x}", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// From the published test vectors of FNV-1a.
    #[test]
    fn the_hash_is_the_published_one() {
        assert_eq!(Hash::of(b"").to_string(), "6c62272e07bb014262b821756295c58d");
        assert_eq!(Hash::of(b"a").to_string(), "d228cb696f1a8caf78912b704e4a8964");
        assert_eq!(Hash::of(b"foobar").to_string(), "343e1662793c64bf6f0d3597ba446f18");
    }
}
