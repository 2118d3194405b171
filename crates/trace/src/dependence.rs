//! Which reads an event needs, and which feed it.

use hashbrown::HashMap;

use crate::{Core, Error, EventId, Kind, Space, ThreadId, Trace};

/// The dependence table of the `dep` models.
///
/// For each event it has two sets of earlier reads of the same thread: those that decide whether the event happens
/// and what it touches, and those that what it writes is computed from. An event without an entry needs and is fed
/// by nothing.
#[derive(Clone, Default, Debug)]
pub struct Dependences {
    needs: Sets<EventId>,
    feeds: Sets<EventId>,
    /// Per thread, what its end needs.
    end_needs: Sets<ThreadId>,
}

/// Sets of reads by key, in one list.
#[derive(Clone, Debug)]
struct Sets<K> {
    spans: HashMap<K, (usize, usize)>,
    reads: Vec<EventId>,
}

impl<K> Default for Sets<K> {
    fn default() -> Self {
        Sets { spans: HashMap::default(), reads: Vec::new() }
    }
}

impl<K: std::hash::Hash + Eq> Sets<K> {
    fn get(&self, key: &K) -> &[EventId] {
        self.spans.get(key).map_or(&[], |&(start, end)| &self.reads[start..end])
    }

    /// Every set that has a read, by key.
    fn sorted(&self) -> Vec<(K, &[EventId])>
    where
        K: Ord + Copy,
    {
        let mut sets: Vec<_> =
            self.spans.iter().map(|(&key, &(start, end))| (key, &self.reads[start..end])).collect();
        sets.sort_unstable_by_key(|&(key, _)| key);
        sets
    }

    fn set(&mut self, key: K, reads: &[EventId]) {
        if reads.is_empty() {
            self.spans.remove(&key);
            return;
        }
        let start = self.reads.len();
        self.reads.extend_from_slice(reads);
        self.spans.insert(key, (start, self.reads.len()));
    }
}

impl Dependences {
    /// The reads that decide whether `event` happens and what it touches.
    pub fn needs(&self, event: EventId) -> &[EventId] {
        self.needs.get(&event)
    }

    /// The reads that what `event` writes is computed from.
    pub fn feeds(&self, event: EventId) -> &[EventId] {
        self.feeds.get(&event)
    }

    /// The reads that decide whether and how `thread` ends.
    pub fn end_needs(&self, thread: ThreadId) -> &[EventId] {
        self.end_needs.get(&thread)
    }

    /// Every set that has a read: those of events in their order, what decides before what is written, then those of the
    /// ends of threads.
    pub fn entries(&self) -> Vec<(Dependent, &[EventId])> {
        let needs = self.needs.sorted().into_iter().map(|(event, reads)| (event, 0, reads));
        let feeds = self.feeds.sorted().into_iter().map(|(event, reads)| (event, 1, reads));
        let mut events: Vec<_> = needs.chain(feeds).collect();
        events.sort_by_key(|&(event, which, _)| (event, which));
        let ends = self.end_needs.sorted().into_iter();
        let of_event = |(event, which, reads)| match which {
            0 => (Dependent::Needs(event), reads),
            _ => (Dependent::Feeds(event), reads),
        };
        let ends = ends.map(|(thread, reads)| (Dependent::End(thread), reads));
        events.into_iter().map(of_event).chain(ends).collect()
    }

    /// The same table for the events of a core that has all the reads in it.
    pub(crate) fn of_core(&self, core: &Core) -> Dependences {
        let in_core =
            |reads: &[EventId]| reads.iter().filter_map(|&read| core.find(read)).collect::<Vec<_>>();
        let mut table = DependenceBuilder::new();
        for id in core.trace().ids() {
            let whole = core.original(id);
            table.set(Dependent::Needs(id), &in_core(self.needs(whole)));
            table.set(Dependent::Feeds(id), &in_core(self.feeds(whole)));
        }
        for thread in (0..core.trace().count(Space::Thread)).map(ThreadId::from_index) {
            table.set(Dependent::End(thread), &in_core(self.end_needs(thread)));
        }
        table.finish()
    }

