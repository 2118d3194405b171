//! `reweave cargo`: a project of Rust, built so that it can be recorded.
//!
//! Cargo does the work, as it does for another target: with flags that instrument, in a target folder of its own, and with this
//! program as what runs the results. What is built for the host, build scripts and procedural macros, stays as it is.

mod flags;
mod rustc;
mod tests;

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

use anyhow::Context;
use reweave_session::{Nested, adopt, interrupt};
use serde_json::Value;

use crate::console::Console;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::runtime_library;
use flags::Line;
pub(crate) use rustc::LLVM;
pub(crate) use tests::run as run_tests;

/// Runs cargo, and passes on its status.
pub(crate) fn run(arguments: &[OsString], console: &Console) -> anyhow::Result<Exit> {
    if !runtime_library::is_there() {
        return Err(Failure::new("programs can be recorded on 64-bit Linux on x86 only").into());
    }
    let line = Line::read(arguments)?;
    let compiler = rustc::ask()?;
    let front = rustc::front(&compiler)?;
    if front == rustc::Front::Tsan {
        console.warn(format_args!("without the compiler plugin, {}", rustc::IN_PART));
    }
    let files = runtime_library::files()?;
    let folder = target_folder(&line)?;
    let mut cargo = cargo();
    cargo.arg("--config").arg(runner(&line, &compiler.host, &folder)?);
    cargo.arg(&line.command).args(["--target", &compiler.host]);
    cargo.arg("--target-dir").arg(&folder);
    if line.command == "test" && !line.selects {
        // Examples in documentation are compiled by another program.
        cargo.arg("--tests");
    }
    cargo.args(&line.arguments);
    cargo.env("RUSTC_BOOTSTRAP", "1").env_remove("RUSTFLAGS");
    cargo.env("CARGO_ENCODED_RUSTFLAGS", rustc::flags(front, &files, &own_flags()?));
    // Sites have lines also in optimised programs.
    for profile in ["RELEASE", "BENCH"] {
        let name = format!("CARGO_PROFILE_{profile}_DEBUG");
        if env::var_os(&name).is_none() {
            cargo.env(name, "line-tables-only");
        }
    }
    interrupt::watch()?;
    adopt()?;
    let status = Nested::status(&mut cargo).context("cargo does not start")?;
    Ok(Exit::of_program(status))
}

fn cargo() -> Command {
    Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
}

/// What cargo is told to run programs with: `reweave record`, or what records each test.
fn runner(line: &Line, host: &str, folder: &Path) -> anyhow::Result<OsString> {
    let ours = env::current_exe().context("this program is not to be found")?;
    let mut words = vec![ours.into_os_string()];
    if line.command == "test" {
        let traces = folder.join("traces");
        fs::create_dir_all(&traces).with_context(|| traces.display().to_string())?;
        words.extend(["cargo-test".into(), "--traces".into(), traces.into_os_string()]);
    } else {
        let output = std::path::absolute(line.output.as_deref().unwrap_or(Path::new("trace.rw")))?;
        words.extend(["record".into(), "--output".into(), output.into_os_string()]);
    }
    words.extend(line.recording.iter().cloned());
    words.push("--".into());
    let list: Option<Vec<&str>> = words.iter().map(|word| word.to_str()).collect();
    let list = list.ok_or_else(|| Failure::new("a path is not text, which cargo cannot be told"))?;
    // A list of texts is written in TOML as it is in JSON.
    Ok(format!("target.{host}.runner={}", serde_json::to_string(&list)?).into())
}

/// A folder of our own within the project's target folder, so that neither build spoils the other.
fn target_folder(line: &Line) -> anyhow::Result<PathBuf> {
    if let Some(folder) = &line.target_folder {
        return Ok(std::path::absolute(folder)?);
    }
    let mut ask = cargo();
    ask.args(["metadata", "--no-deps", "--format-version", "1"]);
    if let Some(manifest) = &line.manifest {
        ask.arg("--manifest-path").arg(manifest);
    }
    let answer = ask.output().context("cargo does not start")?;
    let metadata: Option<Value> = serde_json::from_slice(&answer.stdout).ok();
    let folder = metadata.as_ref().and_then(|metadata| metadata["target_directory"].as_str());
    match folder {
        Some(folder) => Ok(Path::new(folder).join("reweave")),
        None => Err(Failure::new(String::from_utf8_lossy(&answer.stderr).trim().to_owned())
            .hint("run it where cargo would run, or name the project with --manifest-path")
            .into()),
    }
}

/// The flags that the project or its user has for the compiler already.
fn own_flags() -> anyhow::Result<Vec<String>> {
    if let Some(encoded) = env::var_os("CARGO_ENCODED_RUSTFLAGS") {
        let encoded = text(&encoded)?;
        return Ok(encoded.split('\x1f').filter(|flag| !flag.is_empty()).map(str::to_owned).collect());
    }
    if let Some(flags) = env::var_os("RUSTFLAGS") {
        return Ok(text(&flags)?.split_whitespace().map(str::to_owned).collect());
    }
    // The variable that ours come in hides what cargo's configuration says.
    let asked = ["-Zunstable-options", "config", "get", "--format", "json-value", "build.rustflags"];
    let answer = cargo().args(asked).env("RUSTC_BOOTSTRAP", "1").output();
    let found = answer.ok().and_then(|answer| serde_json::from_slice::<Value>(&answer.stdout).ok());
    Ok(match found {
        Some(Value::Array(flags)) => {
            flags.iter().filter_map(|flag| Some(flag.as_str()?.to_owned())).collect()
        }
        Some(Value::String(flags)) => flags.split_whitespace().map(str::to_owned).collect(),
        _ => Vec::new(),
    })
}

fn text(value: &OsStr) -> anyhow::Result<String> {
    let text = value.to_str().ok_or_else(|| Failure::new("the compiler's flags are not text"))?;
    Ok(text.to_owned())
}
