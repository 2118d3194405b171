//! Functions of libc that are interposed: threads, locks, waits, memory, files, signals and the process itself.
//!
//! Each records what the call did and makes it a scheduling point where it can block. The real functions are in [`real`]; the
//! table of state outside of memory is `outside/table.rs`, and the list of harmless functions is [`listed`].

pub(crate) mod asynchronous;
pub(crate) mod blocking;
pub(crate) mod c11;
pub(crate) mod cancel;
pub(crate) mod channels;
pub(crate) mod checked;
pub(crate) mod condition;
pub(crate) mod heap;
pub(crate) mod helpers;
pub(crate) mod interrupted;
pub(crate) mod libraries;
pub(crate) mod linkage;
pub(crate) mod listed;
pub(crate) mod lives;
pub(crate) mod locks;
pub(crate) mod mappings;
pub(crate) mod once;
pub(crate) mod outside;
pub(crate) mod parts;
pub(crate) mod process;
pub(crate) mod quarantine;
pub(crate) mod range;
pub(crate) mod real;
pub(crate) mod rendezvous;
pub(crate) mod robust;
pub(crate) mod shared;
pub(crate) mod signals;
pub(crate) mod sleeps;
pub(crate) mod streams;
pub(crate) mod syscalls;
pub(crate) mod taking;
pub(crate) mod threads;
pub(crate) mod transfers;
pub(crate) mod vectors;
