//! Compiles the part that speaks C++ with LLVM, where LLVM 22's headers are; elsewhere the library is empty.
//!
//! The headers are looked for in `REWEAVE_LLVM_INCLUDE`, where `llvm-config-22` or `llvm-config` says, and where Debian
//! has them.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The only version whose plugins have this interface.
const MAJOR: &str = "22";

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=shim.cpp");
    println!("cargo::rerun-if-env-changed=REWEAVE_LLVM_INCLUDE");
    let linux = env::var("CARGO_CFG_TARGET_OS").is_ok_and(|system| system == "linux");
    let Some(include) = headers().filter(|_| linux) else {
        println!(
            "cargo::warning=the headers of LLVM 22 are not here (Debian: llvm-22-dev): the compiler plugin is left out"
        );
        return;
    };
    println!("cargo::rustc-cfg=reweave_llvm");
    println!("cargo::rerun-if-changed={}", include.join("llvm/Config/llvm-config.h").display());
    cc::Build::new()
        .cpp(true)
        .file("shim.cpp")
        .include(&include)
        .flag("-std=c++17")
        .flag("-fno-rtti")
        .flag("-fno-exceptions")
        .define("_GNU_SOURCE", None)
        .define("__STDC_CONSTANT_MACROS", None)
        .define("__STDC_FORMAT_MACROS", None)
        .define("__STDC_LIMIT_MACROS", None)
        // LLVM's own headers are not free of warnings.
        .warnings(false)
        .flag_if_supported("-w")
        .opt_level(2)
        .compile("reweave_shim");
}

fn headers() -> Option<PathBuf> {
    let given = env::var_os("REWEAVE_LLVM_INCLUDE").filter(|path| !path.is_empty());
    if let Some(given) = given {
        return Some(PathBuf::from(given)).filter(|path| is_right(path));
    }
    let told = ["llvm-config-22", "llvm-config"].into_iter().filter_map(|name| {
        let output = Command::new(name).arg("--includedir").output().ok()?;
        Some(PathBuf::from(String::from_utf8(output.stdout).ok()?.trim()))
    });
    told.chain([PathBuf::from("/usr/lib/llvm-22/include")]).find(|path| is_right(path))
}

/// Whether LLVM's headers are there, of the right version, C's interface among them.
fn is_right(include: &Path) -> bool {
    let version = fs::read_to_string(include.join("llvm/Config/llvm-config.h")).unwrap_or_default();
    let major = version.lines().find_map(|line| line.strip_prefix("#define LLVM_VERSION_MAJOR "));
    major.is_some_and(|major| major.trim() == MAJOR) && include.join("llvm-c/Core.h").exists()
}
