//! The lists of libc's functions, compared with what its headers declare: each pointer that a
//! function takes was looked at.
//!
//! A function of a table says of each what is behind it: what it reads or writes there, or that it
//! gets it. One that counts as pure takes none, or there is a reason.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::io::Write as _;
use std::process::{Command, Stdio};

use crate::common::source;

const TABLES: [&str; 3] = [
    include_str!("../../../runtime/src/libc/outside/table.rs"),
    include_str!("../../../runtime/src/libc/outside/texts.rs"),
    include_str!("../../../runtime/src/libc/outside/attributes.rs"),
];
const LISTED: &str = include_str!("../../../runtime/src/libc/listed.rs");

/// Headers beside those of `entries.c`.
const HEADERS: &[&str] = &[
    "aio.h",
    "argz.h",
    "fnmatch.h",
    "inttypes.h",
    "poll.h",
    "setjmp.h",
    "sys/select.h",
    "threads.h",
    "uchar.h",
    "wctype.h",
];

/// Structures that only libc looks into, and that a state stands for: streams, directories,
/// locales.
const OF_LIBC: &[&str] = &["FILE", "DIR", "__dirstream", "locale", "va_list", "FTS", "_IO_FILE"];

/// Pointers behind which a function of a table does nothing that has to be recorded, and why.
const NOT_BEHIND: &[(&str, &[(&str, usize)])] = &[
    (
        "an address, as a number",
        &[
            ("brk", 1),
            ("mlock", 1),
            ("mlock2", 1),
            ("munlock", 1),
            ("madvise", 1),
            ("posix_madvise", 1),
            ("msync", 1),
            ("remap_file_pages", 1),
            ("pkey_mprotect", 1),
            ("mincore", 1),
            ("mmap", 1),
            ("mmap64", 1),
            ("dladdr", 1),
            ("dladdr1", 1),
            ("pthread_attr_setstack", 2),
            ("pthread_attr_setstackaddr", 2),
            ("process_vm_readv", 4),
            ("process_vm_writev", 4),
        ],
    ),
    ("what libc itself made, and a state stands for", &[("dlclose", 1), ("dlinfo", 1), ("sem_close", 1)]),
    (
        "passed on to a function of the program",
        &[
            ("dl_iterate_phdr", 2),
            ("fopencookie", 1),
            ("on_exit", 2),
            ("qsort_r", 5),
            ("lfind", 1),
            ("lfind", 2),
        ],
    ),
    (
        "the buffer of a stream, which is its own from then on",
        &[("setbuf", 2), ("setbuffer", 2), ("setvbuf", 2)],
    ),
];

/// Functions that count as pure though they take a pointer, and why.
const PURE_WITH_A_POINTER: &[(&str, &[&str])] = &[
    (
        "its own thread's",
        &[
            "__pthread_register_cancel",
            "__pthread_register_cancel_defer",
            "__pthread_unregister_cancel",
            "__pthread_unregister_cancel_restore",
            "__pthread_unwind_next",
            "__sigsetjmp",
            "_setjmp",
            "setjmp",
        ],
    ),
    ("kept as a number", &["pthread_setspecific", "tss_set"]),
    ("read by a function of the program", &["bsearch"]),
    ("what a stream or directory never changes", &["dirfd", "fileno", "fileno_unlocked"]),
    ("a lock that begins", &["mtx_init"]),
    (
        "nothing of the program is left to go on with what it does",
        &[
            "err", "errx", "verr", "verrx", "execl", "execle", "execlp", "execv", "execve", "execveat",
            "execvp", "execvpe", "fexecve",
        ],
    ),
    ("for compilers and debuggers, about code", &["_dl_find_object", "_dl_mcount_wrapper_check"]),
];

