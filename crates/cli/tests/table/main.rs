//! Program tables as the compiler plugin makes them: compared with LLVM's own text, and found again wherever they travel.
//!
//! Where there is no plugin or no clang 22, nothing can be tried, and that is said.

mod recorded;
mod text;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use reweave_capture::{Binary, BinaryError};
use reweave_program::{Counts, Detail, Operand, Order, Predicate, Program, Role, Table, private_allocas};
use tempfile::TempDir;

/// The plugin for one LLVM, where that clang is, too.
#[derive(Clone, Copy)]
struct Plugin {
    llvm: &'static str,
    path: &'static str,
}

const PLUGINS: [Plugin; 2] = [
    Plugin { llvm: "22", path: concat!(env!("OUT_DIR"), "/libreweave_plugin-22.so") },
    Plugin { llvm: "19", path: concat!(env!("OUT_DIR"), "/libreweave_plugin-19.so") },
];

impl Plugin {
    fn clang(self, plus: &str) -> Command {
        Command::new(format!("clang{plus}-{}", self.llvm))
    }

    fn is_there(self) -> bool {
        let clang = self.clang("").arg("--version").output().is_ok_and(|output| output.status.success());
        let there = clang && fs::metadata(self.path).is_ok_and(|about| about.len() > 0);
        if !there {
            eprintln!("not tried: there is no clang {0}, or reweave was built without it", self.llvm);
        }
        there
    }
}

fn plugin() -> Option<Plugin> {
    Some(PLUGINS[0]).filter(|plugin| plugin.is_there())
}

fn source(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/table/programs").join(name)
}

fn run(command: &mut Command) -> Output {
    let output = command.output().expect("the program starts");
    assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
    output
}

/// The text of a source file as LLVM leaves it, with optimisations as asked.
fn emit(plugin: Plugin, folder: &Path, name: &str, level: &str) -> PathBuf {
    let output = folder.join(format!("{name}.ll"));
    let mut command = match name.rsplit_once('.') {
        Some((_, "rs")) => {
            let mut command = Command::new("rustc");
            command.arg(format!("-Copt-level={}", &level[2..])).args(["--edition=2024", "--emit=llvm-ir"]);
            command
        }
        Some((_, "cpp")) => plugin.clang("++"),
        _ => plugin.clang(""),
    };
    if !name.ends_with(".rs") {
        command.args([level, "-S", "-emit-llvm", "-w", "-mavx2"]);
    }
    run(command.arg("-g").arg(source(name)).arg("-o").arg(&output));
    output
}

/// Compiles with the plugin.
fn compile(plugin: Plugin, from: &Path, to: &Path, flags: &[&str]) {
    let mut load = std::ffi::OsString::from("-fpass-plugin=");
    load.push(plugin.path);
    run(plugin.clang("").arg(load).args(flags).arg("-c").arg(from).arg("-o").arg(to));
}

/// The same figures from a table.
fn counted(table: &Table) -> text::Text {
    let mut counts = Counts::default();
    counts.add(table);
    let mut found = text::Text {
        functions: counts.functions,
        blocks: counts.blocks,
        phi_inputs: counts.phi_inputs,
        ..text::Text::default()
    };
    for (operation, number) in counts.operations {
        found.operations.insert(operation.text().to_owned(), number);
    }
    let functions = table.functions.iter().enumerate();
    for (function, user, instruction) in functions.flat_map(|(number, function)| {
        function.instructions.iter().enumerate().map(move |(user, instruction)| (number, user, instruction))
    }) {
        found.uses.extend(instruction.operands.iter().filter_map(|operand| match *operand {
            Operand::Instruction(used) => Some((function, user, i64::from(used))),
            Operand::Argument(used) => Some((function, user, -1 - i64::from(used))),
            _ => None,
        }));
        let mut order = |order: Order| {
            let text = match order {
                Order::NotAtomic => return,
                Order::Unordered => "unordered",
                Order::Relaxed => "monotonic",
                Order::Acquire => "acquire",
                Order::Release => "release",
                Order::AcquireRelease => "acq_rel",
                Order::SequentiallyConsistent => "seq_cst",
            };
            *found.orders.entry(text.to_owned()).or_default() += 1;
        };
        match &instruction.detail {
            Detail::Call(call) => found.arguments += u64::from(call.arguments),
            Detail::Cases(cases) => found.cases += cases.len() as u64,
            Detail::Cleanup(_) => found.clauses += instruction.operands.len() as u64,
            Detail::Access(access) | Detail::Update(access, _) => order(access.order),
            Detail::Exchange(access, failure, _) => {
                order(access.order);
                order(*failure);
            }
            Detail::Fence(of, _) => order(*of),
            Detail::Compare(predicate) => {
                let text = format!("{} {}", instruction.operation.text(), Predicate::text(*predicate));
                *found.predicates.entry(text).or_default() += 1;
            }
            _ => {}
        }
        found.volatile += u64::from(instruction.access().is_some_and(|access| access.volatile));
    }
    found.uses.sort_unstable();
    found
}

