//! The files that were mapped into the program, and what their debug information says.

use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use addr2line::Loader;
use gimli::ReaderOffset;
use hashbrown::HashMap;
use object::{Object, ObjectKind, ObjectSegment, ObjectSymbol, SymbolKind};
use rustix::fs::OFlags;

use crate::binary::Binary;
use crate::debug::Debug;
use crate::place::{Frame, Place, demangled, short, variable_name};
use crate::raw::Pair;
use crate::seen::Functions;
use crate::steps::{ModuleFile, NO_BUILD, build_of};

/// The modules of the program: itself and its shared libraries.
#[derive(Default)]
pub(crate) struct Modules {
    ranges: Vec<Range>,
    modules: Vec<Module>,
    /// Paths are told from here, where they lie below it.
    folder: Option<PathBuf>,
    /// Where the program itself is mapped.
    program: std::ops::Range<u64>,
}

struct Range {
    start: u64,
    end: u64,
    module: usize,
}

pub(crate) struct Module {
    path: PathBuf,
    /// Where its file begins in memory.
    base: u64,
    /// What to take off an address to find it in the file.
    pub(crate) bias: u64,
    loader: Option<Loader>,
    /// What else its debug information says, once that was asked for.
    debug: OnceCell<Option<Debug>>,
    /// What the table of its program knows, where it has one.
    binary: Option<Binary>,
    /// Whether it is a program or library, rather than data that was mapped.
    is_binary: bool,
    /// Whether it tells of its accesses, as far as that can be known.
    tells: bool,
    /// The variables of its symbol table by address: address, size, name.
    pub(crate) variables: Vec<(u64, u64, String)>,
    /// Its machine code, by address.
    code: Vec<(u64, Vec<u8>)>,
    functions: Functions,
}

impl Modules {
    /// The modules in a copy of `/proc/self/maps`, or in several, one after the other.
    pub(crate) fn new(maps: &str) -> Modules {
        let mut modules = Modules { folder: std::env::current_dir().ok(), ..Modules::default() };
        let mut known: HashMap<&str, usize> = HashMap::new();
        for (start, end, offset, path) in
            maps.lines().filter_map(mapping).filter(|map| map.3.starts_with('/'))
        {
            let next = modules.modules.len();
            let module = *known.entry(path).or_insert(next);
            if module == next {
                modules.modules.push(Module::open(Path::new(path), start.saturating_sub(offset)));
            }
            modules.ranges.push(Range { start, end, module });
            if module == 0 {
                let from = if modules.program.is_empty() { start } else { modules.program.start };
                modules.program = from..modules.program.end.max(end);
            }
        }
        number_alike(modules.modules.iter_mut().flat_map(|module| &mut module.variables));
        // Zeroed variables follow their module in memory that no file backs.
        for (start, end, ..) in maps.lines().filter_map(mapping).filter(|map| map.3.is_empty()) {
            if let Some(before) = modules.ranges.iter().find(|range| range.end == start) {
                let module = before.module;
                modules.ranges.push(Range { start, end, module });
            }
        }
        modules
    }

    fn range(&self, at: u64) -> Option<&Range> {
        // The last mapping counts: an address may have had several.
        self.ranges.iter().rev().find(|range| (range.start..range.end).contains(&at))
    }

    pub(crate) fn module(&self, at: u64) -> Option<&Module> {
        self.modules.get(self.range(at)?.module)
    }

    /// The module of an address of code, by its place in [`Modules::files`], and the offset from where it begins.
    pub(crate) fn locate(&self, code: u64) -> Option<(usize, u64)> {
        // A call returns to the address after it, which may be no code any more; a site is where it is.
        let inside = if self.site(code).is_some() { code } else { code.checked_sub(1)? };
        let module = self.range(inside)?.module;
        Some((module, code.wrapping_sub(self.modules.get(module)?.base)))
    }

    /// Where the program itself is: the first file that is mapped.
    pub(crate) fn program(&self) -> std::ops::Range<u64> {
        self.program.clone()
    }

    /// The files, the program first.
    pub(crate) fn files(&self) -> impl Iterator<Item = ModuleFile> {
        self.modules.iter().map(|module| ModuleFile {
            name: module.name().into_owned(),
            build: match module.is_binary {
                true => build_of(&read_binary(&module.path).unwrap_or_default()),
                false => NO_BUILD.to_owned(),
            },
        })
    }

