//! The assembler as compilers are to find it: inline assembly is announced to the recorder before it runs.
//!
//! ThreadSanitizer's hooks tell nothing of inline assembly, but gcc, and clang where it does not assemble by itself, mark it in
//! what they give to the assembler: it lies between `#APP` and `#NO_APP`. Where its instructions may touch memory, a call of the recorder is put before them, which changes no
//! register and leaves the red zone below the stack alone.

use std::ffi::OsString;
use std::fs;
use std::io::{self, Read, Write};
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};

/// How this program is called as an assembler: no user does so.
pub(crate) const NAME: &str = "--assembler";

/// What is put before inline assembly.
const ANNOUNCE: &str =
    "\tleaq -128(%rsp), %rsp\n\tcall __reweave_assembly_here@PLT\n\tleaq 128(%rsp), %rsp\n";

/// Runs the system's assembler, with its input changed where it has inline assembly.
pub(crate) fn run(arguments: &[OsString]) -> io::Result<ExitStatus> {
    let input = input(arguments);
    let text = match input.and_then(|place| arguments.get(place)) {
        Some(path) => fs::read(path)?,
        None => {
            let mut text = Vec::new();
            io::stdin().read_to_end(&mut text)?;
            text
        }
    };
    let announced = str::from_utf8(&text).ok().and_then(announced);
    let mut command = Command::new("as");
    let (Some(announced), Some(place)) = (&announced, input) else {
        let given = if input.is_some() { Vec::new() } else { announced.map_or(text, String::into_bytes) };
        return feed(command.args(arguments), input.is_none().then_some(given));
    };
    // The name tells errors where they are; gcc names the source by itself.
    let mut file = tempfile::Builder::new().prefix("reweave-").suffix(".s").tempfile()?;
    file.write_all(announced.as_bytes())?;
    let (before, after) = arguments.split_at(place);
    command.args(before).arg(file.path()).args(after.iter().skip(1)).status()
}

/// Which argument is the file to be assembled: gcc has it last, clang before some flags. None where that is the standard input.
fn input(arguments: &[OsString]) -> Option<usize> {
    const WITH_FILE: [&str; 4] = ["-o", "-I", "--MD", "-MD"];
    (0..arguments.len()).rev().find(|&place| {
        let is_value = place > 0 && WITH_FILE.iter().any(|flag| arguments[place - 1] == *flag);
        let is_flag = arguments[place].as_encoded_bytes().starts_with(b"-");
        !is_flag && !is_value && Path::new(&arguments[place]).is_file()
    })
}

/// Runs a command, with text as its standard input where there is some.
fn feed(command: &mut Command, text: Option<Vec<u8>>) -> io::Result<ExitStatus> {
    let Some(text) = text else { return command.status() };
    let mut child = command.stdin(Stdio::piped()).spawn()?;
    if let Some(mut input) = child.stdin.take() {
        input.write_all(&text)?;
    }
    child.wait()
}

/// The same text with calls before inline assembly; none where there is nothing to be put.
fn announced(text: &str) -> Option<String> {
    let mut changed = String::with_capacity(text.len() + 4096);
    let (mut in_function, mut found, mut intel) = (false, false, false);
    let mut rest = text;
    while let Some(line) = rest.split_inclusive('\n').next() {
        match line.trim() {
            ".cfi_startproc" => in_function = true,
            ".cfi_endproc" => in_function = false,
            words if words.starts_with(".intel_syntax") => intel = true,
            words if words.starts_with(".att_syntax") => intel = false,
            "#APP" if in_function => {
                let end = rest.find("#NO_APP").unwrap_or(rest.len());
                if may_touch_memory(&rest[line.len().min(end)..end]) {
                    found = true;
                    let (before, after) = if intel {
                        ("\t.att_syntax prefix\n", "\t.intel_syntax noprefix\n")
                    } else {
                        ("", "")
                    };
                    changed.extend([before, ANNOUNCE, after]);
                }
                changed.push_str(&rest[..end]);
                rest = &rest[end..];
                continue;
            }
            _ => {}
        }
        changed.push_str(line);
        rest = &rest[line.len()..];
    }
    found.then_some(changed)
}

/// Whether instructions may read or write memory, or call or enter something that does.
fn may_touch_memory(text: &str) -> bool {
    let instructions = text.split(['\n', ';']).map(|line| line.split('#').next().unwrap_or_default().trim());
    instructions.filter(|line| !line.is_empty() && !line.starts_with('.')).any(instruction_may)
}

