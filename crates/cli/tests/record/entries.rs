//! Each function of libc that depends on state outside of memory, called once by each of two
//! threads: it is recorded as its entry in the recorder's table says, and does what it does in a
//! run that is not recorded.

use std::collections::{BTreeMap, BTreeSet};
use std::process::{Command, Stdio};

use reweave_wire::outside::State;

use crate::common::{GCC, Line, Recorded, compile, reweave, source};

/// The recorder's table, as text: `[looks(Names), text(1)] access readlink;`.
const TABLE: &str = include_str!("../../../runtime/src/libc/outside/table.rs");

/// The table of functions that are called, of which some give descriptors.
const CALLED: &str = include_str!("../../../runtime/src/libc/outside/texts.rs");

/// Functions without a trial in `entries.c`, and why.
const WITHOUT_A_TRIAL: &[(&str, &[&str])] = &[
    (
        "it asks the network",
        &[
            "gethostbyaddr",
            "gethostbyaddr_r",
            "getnetbyname",
            "getnetbyaddr",
            "res_query",
            "res_search",
            "rcmd",
            "rexec",
            "ruserok",
            "iruserok",
            "rresvport",
            "getaddrinfo_a",
            "gai_suspend",
            "gai_error",
            "gai_cancel",
        ],
    ),
    (
        "it does not return, or elsewhere",
        &[
            "setcontext",
            "swapcontext",
            "makecontext",
            "sigreturn",
            "argp_usage",
            "argp_error",
            "argp_failure",
        ],
    ),
    (
        "it takes the terminal away, waits for one, or starts a child with one",
        &["vhangup", "login_tty", "forkpty", "getpass"],
    ),
    ("it waits for a signal, or for all disks of the machine", &["sigpause", "sync"]),
    ("it is refused in many containers", &["fanotify_init"]),
];

/// A use of a state: whether it may change it.
type Uses = BTreeSet<(String, bool)>;

/// What the table says of each function.
fn table() -> BTreeMap<String, Uses> {
    let entries =
        TABLE.split_once("table! {").expect("the table").1.split_once("#[cfg(test)]").expect("its end").0;
    let lines: Vec<&str> =
        entries.lines().map(|line| line.split_once("//").map_or(line, |(code, _)| code)).collect();
    let start = entries.find(';').expect("the first line names a routine");
    assert!(entries[..start].contains("reweave_outside"));
    let opening = CALLED.split_once("// What a descriptor leads to.\n").expect("those that open").1;
    let opening = opening.split_once("//").expect("their end").0;
    let opening = opening.replace("DESCRIPTORS", "changes(Descriptors)").replace("NAMES", "changes(Names)");
    let text = lines.join("\n") + &opening;
    let mut all = BTreeMap::new();
    for entry in text.split(';').skip(1) {
        let Some((uses, names)) = entry.split_once(']') else { continue };
        let uses = uses.split_once('[').expect("uses begin with a bracket").1;
        let uses: Uses = uses.split("), ").filter_map(use_of).collect();
        all.extend(names.split_whitespace().map(|name| (name.to_owned(), uses.clone())));
    }
    all
}

/// `changes_at(File, 1)` as the name of the variable and whether it is changed; nothing where that
/// is no state.
fn use_of(text: &str) -> Option<(String, bool)> {
    let (how, of) = text.split_once('(')?;
    let changes = match how {
        "looks" | "looks_at" => false,
        "changes" | "changes_at" | "ends" => true,
        // What goes to a stream that the program did not open itself is seen by nobody in it.
        "printed" if of.starts_with(['O', 'E']) => return None,
        "printed" => return Some((State::Stream.text().to_owned(), true)),
        _ => return None,
    };
    let name = of.split([',', ')']).next()?;
    let state = State::ALL.iter().find(|state| format!("{state:?}") == name).expect("a state");
    Some((state.text().to_owned(), changes))
}

/// The uses of states that a thread's events in the function `e_NAME` of the program are.
fn recorded(lines: &[Line], thread: &str) -> BTreeMap<String, Uses> {
    let mut all: BTreeMap<String, Uses> = BTreeMap::new();
    for line in lines.iter().filter(|line| line.thread == thread) {
        // Where a header has the function inline, the call is in that.
        let name = line.site.split([' ', '(']).find_map(|word| word.strip_prefix("e_"));
        let Some(name) = name else { continue };
        let changes = match line.op.as_str() {
            "au" => true,
            "af" | "ar" => false,
            _ => continue,
        };
        let state = line.target.trim_end_matches(|letter: char| letter.is_ascii_digit()).trim_end();
        all.entry(name.to_owned()).or_default().insert((state.to_owned(), changes));
    }
    all
}

