//! Must orders, chain orders and acyclicity.
//!
//! - [`must`]: the order that no schedule can escape, over a whole trace;
//! - [`chain`]: closed orders that grow edge by edge and can be undone, for saturation;
//! - [`acyclic`]: a topological order kept under edges that come and go, for a solver.
//!
//! ```
//! use reweave_order::chain::{ChainOrder, Inserted, Node, SparseChains};
//! use reweave_order::must::MustOrderBuilder;
//!
//! let mut builder = MustOrderBuilder::new(2);
//! let fork = builder.event(0, &[]);
//! let write = builder.event(0, &[]);
//! let first = builder.event(1, &[fork]);
//! let read = builder.event(1, &[]);
//! let must = builder.finish();
//! assert!(must.before(fork, read) && !must.before(write, read));
//!
//! let mut order = SparseChains::from_must(&must, &[0..2, 0..2]);
//! let mut consequences = Vec::new();
//! assert_eq!(order.insert(read, write, &mut consequences), Inserted::New);
//! assert!(order.reaches(first, write));
//! assert_eq!(order.insert(write, first, &mut consequences), Inserted::Cycle);
//! assert_eq!(order.insert(fork, Node::new(1, 1), &mut consequences), Inserted::Implied);
//! ```
#![forbid(unsafe_code)]

pub mod acyclic;
pub mod chain;
pub mod must;