fn only(path: &Path) -> Table {
    let binary = Binary::open(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let [(_, _, table)] = &binary.program.modules[..] else {
        panic!("{} modules", binary.program.modules.len())
    };
    table.clone()
}

#[test]
fn tables_agree_with_llvms_text() {
    PLUGINS.into_iter().filter(|plugin| plugin.is_there()).for_each(tables_of);
}

fn tables_of(plugin: Plugin) {
    let folder = TempDir::new().unwrap();
    let mut seen: BTreeMap<String, u64> = BTreeMap::new();
    // What rustc writes is for its own LLVM.
    let names = if plugin.llvm == "22" { &["all.c", "all.cpp", "all.rs"][..] } else { &["all.c", "all.cpp"] };
    for &name in names {
        for level in ["-O0", "-O1", "-O2", "-O3"] {
            let module = emit(plugin, folder.path(), name, level);
            let object = folder.path().join("module.o");
            // Without optimisations the plugin sees what the text says.
            compile(plugin, &module, &object, &["-O0", "-mavx2"]);
            let expected = text::read(&fs::read_to_string(&module).unwrap());
            let table = only(&object);
            assert_eq!(counted(&table), expected, "{name} {level}, LLVM {}", plugin.llvm);
            assert_eq!(table.string(table.name).rsplit('/').next().unwrap().split('.').next(), Some("all"));
            expected
                .operations
                .into_iter()
                .for_each(|(word, number)| *seen.entry(word).or_default() += number);
        }
    }
    let wanted = "alloca atomicrmw br call cmpxchg extractvalue fcmp fence getelementptr icmp indirectbr insertelement \
                  invoke landingpad load phi resume select shufflevector store switch unreachable";
    for word in wanted.split_whitespace() {
        assert!(seen.contains_key(word), "no {word} in {seen:?}");
    }
}

fn function<'t>(table: &'t Table, name: &str) -> &'t reweave_program::Function {
    let found = table.functions.iter().find(|function| table.function_name(function) == name);
    found.unwrap_or_else(|| panic!("no function {name}"))
}

#[test]
fn operands_have_roles_and_places() {
    let Some(plugin) = plugin() else { return };
    let folder = TempDir::new().unwrap();
    let object = folder.path().join("all.o");
    compile(plugin, &source("all.c"), &object, &["-O1", "-g", "-w"]);
    let table = only(&object);
    let thread = function(&table, "thread");
    let locks = thread.instructions.iter().filter(|instruction| {
        table.roles(instruction) == [Role::Lock, Role::Callee]
            && matches!(instruction.operands[0], Operand::Global(global) if table.global_name(global) == "lock")
    });
    assert_eq!(locks.count(), 2);
    let memory = function(&table, "memory");
    let moves = memory.instructions.iter().find(|instruction| {
        table.callee_name(instruction).is_some_and(|name| name.starts_with("llvm.memmove"))
    });
    let moves = moves.expect("a memmove");
    assert_eq!(table.roles(moves)[..3], [Role::Address, Role::Address, Role::Size]);
    assert_eq!(moves.operands[..3], [Operand::Argument(0), Operand::Argument(1), Operand::Argument(2)]);
    let copied = memory.instructions.iter().filter_map(|instruction| instruction.call());
    assert_eq!(copied.flat_map(|call| &call.by_value).map(|copy| copy.1).collect::<Vec<_>>(), [160]);
    // What was inlined has both places: its own, and that of the call.
    let loops = function(&table, "loops");
    let frames = loops.instructions.iter().map(|instruction| table.frames(instruction.location));
    let inlined = frames.into_iter().find(|frames| frames.len() == 2).expect("something inlined");
    assert_eq!((inlined[0].function, inlined[1].function), ("inlined", "loops"));
    let text = fs::read_to_string(source("all.c")).unwrap();
    let line = |frame: &reweave_program::Frame<'_>| text.lines().nth(frame.line as usize - 1).unwrap();
    assert!(line(&inlined[0]).contains("return *at + 1"));
    assert!(line(&inlined[1]).contains("inlined(&shared)"));
    assert!(inlined[0].file.ends_with("tests/table/programs/all.c"));
}

