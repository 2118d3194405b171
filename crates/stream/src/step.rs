//! What the analyses are told of an event.

/// An event that matters to an analysis, with what the front found out about it.
///
/// Targets are numbers of locks, variables, threads or, for notifications, of slots. Inner acquires and releases of a
/// nest, branches, begins and the like are no steps.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Step {
    pub(crate) event: u32,
    pub(crate) thread: u32,
    pub(crate) target: u32,
    /// The site; of a busy attempt, the thread whose hold made it fail.
    pub(crate) site: u32,
    pub(crate) code: Code,
}

impl Step {
    /// The thread whose hold made a busy attempt fail.
    pub(crate) fn holder(&self) -> u32 {
        self.site
    }
}

/// The kind of a step.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Code {
    /// A plain read.
    Read,
    /// A plain write.
    Write,
    /// An atomic read.
    AtomicRead,
    /// An atomic write.
    AtomicWrite,
    /// An atomic read and write in one.
    Update,
    /// A conditional atomic step that failed: an atomic read that runs only when it observes what it did.
    Attempt,
    /// The birth of an object: a write to it and to all below it.
    Lifetime,
    /// Its death, likewise.
    Free,
    /// The outermost exclusive acquire of a nest, tried or not.
    Acquire,
    /// Its release.
    Release,
    /// The outermost shared acquire of a nest.
    SharedAcquire,
    /// Its release.
    SharedRelease,
    /// A failed attempt at a lock that `holder` holds exclusively.
    Busy,
    /// A failed attempt at a lock that `holder` holds shared.
    SharedBusy,
    /// The creation of a thread.
    Fork,
    /// The awaited end of a thread.
    Join,
    /// A notification, put into a slot.
    Notify,
    /// The return of a wait that the notification in a slot woke.
    Wake,
    /// The use of a condition variable by a notification.
    Signal,
    /// The use of a condition variable by a wait that returns now; its event is the one at which that started.
    Started,
    /// The use of a lock by an attempt in vain.
    Tried,
    /// A call, as analyses see it that know which calls commute.
    Call,
    /// As analyses see it that do not: it follows the last call in a slot.
    CallWake,
    /// And is the last one in a slot.
    CallNotify,
    /// The return of a wait that nothing woke although there was a notification since its start.
    Missed,
}

impl Code {
    /// How the step touches memory; none where it does not.
    #[inline]
    pub(crate) fn access(self) -> Option<Touch> {
        let touch = |reads, writes, atomic| Some(Touch { reads, writes, atomic, conditional: false });
        let conditional = |writes| Some(Touch { reads: true, writes, atomic: true, conditional: true });
        match self {
            Code::Read => touch(true, false, false),
            Code::Write | Code::Lifetime | Code::Free => touch(false, true, false),
            Code::AtomicRead => touch(true, false, true),
            Code::AtomicWrite => touch(false, true, true),
            Code::Update => conditional(true),
            Code::Attempt => conditional(false),
            _ => None,
        }
    }
}

/// How a step touches memory.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Touch {
    pub(crate) reads: bool,
    pub(crate) writes: bool,
    pub(crate) atomic: bool,
    /// Whether it runs only when it observes what it did.
    pub(crate) conditional: bool,
}

/// A piece of memory as the analyses keep it: a variable, or the lifetime of an object. Two accesses of different cells
/// conflict where one is the lifetime of an object that the other is part of.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Cell(pub(crate) u32);

const LIFETIME: u32 = 1 << 31;

impl Cell {
    #[inline]
    pub(crate) fn variable(variable: u32) -> Cell {
        Cell(variable)
    }

    #[inline]
    pub(crate) fn lifetime(object: u32) -> Cell {
        Cell(object | LIFETIME)
    }

    /// The cell that a step writes to or reads.
    #[inline]
    pub(crate) fn of(step: &Step) -> Cell {
        if matches!(step.code, Code::Lifetime | Code::Free) {
            Cell::lifetime(step.target)
        } else {
            Cell::variable(step.target)
        }
    }

    /// Whether it is the lifetime of an object, and the number of the variable.
    #[inline]
    pub(crate) fn split(self) -> (bool, usize) {
        (self.0 & LIFETIME != 0, (self.0 & !LIFETIME) as usize)
    }
}

/// A value per cell, made when it is first asked for.
#[derive(Debug)]
pub(crate) struct Cells<T> {
    variables: Vec<T>,
    lifetimes: Vec<T>,
}

impl<T> Default for Cells<T> {
    fn default() -> Cells<T> {
        Cells { variables: Vec::new(), lifetimes: Vec::new() }
    }
}

impl<T: Default> Cells<T> {
    /// The value of `cell`.
    #[inline]
    pub(crate) fn get(&mut self, cell: Cell) -> &mut T {
        let (lifetime, index) = cell.split();
        let cells = if lifetime { &mut self.lifetimes } else { &mut self.variables };
        if index >= cells.len() {
            grow(cells, index);
        }
        &mut cells[index]
    }
}

/// Makes `list` long enough for `index`.
#[cold]
pub(crate) fn grow<T: Default>(list: &mut Vec<T>, index: usize) {
    list.resize_with((index + 1).max(list.len() * 2).max(8), T::default);
}

/// The entry `index` of a list that grows as needed.
#[inline]
pub(crate) fn at<T: Default>(list: &mut Vec<T>, index: u32) -> &mut T {
    let index = index as usize;
    if index >= list.len() {
        grow(list, index);
    }
    &mut list[index]
}
