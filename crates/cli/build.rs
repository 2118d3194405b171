//! Builds the library that `reweave cc` links programs with, so that the one file `reweave` is all there is to install.
//!
//! Cargo cannot build one package as part of another for a different kind of output, so this asks the compiler directly.
//! That is little: two crates, without dependencies. It has no `std`, so nothing of it can allocate or unwind.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

fn main() {
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"));
    let target = env::var("TARGET").expect("cargo sets TARGET");
    // Asked when it runs: copies of the project that share a build folder share this program, too.
    let package = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets CARGO_MANIFEST_DIR"));
    let crates = package.join("..");
    for used in ["runtime/src", "wire/src"] {
        println!("cargo::rerun-if-changed={}", crates.join(used).display());
    }
    println!("cargo::rerun-if-changed=build.rs");
    let library = out.join("libreweave_runtime.a");
    if !(target.starts_with("x86_64-") && target.contains("-linux-gnu")) {
        // Recording is not possible there; everything else is.
        fs::write(&library, b"").expect("the build folder can be written");
        return;
    }
    let wire = out.join("libreweave_wire.rlib");
    let rlib = ["--crate-type=rlib", "--crate-name=reweave_wire"];
    compile(&target, &crates.join("wire/src/lib.rs"), &wire, &rlib);
    let used = format!("--extern=reweave_wire={}", wire.display());
    let staticlib = [
        "--crate-type=staticlib",
        "--crate-name=reweave_runtime",
        "--cfg=reweave_linked",
        "-Clto=fat",
        &used,
    ];
    compile(&target, &crates.join("runtime/src/lib.rs"), &library, &staticlib);
}

fn compile(target: &str, source: &Path, output: &Path, flags: &[&str]) {
    let rustc = env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let status = Command::new(rustc)
        .args([
            "--edition=2024",
            "-Copt-level=3",
            "-Cpanic=abort",
            "-Ccodegen-units=1",
            "-Crelocation-model=pic",
        ])
        .args(["--cap-lints=allow", "--target", target])
        .args(flags)
        .arg("-o")
        .arg(output)
        .arg(source)
        .status()
        .expect("the compiler starts");
    assert!(status.success(), "{} does not compile", source.display());
}
