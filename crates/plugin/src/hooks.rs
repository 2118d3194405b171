//! The functions of the runtime that instrumented code calls, and the sites it names to them.

use std::collections::HashMap;

use crate::ir::{Cursor, Module, Type, Value};
use crate::table::Draft;

/// Set in the number of an entry that is a function's, not an instruction's.
const IS_FUNCTION: u64 = 1 << 31;

/// Declarations of hooks, and the array of sites.
pub(crate) struct Hooks<'m> {
    pub(crate) module: &'m Module,
    pub(crate) cursor: Cursor,
    known: HashMap<String, (Value, Type)>,
    /// The array, large enough for all instructions and functions; and what is in it so far.
    array: Value,
    entries: Vec<u64>,
    numbers: HashMap<u64, usize>,
}

impl<'m> Hooks<'m> {
    pub(crate) fn new(module: &'m Module, most: usize) -> Hooks<'m> {
        Hooks {
            module,
            cursor: Cursor::new(module),
            known: HashMap::new(),
            array: module.array(c"reweave.sites", c"reweave_sites", most),
            entries: Vec::new(),
            numbers: HashMap::new(),
        }
    }

    /// The site of an instruction, or of a function.
    pub(crate) fn site(&mut self, draft: &Draft, of: Value) -> Value {
        let number = if of.is_function() {
            u64::from(draft.function(of.0).unwrap_or(0)) | IS_FUNCTION
        } else {
            u64::from(draft.instruction(of.0).unwrap_or(0))
        };
        let entries = &mut self.entries;
        let place = *self.numbers.entry(number).or_insert_with(|| {
            entries.push(number);
            entries.len() - 1
        });
        self.module.place(self.array, place)
    }

    /// Calls a hook where the cursor is. Its parameters are of the types of its arguments.
    pub(crate) fn call(&mut self, name: &str, result: Type, arguments: &[Value]) -> Value {
        if !self.known.contains_key(name) {
            let parameters: Vec<Type> = arguments.iter().map(|argument| argument.of()).collect();
            let declared = self.module.declare(&format!("__reweave_{name}"), result, &parameters);
            self.known.insert(name.to_owned(), declared);
        }
        self.cursor.call(self.known[name], arguments)
    }

    /// The same for one that gives nothing back.
    pub(crate) fn tell(&mut self, name: &str, arguments: &[Value]) {
        self.call(name, self.module.void(), arguments);
    }

    /// Where the function that the cursor is in returns to.
    pub(crate) fn return_address(&mut self) -> Value {
        let level = self.module.constant(self.module.int(32), 0);
        self.cursor.call(self.module.return_address(), &[level])
    }

    pub(crate) fn number(&self, value: u64) -> Value {
        self.module.constant(self.module.int(64), value)
    }

    /// Any value of up to eight bytes as the number that its bytes are; none for one that is not in a piece.
    pub(crate) fn as_number(&self, value: Value) -> Option<Value> {
        use llvm_sys::LLVMTypeKind::*;
        let (of, word) = (value.of(), self.module.int(64));
        let bits = match of.kind() {
            LLVMIntegerTypeKind => of.bits()?,
            LLVMPointerTypeKind => return Some(self.cursor.pointer_number(value, word)),
            LLVMHalfTypeKind | LLVMBFloatTypeKind | LLVMFloatTypeKind | LLVMDoubleTypeKind => {
                8 * self.module.size(of) as u32
            }
            LLVMVectorTypeKind => {
                let (lanes, of_one) = of.lanes()?;
                let whole = of_one.bits().is_none_or(|bits| bits % 8 == 0) && !of_one.is_pointer();
                8 * (lanes * self.module.size(of_one) as u32) * u32::from(whole)
            }
            _ => return None,
        };
        if !(1..=64).contains(&bits) {
            return None;
        }
        let number = match of.bits() {
            Some(_) => value,
            None => self.cursor.bits(value, self.module.int(bits)),
        };
        Some(if bits == 64 { number } else { self.cursor.widen(number, word) })
    }

    /// Writes the array down.
    pub(crate) fn finish(self, tag: u32) {
        let entries: Vec<u64> = self.entries.iter().map(|number| number | u64::from(tag) << 32).collect();
        self.module.shrink(self.array, &entries);
    }
}
