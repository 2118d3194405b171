//! Libraries without hooks: the variables that stand for them, and a trace without them.
//!
//! A recorder cannot see what such a library does, so each step of a thread into it or out of it updates a variable
//! `library NAME`, and whatever passes through keeps its observed order. Who knows that a library does not order what its users
//! do trusts it: without the updates, more can be predicted.

use crate::{Kind, Space, Trace, VarId};

/// How the name of a variable begins that stands for a library.
const LIBRARY: &str = "library ";

/// A library without hooks that threads of a trace called.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Library {
    /// The name of its file.
    pub name: String,
    /// How many steps there were into it and out of it.
    pub steps: u64,
    /// Whether more than one thread made them; else it orders nothing.
    pub shared: bool,
}

impl Trace {
    /// The libraries without hooks, by name.
    pub fn libraries(&self) -> Vec<Library> {
        let stands_for = self.library_variables(|_| true);
        if !stands_for.contains(&true) {
            return Vec::new();
        }
        let mut found: Vec<(VarId, Library, u32)> = Vec::new();
        for (id, event) in self.events().filter(|(_, event)| event.op.kind() == Kind::Update) {
            let variable = VarId(event.op.target());
            if !stands_for.get(variable.index()).copied().unwrap_or(false) {
                continue;
            }
            let thread = self.thread(id).0;
            match found.iter_mut().find(|(known, ..)| *known == variable) {
                Some((_, library, first)) => {
                    library.steps += 1;
                    library.shared |= *first != thread;
                }
                None => {
                    let name = self.variable_name(variable).strip_prefix(LIBRARY).unwrap_or_default();
                    found.push((
                        variable,
                        Library { name: name.to_owned(), steps: 1, shared: false },
                        thread,
                    ));
                }
            }
        }
        let mut libraries: Vec<Library> = found.into_iter().map(|(_, library, _)| library).collect();
        libraries.sort_by(|a, b| a.name.cmp(&b.name));
        libraries
    }

    /// The same trace without the updates of libraries that are trusted. Every other event keeps its id.
    pub fn trusting(&self, is_trusted: impl Fn(&str) -> bool) -> Trace {
        let stands_for = self.library_variables(is_trusted);
        let mut trace = self.clone();
        for id in self.ids().filter(|&id| self.kind(id) == Kind::Update) {
            let target = self.op(id).target() as usize;
            if stands_for.get(target).copied().unwrap_or(false) {
                trace.columns.kinds[id.index()] = Kind::Skip;
                trace.columns.targets[id.index()] = 0;
            }
        }
        trace
    }

    /// Per variable, whether it stands for a library that is wanted.
    fn library_variables(&self, is_wanted: impl Fn(&str) -> bool) -> Vec<bool> {
        let variables =
            (0..self.count(Space::Variable)).map(|number| self.variable_name(VarId(number as u32)));
        variables.map(|name| name.strip_prefix(LIBRARY).is_some_and(&is_wanted)).collect()
    }
}