/// Whether a use is among those recorded. Files that are channels, and streams over files, are
/// under the names of those.
fn is_there(recorded: &Uses, (state, changes): &(String, bool)) -> bool {
    let is_file = [State::File, State::Stream].iter().any(|file| file.text() == state);
    let names = if is_file { &["file", "stream", "sockets", "pipe"][..] } else { &[state.as_str()] };
    names.iter().any(|&name| recorded.contains(&(name.to_owned(), *changes)))
}

/// What is wrong with what was recorded of a function, compared with what the table says.
fn wrong(name: &str, listed: &Uses, recorded: &Uses) -> Option<String> {
    // A directory that one thread alone used, until it closed it.
    let own = |state: &str| name == "closedir" && state == State::Directory.text();
    let missing: Vec<_> = listed.iter().filter(|used| !own(&used.0) && !is_there(recorded, used)).collect();
    let is_listed = |state: &str| listed.contains(&(state.to_owned(), true));
    let changed: Vec<_> = recorded
        .iter()
        .filter(|(state, changes)| *changes && State::ALL.iter().any(|known| known.text() == state))
        // What is opened is changed, too: its descriptor led elsewhere before.
        .filter(|(state, _)| {
            let file = state == "file" && (is_listed("stream") || is_listed("descriptors"));
            !(is_listed(state) || file)
        })
        .collect();
    (!missing.is_empty() || !changed.is_empty())
        .then(|| format!("{name}: not recorded: {missing:?}; not listed: {changed:?}"))
}

#[test]
fn every_listed_function_is_recorded_as_listed_and_does_what_it_does() {
    let mut table = table();
    let trials = std::fs::read_to_string(source("entries.c")).unwrap();
    for (reason, names) in WITHOUT_A_TRIAL {
        for name in *names {
            assert!(table.remove(*name).is_some(), "{name} is not listed: {reason}");
        }
    }
    assert!(table.len() > 600, "the table was read: {}", table.len());
    for name in table.keys() {
        let is_tried =
            |kind: char| trials.contains(&format!(" {kind}({name}{}", if kind == 'V' { ")" } else { ", " }));
        assert!("ESNDV".chars().any(is_tried), "{name} is listed and has no trial in entries.c");
    }
    let flags = ["-O0", "-g", "-w", "-fno-builtin"];
    let program = compile(GCC, "entries.c", &flags);
    let folder = |name: &str| {
        let folder = program.folder.path().join(name);
        std::fs::create_dir(&folder).unwrap();
        folder
    };
    // Under the same name, with which some messages begin.
    let plain = folder("plain").join("program");
    let built =
        Command::new("gcc").args(flags).arg(source("entries.c")).arg("-o").arg(&plain).output().unwrap();
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    let run = |command: &mut Command, place: &str| {
        let ran = command.current_dir(folder(place)).stdin(Stdio::null()).output().unwrap();
        let text = |bytes: &[u8]| {
            String::from_utf8_lossy(bytes).replace(plain.to_str().unwrap(), program.path.to_str().unwrap())
        };
        assert!(ran.status.success(), "{place}: {}", text(&ran.stderr));
        (text(&ran.stdout), text(&ran.stderr))
    };
    let unrecorded = run(&mut Command::new(&plain), "unrecorded");
    let trace = program.folder.path().join("trace.rw");
    let mut command = reweave();
    command.args(["record", "--quiet", "--timeout", "60s", "-o"]).arg(&trace).arg("--").arg(&program.path);
    let ran = run(&mut command, "recorded");
    assert_eq!(ran.0, unrecorded.0);
    for (recorded, unrecorded) in ran.1.lines().zip(unrecorded.1.lines()) {
        assert_eq!(recorded, unrecorded);
    }
    let lines = Recorded { code: Some(0), out: String::new(), err: String::new(), trace }.events();
    for thread in ["T1", "T2"] {
        let recorded = recorded(&lines, thread);
        let wrong: Vec<String> = table
            .iter()
            .filter_map(|(name, listed)| wrong(name, listed, recorded.get(name).unwrap_or(&Uses::new())))
            .collect();
        assert!(wrong.is_empty(), "{thread}:\n{}", wrong.join("\n"));
    }
}
