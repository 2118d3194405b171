//! The compiler of Rust: which one it is, and what it is told.

use std::env;
use std::ffi::OsString;
use std::process::Command;

use anyhow::Context;

use crate::failure::Failure;
use crate::runtime_library::Files;

/// What the compiler says of itself.
pub(super) struct Compiler {
    /// The machine that it runs on, and compiles for.
    pub(super) host: String,
}

/// Asks the compiler that cargo will use.
pub(super) fn ask() -> anyhow::Result<Compiler> {
    let rustc = env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let answer = Command::new(&rustc).arg("-vV").output().with_context(|| rustc.display().to_string())?;
    let said = String::from_utf8_lossy(&answer.stdout).into_owned();
    let field = |name: &str| said.lines().find_map(|line| line.strip_prefix(name)).map(str::to_owned);
    match field("host: ") {
        Some(host) => Ok(Compiler { host }),
        None => Err(Failure::new(format!("{} does not say what it is", rustc.display())).into()),
    }
}

/// The flags for everything that ends up in the program, as cargo takes them: the user's own first.
pub(super) fn flags(_compiler: &Compiler, files: &Files, own: &[String]) -> OsString {
    let mut flags: Vec<OsString> = own.iter().map(OsString::from).collect();
    let instrument = [
        "-Zsanitizer=thread",
        "-Zexternal-clangrt",
        "-Cunsafe-allow-abi-mismatch=sanitizer",
        // Otherwise the read of `x += 1` is not told.
        "-Cllvm-args=-tsan-instrument-read-before-write=1",
        "--cfg=reweave",
        "--check-cfg=cfg(reweave)",
    ];
    flags.extend(instrument.map(OsString::from));
    let link = |text: &str| OsString::from(format!("-Clink-arg=-Wl,{text}"));
    flags.extend([link("-u,__reweave_runtime"), link("--defsym=__reweave_rust=1")]);
    for names in ["__tsan_*", "pthread_*", "sem_*", "malloc", "calloc", "realloc", "free"] {
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
