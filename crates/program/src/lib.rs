//! The program table: the code of a program as its compiler saw it just before instrumentation.
//!
//! The compiler plugin makes one [`Table`] per module and puts it, encoded, in a section of the object; linkers put the
//! sections of all modules one after another, so a binary carries a [`Program`]. A site of a recording that the plugin made
//! is the address of a [`Site`], which names a module and an instruction in it. So an event of a trace leads to its
//! instruction, and from there to the operands that it was computed from: all that an analysis of dependences reads.
//!
//! A table comes from a file that anybody may have made: [`Table::decode`] never panics, allocates in proportion
//! to its input, and gives only tables that [`Table::check`] accepts, so readers need not look twice.
#![forbid(unsafe_code)]

mod bytes;
mod call;
mod check;
mod constant;
mod count;
mod decode;
mod encode;
mod escape;
mod fingerprint;
mod frame;
mod hash;
mod instruction;
mod operation;
mod program;
mod role;
mod site;
mod table;

pub use call::{Call, Effects};
pub use constant::Constant;
pub use count::{Class, Counts};
pub use decode::VERSION;
pub use escape::private_allocas;
pub use frame::Frame;
pub use hash::Hash;
pub use instruction::{Access, Detail, Instruction, Mark, NONE, Operand, Order, Predicate, Update};
pub use operation::Operation;
pub use program::{Found, Program};
pub use role::Role;
pub use site::{Place, Site};
pub use table::{Argument, Block, File, Function, Global, GlobalKind, Linkage, Location, Scope, Table, Type};

/// The section of an object that holds tables, one after another.
pub const TABLE_SECTION: &str = "reweave_table";

/// The section of an object that holds sites, one after another.
pub const SITES_SECTION: &str = "reweave_sites";

/// Why bytes are not a table.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// They do not begin as tables do.
    #[error("at byte {at} is no program table")]
    NoTable {
        /// Where, in the section.
        at: usize,
    },
    /// They are in a version that is not known here.
    #[error(
        "the program table is of version {found}, and this reweave reads version {VERSION}: build the program anew, or take the reweave that built it"
    )]
    Version {
        /// The version.
        found: u16,
    },
    /// They end too early.
    #[error("the program table is cut off")]
    CutOff,
    /// They are not what was written.
    #[error("the program table is damaged: its content does not match its hash")]
    Changed,
    /// They refer to something that is not there.
    #[error("the program table is damaged: it refers to {what} that is not there")]
    Missing {
        /// What is missing.
        what: &'static str,
    },
    /// They make no sense.
    #[error("the program table is damaged: {what}")]
    Wrong {
        /// What is wrong.
        what: &'static str,
    },
}

impl Error {
    pub(crate) const fn wrong(what: &'static str) -> Error {
        Error::Wrong { what }
    }
}
