//! Rules of the law that a test may leave out, to see that it notices.

/// A rule. Without it the analysis is wrong: only tests leave one out.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Rule {
    /// Conditions of branches and switches decide.
    Condition,
    /// Addresses of accesses decide.
    Address,
    /// Divisors decide.
    Division,
    /// A thread's own memory has what was stored there.
    OwnMemory,
    /// A local in memory has what was stored there.
    Local,
    /// An argument is what the caller passed.
    Argument,
    /// A result is what the callee returned.
    Result,
    /// A phi has any of its operands.
    Phi,
    /// A copy has what was copied.
    Copy,
    /// What is not understood depends on everything.
    Unknown,
    /// Only what an event needs is settled, not what its value was computed from.
    Settled,
}

impl Rule {
    /// Every rule.
    pub const ALL: [Rule; 11] = [
        Rule::Condition,
        Rule::Address,
        Rule::Division,
        Rule::OwnMemory,
        Rule::Local,
        Rule::Argument,
        Rule::Result,
        Rule::Phi,
        Rule::Copy,
        Rule::Unknown,
        Rule::Settled,
    ];
}