/// What the arguments are of each function that the headers declare.
fn declared() -> BTreeMap<String, Vec<String>> {
    let entries = fs::read_to_string(source("entries.c")).unwrap();
    let mut text = "#define _GNU_SOURCE\n".to_owned();
    entries.lines().filter(|line| line.starts_with("#include")).for_each(|line| {
        text += line;
        text.push('\n');
    });
    for header in HEADERS {
        writeln!(text, "#include <{header}>").unwrap();
    }
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("declared");
    let mut gcc = Command::new("gcc");
    gcc.args(["-fsyntax-only", "-x", "c", "-aux-info"]).arg(&out).arg("-").stdin(Stdio::piped());
    let mut child = gcc.current_dir(folder.path()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
    assert!(child.wait().unwrap().success());
    fs::read_to_string(out).unwrap().lines().filter_map(declaration).collect()
}

/// `/* path:1:NC */ extern int remove (const char *);`: the name, and the types of the arguments.
fn declaration(line: &str) -> Option<(String, Vec<String>)> {
    let (_, text) = line.split_once("*/ ")?;
    let (before, after) = text.split_once(" (")?;
    let name = before.rsplit([' ', '*']).next()?;
    let (mut depth, mut types) = (0, vec![String::new()]);
    for letter in after.strip_suffix(");")?.chars() {
        depth += i32::from(letter == '(') - i32::from(letter == ')');
        match letter {
            ',' if depth == 0 => types.push(String::new()),
            _ => types.last_mut()?.push(letter),
        }
    }
    Some((name.to_owned(), types.iter().map(|name| name.trim().to_owned()).collect()))
}

/// Whether there may be something behind an argument of this type that is not libc's own. Functions
/// are the program's.
fn is_pointer(of: &str) -> bool {
    of.contains('*') && !of.contains('(') && !OF_LIBC.iter().any(|known| of.contains(known))
}

/// The arguments that the tables say something of, by function.
fn told() -> BTreeMap<String, BTreeSet<usize>> {
    let mut told = BTreeMap::new();
    for table in TABLES {
        let lines: Vec<&str> =
            table.lines().map(|line| line.split_once("//").map_or(line, |(code, _)| code)).collect();
        for block in lines.join("\n").split("table! {").skip(1) {
            for entry in block.split(';').skip(1) {
                let Some((uses, names)) =
                    entry.trim().strip_prefix('[').and_then(|entry| entry.split_once(']'))
                else {
                    break;
                };
                let arguments: BTreeSet<usize> = uses.split("),").flat_map(arguments_of).collect();
                told.extend(names.split_whitespace().map(|name| (name.to_owned(), arguments.clone())));
            }
        }
    }
    assert!(told.len() > 700, "the tables were read: {}", told.len());
    told
}

/// `given_words(2, 36)`, `memory(Alike, 1, 2, 0)`, `NUMBER`.
fn arguments_of(part: &str) -> Vec<usize> {
    let Some((how, rest)) = part.split_once('(') else { return vec![1] };
    let numbers =
        rest.split(|letter: char| !letter.is_ascii_digit()).filter_map(|number| number.parse().ok());
    let of_several = matches!(how.trim(), "memory" | "format_list" | "wide_format_list");
    let numbers: Vec<usize> = numbers.take(if of_several { 9 } else { 1 }).collect();
    if how.contains("NUMBER") { [vec![1], numbers].concat() } else { numbers }
}

#[test]
fn the_tables_say_what_is_behind_every_pointer() {
    let (declared, told) = (declared(), told());
    let reasons: BTreeSet<(&str, usize)> =
        NOT_BEHIND.iter().flat_map(|(_, all)| all.iter().copied()).collect();
    let mut untold = BTreeSet::new();
    for (name, told) in &told {
        // A seventh argument is on the stack.
        for (place, of) in declared.get(name).into_iter().flatten().enumerate().take(6) {
            if is_pointer(of) && !told.contains(&(place + 1)) {
                untold.insert((name.as_str(), place + 1));
            }
        }
    }
    assert_eq!(untold, reasons, "left: what no table says; right: what has a reason");
}

#[test]
fn what_counts_as_pure_takes_no_pointer() {
    let list = LISTED
        .split_once("const PURE")
        .unwrap()
        .1
        .split_once("/// Whether a function of libc is pure")
        .unwrap()
        .0;
    let pure: Vec<&str> =
        list.split("b\"").skip(1).filter_map(|rest| Some(rest.split_once('"')?.0)).collect();
    assert!(pure.len() > 100);
    let is_pure = |name: &str| {
        pure.iter().any(|known| match known.strip_suffix('*') {
            Some(start) => name.starts_with(start),
            None => *known == name,
        })
    };
    let reasons: BTreeSet<&str> = PURE_WITH_A_POINTER.iter().flat_map(|(_, names)| *names).copied().collect();
    let declared = declared();
    let takes_one = |name: &&str| {
        declared[*name].iter().any(|of| of.contains('*') && !of.contains('(') && !of.contains("__locale"))
    };
    let found: BTreeSet<&str> =
        declared.keys().map(String::as_str).filter(|name| is_pure(name)).filter(takes_one).collect();
    assert_eq!(found, reasons, "left: pure and with a pointer; right: what has a reason");
}
