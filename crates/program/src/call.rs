//! Calls: what is known of them at the place of the call.

/// A call, beside its operands.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Call {
    /// How many of the operands, from the first, are arguments.
    pub arguments: u32,
    /// Arguments that are copied for the callee: which, and how many bytes it points to.
    pub by_value: Vec<(u32, u64)>,
    /// What the callee does to memory, as far as it is promised at the call or by the callee.
    pub effects: Effects,
    /// Whether the callee never unwinds.
    pub no_unwind: bool,
    /// Whether the callee never returns.
    pub no_return: bool,
}

/// What a function may do to memory that its caller knows.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Effects {
    /// Whether it may read.
    pub reads: bool,
    /// Whether it may write.
    pub writes: bool,
    /// Whether only what its arguments point to.
    pub arguments_only: bool,
}

impl Default for Effects {
    fn default() -> Effects {
        Effects { reads: true, writes: true, arguments_only: false }
    }
}