    /// What the table of its program knows of a site: an address that is no code, but stands for an instruction.
    fn site(&self, at: u64) -> Option<(&Module, reweave_program::Found<'_>)> {
        let module = self.module(at)?;
        let found = module.binary.as_ref()?.find(at.wrapping_sub(module.bias))?;
        Some((module, found))
    }

    /// The same, with the number of the module and all tables of its binary.
    pub(crate) fn described(&self, at: u64) -> Option<(usize, &Binary, reweave_program::Found<'_>)> {
        let module = self.range(at)?.module;
        let (found, place) = self.site(at)?;
        Some((module, found.binary.as_ref()?, place))
    }

    /// Whether the code that a call returns to is in a module that has a table.
    pub(crate) fn has_table(&self, code: u64) -> bool {
        let module = code.checked_sub(1).and_then(|call| self.module(call));
        module.is_some_and(|module| module.binary.is_some())
    }

    /// Where the instruction is that a site stands for.
    fn place_of_site(&self, module: &Module, found: &reweave_program::Found<'_>) -> Place {
        let frames = found.frames().into_iter().map(|frame| {
            let line = (!frame.file.is_empty() && frame.line > 0)
                .then(|| format!("{}:{}", self.file(&frame.file), frame.line));
            Frame { function: Some(demangled(frame.function)), line, declared: frame.declared }
        });
        let mut place = Place { frames: frames.collect() };
        if let Some(Frame { function: Some(function), line: None, .. }) = place.frames.first_mut() {
            *function = format!("{function} [{}]", module.name());
        }
        place
    }

    /// Where the call is that returns to `code`, or the instruction that it stands for.
    pub(crate) fn place(&self, code: u64) -> Place {
        if let Some((module, found)) = self.site(code) {
            return self.place_of_site(module, &found);
        }
        let mut place = Place::default();
        let Some(module) = code.checked_sub(1).and_then(|call| self.module(call)) else { return place };
        let address = (code - 1).wrapping_sub(module.bias);
        if let Some(loader) = &module.loader
            && let Ok(mut frames) = loader.find_frames(address)
        {
            while let Ok(Some(frame)) = frames.next() {
                let function = frame.function.and_then(|name| name.demangle().ok().map(|name| short(&name)));
                let line =
                    frame.location.and_then(|at| Some(format!("{}:{}", self.file(at.file?), at.line?)));
                let declared =
                    frame.dw_die_offset.and_then(|die| module.debug()?.declared(address, die.0.into_u64()));
                place.frames.push(Frame { function, line, declared: declared.unwrap_or(0) });
            }
        }
        if place.frames.first().is_none_or(|frame| frame.line.is_none()) {
            let file = module.name();
            let symbol = module.loader.as_ref().and_then(|loader| loader.find_symbol(address));
            let function = match symbol {
                Some(symbol) => format!("{} [{file}]", demangled(symbol)),
                None => format!("{file}+{address:#x}"),
            };
            place.frames = vec![Frame { function: Some(function), line: None, declared: 0 }];
        }
        place
    }

    /// Whether the code between two calls, from the return of the first to that of the second, leaves the first one's write
    /// undone; not where that code is in no file.
    pub(crate) fn only_prepares(&self, Pair { first, second, bytes }: Pair) -> bool {
        let Some(module) = self.module(first) else { return false };
        let (start, length) = (first.wrapping_sub(module.bias), second.wrapping_sub(first));
        module
            .code
            .iter()
            .find_map(|(at, code)| {
                let from = usize::try_from(start.checked_sub(*at)?).ok()?;
                code.get(from..from.checked_add(usize::try_from(length).ok()?)?)
            })
            .is_some_and(|code| reweave_wire::only_prepares(code, usize::from(bytes)))
    }

    /// Whether the call that returns to `code` is in a function that was compiled from Rust and tells nothing.
    pub(crate) fn is_unseen(&self, code: u64) -> bool {
        let Some(module) = code.checked_sub(1).and_then(|call| self.module(call)) else { return false };
        module.functions.is_unseen((code - 1).wrapping_sub(module.bias), |start, size| {
            module.code.iter().find_map(|(at, bytes)| {
                let from = usize::try_from(start.checked_sub(*at)?).ok()?;
                bytes.get(from..from.checked_add(usize::try_from(size).ok()?)?)
            })
        })
    }

