//! The check that reads agree with their writers.

use crate::{Defect, EventId, Kind, Memory, Op, Space, Trace, ValueId};

use super::Found;

/// Compares what each read observed with what was written; stops at the first disagreement.
pub(super) struct ValueCheck {
    active: bool,
    failed: bool,
    complete: bool,
    /// Per variable, where the trace has no objects, the event that tells its value: the last write or, before the
    /// first, the first read.
    plain: Option<Vec<Option<Known>>>,
    memory: Memory,
    /// Per variable, where the trace has objects, the first read of its initial value, and the value.
    initial: Vec<Option<(EventId, ValueId)>>,
}

/// An event that tells a value, and the value where it is known.
type Known = (EventId, Option<ValueId>);

impl ValueCheck {
    pub(super) fn new(trace: &Trace) -> ValueCheck {
        let active = trace.values.any() || trace.capabilities.values;
        let variables = if active { trace.count(Space::Variable) } else { 0 };
        ValueCheck {
            active,
            failed: false,
            complete: trace.capabilities.values,
            plain: trace.objects().is_empty().then(|| vec![None; variables]),
            memory: Memory::new(),
            initial: Vec::new(),
        }
    }

    /// Whether a defect was found.
    pub(super) fn failed(&self) -> bool {
        self.failed
    }

    #[inline]
    pub(super) fn run(&mut self, trace: &Trace, id: EventId, op: Op) -> Option<Found> {
        if !self.active {
            return None;
        }
        let access = op.access()?;
        if self.plain.is_some() {
            return self.access(trace, id, op.kind());
        }
        let found = self.judge(trace, id, op);
        if access.lifetime {
            self.memory.write_object(access.variable, id);
        } else if access.writes {
            self.memory.write(access.variable, id);
        }
        if found.is_some() {
            self.failed = true;
            self.active = false;
        }
        found
    }

    /// The same as [`ValueCheck::run`] for an access of `kind` in a trace without objects.
    #[inline]
    pub(super) fn access(&mut self, trace: &Trace, id: EventId, kind: Kind) -> Option<Found> {
        if !self.active {
            return None;
        }
        let values = trace.values.get(id.index(), kind.has_two_values(), kind.reads());
        let known = self.plain.as_mut()?.get_mut(trace.columns.targets[id.index()] as usize)?;
        let lacks = kind.reads() && values.read.is_none() || kind.writes() && values.written.is_none();
        let found = match (*known, values.read) {
            _ if self.complete && lacks => Some((Defect::MissingValue, None)),
            (Some((writer, Some(value))), Some(read)) if value != read => {
                Some((Defect::ValueDisagrees, Some(writer)))
            }
            (None, Some(_)) => {
                *known = Some((id, values.read));
                None
            }
            _ => None,
        };
        if kind.writes() {
            *known = Some((id, values.written));
        }
        if found.is_some() {
            self.failed = true;
            self.active = false;
        }
        found
    }

    fn judge(&mut self, trace: &Trace, id: EventId, op: Op) -> Option<Found> {
        let (kind, values) = (op.kind(), trace.values(id));
        let lifetime = matches!(kind, Kind::Alloc | Kind::Free);
        let lacks = kind.reads() && values.read.is_none() || kind.writes() && values.written.is_none();
        if self.complete && lacks && !lifetime {
            return Some((Defect::MissingValue, None));
        }
        let variable = op.access()?.variable;
        let read = values.read?;
        let writer = match self.memory.last_write(trace.objects(), variable) {
            Some(writer) => (writer, trace.values(writer).written?),
            None => {
                if self.initial.len() <= variable.index() {
                    self.initial.resize(variable.index() + 1, None);
                }
                *self.initial[variable.index()].get_or_insert((id, read))
            }
        };
        (writer.1 != read).then_some((Defect::ValueDisagrees, Some(writer.0)))
    }

    /// One sentence about the disagreement found at `event`.
    pub(super) fn disagreement(&self, trace: &Trace, event: EventId) -> String {
        let name = trace.target_name(trace.op(event)).unwrap_or_default();
        let value = trace.values(event).read.map(|value| trace.value(value).to_string());
        format!("read of `{name}` observed {}, which is not what was there", value.unwrap_or_default())
    }
}
