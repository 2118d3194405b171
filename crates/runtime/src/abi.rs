//! Interfaces that recorded code calls: ThreadSanitizer's hooks, the compiler plugin's, and those of the crate `reweave`.
//!
//! A hook runs in the thread of the program, before or after what it announces. Start with [`hooks`] for plain accesses, [`front`] for
//! the plugin's and [`rust`] for what Rust programs annotate.

pub(crate) mod access;
pub(crate) mod atomics;
pub(crate) mod calls;
pub(crate) mod export;
pub(crate) mod front;
pub(crate) mod hooks;
pub(crate) mod rust;
pub(crate) mod rust_std;
pub(crate) mod wide;