#[test]
fn allocas_that_do_not_escape_are_known() {
    let Some(plugin) = plugin() else { return };
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("escape.c");
    fs::write(
        &file,
        "void use(int *);\n\
         int *kept;\n\
         int stays(int a) { volatile int x[4]; x[a & 3] = a; int *p = a ? (int *)&x[1] : (int *)&x[2]; return *p + x[a & 1]; }\n\
         int passed(int a) { int x = a; use(&x); return x; }\n\
         int stored(int a) { int x = a; kept = &x; return x; }\n\
         int both(int a) { volatile int x = a; int y = a; use(&y); return x + y; }\n",
    )
    .unwrap();
    let object = folder.path().join("escape.o");
    // Without optimisations `p` is memory, too, and what is stored there counts as escaped.
    for (level, expected) in [("-O1", [1, 0, 0, 1]), ("-O0", [2, 1, 1, 2])] {
        compile(plugin, &file, &object, &[level]);
        let table = only(&object);
        let found = ["stays", "passed", "stored", "both"]
            .map(|name| private_allocas(&table, function(&table, name)).len());
        assert_eq!(found, expected, "{level}");
    }
}

/// From an object into an archive, from there into a library, and without its symbols: the table is the same.
#[test]
fn tables_travel() {
    let Some(plugin) = plugin() else { return };
    let folder = TempDir::new().unwrap();
    let path = |name: &str| folder.path().join(name);
    compile(plugin, &source("all.c"), &path("a.o"), &["-O2", "-fPIC", "-w"]);
    fs::write(
        path("b.c"),
        "int loops(const char *, int);\nint more(int n) { return n + loops(\"ab\", 2); }\n",
    )
    .unwrap();
    compile(plugin, &path("b.c"), &path("b.o"), &["-O2", "-fPIC"]);
    let sections = ["-ffunction-sections", "-fdata-sections"];
    compile(plugin, &path("b.c"), &path("c.o"), &[&["-O0", "-fPIC"], &sections[..]].concat());
    let hashes = |name: &str| {
        let binary = Binary::open(&path(name)).unwrap_or_else(|error| panic!("{name}: {error}"));
        let mut hashes: Vec<String> =
            binary.program.modules.iter().map(|(hash, ..)| hash.to_string()).collect();
        hashes.sort();
        hashes
    };
    let mut expected = [hashes("a.o"), hashes("b.o")].concat();
    expected.sort();
    assert_eq!(expected.len(), 2);
    run(Command::new("ar").current_dir(&folder).args(["rcs", "all.a", "a.o", "b.o"]));
    assert_eq!(hashes("all.a"), expected);
    for linker in ["bfd", "lld"] {
        let there = Command::new("clang-22").args(["-print-prog-name=ld.lld"]).output().unwrap();
        if linker == "lld" && !Path::new(String::from_utf8_lossy(&there.stdout).trim()).is_absolute() {
            continue;
        }
        run(Command::new("clang-22").current_dir(&folder).args([
            &format!("-fuse-ld={linker}"),
            "-shared",
            "-Wl,--gc-sections",
            "-Wl,-u,more",
            "-Wl,--build-id",
            "all.a",
            "-o",
            "all.so",
        ]));
        assert_eq!(hashes("all.so"), expected, "{linker}");
        let build = Binary::open(&path("all.so")).unwrap().build;
        assert!(!build.starts_with("crc"), "{build}");
        run(Command::new("strip").current_dir(&folder).args(["--strip-all", "all.so"]));
        assert_eq!(hashes("all.so"), expected, "{linker}, stripped");
        assert_eq!(Binary::open(&path("all.so")).unwrap().build, build);
    }
    assert!(!expected.contains(&hashes("c.o")[0]), "another build of the same source has another hash");
    run(Command::new("objcopy").current_dir(&folder).args(["--remove-section=reweave_table", "all.so"]));
    let removed = Binary::open(&path("all.so"));
    assert!(matches!(removed, Err(BinaryError::Removed | BinaryError::NoTable)), "{removed:?}");
}

