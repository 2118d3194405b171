//! What recorded programs are built with, carried along in this program and put where compilers and linkers find it.

use std::env;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use reweave_wire::crc;

/// The library itself; empty where programs cannot be recorded.
static LIBRARY: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/libreweave_runtime.a"));

/// The plugin for clang 22 and rustc; empty where there was no LLVM 22 to build it with.
static PLUGIN: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/libreweave_plugin.so"));

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
    /// None where this program was built without.
    pub(crate) plugin: Option<PathBuf>,
}

/// Whether programs can be recorded on this kind of machine.
pub(crate) fn is_there() -> bool {
    !LIBRARY.is_empty()
}

/// Whether this program carries the plugin.
pub(crate) fn has_plugin() -> bool {
    !PLUGIN.is_empty()
}

/// Puts the files where they stay: in a folder of the user's, named by what they contain.
pub(crate) fn files() -> io::Result<Files> {
    let contents = [LIBRARY, SPECS.as_bytes(), PLUGIN].map(crc);
    let name = contents
        .iter()
        .fold(format!("reweave-{}-", env!("CARGO_PKG_VERSION")), |name, sum| format!("{name}{sum:08x}"));
    let mut last = io::Error::from(io::ErrorKind::NotFound);
    for folder in folders() {
        let folder = folder.join(&name);
        let put_all = || -> io::Result<Files> {
            fs::create_dir_all(&folder)?;
            let library = put(&folder, "libreweave_runtime.a", LIBRARY)?;
            let plugin = match PLUGIN.is_empty() {
                true => None,
                false => Some(put(&folder, "libreweave_plugin.so", PLUGIN)?),
            };
            Ok(Files { library, specs: put(&folder, "gcc.specs", SPECS.as_bytes())?, plugin })
        };
        match put_all() {
            Ok(files) => return Ok(files),
            Err(error) => last = error,
        }
    }
    Err(last)
}

fn folders() -> impl Iterator<Item = PathBuf> {
    let set = |name| env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let cache = set("XDG_CACHE_HOME").or_else(|| Some(set("HOME")?.join(".cache")));
    cache.into_iter().chain([env::temp_dir()])
}

/// Writes a file in full, unless it is there: many compilers may run at once.
fn put(folder: &Path, name: &str, content: &[u8]) -> io::Result<PathBuf> {
    let path = folder.join(name);
    if fs::metadata(&path).is_ok_and(|there| there.len() == content.len() as u64) {
        return Ok(path);
    }
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    file.write_all(content)?;
    file.persist(&path)?;
    Ok(path)
}
