//! Dense ids.

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        pub struct $name(pub u32);

        impl $name {
            /// The id as an index into a column.
            #[inline]
            pub fn index(self) -> usize {
                self.0 as usize
            }

            /// The id of column entry `index`, which must be below `u32::MAX`.
            #[inline]
            pub fn from_index(index: usize) -> Self {
                debug_assert!(index < u32::MAX as usize, "ids end below u32::MAX");
                Self(index as u32)
            }
        }
    )*};
}

ids! {
    /// An event: its position in the trace as given.
    EventId;
    /// A thread.
    ThreadId;
    /// A mutex or reader/writer lock.
    LockId;
    /// A variable: a piece of memory that is accessed as one.
    VarId;
    /// A source site: the position in the program that an event comes from.
    SiteId;
    /// A condition variable.
    ConditionId;
    /// A work unit that its author intends to be atomic.
    RegionId;
    /// The text of a completed call on a library object.
    CallId;
    /// A calling context: the calls that were under way.
    ContextId;
}

/// The entry of a `u32` column that holds no id.
pub(crate) const NONE: u32 = u32::MAX;

/// The id in a column entry, or nothing.
#[inline]
pub(crate) fn some<T>(entry: u32, id: impl FnOnce(u32) -> T) -> Option<T> {
    (entry != NONE).then(|| id(entry))
}