#[test]
fn the_same_source_gives_the_same_hash() {
    let Some(plugin) = plugin() else { return };
    let folder = TempDir::new().unwrap();
    let path = |name: &str| folder.path().join(name);
    let text = fs::read_to_string(source("all.c")).unwrap();
    let build = |name: &str, text: &str| {
        let (source, object) = (path("one.c"), path(name));
        fs::write(&source, text).unwrap();
        compile(plugin, &source, &object, &["-O2", "-g", "-w"]);
        only(&object)
    };
    let (first, again) = (build("1.o", &text), build("2.o", &text));
    assert_eq!(first.hash(), again.hash());
    let changed = build("3.o", &text.replace("sum ^= 3", "sum ^= 5"));
    assert_ne!(first.hash(), changed.hash());
    // Only the function that was changed is another one; a line more moves places, and no code.
    let differ = |other: &Table| {
        let hashes = first.function_hashes().into_iter().zip(other.function_hashes()).zip(&first.functions);
        let differ = hashes.filter(|((a, b), _)| a != b);
        differ.map(|(_, function)| first.function_name(function).to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(differ(&changed), ["loops"]);
    let moved = build("4.o", &format!("// one line more\n{text}"));
    assert_ne!(first.hash(), moved.hash());
    assert!(differ(&moved).is_empty());
}

/// What is said of a binary, and of files that have no table.
#[test]
fn stats_show_the_table() {
    let Some(plugin) = plugin() else { return };
    let folder = TempDir::new().unwrap();
    let object = folder.path().join("all.o");
    compile(plugin, &source("all.c"), &object, &["-O1", "-g", "-w"]);
    let reweave = || Command::new(env!("CARGO_BIN_EXE_reweave"));
    let shown = run(reweave().args(["stats", "--program"]).arg(&object));
    let shown = String::from_utf8(shown.stdout).unwrap();
    let table = only(&object);
    let mut counts = Counts::default();
    counts.add(&table);
    assert!(shown.contains("program table, version 1, "), "{shown}");
    assert!(shown.contains(&table.hash().to_string()), "{shown}");
    let line = |label: &str| shown.lines().find(|line| line.starts_with(label)).unwrap_or_default();
    assert!(line("functions").ends_with(&format!(" {}", counts.functions)), "{shown}");
    assert!(line("instructions").contains(&format!(" {} ", counts.instructions)), "{shown}");
    assert!(line("  phi").ends_with(&format!(" {}", counts.operations[&reweave_program::Operation::Phi])));
    let json = run(reweave().args(["stats", "--json", "-", "--program"]).arg(&object));
    let json: serde_json::Value = serde_json::from_slice(&json.stdout).unwrap();
    assert_eq!(json["programs"][0]["instructions"], counts.instructions);
    assert_eq!(json["programs"][0]["modules"][0]["hash"], table.hash().to_string());

    let mut bytes = fs::read(&object).unwrap();
    let magic = bytes.windows(8).position(|window| window == b"\x89RWT\r\n\x1A\n").unwrap();
    for (change, message) in [(8, "version 8"), (24, "does not match its hash"), (0, "no program table")] {
        let at = magic + change;
        let before = bytes[at];
        bytes[at] = if change == 8 { 8 } else { before ^ 1 };
        let damaged = folder.path().join("damaged.o");
        fs::write(&damaged, &bytes).unwrap();
        bytes[at] = before;
        refuses(&damaged, message);
    }
    let plain = folder.path().join("plain.o");
    run(Command::new("clang-22").args(["-c", "-w"]).arg(source("all.c")).arg("-o").arg(&plain));
    refuses(&plain, "has no program table");
    refuses(&plain, "hint: build it with the compiler plugin");
    refuses(&source("all.c"), "is no program, library, archive or object");
}

fn refuses(path: &Path, message: &str) {
    let output =
        Command::new(env!("CARGO_BIN_EXE_reweave")).args(["stats", "--program"]).arg(path).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains(message), "{said}");
}

/// Whatever happens to a real table, it is noticed, and nothing panics.
#[test]
fn damaged_sections_are_refused() {
    let Some(plugin) = plugin() else { return };
    let folder = TempDir::new().unwrap();
    let object = folder.path().join("all.o");
    compile(plugin, &source("all.c"), &object, &["-O2", "-g", "-w"]);
    let section = only(&object).encode();
    let whole = Program::decode(&section).unwrap();
    assert_eq!(whole.modules.len(), 1);
    let mut random = 1u64;
    for _ in 0..2_000 {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let bit = (random >> 20) as usize % (8 * section.len());
        let mut damaged = section.clone();
        damaged[bit / 8] ^= 1 << (bit % 8);
        // The last bits of what is compressed may mean nothing.
        assert!(Program::decode(&damaged).map_or(true, |same| same == whole), "{bit}");
        let cut = (random >> 40) as usize % (section.len() - 8);
        assert!(cut == 0 || Program::decode(&section[..cut]).is_err(), "{cut}");
    }
}
