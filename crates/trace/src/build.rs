//! The builder: events in, a well-formed trace out.

use crate::value::Values;
use crate::wellformed::{self, Repairs};
use crate::{
    CallId, Capabilities, ConditionId, Error, Event, EventId, EventValues, Kind, LockId, Names, Objects,
    RegionId, SiteId, Space, ThreadId, Trace, Value, ValueId, VarId,
};

/// The columns of a trace, all of one length.
#[derive(Clone, Default, Debug)]
pub(crate) struct Columns {
    pub(crate) kinds: Vec<Kind>,
    pub(crate) threads: Vec<ThreadId>,
    pub(crate) targets: Vec<u32>,
    pub(crate) sites: Vec<SiteId>,
}

/// Takes events in observed order, and makes a [`Trace`] of them if they can have been observed.
#[derive(Clone, Default, Debug)]
pub struct Builder {
    columns: Columns,
    values: Values,
    names: Names,
    capabilities: Capabilities,
}

macro_rules! interners {
    ($($(#[$doc:meta])* $method:ident -> $id:ident in $space:ident;)*) => {$(
        $(#[$doc])*
        pub fn $method(&mut self, name: &str) -> Result<$id, Error> {
            self.names.space_mut(Space::$space).intern(name).map($id)
        }
    )*};
}

impl Builder {
    /// No events yet.
    pub fn new() -> Builder {
        Builder::default()
    }

    /// No events yet, but room for `events` of them.
    pub fn with_capacity(events: usize) -> Builder {
        let mut builder = Builder::new();
        builder.columns.kinds.reserve(events);
        builder.columns.threads.reserve(events);
        builder.columns.targets.reserve(events);
        builder.columns.sites.reserve(events);
        builder
    }

    interners! {
        /// The thread called `name`.
        thread -> ThreadId in Thread;
        /// The lock called `name`.
        lock -> LockId in Lock;
        /// The variable or object called `name`.
        variable -> VarId in Variable;
        /// The condition variable called `name`.
        condition -> ConditionId in Condition;
        /// The region called `name`.
        region -> RegionId in Region;
        /// The call with this text.
        call -> CallId in Call;
    }

    /// The site with this text.
    pub fn site(&mut self, text: &str) -> Result<SiteId, Error> {
        self.names.sites.intern(text).map(SiteId)
    }

    /// The target called `name` in the space of `kind`, as a number for [`crate::Op::new`].
    pub fn target(&mut self, kind: Kind, name: &str) -> Result<u32, Error> {
        kind.space().map_or(Ok(0), |space| self.names.space_mut(space).intern(name))
    }

    /// The id of a value.
    pub fn value(&mut self, value: Value<'_>) -> Result<ValueId, Error> {
        self.values.pool.intern(value)
    }

    /// The names so far.
    pub fn names(&self) -> &Names {
        &self.names
    }

    /// Adds to what the trace claims to carry.
    pub fn claim(&mut self, capabilities: Capabilities) {
        self.capabilities.values |= capabilities.values;
        self.capabilities.branches |= capabilities.branches;
        self.capabilities.dependences |= capabilities.dependences;
    }

    /// How many positions there are so far.
    pub fn len(&self) -> usize {
        self.columns.kinds.len()
    }

    /// Whether there is no position yet.
    pub fn is_empty(&self) -> bool {
        self.columns.kinds.is_empty()
    }

    /// Appends an event. Values that its operation cannot have are dropped.
    ///
    /// The ids in `event` must come from this builder.
    #[inline]
    pub fn push(&mut self, event: Event, values: EventValues) -> Result<EventId, Error> {
        let index = self.len();
        if index >= u32::MAX as usize - 1 {
            return Err(Error::TooMany { what: "events" });
        }
        let kind = event.op.kind();
        let carried = EventValues {
            read: values.read.filter(|_| kind.reads()),
            written: values.written.filter(|_| kind.writes() && !matches!(kind, Kind::Alloc | Kind::Free)),
        };
        self.values.push(index, kind == Kind::Update, carried);
        self.columns.kinds.push(kind);
        self.columns.threads.push(event.thread);
        self.columns.targets.push(event.op.target());
        self.columns.sites.push(event.site);
        Ok(EventId::from_index(index))
    }

    /// Appends the events of `block`, which were built apart, as if they had been pushed here.
    pub fn append(&mut self, block: &Builder) -> Result<(), Error> {
        if self.len() + block.len() >= u32::MAX as usize {
            return Err(Error::TooMany { what: "events" });
        }
        self.claim(block.capabilities);
        let sites = self.names.sites.absorb(&block.names.sites)?;
        let mut spaces: [Vec<u32>; Space::ALL.len()] = Default::default();
        for space in Space::ALL {
            spaces[space as usize] = self.names.space_mut(space).absorb(block.names.space(space))?;
        }
        self.append_values(block)?;
        let (columns, threads) = (&block.columns, &spaces[Space::Thread as usize]);
        self.columns.kinds.extend_from_slice(&columns.kinds);
        self.columns.threads.extend(columns.threads.iter().map(|thread| ThreadId(threads[thread.index()])));
        self.columns.sites.extend(columns.sites.iter().map(|site| SiteId(sites[site.index()])));
        self.columns.targets.extend(
            columns.kinds.iter().zip(&columns.targets).map(|(kind, &target)| {
                kind.space().map_or(0, |space| spaces[space as usize][target as usize])
            }),
        );
        Ok(())
    }

    fn append_values(&mut self, block: &Builder) -> Result<(), Error> {
        if !self.values.any() && !block.values.any() {
            return Ok(());
        }
        let start = self.len();
        for (i, &kind) in block.columns.kinds.iter().enumerate() {
            let theirs = block.values.get(i, kind == Kind::Update, kind.reads());
            let mut ours = |id: Option<ValueId>| {
                id.map(|id| self.values.pool.intern(block.values.pool.get(id))).transpose()
            };
            let ours = EventValues { read: ours(theirs.read)?, written: ours(theirs.written)? };
            self.values.push(start + i, kind == Kind::Update, ours);
        }
        Ok(())
    }

    /// The trace, if it is well formed.
    pub fn finish(self) -> Result<Trace, Error> {
        self.check(None)
    }

    /// The trace, with what is ill formed dropped or renamed, never invented; and what that took.
    pub fn repair(self) -> Result<(Trace, Repairs), Error> {
        let mut repairs = Repairs::default();
        let trace = self.check(Some(&mut repairs))?;
        Ok((trace, repairs))
    }

    fn check(self, repairs: Option<&mut Repairs>) -> Result<Trace, Error> {
        let Builder { columns, values, names, capabilities } = self;
        let lifetimes = columns
            .kinds
            .iter()
            .zip(&columns.targets)
            .filter(|(kind, _)| matches!(kind, Kind::Alloc | Kind::Free))
            .map(|(_, &target)| VarId(target));
        let objects = Objects::new(names.space(Space::Variable), lifetimes)?;
        let mut trace = Trace { columns, values, names, objects, capabilities };
        wellformed::check(&mut trace, repairs)?;
        Ok(trace)
    }
}
