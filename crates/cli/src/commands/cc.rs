//! `reweave cc` and `reweave c++`: a compiler whose programs can be recorded.
//!
//! The arguments are the compiler's, and go to it as they are. What is added depends on what it will do: flags for
//! instrumentation always, the library only where it links a program.

pub(crate) mod assembler;
mod front;
mod line;

use std::env;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Context;

use crate::console::Console;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::runtime_library;
use front::Front;
use line::Line;

/// The language of a compiler.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Language {
    C,
    Cpp,
}

impl Language {
    /// The language of a command, where it is a compiler.
    pub(crate) fn of_command(name: &OsStr) -> Option<Language> {
        match name.to_str()? {
            "cc" => Some(Language::C),
            "c++" => Some(Language::Cpp),
            _ => None,
        }
    }

    fn variable(self) -> &'static str {
        match self {
            Language::C => "REWEAVE_CC",
            Language::Cpp => "REWEAVE_CXX",
        }
    }

    /// The compiler that loads the plugin for a version of LLVM.
    fn plugged(self, llvm: u32) -> String {
        format!("{}-{llvm}", self.clang())
    }

    fn clang(self) -> &'static str {
        match self {
            Language::C => "clang",
            Language::Cpp => "clang++",
        }
    }

    fn compilers(self) -> &'static [&'static str] {
        match self {
            Language::C => &["gcc", "clang", "cc"],
            Language::Cpp => &["g++", "clang++", "c++"],
        }
    }
}

/// Compilers differ in how they are told.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Family {
    Gcc,
    Clang,
}

/// Runs the compiler, and passes on its status.
pub(crate) fn run(language: Language, arguments: &[OsString], console: &Console) -> anyhow::Result<Exit> {
    if !runtime_library::is_there() {
        return Err(Failure::new("programs can be recorded on 64-bit Linux on x86 only").into());
    }
    let (chosen, arguments) = front::asked_for(arguments)?;
    let front::Choice { compiler, first, front } = front::choose(language, chosen)?;
    let line = Line::read(&arguments);
    if line.is_static {
        return Err(Failure::new("a program that is linked statically cannot be recorded")
            .hint("leave out -static: recording needs the functions of the C library to be replaceable")
            .into());
    }
    if arguments.iter().any(|argument| argument == "-v") {
        console.note(format_args!("{}: {}", compiler.display(), front.meaning()));
    }
    let files = runtime_library::files()?;
    let mut command = Command::new(&compiler);
    command.args(first).arg("-g");
    match (front, family(&compiler)) {
        (Front::Plugin(llvm), _) => {
            let mut plugin = OsString::from("-fpass-plugin=");
            plugin.push(files.plugin(llvm).unwrap_or(Path::new("")));
            command.arg(plugin).arg("-Wno-unused-command-line-argument");
        }
        (Front::Tsan, Family::Gcc) => {
            let mut specs = OsString::from("-specs=");
            specs.push(&files.specs);
            command.arg(specs);
            if let Some(folder) = &files.assembler {
                // A folder, as the slash at its end says.
                command.arg(format!("-B{}/", folder.display()));
            }
        }
        (Front::Tsan, Family::Clang) => {
            command.args(["-Xclang", "-fsanitize=thread", "-fno-builtin", "-mllvm"]);
            command.arg("-tsan-instrument-read-before-write=1");
            if let Some(folder) = &files.assembler {
                // Clang assembles by itself, and marks inline assembly only for others. The linker alone would not need this.
                command.arg(format!("-B{}/", folder.display()));
                command.args(["-fno-integrated-as", "-Wno-unused-command-line-argument"]);
            }
        }
    }
    command.args(arguments.iter().filter(|argument| *argument != "-fsanitize=thread"));
    // After the program's own folders: one that has the header beside its sources takes that.
    command.arg("-D__REWEAVE__=1").arg("-idirafter").arg(&files.include);
    if line.links_program() {
        command.arg("-Wl,-u,__reweave_runtime");
        // Libraries that are loaded later find these in the program.
        for names in ["__tsan_*", "__reweave_*", "pthread_*", "sem_*", "malloc", "calloc", "realloc", "free"]
        {
            command.arg(format!("-Wl,--export-dynamic-symbol={names}"));
        }
        // What comes before may have changed what the next file is taken for.
        command.args(["-x", "none"]).arg(&files.library).args(["-lpthread", "-ldl", "-lm"]);
    }
    let status = command.status().with_context(|| format!("{} does not start", compiler.display()))?;
    Ok(Exit::of_program(status))
}

/// The file that the shell would run for `name`.
pub(crate) fn in_path(name: &OsStr) -> Option<PathBuf> {
    if Path::new(name).components().count() > 1 {
        return Some(PathBuf::from(name));
    }
    let paths = env::var_os("PATH")?;
    env::split_paths(&paths).map(|folder| folder.join(name)).find(|path| path.is_file())
}

/// Told by the name where that is plain, else by asking.
fn family(compiler: &Path) -> Family {
    let name = compiler.file_name().unwrap_or_default().to_string_lossy().into_owned();
    if name.contains("clang") {
        return Family::Clang;
    }
    if name.contains("gcc") || name.contains("g++") {
        return Family::Gcc;
    }
    let answer = Command::new(compiler).arg("--version").output();
    match answer {
        Ok(answer) if String::from_utf8_lossy(&answer.stdout).contains("clang") => Family::Clang,
        _ => Family::Gcc,
    }
}
