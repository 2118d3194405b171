//! Which functions of a Rust program record what they do.
//!
//! The compiled standard library is linked into the program but does not: it counts references, for one, and frees what has none
//! left, and of that only the free is seen. A function that tells calls one of the recorder's functions, so its machine code
//! is looked through for that.

use std::collections::HashSet;

use object::{Object, ObjectSymbol, SymbolKind};

/// The functions of one file.
#[derive(Default)]
pub(crate) struct Functions {
    /// Those that were compiled from Rust: address and size, sorted.
    rust: Vec<(u64, u64)>,
    /// The recorder's, by address.
    hooks: HashSet<u64>,
}

/// The bytes of a call, and what it begins with.
const CALL_BYTES: usize = 5;
const CALL: u8 = 0xE8;

impl Functions {
    pub(crate) fn of(file: &object::File<'_>) -> Functions {
        let mut functions = Functions::default();
        for symbol in file.symbols().filter(|symbol| symbol.is_definition()) {
            let Ok(name) = symbol.name() else { continue };
            if name.starts_with("__tsan_") || name.starts_with("__reweave_") {
                functions.hooks.insert(symbol.address());
            } else if symbol.kind() == SymbolKind::Text && (name.starts_with("_R") || is_legacy(name)) {
                functions.rust.push((symbol.address(), symbol.size()));
            }
        }
        functions.rust.sort_unstable();
        functions
    }

    /// Whether the code at an address is Rust's and tells nothing. `code` gives the bytes of so many from an address on.
    pub(crate) fn is_unseen<'c>(&self, at: u64, code: impl Fn(u64, u64) -> Option<&'c [u8]>) -> bool {
        let after = self.rust.partition_point(|&(start, _)| start <= at);
        let found = after.checked_sub(1).and_then(|place| self.rust.get(place));
        let Some(&(start, size)) = found.filter(|(start, size)| at - start < *size) else { return false };
        let Some(bytes) = code(start, size).filter(|_| !self.hooks.is_empty()) else { return false };
        !bytes.windows(CALL_BYTES).enumerate().any(|(offset, window)| {
            let [CALL, distance @ ..] = window else { return false };
            let distance = distance.first_chunk().map_or(0, |distance| i32::from_le_bytes(*distance));
            let next = start + (offset + CALL_BYTES) as u64;
            self.hooks.contains(&next.wrapping_add_signed(i64::from(distance)))
        })
    }
}

/// Whether a symbol is one of Rust's former mangling: it ends with a hash.
fn is_legacy(name: &str) -> bool {
    name.starts_with("_ZN")
        && name.ends_with('E')
        && name.len() > 20
        && name[..name.len() - 17].ends_with("17h")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_function_tells_if_it_calls_a_hook() {
        // At 100: a call of 200; at 120: a call of 300; nothing at 140.
        let call = |from: i32, to: i32| {
            let mut bytes = vec![0x90, CALL];
            bytes.extend((to - from - 6).to_le_bytes());
            bytes
        };
        let code = [(100, call(100, 200)), (120, call(120, 300)), (140, vec![0x90; 8])];
        let functions =
            Functions { rust: vec![(100, 6), (120, 6), (140, 8)], hooks: [200].into_iter().collect() };
        let bytes =
            |at: u64, _: u64| code.iter().find(|(start, _)| *start == at).map(|(_, code)| code.as_slice());
        let unseen = [103, 123, 141, 110, 99].map(|at| functions.is_unseen(at, bytes));
        assert_eq!(unseen, [false, true, true, false, false]);
        assert!(is_legacy("_ZN4core3fmt5Write9write_fmt17h0123456789abcdefE"));
        assert!(!is_legacy("_ZN4core3fmtE") && !is_legacy("main"));
    }
}
