//! Events, and the immutable well-formed trace they make up.
//!
//! A trace is one observed run of a concurrent program. It is made with a [`Builder`], which takes events as
//! they come and then checks the whole ([`Builder::finish`]) or mends it ([`Builder::repair`]); afterwards it
//! never changes. What follows from the trace alone is computed beside it, once, by those who need it:
//! [`Links`] (which write a read observed, which release ends a critical section, who woke a wait) and
//! [`ProgramOrder`] (the events of each thread).
//!
//! ```
//! use reweave_trace::{Builder, Event, EventValues, Links, Op};
//!
//! let mut builder = Builder::new();
//! let (main, worker) = (builder.thread("main")?, builder.thread("worker")?);
//! let (x, site) = (builder.variable("x")?, builder.site("main.c:3")?);
//! let write = builder.push(Event { thread: main, op: Op::Write(x), site }, EventValues::NONE)?;
//! let read = builder.push(Event { thread: worker, op: Op::Read(x), site }, EventValues::NONE)?;
//! let trace = builder.finish()?;
//!
//! assert_eq!(Links::new(&trace).observed(read), Some(write));
//! # Ok::<(), reweave_trace::Error>(())
//! ```
#![forbid(unsafe_code)]
#![deny(missing_docs)]

mod build;
mod call;
mod capability;
mod context;
mod core;
mod dependence;
mod embedded;
mod ending;
mod error;
mod event;
mod id;
mod links;
mod model;
mod name;
mod object;
mod program_order;
mod stable;
mod stand_in;
mod state;
mod thread_column;
mod trace;
mod trust;
mod value;
mod wellformed;

pub use build::{Batch, Builder, Renaming, Rows};
pub use call::{
    CallObjects, CallParts, CallRelation, NothingKnown, Relation, call_words, declaration, declare,
};
pub use capability::Capabilities;
pub use context::Contexts;
pub use core::{Core, NotACore};
pub use dependence::{DependenceBuilder, Dependences, Dependent};
pub use embedded::Embedded;
pub use ending::Ending;
pub use error::{Defect, Error, IllFormed};
pub use event::{Access, Event, Kind, Op, Space};
pub use id::{CallId, ConditionId, ContextId, EventId, LockId, RegionId, SiteId, ThreadId, VarId};
pub use links::{CallLink, Links, WaitLink};
pub use model::{Model, ParseModelError};
pub use name::{MAX_NAME_BYTES, Name, Names, Table};
pub use object::Objects;
pub use program_order::ProgramOrder;
pub use stable::StableSites;
pub use stand_in::is_stand_in;
pub use state::{Holds, Memory};
pub use thread_column::ThreadRows;
pub use trace::Trace;
pub use trust::Library;
pub use value::{BatchValues, EventValues, Value, ValueId};
pub use wellformed::Repairs;
