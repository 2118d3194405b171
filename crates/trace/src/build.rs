//! The builder: events in, a well-formed trace out.

use std::ops::Range;
use std::sync::Arc;

use crate::context::Calling;
use crate::thread_column::{ThreadColumn, ThreadRows};
use crate::value::{BatchValues, Values, carried};
use crate::wellformed::{self, Repairs};
use crate::{
    CallId, Capabilities, ConditionId, ContextId, Dependences, Dependent, Ending, Error, Event, EventId,
    EventValues, Kind, LockId, Names, Objects, RegionId, SiteId, Space, Table, ThreadId, Trace, Value,
    ValueId, VarId,
};
use requests::Requests;

/// The columns of a trace, all of one length.
#[derive(Clone, Default, Debug)]
pub(crate) struct Columns {
    pub(crate) kinds: Vec<Kind>,
    pub(crate) threads: ThreadColumn,
    pub(crate) targets: Vec<u32>,
    pub(crate) sites: Vec<SiteId>,
}

impl Columns {
    pub(crate) fn with_capacity(events: usize) -> Columns {
        Columns {
            kinds: Vec::with_capacity(events),
            threads: ThreadColumn::with_capacity(events),
            targets: Vec::with_capacity(events),
            sites: Vec::with_capacity(events),
        }
    }
}

/// Events decoded apart, as columns of one length: what [`Builder::push`] takes one by one.
#[derive(Clone, Copy, Default, Debug)]
pub struct Batch<'b> {
    /// The operations without their targets.
    pub kinds: &'b [Kind],
    /// The numbers of the threads.
    pub threads: &'b [u32],
    /// The numbers of the targets in their spaces; 0 where there is none.
    pub targets: &'b [u32],
    /// The numbers of the sites.
    pub sites: &'b [u32],
    /// The values, which must come from the builder; nothing where no event has any.
    pub values: Option<&'b BatchValues>,
}

/// Events as they are kept: columns of one length, whose ids belong to the builder or trace that shows them.
#[derive(Clone, Copy, Default, Debug)]
pub struct Rows<'r> {
    /// The operations without their targets.
    pub kinds: &'r [Kind],
    /// The threads.
    pub threads: ThreadRows<'r>,
    /// The numbers of the targets in their spaces; 0 where there is none.
    pub targets: &'r [u32],
    /// The sites.
    pub sites: &'r [SiteId],
}

impl Columns {
    pub(crate) fn rows(&self) -> Rows<'_> {
        let Columns { kinds, threads, targets, sites } = self;
        Rows { kinds, threads: threads.rows(), targets, sites }
    }
}

/// Which id each name of one builder has in another that it was appended to.
#[derive(Clone, Default, Debug)]
pub struct Renaming {
    sites: Vec<u32>,
    spaces: [Vec<u32>; Space::ALL.len()],
}

/// Takes events in observed order, and makes a [`Trace`] of them if they can have been observed.
#[derive(Clone, Default, Debug)]
pub struct Builder {
    columns: Columns,
    values: Values,
    names: Names,
    calling: Calling,
    capabilities: Capabilities,
    /// The table of dependences, by positions in the whole trace. A table with no entry is one,
    /// too: nothing needs anything.
    dependences: Option<Vec<(Dependent, Vec<EventId>)>>,
    requests: Requests,
    ending: Option<Ending>,
}

