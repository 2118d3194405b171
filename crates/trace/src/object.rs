//! Objects and their fields.

use fixedbitset::FixedBitSet;

use crate::id::{NONE, some};
use crate::{Error, Table, VarId};

/// How many dots a variable's name may have in a trace with objects: bounds the work per access.
const MAX_DOTS: usize = 64;

/// Which objects each variable is part of.
///
/// An object is a variable that some event allocates or frees; the variable `p.next` is part of the object `p`.
/// A trace without such events has no objects, and pays nothing for them.
#[derive(Clone, Default, Debug)]
pub struct Objects {
    objects: FixedBitSet,
    /// Per variable, the innermost object that it is a field of.
    parents: Vec<u32>,
}

impl Objects {
    pub(crate) fn new(variables: &Table, targets: impl IntoIterator<Item = VarId>) -> Result<Objects, Error> {
        let mut objects = FixedBitSet::with_capacity(variables.len());
        objects.extend(targets.into_iter().map(VarId::index));
        if objects.is_clear() {
            return Ok(Objects::default());
        }
        let mut found = Objects { objects, parents: Vec::with_capacity(variables.len()) };
        for name in variables.iter() {
            let parent = found.parent_by_name(variables, name)?;
            found.parents.push(parent);
        }
        Ok(found)
    }

    fn parent_by_name(&self, variables: &Table, name: &str) -> Result<u32, Error> {
        for (dots, (dot, _)) in name.rmatch_indices('.').enumerate() {
            if dots == MAX_DOTS {
                let name = name.chars().take(40).chain(['…']).collect();
                return Err(Error::TooNested { name, limit: MAX_DOTS });
            }
            if let Some(id) = variables.find(&name[..dot])
                && self.objects.contains(id as usize)
            {
                return Ok(id);
            }
        }
        Ok(NONE)
    }

    /// The innermost object that something called `name` is a field of.
    pub(crate) fn with_field(&self, variables: &Table, name: &str) -> Option<VarId> {
        self.parent_by_name(variables, name).ok().and_then(|parent| some(parent, VarId))
    }

    /// Adds the next variable of the trace.
    pub(crate) fn push(&mut self, object: bool, parent: Option<VarId>) {
        self.objects.grow(self.parents.len() + 1);
        self.objects.set(self.parents.len(), object);
        self.parents.push(parent.map_or(NONE, |id| id.0));
    }

    /// Whether the trace has no object.
    pub fn is_empty(&self) -> bool {
        self.parents.is_empty()
    }

    /// Whether `variable` is an object.
    #[inline]
    pub fn is_object(&self, variable: VarId) -> bool {
        self.objects.contains(variable.index())
    }

    /// The innermost object that `variable` is a field of.
    #[inline]
    pub fn parent(&self, variable: VarId) -> Option<VarId> {
        self.parents.get(variable.index()).and_then(|&parent| some(parent, VarId))
    }

    /// The objects whose birth and death touch `variable`, from the inside out: itself, if it is one, and
    /// those that it is a field of.
    #[inline]
    pub fn around(&self, variable: VarId) -> impl Iterator<Item = VarId> {
        let innermost = if self.is_object(variable) { Some(variable) } else { self.parent(variable) };
        std::iter::successors(innermost, |&object| self.parent(object))
    }

    /// Whether the birth and death of `object` touch `variable`.
    pub fn covers(&self, object: VarId, variable: VarId) -> bool {
        self.around(variable).any(|around| around == object)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_belong_to_every_object_whose_name_they_extend() {
        let mut variables = Table::default();
        for name in ["p", "p.a", "p.a.b", "p.ab", "q.a", "px", "p.a.b.c.d"] {
            variables.intern(name).unwrap();
        }
        let objects = Objects::new(&variables, [VarId(0), VarId(2)]).unwrap();
        let around = |v: u32| objects.around(VarId(v)).map(|o| variables.get(o.0)).collect::<Vec<_>>();
        assert_eq!(around(0), ["p"]);
        assert_eq!(around(1), ["p"]);
        assert_eq!(around(2), ["p.a.b", "p"]);
        assert_eq!(around(3), ["p"]);
        assert_eq!(around(4), [""; 0]);
        assert_eq!(around(5), [""; 0]);
        assert_eq!(around(6), ["p.a.b", "p"]);
        assert!(objects.covers(VarId(0), VarId(6)) && !objects.covers(VarId(2), VarId(1)));
    }

    #[test]
    fn nesting_has_a_limit_only_where_there_are_objects() {
        let mut variables = Table::default();
        variables.intern("p").unwrap();
        variables.intern(&"x.".repeat(MAX_DOTS + 1)).unwrap();
        assert!(Objects::new(&variables, []).is_ok());
        assert!(matches!(Objects::new(&variables, [VarId(0)]), Err(Error::TooNested { .. })));
    }
}
