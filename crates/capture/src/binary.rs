//! Binaries that carry the table of their program.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use object::read::archive::ArchiveFile;
use object::{Object, ObjectSection, ObjectSegment};
use reweave_program::{Found, Program, SITES_SECTION, Site, TABLE_SECTION};

use crate::steps::{About, CodePlace, build_of};

/// Why a file gives no table.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BinaryError {
    /// It could not be read.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What went wrong.
        source: io::Error,
    },
    /// It is no program, library or object.
    #[error("it is no program, library, archive or object in ELF")]
    NoBinary,
    /// It was not built with the plugin.
    #[error("it has no program table")]
    NoTable,
    /// It was built with the plugin, and then the table was taken out.
    #[error(
        "its program table was removed: it has the sites of a recorded program, and no section {TABLE_SECTION}"
    )]
    Removed,
    /// Its table is not one.
    #[error(transparent)]
    Table(#[from] reweave_program::Error),
}

/// A program, library, object or archive of objects with the table of its program.
#[derive(Debug)]
pub struct Binary {
    /// What tells this build from others, as in the modules of a recording.
    pub build: String,
    /// The tables.
    pub program: Program,
    /// How many bytes of it are tables.
    pub bytes: u64,
    /// Its sections of sites, by address.
    sites: Vec<(u64, Vec<u8>)>,
    /// The address of its first page.
    lowest: u64,
}

impl Binary {
    /// The binary at `path`.
    pub fn open(path: &Path) -> Result<Binary, BinaryError> {
        let bytes = fs::read(path).map_err(|source| BinaryError::Io { path: path.to_owned(), source })?;
        Binary::parse(&bytes)
    }

    /// The binary in `bytes`.
    pub fn parse(bytes: &[u8]) -> Result<Binary, BinaryError> {
        if let Ok(archive) = ArchiveFile::parse(bytes) {
            let mut tables = Vec::new();
            for member in archive.members() {
                let member = member.ok().and_then(|member| member.data(bytes).ok());
                let object = member.and_then(|member| object::File::parse(member).ok());
                tables.extend(object.into_iter().flat_map(|object| section(&object, TABLE_SECTION)));
            }
            // Nothing runs in an archive: its sites have no address yet.
            return Binary::new(build_of(bytes), tables, Vec::new(), 0);
        }
        let file = object::File::parse(bytes).map_err(|_| BinaryError::NoBinary)?;
        Binary::of(&file, bytes)
    }

    pub(crate) fn of(file: &object::File<'_>, bytes: &[u8]) -> Result<Binary, BinaryError> {
        let (tables, sites) = (section(file, TABLE_SECTION), section(file, SITES_SECTION));
        let lowest = file.segments().map(|segment| segment.address()).min().unwrap_or(0) / 4096 * 4096;
        if tables.is_empty() {
            return Err(if sites.is_empty() { BinaryError::NoTable } else { BinaryError::Removed });
        }
        Binary::new(build_of(bytes), tables, sites, lowest)
    }

    fn new(
        build: String,
        tables: Vec<(u64, Vec<u8>)>,
        sites: Vec<(u64, Vec<u8>)>,
        lowest: u64,
    ) -> Result<Binary, BinaryError> {
        if tables.is_empty() {
            return Err(BinaryError::NoTable);
        }
        let all: Vec<u8> = tables.into_iter().flat_map(|(_, table)| table).collect();
        let program = Program::decode(&all)?;
        if program.modules.is_empty() {
            return Err(BinaryError::Removed);
        }
        Ok(Binary { build, program, bytes: all.len() as u64, sites, lowest })
    }

    /// What the site at an address of the file stands for.
    pub fn find(&self, address: u64) -> Option<Found<'_>> {
        let site = self.sites.iter().find_map(|(start, bytes)| {
            Site::at(bytes, usize::try_from(address.checked_sub(*start)?).ok()?)
        })?;
        self.program.find(site)
    }

    /// Every site that leads somewhere, with its offset in the module.
    pub(crate) fn all(&self) -> impl Iterator<Item = (u64, Found<'_>)> {
        self.sites.iter().flat_map(move |(start, bytes)| {
            (0..bytes.len() / Site::BYTES).filter_map(move |number| {
                let at = number * Site::BYTES;
                let found = self.program.find(Site::at(bytes, at)?)?;
                Some(((start + at as u64).checked_sub(self.lowest)?, found))
            })
        })
    }

    /// What a place of a step stands for, if this is the module that it is in.
    pub fn find_place(&self, place: CodePlace) -> Option<Found<'_>> {
        self.find(self.lowest.checked_add(place.offset)?)
    }
}

fn section(file: &object::File<'_>, name: &str) -> Vec<(u64, Vec<u8>)> {
    file.sections()
        .filter(|section| section.name() == Ok(name))
        .filter_map(|section| Some((section.address(), section.data().ok()?.to_vec())))
        .filter(|(_, bytes)| !bytes.is_empty())
        .collect()
}

/// Binaries by what tells their builds apart: from a trace, with its steps, back to the code.
#[derive(Debug, Default)]
pub struct Binaries(Vec<Binary>);

impl Binaries {
    /// Adds one.
    pub fn add(&mut self, binary: Binary) {
        self.0.push(binary);
    }

    /// What the instruction of a step is, where the binary that was recorded is among these, and was built with a table.
    pub fn find(&self, about: &About, place: CodePlace) -> Option<Found<'_>> {
        let module = about.modules.get(place.module? as usize)?;
        self.0.iter().find(|binary| binary.build == module.build)?.find_place(place)
    }
}
