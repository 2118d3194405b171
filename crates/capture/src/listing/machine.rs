//! Functions of two builds compared by their machine code.
//!
//! Code refers to other code and to variables by distance, which differs between builds. Four bytes that are the distance to a
//! symbol are therefore taken for that symbol and the offset in it. What refers to something without a symbol, such as a text,
//! may differ where nothing changed: then a function is taken to have changed, and the caller looks whether it ran.

use std::collections::BTreeSet;

use object::{Object, ObjectSegment, ObjectSymbol, SymbolKind};

use super::{Hash, Listed, function_name};

/// The symbols of a file by address: address, size, name.
struct Symbols(Vec<(u64, u64, String)>);

impl Symbols {
    fn new(file: &object::File<'_>) -> Symbols {
        let is_one = |symbol: &object::Symbol<'_, '_>| {
            symbol.is_definition() && matches!(symbol.kind(), SymbolKind::Text | SymbolKind::Data)
        };
        let named = file.symbols().filter(is_one).filter_map(|symbol| {
            let name = symbol.name().ok().filter(|name| !name.is_empty())?;
            Some((symbol.address(), symbol.size(), name.to_owned()))
        });
        let mut all: Vec<(u64, u64, String)> = named.collect();
        all.sort();
        all.dedup_by_key(|symbol| symbol.0);
        Symbols(all)
    }

    /// The symbol that an address is in, and the offset.
    fn find(&self, address: u64) -> Option<(&str, u64)> {
        let after = self.0.partition_point(|&(start, ..)| start <= address);
        let (start, size, name) = self.0.get(after.checked_sub(1)?)?;
        (address - start < (*size).max(1)).then_some((name, address - start))
    }
}

/// A number for the code of each function that has operations.
pub(super) fn bodies(file: &object::File<'_>, operations: &[Listed]) -> Vec<(String, u64)> {
    let wanted: BTreeSet<&str> = operations.iter().map(|operation| operation.within.as_str()).collect();
    let symbols = Symbols::new(file);
    let segments: Vec<(u64, &[u8])> =
        file.segments().filter_map(|segment| Some((segment.address(), segment.data().ok()?))).collect();
    let code = |start: u64, size: u64| {
        segments.iter().find_map(|(at, bytes)| {
            let from = usize::try_from(start.checked_sub(*at)?).ok()?;
            bytes.get(from..from.checked_add(usize::try_from(size).ok()?)?)
        })
    };
    let mut bodies: Vec<(String, u64)> = symbols
        .0
        .iter()
        .filter_map(|(start, size, name)| {
            let function = function_name(name);
            let bytes = code(*start, *size).filter(|_| wanted.contains(function.as_str()))?;
            Some((function, body(*start, bytes, &symbols)))
        })
        .collect();
    bodies.sort();
    bodies
}

fn body(start: u64, bytes: &[u8], symbols: &Symbols) -> u64 {
    let (mut hash, mut at) = (Hash(0xcbf2_9ce4_8422_2325), 0);
    let range = start..start + bytes.len() as u64;
    while let Some(rest) = bytes.get(at..).filter(|rest| !rest.is_empty()) {
        let distance = rest.first_chunk().map_or(0, |distance| i32::from_le_bytes(*distance));
        let to = (start + at as u64 + 4).wrapping_add_signed(i64::from(distance));
        // Jumps within the function are the same wherever it lies.
        match symbols.find(to).filter(|_| rest.len() >= 4 && !range.contains(&to)) {
            Some((name, offset)) => {
                hash.text(name);
                hash.number(offset);
                at += 4;
            }
            None => {
                hash.number(u64::from(rest[0]));
                at += 1;
            }
        }
    }
    hash.0
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A call of `f`, after which one more byte comes, at an address where `f` lies so far away.
    fn call(distance: i32, last: u8) -> Vec<u8> {
        [&[0xE8][..], &distance.to_le_bytes(), &[last]].concat()
    }

    #[test]
    fn a_function_that_lies_elsewhere_is_the_same() {
        let near = Symbols(vec![(0x1100, 16, "f".to_owned()), (0x1200, 16, "g".to_owned())]);
        let far = Symbols(vec![(0x9000, 16, "f".to_owned()), (0x9100, 16, "g".to_owned())]);
        let first = body(0x1000, &call(0x100 - 5, 0x90), &near);
        assert_eq!(first, body(0x2000, &call(0x7000 - 5, 0x90), &far));
        assert_ne!(first, body(0x2000, &call(0x7100 - 5, 0x90), &far), "another function is called");
        assert_ne!(first, body(0x2000, &call(0x7000 - 5, 0x91), &far), "another instruction");
    }
}
