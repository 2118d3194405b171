//! Builds what `reweave cc` needs beside a compiler, so that the one file `reweave` is all there is to install.
//!
//! The library that programs are linked with: cargo cannot build one package as part of another for a different kind of
//! output, so this asks the compiler directly. That is little: two crates, without dependencies. It has no `std`, so nothing
//! of it can allocate or unwind. And the plugin for compilers, by a cargo of its own, in a folder of its own: nothing,
//! where LLVM's headers are missing.

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
    let used = ["runtime/src", "wire/src", "program/src", "plugin/src", "plugin/shim.cpp", "plugin/build.rs"];
    // A file that is not there would have this run each time.
    for used in used.iter().map(|used| crates.join(used)).filter(|used| used.exists()) {
        println!("cargo::rerun-if-changed={}", used.display());
    }
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-env-changed=REWEAVE_LLVM_INCLUDE");
    let plugin = out.join("libreweave_plugin.so");
    let library = out.join("libreweave_runtime.a");
    if !(target.starts_with("x86_64-") && target.contains("-linux-gnu")) {
        // Recording is not possible there; everything else is.
        for empty in [&library, &plugin] {
            fs::write(empty, b"").expect("the build folder can be written");
        }
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
    build_plugin(&crates, &out, &plugin);
}

/// What every plugin has, and an empty library has not.
const ENTRY: &[u8] = b"llvmGetPassPluginInfo";

/// Builds the plugin. It runs within compilers of this machine, so it is built for the host.
fn build_plugin(crates: &Path, out: &Path, plugin: &Path) {
    let folder = out.join("plugin");
    let cargo = |offline: &[&str]| {
        let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let mut command = Command::new(cargo);
        command.args(["build", "--quiet", "--release", "--locked", "--package=reweave-plugin"]).args(offline);
        command.arg("--manifest-path").arg(crates.join("plugin/Cargo.toml"));
        command.arg("--target-dir").arg(&folder);
        // What holds for the build at large (another target, sanitizers, lints) does not hold for this.
        for name in ["CARGO_ENCODED_RUSTFLAGS", "RUSTFLAGS", "RUSTC_WORKSPACE_WRAPPER", "CARGO_BUILD_TARGET"]
        {
            command.env_remove(name);
        }
        command
    };
    // What it needs was mostly fetched with the rest. Only if not, the registry is asked.
    let offline = cargo(&["--offline"]).output().is_ok_and(|output| output.status.success());
    let done = offline || cargo(&[]).status().is_ok_and(|status| status.success());
    assert!(done, "the compiler plugin does not build");
    let built =
        fs::read(folder.join("release/libreweave_plugin.so")).expect("cargo leaves the library there");
    let is_empty = !built.windows(ENTRY.len()).any(|window| window == ENTRY);
    if is_empty {
        println!(
            "cargo::warning=the headers of LLVM 22 are not here (Debian: llvm-22-dev): `reweave cc` has no plugin"
        );
    }
    fs::write(plugin, if is_empty { Vec::new() } else { built }).expect("the build folder can be written");
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
