//! What is known of machine code, against a disassembler.

use std::process::Command;

use reweave_wire::only_prepares;

const CALL: [u8; 5] = [0xE8, 1, 2, 3, 4];
/// What reads its last operand, which of all others is where the result goes.
const READERS: [&str; 10] = ["cmp", "test", "nop", "bt", "mul", "imul", "div", "idiv", "prefetch", "ucomis"];

/// Every instruction of this very program: one that is taken for harmless stores nothing, and is as long as it is.
#[test]
fn the_disassembler_agrees() {
    let mut objdump = Command::new("objdump");
    let Ok(listed) = objdump.args(["-d", "--insn-width=16"]).arg(std::env::current_exe().unwrap()).output()
    else {
        println!("objdump is not installed");
        return;
    };
    let (mut computes, mut known) = (0, 0);
    for line in String::from_utf8_lossy(&listed.stdout).lines() {
        let mut columns = line.split('\t').skip(1);
        let (Some(bytes), Some(text)) = (columns.next(), columns.next()) else { continue };
        let mut code: Vec<u8> =
            bytes.split_whitespace().map(|byte| u8::from_str_radix(byte, 16).unwrap()).collect();
        code.extend(CALL);
        let text = text.split('#').next().unwrap_or_default().trim();
        let stores = text.ends_with(')') && !READERS.iter().any(|name| text.starts_with(name));
        // Whatever its length is taken for, the call must be found right behind it.
        let prepares = only_prepares(&code, 1);
        assert!(!(prepares && stores), "{line}");
        if stores || ["call", "j", "ret", "push", "pop", "v"].iter().any(|name| text.starts_with(name)) {
            continue;
        }
        computes += 1;
        known += u32::from(prepares);
    }
    assert!(computes > 10_000 && known > computes / 100 * 85, "{known} of {computes}");
}