    /// Whether the code at `code` tells of its accesses, as far as that can be known.
    pub(crate) fn tells(&self, code: u64) -> bool {
        self.module(code).is_none_or(|module| module.tells)
    }

    /// Whether the code at `code`, where a call returns to, is in a library without hooks that does not come with the system.
    pub(crate) fn is_foreign(&self, code: u64) -> bool {
        let found = code.checked_sub(1).and_then(|call| self.module(call));
        found.is_some_and(|module| module.is_binary && !module.tells && !is_system(&module.name()))
    }

    /// What the library at `at` is called.
    pub(crate) fn library(&self, at: u64) -> String {
        self.module(at).map_or_else(|| format!("{at:#x}"), |module| module.name().into_owned())
    }

    /// The libraries among places in the code that do not tell of their accesses, by name, each with the sum of its
    /// numbers; without those that come with the compiler and the system.
    pub(crate) fn silent(&self, places: impl IntoIterator<Item = (u64, u64)>) -> Vec<(String, u64)> {
        let mut found: BTreeMap<String, u64> = BTreeMap::new();
        for (code, count) in places {
            let Some(module) = self.module(code).filter(|module| !module.tells) else { continue };
            let name = module.name();
            if !is_system(&name) {
                *found.entry(name.into_owned()).or_insert(0) += count;
            }
        }
        found.into_iter().collect()
    }

    fn file(&self, path: &str) -> String {
        let below = self.folder.as_ref().and_then(|folder| Path::new(path).strip_prefix(folder).ok());
        below.map_or_else(|| path.to_owned(), |below| below.display().to_string())
    }

    /// What a variable at `at` is called, where it is in a module.
    pub(crate) fn variable(&self, at: u64) -> Option<String> {
        let module = self.module(at)?;
        let address = at.wrapping_sub(module.bias);
        let after = module.variables.partition_point(|&(start, ..)| start <= address);
        let found = after.checked_sub(1).and_then(|place| module.variables.get(place));
        let Some((start, _, name)) = found.filter(|(start, size, _)| address - start < (*size).max(1)) else {
            let file = module.name();
            return Some(format!("global {file}+{address:#x}"));
        };
        match address - start {
            0 => Some(format!("global {name}")),
            offset => Some(format!("global {name}+{offset}")),
        }
    }
}

/// Numbers variables that are called the same, such as those that two files keep to themselves.
fn number_alike<'v>(variables: impl Iterator<Item = &'v mut (u64, u64, String)>) {
    let mut alike: HashMap<String, u32> = HashMap::new();
    for (.., name) in variables {
        let count = alike.entry_ref(name.as_str()).or_insert(0);
        *count += 1;
        if *count > 1 {
            name.push_str(&format!(" #{count}"));
        }
    }
}

/// How the names of libraries begin that come with the compiler and the system: what threads do to each other through their
/// functions is recorded by itself.
const SYSTEM: [&str; 20] = [
    "ld-linux",
    "ld-musl",
    "libanl.",
    "libasan.",
    "libatomic.",
    "libBrokenLocale.",
    "libc++",
    "libc.",
    "libcrypt.",
    "libdl.",
    "libgcc_s.",
    "libm.",
    "libmvec.",
    "libnss_",
    "libpthread.",
    "libresolv.",
    "librt.",
    "libstdc++.",
    "libthread_db.",
    "linux-vdso",
];

fn is_system(name: &str) -> bool {
    SYSTEM.iter().any(|start| name.starts_with(start))
}

/// Start, end, offset in the file and name of a line of `/proc/self/maps`.
fn mapping(line: &str) -> Option<(u64, u64, u64, &str)> {
    let mut fields = line.splitn(6, ' ');
    let (start, end) = fields.next()?.split_once('-')?;
    let offset = fields.nth(1)?;
    let path = fields.nth(2).unwrap_or_default().trim_start();
    let hex = |text| u64::from_str_radix(text, 16).ok();
    Some((hex(start)?, hex(end)?, hex(offset)?, path))
}

