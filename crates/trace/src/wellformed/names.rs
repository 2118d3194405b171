//! The check of objects' lifetimes, and new names for objects that were allocated again.

use std::sync::Arc;

use fixedbitset::FixedBitSet;
use hashbrown::HashMap;

use crate::{Defect, Error, EventId, Op, Space, Trace, VarId};

use super::Found;

/// Which objects were used, allocated and freed, and what those that were allocated again are called now.
pub(super) struct ObjectNames {
    used: FixedBitSet,
    allocated: FixedBitSet,
    freed: FixedBitSet,
    /// Per object that was allocated again, by its name in the file: how often, and when last.
    renewed: HashMap<VarId, Renewal>,
    /// How many renewals there were.
    clock: u32,
    /// Per variable of the file, its present name and the renewal that this dates from.
    present: HashMap<VarId, (u32, VarId)>,
}

#[derive(Clone, Copy)]
struct Renewal {
    generation: u32,
    time: u32,
}

impl ObjectNames {
    pub(super) fn new(trace: &Trace) -> ObjectNames {
        let variables = if trace.objects().is_empty() { 0 } else { trace.count(Space::Variable) };
        ObjectNames {
            used: FixedBitSet::with_capacity(variables),
            allocated: FixedBitSet::with_capacity(variables),
            freed: FixedBitSet::with_capacity(variables),
            renewed: HashMap::new(),
            clock: 0,
            present: HashMap::new(),
        }
    }

    /// What is wrong with the birth or death of an object now.
    #[inline]
    pub(super) fn defect(&self, op: Op) -> Option<Found> {
        let defect = match op {
            Op::Alloc(object) if self.allocated.contains(object.index()) => Defect::SecondAlloc,
            Op::Alloc(object) if self.used.contains(object.index()) => Defect::UseBeforeAlloc,
            Op::Free(object) if self.freed.contains(object.index()) => Defect::SecondFree,
            _ => return None,
        };
        Some((defect, None))
    }

    /// Runs an operation that has no defect.
    #[inline]
    pub(super) fn run(&mut self, trace: &Trace, op: Op) {
        let Some(access) = op.access() else { return };
        if trace.objects().is_empty() {
            return;
        }
        for object in trace.objects().around(access.variable) {
            self.used.grow_and_insert(object.index());
        }
        match op {
            Op::Alloc(object) => self.allocated.grow_and_insert(object.index()),
            Op::Free(object) => self.freed.grow_and_insert(object.index()),
            _ => {}
        }
    }

    /// Gives the variable of event `id`, if it has one, its present name; answers with its name in the file.
    #[inline]
    pub(super) fn rename(&mut self, trace: &mut Trace, id: EventId) -> Result<Option<VarId>, Error> {
        let Some(access) = trace.op(id).access() else { return Ok(None) };
        if self.clock > 0 {
            trace.columns.targets[id.index()] = self.present(trace, access.variable)?.0;
        }
        Ok(Some(access.variable))
    }

    /// From event `id` on, `object` of the file and its fields have new names.
    pub(super) fn renew(&mut self, trace: &mut Trace, id: EventId, object: VarId) -> Result<(), Error> {
        self.clock += 1;
        let generation = self.renewed.get(&object).map_or(1, |renewal| renewal.generation) + 1;
        self.renewed.insert(object, Renewal { generation, time: self.clock });
        trace.columns.targets[id.index()] = self.present(trace, object)?.0;
        Ok(())
    }

    /// The present name of a variable of the file: a new one where an object around it was allocated again since.
    fn present(&mut self, trace: &mut Trace, variable: VarId) -> Result<VarId, Error> {
        let renewal = |object: VarId| self.renewed.get(&object).map(|renewal| renewal.time);
        let Some(time) = trace.objects().around(variable).filter_map(renewal).max() else {
            return Ok(variable);
        };
        match self.present.get(&variable) {
            Some(&(since, present)) if since == time => return Ok(present),
            _ => {}
        }
        let parent = trace.objects().parent(variable);
        let present_parent = parent.map(|parent| self.present(trace, parent)).transpose()?;
        let mut name = trace.variable_name(variable).to_owned();
        if let (Some(parent), Some(present)) = (parent, present_parent) {
            let field = &name[trace.variable_name(parent).len()..];
            name = format!("{}{field}", trace.variable_name(present));
        }
        if let Some(renewal) = self.renewed.get(&variable) {
            name = format!("{name}#{}", renewal.generation);
        }
        while trace.names.space(Space::Variable).find(&name).is_some() {
            name.push('\'');
        }
        let present = VarId(Arc::make_mut(&mut trace.names).space_mut(Space::Variable).intern(&name)?);
        let object = trace.objects.is_object(variable);
        Arc::make_mut(&mut trace.objects).push(object, present_parent);
        self.present.insert(variable, (time, present));
        Ok(present)
    }
}
