//! Constants.

use crate::instruction::Operand;
use crate::operation::Operation;

/// A value that is the same in every run, or an address that is fixed once the program is loaded.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Constant {
    /// An integer: its bits, and its value where it has at most 64.
    Integer {
        /// How many bits it has, at most 64.
        bits: u32,
        /// Its value, without sign.
        value: u64,
    },
    /// Zero of any other type: no address, an aggregate of zeros.
    Zero,
    /// A value that the compiler may choose.
    Undefined,
    /// A floating-point number, a wide integer or the like, as LLVM writes it, by its place among the strings.
    Text(u32),
    /// An aggregate or vector of constants.
    Aggregate(Vec<Operand>),
    /// What an operation gives for constants, such as the address of an element of a global.
    Expression(Operation, Vec<Operand>),
    /// The address of a block of a function, a global of the table; the block is [`crate::NONE`] for functions that are
    /// declared only.
    Label(u32, u32),
    /// Anything else.
    Other,
}
