//! Builds what `reweave cc` needs beside a compiler, so that the one file `reweave` is all there is
//! to install.
//!
//! The library that programs are linked with: cargo cannot build one package as part of another for
//! a different kind of output, so this asks the compiler directly. That is little: two crates,
//! without dependencies. It has no `std`, so nothing of it can allocate or unwind. And the plugins
//! for compilers, one for each LLVM, by a cargo of its own, in a folder of its own: nothing, where
//! that LLVM's headers are missing.

use std::env;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

fn main() {
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"));
    let target = env::var("TARGET").expect("cargo sets TARGET");
    // Asked when it runs: copies of the project that share a build folder share this program, too.
    let package = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets CARGO_MANIFEST_DIR"));
    let embed = package.join("embed");
    println!("cargo::rerun-if-changed={}", embed.display());
    for entry in fs::read_dir(&embed).expect("the sources are there").flatten() {
        let path = fs::canonicalize(followed(&entry.path()))
            .expect("links lead to the other crates of the checkout");
        println!("cargo::rerun-if-changed={}", path.display());
    }
    copy(&followed(&embed.join("reweave.h")), &out.join("reweave.h"))
        .expect("the build folder can be written");
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-env-changed=REWEAVE_LLVM_INCLUDE");
    let plugin = |major: &str| out.join(format!("libreweave_plugin-{major}.so"));
    let library = out.join("libreweave_runtime.a");
    if !(target.starts_with("x86_64-") && target.contains("-linux-gnu")) {
        // Recording is not possible there; everything else is.
        for empty in MAJORS.iter().map(|major| plugin(major)).chain([library]) {
            fs::write(empty, b"").expect("the build folder can be written");
        }
        return;
    }
    let wire = out.join("libreweave_wire.rlib");
    let rlib = ["--crate-type=rlib", "--crate-name=reweave_wire"];
    compile(&target, &followed(&embed.join("wire")).join("lib.rs"), &wire, &rlib);
    let used = format!("--extern=reweave_wire={}", wire.display());
    let staticlib = [
        "--crate-type=staticlib",
        "--crate-name=reweave_runtime",
        "--cfg=reweave_linked",
        "-Clto=fat",
        &used,
    ];
    compile(&target, &followed(&embed.join("runtime")).join("lib.rs"), &library, &staticlib);
    copy_plugin(&embed, &out.join("plugin-source"));
    for major in MAJORS {
        build_plugin(&out, major, &plugin(major));
    }
}

/// Where an embedded source really is.
///
/// In a packaged crate it is there itself, in a checkout it is a link. Where a checkout has no links (git's
/// `core.symlinks` is off, or a copy lost them), it is a file that holds the path the link would have.
fn followed(path: &Path) -> PathBuf {
    let target = fs::read_to_string(path).ok().filter(|text| text.starts_with("../") && !text.contains('\n'));
    match target {
        Some(target) => path.parent().unwrap_or(path).join(target),
        None => path.to_owned(),
    }
}

/// The versions of LLVM that the plugin is built for, each where its headers are;
/// `runtime_library.rs` has the same.
const MAJORS: [&str; 2] = ["22", "19"];

/// What every plugin has, and an empty library has not.
const ENTRY: &[u8] = b"llvmGetPassPluginInfo";

/// Where each part of the plugin's package is among what is embedded, and where cargo expects it.
const PLUGIN_SOURCES: &[(&str, &str)] = &[
    ("plugin.toml", "Cargo.toml"),
    ("plugin.lock", "Cargo.lock"),
    ("plugin", "src"),
    ("plugin_build.rs", "build.rs"),
    ("shim.cpp", "shim.cpp"),
    ("program.toml", "program/Cargo.toml"),
    ("program", "program/src"),
];

fn copy_plugin(embed: &Path, source: &Path) {
    for (from, to) in PLUGIN_SOURCES {
        copy(&followed(&embed.join(from)), &source.join(to)).expect("the build folder can be written");
    }
}

/// Builds the plugin for one LLVM. It runs within compilers of this machine, so it is built for the
/// host.
fn build_plugin(out: &Path, major: &str, plugin: &Path) {
    let folder = out.join(format!("plugin-{major}"));
    let source = out.join("plugin-source");
    let cargo = |offline: &[&str]| {
        let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let mut command = Command::new(cargo);
        command.args(["build", "--quiet", "--release", "--locked"]).args(offline);
        command.arg("--manifest-path").arg(source.join("Cargo.toml"));
        command.arg("--target-dir").arg(&folder).env("REWEAVE_LLVM_MAJOR", major);
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
    assert!(done, "the compiler plugin for LLVM {major} does not build");
    let built =
        fs::read(folder.join("release/libreweave_plugin.so")).expect("cargo leaves the library there");
    let is_empty = !built.windows(ENTRY.len()).any(|window| window == ENTRY);
    if is_empty {
        println!(
            "cargo::warning=the headers of LLVM {major} are not here (Debian: llvm-{major}-dev): `reweave cc` has no plugin for clang {major}"
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

/// Copies a file or a folder. What has not changed is not written: cargo would build it again.
fn copy(from: &Path, to: &Path) -> io::Result<()> {
    if from.is_dir() {
        return fs::read_dir(from)?.try_for_each(|entry| {
            let name = entry?.file_name();
            copy(&from.join(&name), &to.join(&name))
        });
    }
    let content = fs::read(from)?;
    if fs::read(to).is_ok_and(|there| there == content) {
        return Ok(());
    }
    fs::create_dir_all(to.parent().unwrap_or(to))?;
    fs::write(to, content)
}
