//! The compiler of Rust: which one it is, and what it is told.

use std::env;
use std::ffi::OsString;
use std::path::Path;
use std::process::Command;

use anyhow::Context;

use crate::failure::Failure;
use crate::runtime_library::{self, Files};

/// What the compiler says of itself.
pub(super) struct Compiler {
    /// The machine that it runs on, and compiles for.
    pub(super) host: String,
    /// The version of LLVM inside, without what comes after its first dot.
    llvm: Option<String>,
}

/// The version of LLVM in the rustc whose standard library the plugin knows by name.
pub(crate) const LLVM: u32 = 22;

/// What tells of the program's accesses.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Front {
    Plugin,
    Tsan,
}

/// Names a front where the plugin is not wanted.
const CHOICE: &str = "REWEAVE_FRONT";

/// What is missing without the plugin. Nobody gets that without having asked for it.
pub(super) const IN_PART: &str = "std's own locks are seen in part only, so that races may be found that are none; those of the crate `reweave` are seen";

/// The plugin, or, where that is asked for, what the compiler has for ThreadSanitizer.
pub(super) fn front(compiler: &Compiler) -> anyhow::Result<Front> {
    let ours = runtime_library::has_plugin(LLVM);
    let loads = compiler.llvm.as_deref().is_some_and(|version| version.parse() == Ok(LLVM));
    let version = compiler.llvm.as_deref().unwrap_or("an unknown version");
    let why = match (ours, loads) {
        (true, true) => None,
        (false, _) => {
            Some(format!("this reweave was built without LLVM {LLVM} and has no compiler plugin for it"))
        }
        (true, false) => {
            Some(format!("the compiler plugin is for LLVM {LLVM}, and this rustc has LLVM {version}"))
        }
    };
    match env::var(CHOICE).ok().as_deref() {
        Some("tsan") => Ok(Front::Tsan),
        None | Some("" | "plugin") => match why {
            None => Ok(Front::Plugin),
            Some(why) => {
                let hint =
                    format!("{CHOICE}=tsan takes what the compiler has for ThreadSanitizer: {IN_PART}");
                Err(Failure::new(why).hint(hint).into())
            }
        },
        Some(other) => Err(Failure::new(format!("{CHOICE} is {other}")).hint("it is plugin or tsan").into()),
    }
}

/// Asks the compiler that cargo will use.
pub(super) fn ask() -> anyhow::Result<Compiler> {
    let rustc = env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let answer = Command::new(&rustc).arg("-vV").output().with_context(|| rustc.display().to_string())?;
    let said = String::from_utf8_lossy(&answer.stdout).into_owned();
    let field = |name: &str| said.lines().find_map(|line| line.strip_prefix(name)).map(str::to_owned);
    match field("host: ") {
        Some(host) => {
            let llvm = field("LLVM version: ");
            let llvm = llvm.map(|version| version.split('.').next().unwrap_or_default().to_owned());
            Ok(Compiler { host, llvm })
        }
        None => Err(Failure::new(format!("{} does not say what it is", rustc.display())).into()),
    }
}

/// The flags for everything that ends up in the program, as cargo takes them: the user's own first.
pub(super) fn flags(front: Front, files: &Files, own: &[String]) -> OsString {
    let mut flags: Vec<OsString> = own.iter().map(OsString::from).collect();
    // What is generic is compiled with the program, also where the standard library has it already.
    flags.extend(["--cfg=reweave", "--check-cfg=cfg(reweave)", "-Zshare-generics=no"].map(OsString::from));
    match front {
        Front::Plugin => {
            let mut plugin = OsString::from("-Zllvm-plugins=");
            plugin.push(files.plugin(LLVM).unwrap_or(Path::new("")));
            // What is inlined before the plugin runs cannot be known by its name.
            flags.extend([plugin, "-Zinline-mir=no".into()]);
        }
        Front::Tsan => flags.extend(
            [
                "-Zsanitizer=thread",
                "-Zexternal-clangrt",
                "-Cunsafe-allow-abi-mismatch=sanitizer",
                // Otherwise the read of `x += 1` is not told.
                "-Cllvm-args=-tsan-instrument-read-before-write=1",
            ]
            .map(OsString::from),
        ),
    }
    let link = |text: &str| OsString::from(format!("-Clink-arg=-Wl,{text}"));
    flags.extend([link("-u,__reweave_runtime"), link("--defsym=__reweave_rust=1")]);
    for names in ["__tsan_*", "__reweave_*", "pthread_*", "sem_*", "malloc", "calloc", "realloc", "free"] {
        flags.push(link(&format!("--export-dynamic-symbol={names}")));
    }
    let mut library = OsString::from("-Clink-arg=");
    library.push(&files.library);
    flags.push(library);
    let mut encoded = OsString::new();
    for (place, flag) in flags.iter().enumerate() {
        if place > 0 {
            encoded.push("\x1f");
        }
        encoded.push(flag);
    }
    encoded
}
