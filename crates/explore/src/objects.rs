//! The seam to specifications: objects whose calls are single steps.

use std::rc::Rc;

use crate::op::Outcome;

/// The classes of abstract objects that a program uses.
///
/// A specification earns its place elsewhere. What the search relies on: the outcomes are a function of state and call, and
/// [`commute`](Objects::commute) is true only if in *every* state neither call changes whether the other blocks nor its set of
/// outcomes, and both orders end in the same state.
pub trait Objects {
    /// The possible next states with what the caller gets; none where the call blocks.
    fn call(&self, class: u32, state: u64, call: u64) -> Vec<(u64, Outcome)>;

    /// Whether two calls commute in every state.
    fn commute(&self, class: u32, left: u64, right: u64) -> bool;

    /// Two calls that were said to commute and do not, in a state that the search met.
    fn refuted(&self) -> Option<String> {
        None
    }
}

/// No specification: every call blocks, and no two commute.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoObjects;

impl Objects for NoObjects {
    fn call(&self, _: u32, _: u64, _: u64) -> Vec<(u64, Outcome)> {
        Vec::new()
    }

    fn commute(&self, _: u32, _: u64, _: u64) -> bool {
        false
    }
}

/// The same objects, with no two calls that commute.
pub(crate) struct InOrder(pub(crate) Rc<dyn Objects>);

impl Objects for InOrder {
    fn call(&self, class: u32, state: u64, call: u64) -> Vec<(u64, Outcome)> {
        self.0.call(class, state, call)
    }

    fn commute(&self, _: u32, _: u64, _: u64) -> bool {
        false
    }
}