macro_rules! interners {
    ($($(#[$doc:meta])* $method:ident -> $id:ident in $space:ident;)*) => {$(
        $(#[$doc])*
        #[inline]
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
        Builder { columns: Columns::with_capacity(events), ..Builder::default() }
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
    #[inline]
    pub fn site(&mut self, text: &str) -> Result<SiteId, Error> {
        self.names.sites.intern(text).map(SiteId)
    }

    /// Gives a site its stable name, unless it has one.
    pub fn stable_site(&mut self, site: SiteId, name: &str) -> Result<(), Error> {
        if site.index() >= self.names.sites.len() {
            return Err(Error::UnknownName);
        }
        self.names.stable.set(site, name)
    }

    /// The context that the call at `site` leads to from `parent`.
    pub fn context(&mut self, parent: ContextId, site: SiteId) -> Result<ContextId, Error> {
        if site.index() >= self.names.sites.len() {
            return Err(Error::UnknownName);
        }
        self.names.contexts.intern(parent, site)
    }

    /// The events of `thread` that are appended from now on are in `context`.
    pub fn change_context(&mut self, thread: ThreadId, context: ContextId) {
        self.calling.change(self.len(), thread, context);
    }

    /// The event at `position` and those of `thread` after it are in `context`; positions must not go back.
    pub fn change_context_at(&mut self, position: EventId, thread: ThreadId, context: ContextId) {
        self.calling.change(position.index(), thread, context);
    }

    /// The target called `name` in the space of `kind`, as a number for [`crate::Op::new`].
    #[inline]
    pub fn target(&mut self, kind: Kind, name: &str) -> Result<u32, Error> {
        kind.space().map_or(Ok(0), |space| self.names.space_mut(space).intern(name))
    }

    /// The number of the name that is `number` in decimal: of a site where there is no space.
    #[inline]
    pub fn numbered(&mut self, space: Option<Space>, number: u64) -> Result<u32, Error> {
        self.table(space).intern_number(number)
    }

    /// As [`Builder::numbered`] for each of `numbers`, which is quicker; their ids go to `each`, several at once
    /// where they follow each other.
    pub fn numbered_all(
        &mut self,
        space: Option<Space>,
        numbers: &[u64],
        each: impl FnMut(Range<u32>),
    ) -> Result<(), Error> {
        self.table(space).intern_numbers(numbers, each)
    }

    /// The number of the first of `count` names that are `first` and the numbers after it, where all are new and that is easily
    /// told; else nothing changes. The others follow.
    #[inline]
    pub fn numbered_new(&mut self, space: Option<Space>, first: u64, count: u32) -> Option<u32> {
        self.table(space).intern_new(first, count)
    }

    #[inline]
    fn table(&mut self, space: Option<Space>) -> &mut Table {
        match space {
            Some(space) => self.names.space_mut(space),
            None => &mut self.names.sites,
        }
    }

    /// Prepares for `names` names in all in `space`, or for as many sites; a hint, which may be wrong.
    pub fn expect_names(&mut self, space: Option<Space>, names: usize) {
        self.table(space).expect(names);
    }

    /// The id of a value.
    #[inline]
    pub fn value(&mut self, value: Value<'_>) -> Result<ValueId, Error> {
        self.values.pool.intern(value)
    }

    /// The names so far.
    #[inline]
    pub fn names(&self) -> &Names {
        &self.names
    }

    /// Adds to what the trace claims to carry.
    pub fn claim(&mut self, capabilities: Capabilities) {
        self.capabilities.values |= capabilities.values;
        self.capabilities.branches |= capabilities.branches;
        self.capabilities.dependences |= capabilities.dependences;
        self.capabilities.approximate |= capabilities.approximate;
    }

    /// Adds an entry to the table of dependences; its events are positions in the whole trace.
    pub fn depends(&mut self, who: Dependent, reads: Vec<EventId>) {
        self.dependences.get_or_insert_default().push((who, reads));
    }

    /// There is a table of dependences, whether or not anything has an entry in it.
    pub fn has_table_of_dependences(&mut self) {
        self.dependences.get_or_insert_default();
    }

    /// The event to be appended next is a request of `thread` for a lock. Only those that nobody granted matter.
    pub fn ask(&mut self, thread: ThreadId, lock: LockId) {
        self.requests.ask(self.len(), thread, lock);
    }

    /// How the run ended, to be filled in.
    pub fn ending(&mut self) -> &mut Ending {
        self.ending.get_or_insert_default()
    }

    /// How many positions there are so far.
    pub fn len(&self) -> usize {
        self.columns.kinds.len()
    }

    /// The events so far.
    pub fn rows(&self) -> Rows<'_> {
        self.columns.rows()
    }

    /// Forgets the events so far and their values, but no name: for those who look at a trace part by part.
    pub fn forget_events(&mut self) {
        let Columns { kinds, threads, targets, sites } = &mut self.columns;
        kinds.clear();
        threads.clear();
        targets.clear();
        sites.clear();
        self.values.forget();
        self.calling.clear();
        self.dependences = None;
        self.requests.clear();
        self.ending = None;
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
        self.values.push(index, kind.has_two_values(), carried(kind, values));
        self.columns.kinds.push(kind);
        self.columns.threads.push(event.thread);
        self.columns.targets.push(event.op.target());
        self.columns.sites.push(event.site);
        Ok(EventId::from_index(index))
    }

    /// Makes room for exactly `events` more events, or says that there is not enough memory.
    pub fn try_reserve(&mut self, events: usize) -> Result<(), Error> {
        let Columns { kinds, threads, targets, sites } = &mut self.columns;
        kinds
            .try_reserve_exact(events)
            .and_then(|()| threads.try_reserve_exact(events))
            .and_then(|()| targets.try_reserve_exact(events))
            .and_then(|()| sites.try_reserve_exact(events))
            .map_err(|_| Error::TooMany { what: "events for the memory there is" })
    }

    /// The addresses of the memory that is set aside for events, used or not: for advice to the operating system.
    pub fn reserved(&self) -> [std::ops::Range<usize>; 5] {
        let Columns { kinds, threads, targets, sites } = &self.columns;
        [memory(kinds), threads.memory(), memory(targets), memory(sites), memory(self.values.column())]
    }

    /// Appends the events of `batch`, as if they had been pushed one by one.
    ///
    /// Ids that stand for no name of this builder are refused; then nothing is appended.
    pub fn extend(&mut self, batch: &Batch<'_>) -> Result<(), Error> {
        let (start, count) = (self.len(), batch.kinds.len());
        if start + count >= u32::MAX as usize {
            return Err(Error::TooMany { what: "events" });
        }
        let lengths = [batch.threads.len(), batch.targets.len(), batch.sites.len()];
        if lengths != [count; 3] || batch.values.is_some_and(|values| values.len() != count) {
            return Err(Error::UnknownName);
        }
        if !self.extend_columns(batch) {
            let Columns { kinds, threads, targets, sites } = &mut self.columns;
            kinds.truncate(start);
            threads.truncate(start);
            targets.truncate(start);
            sites.truncate(start);
            return Err(Error::UnknownName);
        }
        match batch.values {
            None => self.values.skip(start + count),
            Some(values) => self.values.extend(start, batch.kinds, values, self.columns.kinds.capacity()),
        }
        Ok(())
    }

    /// Appends the columns of `batch`, which are of one length; says whether each id in them has a name.
    ///
    /// Ids are looked at while they are copied: once they are in cache for the one, the other costs little.
    fn extend_columns(&mut self, batch: &Batch<'_>) -> bool {
        // No early exits: a bad id is an exception, and without them the loops are several times as fast.
        let mut limits = [1; Kind::ALL.len().next_power_of_two()];
        for (limit, kind) in limits.iter_mut().zip(Kind::ALL) {
            *limit = kind.space().map_or(1, |space| self.names.space(space).len() as u32);
        }
        let (mut aimed, mut last_site) = (true, 0);
        let Columns { kinds, threads, targets, sites } = &mut self.columns;
        kinds.extend_from_slice(batch.kinds);
        let last_thread = threads.extend(batch.threads);
        targets.extend(batch.kinds.iter().zip(batch.targets).map(|(&kind, &id)| {
            aimed &= id < limits[kind as usize % limits.len()];
            id
        }));
        sites.extend(batch.sites.iter().map(|&id| {
            last_site = last_site.max(id);
            SiteId(id)
        }));
        batch.kinds.is_empty()
            || aimed
                && (last_thread as usize) < self.names.space(Space::Thread).len()
                && (last_site as usize) < self.names.sites.len()
    }

    /// Appends the events of `block`, which were built apart, as if they had been pushed here. `ids` belongs to `block`:
    /// where that goes on with other events, as it can after [`Builder::forget_events`], only its new names are looked up.
    pub fn append(&mut self, block: &Builder, ids: &mut Renaming) -> Result<(), Error> {
        if self.len() + block.len() >= u32::MAX as usize {
            return Err(Error::TooMany { what: "events" });
        }
        self.claim(block.capabilities);
        self.names.sites.absorb(&block.names.sites, &mut ids.sites)?;
        for (site, name) in block.names.stable.iter() {
            self.names.stable.set(SiteId(ids.sites[site.index()]), name)?;
        }
        for space in Space::ALL {
            let names = block.names.space(space);
            self.names.space_mut(space).absorb(names, &mut ids.spaces[space as usize])?;
        }
        self.values.append(self.len(), &block.columns.kinds, &block.values)?;
        let (start, locks) = (self.len(), &ids.spaces[Space::Lock as usize]);
        self.requests.append(&block.requests, start, &ids.spaces[Space::Thread as usize], locks);
        if let Some(ending) = &block.ending {
            self.ending().extend(ending);
        }
        let (columns, threads) = (&block.columns, &ids.spaces[Space::Thread as usize]);
        self.columns.kinds.extend_from_slice(&columns.kinds);
        self.columns.threads.append(&columns.threads, threads);
        self.columns.sites.extend(columns.sites.iter().map(|site| SiteId(ids.sites[site.index()])));
        let mut tables: [&[u32]; Kind::ALL.len()] = [&[0]; _];
        for (table, kind) in tables.iter_mut().zip(Kind::ALL) {
            *table = kind.space().map_or(&[0], |space| &ids.spaces[space as usize]);
        }
        let targets = columns.kinds.iter().zip(&columns.targets);
        self.columns.targets.extend(targets.map(|(&kind, &target)| tables[kind as usize][target as usize]));
        if let Some(entries) = &block.dependences {
            let entries = entries.iter().map(|(who, reads)| {
                let who = match *who {
                    Dependent::End(thread) => Dependent::End(ThreadId(threads[thread.index()])),
                    who => who,
                };
                (who, reads.clone())
            });
            self.dependences.get_or_insert_default().extend(entries);
        }
        Ok(())
    }

    /// The trace, if it is well formed.
    pub fn finish(self) -> Result<Trace, Error> {
        self.check(None)
    }

    /// The trace, with what is ill formed moved, dropped or renamed, never invented; and what that took.
    pub fn repair(mut self) -> Result<(Trace, Repairs), Error> {
        let mut repairs = Repairs::default();
        self.settle_acquires(&mut repairs)?;
        let trace = self.check(Some(&mut repairs))?;
        Ok((trace, repairs))
    }

    fn check(self, repairs: Option<&mut Repairs>) -> Result<Trace, Error> {
        let Builder { columns, values, mut names, calling, capabilities, dependences, requests, ending } =
            self;
        // Without an early exit this takes no time, and most traces have no objects.
        let lifetime = |kind: Kind| matches!(kind, Kind::Alloc | Kind::Free);
        let any = columns.kinds.iter().fold(false, |any, &kind| any | lifetime(kind));
        let events = if any { columns.kinds.len() } else { 0 };
        let lifetimes = columns
            .kinds
            .iter()
            .zip(&columns.targets)
            .take(events)
            .filter(|(kind, _)| lifetime(**kind))
            .map(|(_, &target)| VarId(target));
        let objects = Objects::new(names.space(Space::Variable), lifetimes)?;
        crate::call::apply_declarations(names.space_mut(Space::Call));
        let (names, objects) = (Arc::new(names), Arc::new(objects));
        let mut trace = Trace {
            columns,
            values,
            names,
            calling,
            objects,
            capabilities,
            dependences: None,
            ending: ending.map(Arc::new),
        };
        let repaired = match repairs {
            None => wellformed::check(&mut trace, None).map(|()| false)?,
            Some(repairs) => {
                wellformed::check(&mut trace, Some(&mut *repairs))?;
                !repairs.is_empty()
            }
        };
        trace.ending = requests.or_deadlock(trace.ending.take(), &trace.columns, &trace.names);
        // What a repair dropped may be in the table, and what was right of the whole run need not be of the rest.
        if let Some(entries) = dependences.filter(|_| !repaired) {
            trace.dependences = Some(Arc::new(Dependences::of_entries(entries, &trace)?));
        }
        Ok(trace)
    }
}

fn memory<T>(column: &Vec<T>) -> std::ops::Range<usize> {
    let start = column.as_ptr().addr();
    start..start + column.capacity() * size_of::<T>()
}

mod requests;
mod settle;
#[cfg(test)]
mod tests;
