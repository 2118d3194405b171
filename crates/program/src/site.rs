//! Sites: what the address of an instrumented instruction's site leads to.

/// An entry of the section of sites, eight bytes.
///
/// It describes itself, so that linkers may order and drop what they please: the lower half names an instruction or a function,
/// the upper half the table of its module.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Site {
    /// The lowest 32 bits of the hash of the module's table.
    pub tag: u32,
    /// The place in that module.
    pub place: Place,
}

/// A place in a module.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Place {
    /// An instruction, by its number.
    Instruction(u32),
    /// A function as a whole, by its number.
    Function(u32),
}

/// What tells functions from instructions.
const FUNCTION: u32 = 1 << 31;

impl Site {
    /// How many bytes one takes.
    pub const BYTES: usize = 8;

    /// Its bytes.
    pub fn to_bytes(self) -> [u8; Site::BYTES] {
        let number = match self.place {
            Place::Instruction(number) => number & !FUNCTION,
            Place::Function(number) => number | FUNCTION,
        };
        (u64::from(self.tag) << 32 | u64::from(number)).to_le_bytes()
    }

    /// The site of these bytes.
    pub fn from_bytes(bytes: [u8; Site::BYTES]) -> Site {
        let both = u64::from_le_bytes(bytes);
        let number = both as u32;
        let place = match number & FUNCTION {
            0 => Place::Instruction(number),
            _ => Place::Function(number & !FUNCTION),
        };
        Site { tag: (both >> 32) as u32, place }
    }

    /// The site at an offset in a section of sites; none between two, or after the last.
    pub fn at(section: &[u8], offset: usize) -> Option<Site> {
        if !offset.is_multiple_of(Site::BYTES) {
            return None;
        }
        section.get(offset..)?.first_chunk().map(|bytes| Site::from_bytes(*bytes))
    }
}
