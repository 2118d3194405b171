//! The tables of a binary.

use std::collections::BTreeMap;

use crate::Error;
use crate::bytes::Input;
use crate::decode::Blob;
use crate::frame::Frame;
use crate::hash::Hash;
use crate::instruction::{Instruction, NONE};
use crate::site::{Place, Site};
use crate::table::{Function, Scope, Table};

/// All modules of a program or library that have a table.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Program {
    /// The tables, each with its hash and how many bytes it is stored in. A table that is there twice is here once.
    pub modules: Vec<(Hash, usize, Table)>,
    /// Modules by tag; nothing where several different ones have the same.
    tags: BTreeMap<u32, Option<usize>>,
}

/// What a site leads to.
#[derive(Clone, Copy, Debug)]
pub struct Found<'p> {
    /// The table of its module.
    pub table: &'p Table,
    /// The function.
    pub function: &'p Function,
    /// The instruction, by its number in the function; none where the site is the function as a whole.
    pub number: Option<u32>,
}

impl Program {
    /// Reads a section of tables, as a linker put it together.
    pub fn decode(section: &[u8]) -> Result<Program, Error> {
        let mut program = Program::default();
        let mut input = Input(section);
        while let Some(blob) = Blob::next(&mut input, section.len())? {
            let place = program.modules.len();
            let known = program.tags.get(&blob.hash.tag()).copied();
            let same = |place: usize| program.modules.get(place).is_some_and(|known| known.0 == blob.hash);
            match known {
                Some(Some(earlier)) if same(earlier) => continue,
                Some(_) => program.tags.insert(blob.hash.tag(), None),
                None => program.tags.insert(blob.hash.tag(), Some(place)),
            };
            program.modules.push((blob.hash, blob.stored.len(), blob.decode()?));
        }
        Ok(program)
    }

    /// What a site leads to; nothing where its module has no table, or where two modules have the same tag.
    pub fn find(&self, site: Site) -> Option<Found<'_>> {
        let place = (*self.tags.get(&site.tag)?)?;
        let (.., table) = self.modules.get(place)?;
        let (function, number) = match site.place {
            Place::Function(function) => (function, None),
            Place::Instruction(number) => {
                let (function, number) = table.instruction(number)?;
                (function, Some(number))
            }
        };
        Some(Found { table, function: table.functions.get(function as usize)?, number })
    }
}

impl<'p> Found<'p> {
    /// The instruction.
    pub fn instruction(&self) -> Option<&'p Instruction> {
        self.function.instructions.get(self.number? as usize)
    }

    /// Where it is in the source, from the inside out: of a function as a whole, where that begins. At least the function's
    /// name is known.
    pub fn frames(&self) -> Vec<Frame<'p>> {
        let location = self.instruction().map_or(NONE, |instruction| instruction.location);
        let mut frames = self.table.frames(location);
        let scope = self.table.scopes.get(self.function.scope as usize);
        if frames.is_empty() || self.number.is_none() {
            frames = vec![Frame {
                function: scope
                    .map_or(self.table.function_name(self.function), |scope| self.table.string(scope.name)),
                file: scope.map_or(String::new(), |scope| self.table.path(scope.file)),
                line: scope.map_or(0, |scope| scope.line),
                column: 0,
                declared: scope.map_or(0, |scope| scope.line),
            }];
        }
        // What the compiler added itself has line 0: that of the function is better than none.
        if let Some(frame) = frames.first_mut().filter(|frame| frame.line == 0)
            && let Some(own) = self.scope_of(location).or(scope)
        {
            (frame.file, frame.line) = (self.table.path(own.file), own.line);
        }
        frames
    }

    fn scope_of(&self, location: u32) -> Option<&'p Scope> {
        self.table.scopes.get(self.table.locations.get(location as usize)?.scope as usize)
    }
}
