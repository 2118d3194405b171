//! Compiles the part that speaks C++ with LLVM, where LLVM's headers are; elsewhere the library is
//! empty.
//!
//! Which LLVM it is for is in `REWEAVE_LLVM_MAJOR`: 22 where nothing is said, or 19. The headers
//! are looked for in the folders of `REWEAVE_LLVM_INCLUDE`, where `llvm-config-22` or `llvm-config`
//! says, and where Debian has them.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The versions that the sources are for.
const MAJORS: [&str; 2] = ["22", "19"];

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=shim.cpp");
    println!("cargo::rerun-if-env-changed=REWEAVE_LLVM_INCLUDE");
    println!("cargo::rerun-if-env-changed=REWEAVE_LLVM_MAJOR");
    let major = env::var("REWEAVE_LLVM_MAJOR").unwrap_or_else(|_| MAJORS[0].to_owned());
    assert!(MAJORS.contains(&major.as_str()), "REWEAVE_LLVM_MAJOR is {major}, not one of {MAJORS:?}");
    let linux = env::var("CARGO_CFG_TARGET_OS").is_ok_and(|system| system == "linux");
    let Some(include) = headers(&major).filter(|_| linux) else {
        println!(
            "cargo::warning=the headers of LLVM {major} are not here (Debian: llvm-{major}-dev): the compiler plugin is left out"
        );
        return;
    };
    println!("cargo::rustc-cfg=reweave_llvm=\"{major}\"");
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

fn headers(major: &str) -> Option<PathBuf> {
    let given = env::var_os("REWEAVE_LLVM_INCLUDE").filter(|path| !path.is_empty());
    if let Some(given) = given {
        return env::split_paths(&given).find(|path| is_right(path, major));
    }
    let configs = [format!("llvm-config-{major}"), "llvm-config".to_owned()];
    let told = configs.into_iter().filter_map(|name| {
        let output = Command::new(name).arg("--includedir").output().ok()?;
        Some(PathBuf::from(String::from_utf8(output.stdout).ok()?.trim()))
    });
    let debian = PathBuf::from(format!("/usr/lib/llvm-{major}/include"));
    told.chain([debian]).find(|path| is_right(path, major))
}

/// Whether LLVM's headers are there, of the right version, C's interface among them.
fn is_right(include: &Path, wanted: &str) -> bool {
    let version = fs::read_to_string(include.join("llvm/Config/llvm-config.h")).unwrap_or_default();
    let major = version.lines().find_map(|line| line.strip_prefix("#define LLVM_VERSION_MAJOR "));
    major.is_some_and(|major| major.trim() == wanted) && include.join("llvm-c/Core.h").exists()
}
