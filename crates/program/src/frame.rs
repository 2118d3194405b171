//! Places in the source, as people read them.

use crate::instruction::NONE;
use crate::table::{File, Table};

/// A function of the source and a place in it.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Frame<'t> {
    /// The function's name for the linker, else its plain name.
    pub function: &'t str,
    /// The path of the file; empty where it is not known.
    pub file: String,
    /// The line; 0 where it is not known.
    pub line: u32,
    /// The column; 0 where it is not known.
    pub column: u32,
    /// The line that the function begins with; 0 where it is not known.
    pub declared: u32,
}

impl Table {
    /// A location and what it was inlined into, from the inside out; nothing where it is not known.
    pub fn frames(&self, location: u32) -> Vec<Frame<'_>> {
        let mut frames = Vec::new();
        let mut next = self.locations.get(location as usize);
        while let Some(location) = next {
            let scope = self.scopes.get(location.scope as usize);
            frames.push(Frame {
                function: scope.map_or("", |scope| self.string(scope.name)),
                file: self.path(location.file),
                line: location.line,
                column: location.column,
                declared: scope.map_or(0, |scope| scope.line),
            });
            // What a place is inlined into comes before it: this ends.
            next = self.locations.get(location.inlined_at as usize);
        }
        frames
    }

    /// The path of a file: its name where that is a whole path, else below its folder.
    pub fn path(&self, file: u32) -> String {
        if file == NONE {
            return String::new();
        }
        let Some(&File { folder, name }) = self.files.get(file as usize) else { return String::new() };
        let (folder, name) = (self.string(folder), self.string(name));
        if folder.is_empty() || name.starts_with('/') { name.to_owned() } else { format!("{folder}/{name}") }
    }
}
