//! What variables stand for that are no memory.

/// What a variable that is no memory stands for.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum StandIn {
    /// Memory that is another part of memory.
    Mapped,
    /// Memory that a function got of which it is not recorded what it does there.
    Given,
    Semaphore,
    Barrier,
    Once,
    Futex,
    Channel,
    Descriptor,
    Messages,
    Scope,
    Parking,
    Clock,
    /// Memory that inline assembly updates.
    Assembled,
    /// A library without hooks, by any address in it; 0 for inline assembly.
    Library,
    /// That a barrier opened.
    Opening,
    /// What became of the owner of a robust mutex.
    Owner,
    /// State outside of the program's memory.
    Outside,
}

/// The number of [`StandIn::Given`].
pub(super) const GIVEN: u8 = 10;

/// What a variable that is no memory stands for, by the number that the recorder gives it.
pub(super) fn stand_in(what: u8) -> Option<StandIn> {
    Some(match what {
        9 => StandIn::Mapped,
        GIVEN => StandIn::Given,
        16 => StandIn::Semaphore,
        17 => StandIn::Barrier,
        18 => StandIn::Once,
        19 => StandIn::Futex,
        20 => StandIn::Channel,
        21 => StandIn::Descriptor,
        22 => StandIn::Messages,
        23 => StandIn::Scope,
        24 => StandIn::Parking,
        25 => StandIn::Barrier,
        28 => StandIn::Clock,
        29 => StandIn::Assembled,
        31 => StandIn::Library,
        26 => StandIn::Opening,
        27 => StandIn::Owner,
        30 => StandIn::Outside,
        _ => return None,
    })
}
