//! The choice of what instruments a program: our own plugin, or the hooks of ThreadSanitizer that compilers have.
//!
//! Somebody who names a compiler gets that one, and the plugin if it can load it. Else clang 22 is taken where it is installed
//! and this program carries the plugin.

use std::env;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::Command;

use super::{Family, Language, family, in_path};
use crate::failure::Failure;
use crate::runtime_library;

/// The flag that chooses.
const FLAG: &str = "--reweave-front=";
/// The variable that chooses, where there is no flag.
const VARIABLE: &str = "REWEAVE_FRONT";
/// What `clang --version` says of itself.
const VERSION: &str = "clang version 22.";

/// What instruments.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Front {
    Plugin,
    Tsan,
}

impl Front {
    fn named(name: &str) -> anyhow::Result<Front> {
        match name {
            "plugin" => Ok(Front::Plugin),
            "tsan" => Ok(Front::Tsan),
            _ => Err(Failure::new(format!("there is no front `{name}`"))
                .hint("choose plugin (clang 22 with Reweave's own plugin) or tsan (any gcc or clang)")
                .into()),
        }
    }

    /// What it means for a trace.
    pub(super) fn meaning(self) -> &'static str {
        match self {
            Front::Plugin => {
                "instruments with Reweave's plugin; traces tell of accesses, their values and every branch"
            }
            Front::Tsan => {
                "instruments with the hooks of ThreadSanitizer; traces tell of accesses and their values, not of branches"
            }
        }
    }
}

/// A compiler, the arguments that come with its name, and what instruments.
pub(super) struct Choice {
    pub(super) compiler: PathBuf,
    pub(super) first: Vec<OsString>,
    pub(super) front: Front,
}

/// What the command line or the environment asks for, and the arguments without that.
pub(super) fn asked_for(arguments: &[OsString]) -> anyhow::Result<(Option<Front>, Vec<OsString>)> {
    let (mut asked, mut rest) = (None, Vec::with_capacity(arguments.len()));
    for argument in arguments {
        match argument.to_str().and_then(|argument| argument.strip_prefix(FLAG)) {
            Some(name) => asked = Some(Front::named(name)?),
            None => rest.push(argument.clone()),
        }
    }
    if asked.is_none()
        && let Some(name) = env::var(VARIABLE).ok().filter(|name| !name.is_empty())
    {
        asked = Some(Front::named(&name)?);
    }
    Ok((asked, rest))
}

/// Finds a compiler that can do what is asked for.
pub(super) fn choose(language: Language, asked: Option<Front>) -> anyhow::Result<Choice> {
    if asked == Some(Front::Plugin) && !runtime_library::has_plugin() {
        return Err(Failure::new("this `reweave` was built without the plugin")
            .hint("build it where LLVM 22's headers are (Debian: llvm-22-dev), or use --reweave-front=tsan")
            .into());
    }
    if let Some(named) = env::var(language.variable()).ok().filter(|named| !named.trim().is_empty()) {
        let mut words = named.split_whitespace();
        let compiler = PathBuf::from(words.next().unwrap_or_default());
        let loads = asked != Some(Front::Tsan) && runtime_library::has_plugin() && loads_plugin(&compiler);
        if asked == Some(Front::Plugin) && !loads {
            return Err(Failure::new(format!("{} cannot load the plugin", compiler.display()))
                .hint(format!("clang 22 can: name it in {}, or leave that out", language.variable()))
                .into());
        }
        let front = if loads { Front::Plugin } else { Front::Tsan };
        return Ok(Choice { compiler, first: words.map(OsString::from).collect(), front });
    }
    let plugged = in_path(OsStr::new(language.plugged()))
        .filter(|_| asked != Some(Front::Tsan) && runtime_library::has_plugin());
    if let Some(compiler) = plugged {
        return Ok(Choice { compiler, first: Vec::new(), front: Front::Plugin });
    }
    if asked == Some(Front::Plugin) {
        return Err(Failure::new(format!("no {} found, which the plugin needs", language.plugged()))
            .hint("install it (Debian: clang-22), or use --reweave-front=tsan")
            .into());
    }
    let found = language.compilers().iter().find_map(|name| in_path(OsStr::new(name)));
    let compiler = found.ok_or_else(|| {
        let names = language.compilers().join(", ");
        Failure::new(format!("no compiler found: looked for {names}"))
            .hint(format!("install one, or name one in {}", language.variable()))
    })?;
    Ok(Choice { compiler, first: Vec::new(), front: Front::Tsan })
}

fn loads_plugin(compiler: &Path) -> bool {
    family(compiler) == Family::Clang
        && Command::new(compiler)
            .arg("--version")
            .output()
            .is_ok_and(|answer| String::from_utf8_lossy(&answer.stdout).contains(VERSION))
}
