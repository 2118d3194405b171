//! The immutable, well-formed trace.

use std::ops::Range;
use std::sync::Arc;

use crate::build::Columns;
use crate::context::Calling;
use crate::value::Values;
use crate::{
    CallId, Capabilities, ConditionId, ContextId, Dependences, Ending, Error, Event, EventId, EventValues,
    Kind, LockId, Names, Objects, Op, RegionId, Rows, SiteId, Space, ThreadId, Value, ValueId, VarId,
};

/// One observed run: 10 bytes an event, 13 where there are more than 256 threads; plus values where there are any.
///
/// **Invariant:** it is well formed as `docs/semantics.md` defines it; only [`crate::Builder`] makes one.
#[derive(Clone, Debug)]
pub struct Trace {
    pub(crate) columns: Columns,
    pub(crate) values: Values,
    /// Shared with the traces that are made from this one.
    pub(crate) names: Arc<Names>,
    pub(crate) calling: Calling,
    pub(crate) objects: Arc<Objects>,
    pub(crate) capabilities: Capabilities,
    pub(crate) dependences: Option<Arc<Dependences>>,
    pub(crate) ending: Option<Arc<Ending>>,
}

impl Trace {
    /// How many positions the trace has, skipped ones included.
    pub fn len(&self) -> usize {
        self.columns.kinds.len()
    }

    /// Whether the trace has no position.
    pub fn is_empty(&self) -> bool {
        self.columns.kinds.is_empty()
    }

    /// How the run failed by itself, where it did.
    pub fn ending(&self) -> Option<&Ending> {
        self.ending.as_deref()
    }

    /// The same trace, whose calls follow these specifications besides those that are built in.
    pub fn with_specifications(mut self, text: &str) -> Trace {
        Arc::make_mut(&mut self.names).specifications = text.to_owned();
        self
    }

    /// The specifications that its calls follow besides those that are built in.
    pub fn specifications(&self) -> &str {
        &self.names.specifications
    }

    /// Every position, skipped ones included.
    pub fn ids(&self) -> impl DoubleEndedIterator<Item = EventId> + ExactSizeIterator + use<> {
        (0..self.len() as u32).map(EventId)
    }

    /// Every position, as columns.
    pub fn rows(&self) -> Rows<'_> {
        self.columns.rows()
    }

    /// Every event that ran, in observed order.
    pub fn events(&self) -> impl DoubleEndedIterator<Item = (EventId, Event)> {
        self.ids().map(|id| (id, self.event(id))).filter(|(_, event)| event.op != Op::Skip)
    }

    /// The event at `id`.
    #[inline]
    pub fn event(&self, id: EventId) -> Event {
        Event { thread: self.thread(id), op: self.op(id), site: self.site(id) }
    }

    /// The operation of the event at `id`.
    #[inline]
    pub fn op(&self, id: EventId) -> Op {
        Op::new(self.kind(id), self.columns.targets[id.index()])
    }

    /// The operation of the event at `id`, without its target.
    #[inline]
    pub fn kind(&self, id: EventId) -> Kind {
        self.columns.kinds[id.index()]
    }

    /// The thread of the event at `id`.
    #[inline]
    pub fn thread(&self, id: EventId) -> ThreadId {
        self.columns.threads.get(id.index())
    }

    /// The site of the event at `id`.
    #[inline]
    pub fn site(&self, id: EventId) -> SiteId {
        self.columns.sites[id.index()]
    }

    /// What the event at `id` read and wrote, as far as it is known.
    #[inline]
    pub fn values(&self, id: EventId) -> EventValues {
        let kind = self.kind(id);
        self.values.get(id.index(), kind.has_two_values(), kind.reads())
    }

    /// What the events in `range` read and wrote, if any event of the trace has a value.
    #[inline]
    pub fn values_in(&self, range: Range<usize>) -> impl Iterator<Item = [Option<Value<'_>>; 2]> {
        self.values.all(&self.rows().kinds[range.clone()], range)
    }

    /// The calling context of the event at `id`. A core knows none.
    pub fn context(&self, id: EventId) -> ContextId {
        self.calling.get(id, self.thread(id))
    }

    /// The sites of the calls that were under way at the event at `id`, the last call first, as far as they are known.
    pub fn callers(&self, id: EventId) -> impl Iterator<Item = SiteId> + '_ {
        self.names.contexts.callers(self.context(id))
    }

    /// From which event on a thread was in another context, in order; empty where no context is known.
    pub fn context_changes(&self) -> Vec<(EventId, ThreadId, ContextId)> {
        self.calling.in_order()
    }

    /// Whether some event has a value.
    pub fn has_values(&self) -> bool {
        self.values.any()
    }

    /// The value that `id` stands for.
    pub fn value(&self, id: ValueId) -> Value<'_> {
        self.values.pool.get(id)
    }

    /// Whether two events conflict: in different threads, on one variable, one of them a write, not both atomic.
    pub fn conflict(&self, a: EventId, b: EventId) -> bool {
        let (Some(x), Some(y)) = (self.op(a).access(), self.op(b).access()) else { return false };
        let meet = x.variable == y.variable
            || x.lifetime && self.objects.covers(x.variable, y.variable)
            || y.lifetime && self.objects.covers(y.variable, x.variable);
        self.thread(a) != self.thread(b) && meet && (x.writes || y.writes) && !(x.atomic && y.atomic)
    }

    /// What the recorder promises.
    pub fn capabilities(&self) -> Capabilities {
        self.capabilities
    }

    /// What it carries: as [`Trace::capabilities`], but dependences only where their table is
    /// there.
    pub fn carried(&self) -> Capabilities {
        Capabilities { dependences: self.dependences.is_some(), ..self.capabilities }
    }

    /// The same with a table of dependences, if it fits the events.
    pub fn with_dependences(mut self, table: Dependences) -> Result<Trace, Error> {
        table.check(&self)?;
        self.capabilities.dependences = true;
        self.dependences = Some(Arc::new(table));
        Ok(self)
    }

    /// The table of dependences, if there is one.
    pub fn dependences(&self) -> Option<&Dependences> {
        self.dependences.as_deref()
    }

    /// The objects and their fields.
    pub fn objects(&self) -> &Objects {
        &self.objects
    }

    /// All names.
    pub fn names(&self) -> &Names {
        &self.names
    }

    /// How many things there are in a space.
    pub fn count(&self, space: Space) -> usize {
        self.names.space(space).len()
    }

    /// The name of the target of `op`, if it has one.
    pub fn target_name(&self, op: Op) -> Option<&str> {
        op.kind().space().map(|space| self.names.space(space).get(op.target()))
    }

    /// The name of a thread.
    pub fn thread_name(&self, id: ThreadId) -> &str {
        self.names.space(Space::Thread).get(id.0)
    }

    /// The name of a lock.
    pub fn lock_name(&self, id: LockId) -> &str {
        self.names.space(Space::Lock).get(id.0)
    }

    /// The name of a variable.
    pub fn variable_name(&self, id: VarId) -> &str {
        self.names.space(Space::Variable).get(id.0)
    }

    /// The name of a condition variable.
    pub fn condition_name(&self, id: ConditionId) -> &str {
        self.names.space(Space::Condition).get(id.0)
    }

    /// The name of a region.
    pub fn region_name(&self, id: RegionId) -> &str {
        self.names.space(Space::Region).get(id.0)
    }

    /// The text of a call.
    pub fn call_text(&self, id: CallId) -> &str {
        self.names.space(Space::Call).get(id.0)
    }

    /// The text of a site.
    pub fn site_name(&self, id: SiteId) -> &str {
        self.names.sites.get(id.0)
    }
}
