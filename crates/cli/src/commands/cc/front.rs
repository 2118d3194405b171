//! The choice of what instruments a program: our own plugin, or the hooks of ThreadSanitizer that
//! compilers have.
//!
//! A compiler that is named is taken, with the plugin for its version of LLVM where there is one.
//! Else the newest clang is taken that is installed and that this program carries the plugin for.

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
/// What `clang --version` says of itself, before its number.
const VERSION: &str = "clang version ";

/// What is asked for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Wanted {
    Plugin,
    Tsan,
}

impl Wanted {
    fn named(name: &str) -> anyhow::Result<Wanted> {
        match name {
            "plugin" => Ok(Wanted::Plugin),
            "tsan" => Ok(Wanted::Tsan),
            _ => Err(Failure::new(format!("there is no front `{name}`"))
                .hint(format!(
                    "choose plugin ({} with Reweave's own plugin) or tsan (any gcc or clang)",
                    clangs()
                ))
                .into()),
        }
    }
}

/// What instruments.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Front {
    /// Our plugin, for a version of LLVM.
    Plugin(u32),
    Tsan,
}

impl Front {
    /// What it means for a trace.
    pub(super) fn meaning(self) -> String {
        match self {
            Front::Plugin(llvm) => format!(
                "instruments with Reweave's plugin for LLVM {llvm}; traces have accesses, their values and every branch"
            ),
            Front::Tsan => format!(
                "instruments with ThreadSanitizer's hooks; traces have accesses and their values, not branches, so that \
                 fewer bugs can be proved possible than with the plugin ({})",
                clangs()
            ),
        }
    }
}

/// The compilers that load the plugin, in words: `clang 22 or clang 19`.
pub(crate) fn clangs() -> String {
    runtime_library::versions().map(|llvm| format!("clang {llvm}")).collect::<Vec<_>>().join(" or ")
}

/// A compiler, the arguments that come with its name, and what instruments.
pub(super) struct Choice {
    pub(super) compiler: PathBuf,
    pub(super) first: Vec<OsString>,
    pub(super) front: Front,
}

/// What the command line or the environment asks for, and the arguments without that.
pub(super) fn asked_for(arguments: &[OsString]) -> anyhow::Result<(Option<Wanted>, Vec<OsString>)> {
    let (mut asked, mut rest) = (None, Vec::with_capacity(arguments.len()));
    for argument in arguments {
        match argument.to_str().and_then(|argument| argument.strip_prefix(FLAG)) {
            Some(name) => asked = Some(Wanted::named(name)?),
            None => rest.push(argument.clone()),
        }
    }
    if asked.is_none()
        && let Some(name) = env::var(VARIABLE).ok().filter(|name| !name.is_empty())
    {
        asked = Some(Wanted::named(&name)?);
    }
    Ok((asked, rest))
}

/// Finds a compiler that can do what is asked for.
pub(super) fn choose(language: Language, asked: Option<Wanted>) -> anyhow::Result<Choice> {
    let mut carried =
        runtime_library::versions().filter(|&llvm| runtime_library::has_plugin(llvm)).peekable();
    if asked == Some(Wanted::Plugin) && carried.peek().is_none() {
        return Err(Failure::new("this `reweave` was built without the plugin")
            .hint("build it where LLVM's headers are (Debian: llvm-22-dev or llvm-19-dev), or use --reweave-front=tsan")
            .into());
    }
    if let Some(named) = env::var(language.variable()).ok().filter(|named| !named.trim().is_empty()) {
        return named_compiler(&named, language, asked);
    }
    if asked != Some(Wanted::Tsan) {
        let plugged = carried
            .find_map(|llvm| Some((in_path(OsStr::new(&language.plugged(llvm)))?, llvm)))
            .or_else(|| plain_clang(language));
        if let Some((compiler, llvm)) = plugged {
            return Ok(Choice { compiler, first: Vec::new(), front: Front::Plugin(llvm) });
        }
    }
    if asked == Some(Wanted::Plugin) {
        let names: Vec<String> = runtime_library::versions().map(|llvm| language.plugged(llvm)).collect();
        return Err(Failure::new(format!("no {} found, which the plugin needs", names.join(" or ")))
            .hint("install one (Debian: clang-22 or clang-19), or use --reweave-front=tsan")
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

/// The clang without a number in its name, where it is of a version that this program carries the
/// plugin for.
fn plain_clang(language: Language) -> Option<(PathBuf, u32)> {
    let compiler = in_path(OsStr::new(language.clang()))?;
    let llvm = version(&compiler).filter(|&llvm| runtime_library::has_plugin(llvm))?;
    Some((compiler, llvm))
}

/// The compiler that the user names, with the plugin if it can load it and nothing else is asked
/// for.
fn named_compiler(named: &str, language: Language, asked: Option<Wanted>) -> anyhow::Result<Choice> {
    let mut words = named.split_whitespace();
    let compiler = PathBuf::from(words.next().unwrap_or_default());
    let first = words.map(OsString::from).collect();
    let version = if asked == Some(Wanted::Tsan) { None } else { version(&compiler) };
    let front = match version {
        Some(llvm) if runtime_library::has_plugin(llvm) => Front::Plugin(llvm),
        _ => Front::Tsan,
    };
    if asked == Some(Wanted::Plugin) && front == Front::Tsan {
        let (compiler, variable) = (compiler.display(), language.variable());
        let failure = match version.filter(|&llvm| runtime_library::versions().any(|known| known == llvm)) {
            Some(llvm) => Failure::new(format!(
                "{compiler} cannot load the plugin: this `reweave` was built without LLVM {llvm}"
            ))
            .hint(format!("build it where LLVM {llvm}'s headers are (Debian: llvm-{llvm}-dev)")),
            None => Failure::new(format!("{compiler} cannot load the plugin"))
                .hint(format!("{} can: name it in {variable}, or leave that out", clangs())),
        };
        return Err(failure.into());
    }
    Ok(Choice { compiler, first, front })
}

/// The version of a clang.
fn version(compiler: &Path) -> Option<u32> {
    if family(compiler) != Family::Clang {
        return None;
    }
    let answer = Command::new(compiler).arg("--version").output().ok()?;
    let said = String::from_utf8_lossy(&answer.stdout).into_owned();
    // Apple's clang counts otherwise than LLVM does; it loads no plugin of ours.
    let line = said.lines().find(|line| line.contains(VERSION) && !line.starts_with("Apple"))?;
    line.split_once(VERSION)?.1.split('.').next()?.parse().ok()
}