    /// The table of these entries; an error where they do not fit the trace.
    pub(crate) fn of_entries(
        entries: Vec<(Dependent, Vec<EventId>)>,
        trace: &Trace,
    ) -> Result<Dependences, Error> {
        if !trace.capabilities().dependences {
            let reason = "it is there, but the trace does not claim the capability `dependences`";
            return Err(Error::Dependence { reason: reason.to_owned() });
        }
        let mut table = DependenceBuilder::new();
        for (who, reads) in entries {
            table.set(who, &reads);
        }
        let table = table.finish();
        table.check(trace)?;
        Ok(table)
    }

    /// Whether every set is of earlier reads of the same thread; an update may feed itself.
    pub(crate) fn check(&self, trace: &Trace) -> Result<(), Error> {
        let outside = |event: EventId| event.index() >= trace.len() || trace.kind(event) == Kind::Skip;
        let is_root = |kind: Kind| kind.reads() || matches!(kind, Kind::Wait | Kind::Call);
        let check = |set: &[EventId], thread: ThreadId, before: u32, whose: &str| {
            for &read in set {
                let of_thread = !outside(read) && trace.thread(read) == thread;
                if !of_thread || !is_root(trace.kind(read)) || read.0 >= before {
                    let reason = format!(
                        "{whose} names event {}, which is no earlier read, call or wait of its thread",
                        read.0
                    );
                    return Err(Error::Dependence { reason });
                }
            }
            Ok(())
        };
        for (what, sets) in [("needs", &self.needs), ("feeds", &self.feeds)] {
            for (event, set) in sets.sorted() {
                if outside(event) {
                    return Err(Error::Dependence {
                        reason: format!("`{what} {}`: there is no such event", event.0),
                    });
                }
                let updates = what == "feeds" && trace.kind(event) == Kind::Update;
                check(
                    set,
                    trace.thread(event),
                    event.0 + u32::from(updates),
                    &format!("`{what} {}`", event.0),
                )?;
            }
        }
        for (thread, set) in self.end_needs.sorted() {
            check(set, thread, u32::MAX, &format!("`end {}`", trace.thread_name(thread)))?;
        }
        Ok(())
    }
}

/// Who depends on reads, and how.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Dependent {
    /// Whether this event happens, and what it touches.
    Needs(EventId),
    /// What this event writes.
    Feeds(EventId),
    /// Whether and how this thread ends.
    End(ThreadId),
}

/// Makes a dependence table, entry by entry.
#[derive(Clone, Default, Debug)]
pub struct DependenceBuilder {
    table: Dependences,
}

impl DependenceBuilder {
    /// An empty table.
    pub fn new() -> DependenceBuilder {
        DependenceBuilder::default()
    }

    /// Sets what someone depends on, whatever it was before.
    pub fn set(&mut self, who: Dependent, reads: &[EventId]) -> &mut Self {
        match who {
            Dependent::Needs(event) => self.needs(event, reads),
            Dependent::Feeds(event) => self.feeds(event, reads),
            Dependent::End(thread) => self.end_needs(thread, reads),
        }
    }

    /// Says what `event` needs.
    pub fn needs(&mut self, event: EventId, reads: &[EventId]) -> &mut Self {
        self.table.needs.set(event, reads);
        self
    }

    /// Says what `event` is fed by.
    pub fn feeds(&mut self, event: EventId, reads: &[EventId]) -> &mut Self {
        self.table.feeds.set(event, reads);
        self
    }

    /// Says what the end of `thread` needs.
    pub fn end_needs(&mut self, thread: ThreadId, reads: &[EventId]) -> &mut Self {
        self.table.end_needs.set(thread, reads);
        self
    }

    /// The table.
    pub fn finish(self) -> Dependences {
        self.table
    }
}
