//! From a trace back to the code: its modules, and the instruction of each event.

use std::fs::{self, File};
use std::path::Path;
use std::process::Command;

use reweave_capture::{Binaries, Binary, Step, read_steps};
use reweave_format::LoadOptions;
use reweave_program::{Mark, Operand, Operation, Role};
use reweave_trace::{EventId, Kind};
use tempfile::TempDir;

use super::{plugin, run, source};

fn record(folder: &Path, flags: &[&str]) {
    let reweave = || Command::new(env!("CARGO_BIN_EXE_reweave"));
    let mut build = reweave();
    build.current_dir(folder).args(["cc", "--reweave-front=plugin"]).args(flags);
    run(build.arg(source("recorded.c")).args(["-o", "program"]));
    run(reweave().current_dir(folder).args(["record", "-o", "trace.rw", "--", "./program"]));
}

#[test]
fn events_lead_to_their_instructions() {
    if plugin().is_none() {
        return;
    }
    let folder = TempDir::new().unwrap();
    for flags in [&["-O2", "-g"][..], &["-O0", "-g"], &["-O2", "-g", "-no-pie"]] {
        record(folder.path(), flags);
        let trace = folder.path().join("trace.rw");
        let loaded = reweave_format::load(&trace, &LoadOptions::default()).unwrap().trace;
        let mut steps: Vec<Step> = Vec::new();
        let file = File::open(folder.path().join("trace.rw.steps")).unwrap();
        let about = read_steps(file, &loaded, |_, step| steps.push(step)).unwrap();
        let binary = Binary::open(&folder.path().join("program")).unwrap();
        assert_eq!(about.modules[0].build, binary.build);
        let mut binaries = Binaries::default();
        binaries.add(binary);
        let mut found = 0;
        for (number, step) in steps.iter().enumerate() {
            let event = EventId(number as u32);
            let (kind, site) = (loaded.kind(event), loaded.site_name(loaded.site(event)));
            let Some(place) = binaries.find(&about, step.place) else {
                // Synchronisation is told of by a call, not by a site.
                assert!(
                    !matches!(kind, Kind::Read | Kind::Write | Kind::Update | Kind::Branch)
                        || !site.contains("recorded.c"),
                    "{kind:?} {site}"
                );
                continue;
            };
            let instruction = place.instruction().unwrap();
            let frames = place.frames();
            assert!(site.starts_with(frames[0].function), "{site}: {frames:?}");
            assert!(site.ends_with(&format!("recorded.c:{}", frames[0].line)), "{site}: {frames:?}");
            check(kind, instruction.operation, site);
            if kind != Kind::Branch {
                assert_eq!(instruction.mark, Mark::Recorded, "{kind:?} {site}");
            }
            // The variable is the one whose address the instruction has as an operand.
            let target = loaded.target_name(loaded.op(event)).unwrap_or_default();
            if let Some(address) =
                place.table.roles(instruction).iter().position(|&role| role == Role::Address)
                && instruction.operation != Operation::Call
                && let Operand::Global(global) = instruction.operands[address]
            {
                assert!(
                    target.starts_with(&format!("global {}", place.table.global_name(global))),
                    "{target}"
                );
                found += 1;
            }
        }
        assert!(found >= 6, "{flags:?}: {found}");
        modules_are_told(folder.path());
    }
}

fn check(kind: Kind, operation: Operation, site: &str) {
    let fits = match kind {
        Kind::Read => matches!(operation, Operation::Load | Operation::Call),
        Kind::Write => matches!(operation, Operation::Store | Operation::Call),
        Kind::Update => operation == Operation::AtomicUpdate,
        _ => true,
    };
    assert!(fits, "{kind:?} by {operation:?} at {site}");
}

/// `stats` tells the modules of a trace as it tells the build of the program.
fn modules_are_told(folder: &Path) {
    let stats = |arguments: &[&str]| {
        let output =
            run(Command::new(env!("CARGO_BIN_EXE_reweave")).current_dir(folder).arg("stats").args(arguments));
        String::from_utf8(output.stdout).unwrap()
    };
    let program = stats(&["--program", "program"]);
    let build = program.lines().find_map(|line| line.strip_prefix("build: ")).unwrap();
    assert!(stats(&["trace.rw"]).contains(&format!("module: program, build {build}\n")));
    let json: serde_json::Value = serde_json::from_str(&stats(&["trace.rw", "--json", "-"])).unwrap();
    assert_eq!(json["traces"][0]["modules"][0]["build"], build);
    let away = folder.join("away.rw");
    fs::copy(folder.join("trace.rw"), &away).unwrap();
    assert!(!stats(&["away.rw"]).contains("module:"));
}

/// A site is named through the table: without debug information for the linker the function is known, and the module.
#[test]
fn sites_are_named_through_the_table() {
    if plugin().is_none() {
        return;
    }
    let folder = TempDir::new().unwrap();
    record(folder.path(), &["-O2", "-g", "-Wl,--strip-debug"]);
    let text = run(Command::new(env!("CARGO_BIN_EXE_reweave"))
        .current_dir(&folder)
        .args(["convert", "trace.rw", "-", "--to", "std"]));
    let text = String::from_utf8(text.stdout).unwrap();
    let line = |number: usize| format!("recorded.c:{number}|");
    let source = fs::read_to_string(source("recorded.c")).unwrap();
    let at = |what: &str| 1 + source.lines().position(|line| line.contains(what)).expect("a line");
    let read = text.lines().find(|line| line.contains("r(global shared)")).expect("a read");
    assert!(read.contains("bump (in worker "), "{read}");
    assert!(read.contains(&line(at("int old = *at"))), "{read}");
    let condition = text.lines().find(|line| line.contains("|r(global flag)")).expect("a read");
    assert!(condition.contains("worker ") && condition.contains(&line(at("if (flag > 2)"))), "{condition}");
}
