//! What recorded programs are built with, carried along in this program and put where compilers and linkers find it.

use std::env;
use std::fs::{self, DirBuilder, File};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use reweave_wire::crc;
use rustix::fs::OFlags;

use crate::failure::Failure;

/// The library itself; empty where programs cannot be recorded.
static LIBRARY: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/libreweave_runtime.a"));

/// The plugin, by the version of LLVM that loads it, the newest first; empty where its headers were
/// missing at build time.
static PLUGINS: [(u32, &[u8]); 2] = [
    (22, include_bytes!(concat!(env!("OUT_DIR"), "/libreweave_plugin-22.so"))),
    (19, include_bytes!(concat!(env!("OUT_DIR"), "/libreweave_plugin-19.so"))),
];

/// What programs include to record calls on their own data structures.
pub(crate) const HEADER: &str = include_str!(concat!(env!("OUT_DIR"), "/reweave.h"));

/// What a program that is linked with it contains.
pub(crate) const MARK: &[u8] = b"reweave runtime 1: ready";

/// What gcc is told to do beside what its user tells it. Only the compiler proper hears of it: told to the driver,
/// `-fsanitize=thread` would link ThreadSanitizer's library, too. Copies that gcc would expand in place are left as calls,
/// which are seen. Those that are asked for as `__builtin_memcpy` and the like would be expanded after the accesses were
/// instrumented; as copies into room of a size that is not known, they stay calls. So they do with `_FORTIFY_SOURCE`, which
/// makes such copies of all, only without it. The macros take their arguments as they come: a comma in braces separates two.
const SPECS: &str = "*cc1:\n+ -fsanitize=thread -fno-builtin-memcpy -fno-builtin-memmove -fno-builtin-memset \
-fno-builtin-memcmp -fno-builtin-strlen -fno-builtin-strcpy -fno-builtin-strcmp -fno-builtin-strncpy \
-fno-builtin-strcat -fno-tree-loop-distribute-patterns -U_FORTIFY_SOURCE -Wno-variadic-macros \
-D__builtin_memcpy(...)=__builtin___memcpy_chk(__VA_ARGS__,(__SIZE_TYPE__)__builtin_frame_address(0)) \
-D__builtin_memmove(...)=__builtin___memmove_chk(__VA_ARGS__,(__SIZE_TYPE__)__builtin_frame_address(0)) \
-D__builtin_memset(...)=__builtin___memset_chk(__VA_ARGS__,(__SIZE_TYPE__)__builtin_frame_address(0))\n\n";

/// Where the library and the flags for gcc are.
pub(crate) struct Files {
    pub(crate) library: PathBuf,
    pub(crate) specs: PathBuf,
    /// The folder of the header.
    pub(crate) include: PathBuf,
    /// Those that this program was built with, by the version of LLVM.
    plugins: Vec<(u32, PathBuf)>,
    /// A folder with the assembler for gcc; none where it could not be made.
    pub(crate) assembler: Option<PathBuf>,
}

impl Files {
    /// The plugin for a version of LLVM; none where this program was built without.
    pub(crate) fn plugin(&self, llvm: u32) -> Option<&Path> {
        self.plugins.iter().find(|(major, _)| *major == llvm).map(|(_, path)| path.as_path())
    }
}

/// Whether programs can be recorded on this kind of machine.
pub(crate) fn is_there() -> bool {
    !LIBRARY.is_empty()
}

/// The versions of LLVM that the plugin can be built for, the newest first.
pub(crate) fn versions() -> impl Iterator<Item = u32> {
    PLUGINS.iter().map(|(major, _)| *major)
}

/// Whether this program carries the plugin for a version of LLVM.
pub(crate) fn has_plugin(llvm: u32) -> bool {
    PLUGINS.iter().any(|(major, plugin)| *major == llvm && !plugin.is_empty())
}

/// Puts the files where they stay: in a folder of the user's, named by what they contain.
pub(crate) fn files() -> anyhow::Result<Files> {
    let plugins = PLUGINS.iter().map(|(_, plugin)| *plugin);
    let name = [LIBRARY, SPECS.as_bytes(), HEADER.as_bytes()]
        .into_iter()
        .chain(plugins)
        .map(crc)
        .fold(format!("reweave-{}-", env!("CARGO_PKG_VERSION")), |name, sum| format!("{name}{sum:08x}"));
    let mut last = None;
    for folder in folders(&name) {
        match put_all(&folder) {
            Ok(files) => return Ok(files),
            Err(error) => last = Some(format!("{}: {error}", folder.display())),
        }
    }
    let last = last.unwrap_or_else(|| "there is no folder for them".to_owned());
    Err(Failure::new(format!("what programs are built with cannot be stored: {last}"))
        .hint("set XDG_CACHE_HOME to a folder of your own")
        .into())
}

