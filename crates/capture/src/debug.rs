//! What the debug information of a file says beyond functions and lines.

use std::cell::OnceCell;
use std::rc::Rc;

use gimli::{
    Attribute, AttributeValue, DebugInfoOffset, DebuggingInformationEntry, Dwarf, EndianRcSlice,
    RunTimeEndian, SectionId, Unit, UnitHeader, UnitOffset, constants,
};
use object::{Object, ObjectSection};

type Reader = EndianRcSlice<RunTimeEndian>;
type Entry = DebuggingInformationEntry<Reader>;

/// How often an entry may refer to another one that has what is looked for.
const MAX_REFERENCES: usize = 8;

/// The debug information of a program or library.
pub(crate) struct Debug {
    dwarf: Dwarf<Reader>,
    /// Its compilation units, in order.
    units: Vec<CompilationUnit>,
    /// Which addresses the code of each unit has, by where they begin.
    ranges: Vec<(u64, u64, usize)>,
}

struct CompilationUnit {
    /// Where it begins.
    at: usize,
    header: UnitHeader<Reader>,
    /// With its abbreviations, once that was asked for.
    unit: OnceCell<Option<Unit<Reader>>>,
}

impl Debug {
    /// That of the file in `bytes`, where it has some.
    pub(crate) fn of(bytes: &[u8]) -> Option<Debug> {
        let file = object::File::parse(bytes).ok()?;
        let endian = if file.is_little_endian() { RunTimeEndian::Little } else { RunTimeEndian::Big };
        let section = |id: SectionId| -> Result<Reader, gimli::Error> {
            // A section that cannot be expanded is as good as none.
            let data = file.section_by_name(id.name()).and_then(|section| section.uncompressed_data().ok());
            Ok(EndianRcSlice::new(Rc::from(&*data.unwrap_or_default()), endian))
        };
        let dwarf = Dwarf::load(section).ok()?;
        let mut debug = Debug { units: Vec::new(), ranges: Vec::new(), dwarf };
        let mut headers = debug.dwarf.units();
        while let Ok(Some(header)) = headers.next() {
            let Some(at) = header.debug_info_offset() else { continue };
            debug.units.push(CompilationUnit { at: at.0, header, unit: OnceCell::new() });
        }
        for number in 0..debug.units.len() {
            let Some(mut ranges) = debug.unit(number).and_then(|unit| debug.dwarf.unit_ranges(unit).ok())
            else {
                continue;
            };
            let mut found = Vec::new();
            while let Ok(Some(range)) = ranges.next() {
                found.push((range.begin, range.end, number));
            }
            debug.ranges.extend(found);
        }
        debug.ranges.sort_unstable();
        (!debug.units.is_empty()).then_some(debug)
    }

    fn unit(&self, number: usize) -> Option<&Unit<Reader>> {
        let of = self.units.get(number)?;
        of.unit.get_or_init(|| self.dwarf.unit(of.header.clone()).ok()).as_ref()
    }

    /// The unit of the code at an address.
    fn unit_at(&self, address: u64) -> Option<usize> {
        let after = self.ranges.partition_point(|&(start, ..)| start <= address);
        let &(_, end, unit) = self.ranges.get(after.checked_sub(1)?)?;
        (address < end).then_some(unit)
    }

    /// The line that the function of the code at `address` begins with, whose entry is at `die` in its unit.
    pub(crate) fn declared(&self, address: u64, die: u64) -> Option<u32> {
        let die = usize::try_from(die).ok()?;
        let unit = self.unit_at(address)?;
        let entry = self.unit(unit)?.entry(UnitOffset(die)).ok()?;
        let line = self.inherited(unit, entry, constants::DW_AT_decl_line)?.1.udata_value()?;
        u32::try_from(line).ok().filter(|&line| line > 0)
    }

    /// An attribute of an entry, or of what that is an instance or the definition of; with its unit.
    fn inherited(
        &self,
        mut unit: usize,
        mut entry: Entry,
        name: constants::DwAt,
    ) -> Option<(usize, Attribute<Reader>)> {
        for _ in 0..MAX_REFERENCES {
            if let Some(found) = entry.attr(name) {
                return Some((unit, found.clone()));
            }
            let origin = entry
                .attr_value(constants::DW_AT_abstract_origin)
                .or_else(|| entry.attr_value(constants::DW_AT_specification))?;
            (unit, entry) = self.referred(unit, origin)?;
        }
        None
    }

    /// The entry that an attribute refers to, with its unit.
    fn referred(&self, unit: usize, to: AttributeValue<Reader>) -> Option<(usize, Entry)> {
        let (unit, at) = match to {
            AttributeValue::UnitRef(at) => (unit, at),
            AttributeValue::DebugInfoRef(DebugInfoOffset(at)) => {
                let unit = self.units.partition_point(|unit| unit.at <= at).checked_sub(1)?;
                (unit, UnitOffset(at.checked_sub(self.units.get(unit)?.at)?))
            }
            _ => return None,
        };
        Some((unit, self.unit(unit)?.entry(at).ok()?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_no_debug_information_has_none() {
        assert!(Debug::of(b"no program").is_none());
        assert!(Debug::of(b"\x7fELF\x02\x01\x01").is_none());
    }
}
