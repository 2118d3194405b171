//! What a trace's recorder promises about it.

use std::fmt;

/// What a trace carries in full, so that the models that rely on it are sound.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Capabilities {
    /// Every read, write and update has its value.
    pub values: bool,
    /// Every dependence of control, address, callee or lock on a read is marked by a branch.
    pub branches: bool,
    /// The trace comes with a table of dependences.
    pub dependences: bool,
    /// Not a promise but its lack: the threads ran freely, and where between two synchronisations a plain access lies, so
    /// which of two that race came first, is a guess.
    pub approximate: bool,
}

impl Capabilities {
    /// The capabilities' names, in alphabetical order.
    pub fn names(self) -> impl Iterator<Item = &'static str> {
        [
            ("approximate", self.approximate),
            ("branches", self.branches),
            ("dependences", self.dependences),
            ("values", self.values),
        ]
        .into_iter()
        .filter_map(|(name, there)| there.then_some(name))
    }

    /// Adds the capability called `name`; false when there is none of that name.
    pub fn add(&mut self, name: &str) -> bool {
        match name {
            "values" => self.values = true,
            "branches" => self.branches = true,
            "dependences" => self.dependences = true,
            "approximate" => self.approximate = true,
            _ => return false,
        }
        true
    }

    /// Whether each capability in `other` is in `self` too.
    pub fn include(self, other: Capabilities) -> bool {
        (self.values || !other.values)
            && (self.branches || !other.branches)
            && (self.dependences || !other.dependences)
    }
}

impl fmt::Display for Capabilities {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, name) in self.names().enumerate() {
            write!(f, "{}{name}", if i == 0 { "" } else { " " })?;
        }
        Ok(())
    }
}