/// String instructions, system calls, and those that leave: they reach memory without an operand.
const IMPLICIT: [&str; 16] = [
    "call", "cmps", "enclu", "int", "ins", "jmp", "lods", "movs", "outs", "push", "ret", "scas", "stos",
    "syscall", "sysenter", "xlat",
];

fn instruction_may(line: &str) -> bool {
    let mut line = line;
    // Labels, and prefixes of the instruction.
    while let Some((first, rest)) = line.split_once(char::is_whitespace) {
        if !(first.ends_with(':') || matches!(first, "lock" | "rep" | "repe" | "repz" | "repne" | "repnz")) {
            break;
        }
        line = rest.trim_start();
    }
    let (name, operands) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    if name.ends_with(':') {
        return false;
    }
    // `movs` is also how moves with a sign begin.
    let has_sign = name.starts_with("movs")
        && !operands.is_empty()
        && !matches!(name, "movsb" | "movsw" | "movsl" | "movsq");
    let implicit = !has_sign && IMPLICIT.iter().any(|start| name.starts_with(start));
    implicit || operands.split(',').any(|operand| is_memory(operand.trim(), name))
}

/// Whether an operand is in memory: not a register, a constant, or the target of a jump.
fn is_memory(operand: &str, name: &str) -> bool {
    let is_plain =
        operand.is_empty() || operand.starts_with('%') && !operand.contains(':') || operand.starts_with('$');
    !is_plain && !name.starts_with('j')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instructions_that_may_touch_memory_are_told_from_others() {
        for touches in [
            "lock incl turn(%rip)",
            "lock; xaddl %eax, (%rdx)",
            "1:\tmovq %rax, counter",
            "rep stosq",
            "syscall",
            "call helper",
            "movl %fs:0, %eax",
            "mov eax, dword ptr [rdi]",
            "nop\n\txchgl %eax, 8(%rsp)",
        ] {
            assert!(may_touch_memory(touches), "{touches}");
        }
        for harmless in [
            "",
            "pause",
            "rep; nop",
            "rep nop",
            "mfence",
            "cpuid",
            "rdtsc",
            "bswapl %eax",
            "xorl %eax, %eax",
            "movslq %edi, %rax",
            "addq $8, %rsp",
            "# 4 \"x.c\" 1\n\t\n# 0 \"\" 2",
            "1: jne 1b",
            ".byte 0x0f",
            "bsrq %rax, %rdx",
        ] {
            assert!(!may_touch_memory(harmless), "{harmless}");
        }
    }

    #[test]
    fn the_file_is_found_wherever_it_stands() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = |name: &str| {
            let path = folder.path().join(name);
            fs::write(&path, "").expect("it is written");
            path.into_os_string()
        };
        let (source, object) = (path("a.s"), path("a.o"));
        let words = |words: &[&str]| -> Vec<OsString> { words.iter().map(OsString::from).collect() };
        let mut arguments = words(&["--64", "-o"]);
        arguments.extend([object.clone(), source]);
        assert_eq!(input(&arguments), Some(3), "as gcc has it");
        arguments.extend(words(&["-g", "-gdwarf-5"]));
        assert_eq!(input(&arguments), Some(3), "as clang has it");
        assert_eq!(input(&[words(&["-o"]), vec![object]].concat()), None);
    }

    #[test]
    fn only_assembly_in_functions_is_announced() {
        let text = "#APP\n\tlock incl x(%rip)\n#NO_APP\nf:\n\t.cfi_startproc\n#APP\n# 3 \"x.c\" 1\n\tlock incl x(%rip)\n# 0 \"\" 2\n#NO_APP\n\
                    #APP\n\tpause\n#NO_APP\n\tret\n\t.cfi_endproc\n";
        let changed = announced(text).expect("it is changed");
        assert_eq!(changed.matches("__reweave_assembly_here").count(), 1);
        assert_eq!(changed.replace(ANNOUNCE, ""), text);
        let at = changed.find(ANNOUNCE).expect("it is there");
        assert!(changed[at + ANNOUNCE.len()..].starts_with("#APP\n# 3"));
        assert_eq!(announced("f:\n\t.cfi_startproc\n\tret\n\t.cfi_endproc\n"), None);
        let intel = text.replacen("f:", "\t.intel_syntax noprefix\nf:", 1);
        let changed = announced(&intel).expect("it is changed");
        assert!(
            changed.contains("\t.att_syntax prefix\n\tleaq")
                && changed.contains("%rsp\n\t.intel_syntax noprefix\n#APP")
        );
    }
}
