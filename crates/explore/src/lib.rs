//! All interleavings of a program, searched in a model that the program's own runs teach.
//!
//! A thread's next step is a function of what it has observed so far, its *history*. Runs of the program teach a tree of
//! histories per thread; interleavings are searched in that model, by the law of steps, and the program runs only where the
//! search reaches an observation that its thread has never made. docs/internals/exploring.md has the law, the promise and
//! the proof.
//!
//! There is no input or output here, and no clock.
#![forbid(unsafe_code)]

mod audit;
mod explore;
mod failure;
mod footprint;
mod found;
mod law;
mod lives;
mod minimise;
mod model;
mod objects;
mod op;
mod options;
mod program;
mod queues;
mod rounds;
mod sample;
mod saturate;
mod script;
mod specified;
mod split;
mod state;
mod step;
mod store;
mod stubborn;
mod symmetry;
mod trace;
mod tree;

pub use audit::Audit;
pub use explore::{Counts, Explorer, Report};
pub use failure::{At, Failure};
pub use found::Shown;
pub use law::Misuse;
pub use minimise::Taken;
pub use model::Policy;
pub use objects::{NoObjects, Objects};
pub use op::{Data, Early, Function, Init, Move, Next, ObjectId, Op, Outcome, ThreadId, Update, Watch, tag};
pub use options::{Limits, Mutation, Progress};
pub use program::{Error, Program, Rounds};
pub use rounds::{FOLLOWED, FOLLOWED_LONG};
pub use sample::Sampling;
pub use saturate::Stopped;
pub use script::{Script, Scripted, Steps};
pub use specified::{NoCall, Specified};
pub use split::{Item, Split};
pub use tree::{Differs, NodeId};