fn put_all(folder: &Path) -> io::Result<Files> {
    private_folder(folder)?;
    let library = put(folder, "libreweave_runtime.a", LIBRARY)?;
    let mut plugins = Vec::new();
    for (major, plugin) in PLUGINS.iter().filter(|(_, plugin)| !plugin.is_empty()) {
        plugins.push((*major, put(folder, &format!("libreweave_plugin-{major}.so"), plugin)?));
    }
    let assembler = assembler(folder).ok();
    let include = folder.join("include");
    private_folder(&include)?;
    put(&include, "reweave.h", HEADER.as_bytes())?;
    Ok(Files { library, specs: put(folder, "gcc.specs", SPECS.as_bytes())?, include, plugins, assembler })
}

/// Makes a folder that nobody else may write to, unless it is there.
fn private_folder(folder: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    let about = fs::symlink_metadata(folder)?;
    // Whoever can write to the folder decides what code the user's compiler and programs run.
    if !about.is_dir() || !is_ours(&about) {
        return Err(io::Error::new(
            io::ErrorKind::PermissionDenied,
            "the folder belongs to another user, or others may write to it",
        ));
    }
    if fs::canonicalize(folder)?.ancestors().skip(1).any(is_open_to_all) {
        return Err(io::Error::new(
            io::ErrorKind::PermissionDenied,
            "a folder above it may be written to by everybody, who could put another in its place",
        ));
    }
    Ok(())
}

/// Whether anybody may rename what is in the folder: it can be written to by all, and not only by the owner of each thing.
fn is_open_to_all(folder: &Path) -> bool {
    const STICKY: u32 = 0o1000;
    fs::metadata(folder).is_ok_and(|about| about.mode() & 0o002 != 0 && about.mode() & STICKY == 0)
}

/// A script in a folder of its own that has this program run as an assembler; each build has its own.
fn assembler(folder: &Path) -> io::Result<PathBuf> {
    let program = env::current_exe()?;
    let quoted = program.display().to_string().replace('\'', "'\\''");
    let script = format!("#!/bin/sh\nexec '{quoted}' {} \"$@\"\n", crate::commands::cc::assembler::NAME);
    let folder = folder.join(format!("as-{:08x}", crc(script.as_bytes())));
    private_folder(&folder)?;
    let path = folder.join("as");
    if is_there_with(&path, script.as_bytes()) {
        return Ok(folder);
    }
    let mut file = tempfile::NamedTempFile::new_in(&folder)?;
    file.write_all(script.as_bytes())?;
    fs::set_permissions(file.path(), fs::Permissions::from_mode(0o755))?;
    file.persist(&path)?;
    Ok(folder)
}

/// Where they may be: in the user's cache, else in the temporary folder, under a name of the user's own.
fn folders(name: &str) -> impl Iterator<Item = PathBuf> {
    let set = |name| env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let cache = set("XDG_CACHE_HOME").or_else(|| Some(set("HOME")?.join(".cache")));
    let user = rustix::process::geteuid().as_raw();
    let temporary = env::temp_dir().join(format!("{name}-{user}"));
    // A relative path would mean another folder for each compiler run.
    let cache = cache.filter(|cache| cache.is_absolute()).map(|cache| cache.join(name));
    cache.into_iter().chain([temporary])
}

/// Whether the file or folder is the user's, and nobody else may change it.
fn is_ours(about: &fs::Metadata) -> bool {
    about.uid() == rustix::process::geteuid().as_raw() && about.mode() & 0o022 == 0
}

/// Writes a file in full, unless it is there as it should be: many compilers may run at once.
fn put(folder: &Path, name: &str, content: &[u8]) -> io::Result<PathBuf> {
    let path = folder.join(name);
    if is_there_with(&path, content) {
        return Ok(path);
    }
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    file.write_all(content)?;
    file.persist(&path)?;
    Ok(path)
}

/// Whether the file is the user's and has exactly this content.
fn is_there_with(path: &Path, content: &[u8]) -> bool {
    let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK).bits() as i32;
    let Ok(file) = File::options().read(true).custom_flags(flags).open(path) else { return false };
    let fits =
        |about: fs::Metadata| about.is_file() && is_ours(&about) && about.len() == content.len() as u64;
    if !file.metadata().is_ok_and(fits) {
        return false;
    }
    let mut there = Vec::with_capacity(content.len());
    file.take(content.len() as u64 + 1).read_to_end(&mut there).is_ok() && there == content
}
