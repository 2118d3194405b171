//! Names for addresses of a program that has run.

use crate::modules::Modules;

/// What addresses of code and of variables are called.
pub struct Lookup(Modules);

impl Lookup {
    /// From copies of the program's `/proc/self/maps`.
    pub fn new(maps: &str) -> Lookup {
        Lookup(Modules::new(maps))
    }

    /// The place of the call that returns to `code`: `function file:line`, as far as it is known.
    pub fn code(&self, code: u64) -> String {
        if code == 0 { "?".to_owned() } else { self.0.place(code).text(code) }
    }

    /// The variable at an address, where it is one of a module.
    pub fn variable(&self, at: u64) -> Option<String> {
        self.0.variable(at)
    }
}