/// The content of a program or library. Programs map anything: of devices, pipes and data of any size nothing more is read.
fn read_binary(path: &Path) -> io::Result<Vec<u8>> {
    const MAGIC: &[u8] = b"\x7fELF";
    let mut file = File::options().read(true).custom_flags(OFlags::NONBLOCK.bits() as i32).open(path)?;
    let mut bytes = Vec::new();
    if file.metadata()?.is_file() {
        file.by_ref().take(MAGIC.len() as u64).read_to_end(&mut bytes)?;
    }
    if bytes != MAGIC {
        return Err(io::ErrorKind::InvalidData.into());
    }
    file.read_to_end(&mut bytes)?;
    Ok(bytes)
}

impl Module {
    /// The name of its file, without the folder.
    fn name(&self) -> std::borrow::Cow<'_, str> {
        self.path.file_name().unwrap_or_default().to_string_lossy()
    }

    fn debug(&self) -> Option<&Debug> {
        self.debug.get_or_init(|| Debug::of(&read_binary(&self.path).ok()?)).as_ref()
    }

    fn open(path: &Path, base: u64) -> Module {
        let mut module = Module {
            path: path.to_owned(),
            base,
            bias: base,
            loader: None,
            debug: OnceCell::new(),
            binary: None,
            is_binary: false,
            tells: true,
            variables: Vec::new(),
            code: Vec::new(),
            functions: Functions::default(),
        };
        let Ok(bytes) = read_binary(path) else { return module };
        let Ok(file) = object::File::parse(&*bytes) else { return module };
        let lowest = file.segments().map(|segment| segment.address()).min().unwrap_or(0) / 4096 * 4096;
        module.bias =
            if file.kind() == ObjectKind::Executable && lowest != 0 { 0 } else { base - lowest.min(base) };
        let executable = |segment: &object::Segment<'_, '_>| {
            let object::SegmentFlags::Elf { p_flags, .. } = segment.flags() else { return false };
            p_flags & object::elf::PF_X == object::elf::PF_X
        };
        module.is_binary = true;
        module.binary = Binary::of(&file, &bytes).ok();
        module.code = file
            .segments()
            .filter(executable)
            .filter_map(|segment| Some((segment.address(), segment.data().ok()?.to_vec())))
            .collect();
        let hook = |symbol: &object::Symbol<'_, '_>| {
            symbol.name().is_ok_and(|name| name.starts_with("__tsan_") || name.starts_with("__reweave_"))
        };
        module.tells = file.dynamic_symbols().chain(file.symbols()).any(|symbol| hook(&symbol));
        let symbols = file.symbols().chain(file.dynamic_symbols());
        module.variables = symbols
            .filter(|symbol| matches!(symbol.kind(), SymbolKind::Data) && symbol.is_definition())
            .filter_map(|symbol| Some((symbol.address(), symbol.size(), variable_name(symbol.name().ok()?))))
            .filter(|(_, _, name)| !name.is_empty())
            .collect();
        module.variables.sort();
        module.variables.dedup_by_key(|variable| variable.0);
        module.loader = Loader::new(path).ok();
        module.functions = Functions::of(&file);
        module
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_the_map_are_read() {
        let line = "555555554000-555555555000 r--p 00001000 08:01 1234                       /usr/bin/a b";
        assert_eq!(mapping(line), Some((0x5555_5555_4000, 0x5555_5555_5000, 0x1000, "/usr/bin/a b")));
        assert_eq!(mapping("7ffd0-7ffd1 rw-p 00000000 00:00 0"), Some((0x7_ffd0, 0x7_ffd1, 0, "")));
        assert_eq!(mapping("nonsense"), None);
    }

    #[test]
    fn variables_that_are_called_the_same_are_told_apart() {
        let mut variables = ["lock", "count", "lock", "lock"].map(|name| (0, 8, name.to_owned()));
        number_alike(variables.iter_mut());
        assert_eq!(variables.map(|(.., name)| name), ["lock", "count", "lock #2", "lock #3"]);
    }

    #[test]
    fn our_own_code_is_found_with_its_lines() {
        let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
        let modules = Modules::new(&maps);
        let place = modules.place(lines_of_the_map_are_read as *const () as u64 + 8);
        let text = place.text(0);
        assert!(text.contains("lines_of_the_map_are_read") && text.contains("modules.rs:"), "{text}");
        assert!(place.origin().starts_with(" from "));
        static KNOWN: [u64; 4] = [1, 2, 3, 4];
        let at = std::hint::black_box(&KNOWN[1]) as *const u64 as u64;
        assert!(modules.variable(at).is_some());
        assert_eq!(modules.place(3).text(3), "0x3");
    }
}
