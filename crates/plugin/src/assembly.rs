//! Inline assembly: what it does to its memory operands, and whether it may touch anything else.
//!
//! A memory operand is recorded as an atomic update of its bytes: what the instructions do there is not looked at, and an
//! update is the strictest that it can be. Assembly that says it changes other memory is a crossing into code that
//! is not recorded, as a call of a library without hooks is, unless its instructions are known to touch none.

use reweave_program::Mark;

use crate::instrument::Instrumenter;
use crate::ir::{Opcode, Value};

/// A larger memory operand says that a whole buffer may change, not what does.
const LARGEST_OPERAND: u64 = 64;

/// Instructions that touch no memory, or none that a program can see.
const TOUCH_NO_MEMORY: [&str; 18] = [
    "cpuid",
    "endbr32",
    "endbr64",
    "int3",
    "lfence",
    "mfence",
    "nop",
    "pause",
    "rdpmc",
    "rdrand",
    "rdseed",
    "rdtsc",
    "rdtscp",
    "rep",
    "serialize",
    "sfence",
    "tpause",
    "xgetbv",
];

/// What the constraints of inline assembly say.
#[derive(Default, PartialEq, Eq, Debug)]
pub(crate) struct Constraints {
    /// The arguments that are addresses of memory operands.
    pub(crate) memory: Vec<usize>,
    /// Whether other memory may change.
    pub(crate) clobbers_memory: bool,
}

impl Constraints {
    /// Reads a list such as `=*m,=&r,*m,r,~{memory}`: outputs, inputs, clobbers. Outputs that are no memory are results, so they
    /// take no argument.
    pub(crate) fn parse(text: &str) -> Constraints {
        let mut found = Constraints::default();
        let mut argument = 0;
        for constraint in text.split(',').filter(|constraint| !constraint.is_empty()) {
            if let Some(clobber) = constraint.strip_prefix('~') {
                found.clobbers_memory |= clobber == "{memory}";
                continue;
            }
            let is_output = constraint.starts_with('=');
            let is_memory = constraint.trim_start_matches(['=', '&', '%', '+']).starts_with('*');
            if constraint.starts_with('!') || is_output && !is_memory {
                continue;
            }
            if is_memory {
                found.memory.push(argument);
            }
            argument += 1;
        }
        found
    }
}

/// Whether all instructions of a text are known to touch no memory.
pub(crate) fn touches_no_memory(text: &str) -> bool {
    let lines = text.split(['\n', ';']).map(|line| line.split(['#']).next().unwrap_or_default().trim());
    lines.filter(|line| !line.is_empty()).all(|line| {
        let mut words = line.split_whitespace();
        let first = words.next().unwrap_or_default();
        let known = |word: &str| TOUCH_NO_MEMORY.contains(&word);
        // `rep nop` is another name of `pause`; other repeated instructions touch memory.
        if first == "rep" { words.all(|word| word == "nop") } else { known(first) }
    })
}

impl Instrumenter<'_, '_> {
    /// Records what inline assembly does to memory; whether there is something to record.
    pub(crate) fn assembly(&mut self, call: Value) -> bool {
        let text = call.callee().assembly();
        let found = Constraints::parse(&call.callee().constraints());
        // A barrier for the compiler alone.
        if text.trim().is_empty() {
            return false;
        }
        let arguments = call.call_arguments();
        let mut operands: Vec<(Value, u64)> = Vec::new();
        let mut understood = call.is(Opcode::LLVMCall);
        for place in &found.memory {
            let operand = arguments.get(*place).copied().zip(call.element_of_parameter(*place as u32));
            let sized = operand.map(|(address, of)| (address, self.hooks.module.size(of)));
            match sized.filter(|&(address, size)| {
                (1..=LARGEST_OPERAND).contains(&size) && address.address_space() == 0
            }) {
                Some(operand) if operands.contains(&operand) => {}
                Some(operand) => operands.push(operand),
                None => understood = false,
            }
        }
        let crosses = !understood || found.clobbers_memory && !self.names_its_memory(&text, &operands);
        if !crosses && operands.is_empty() {
            return false;
        }
        let site = self.hooks.site(self.draft, call);
        self.draft.mark(call.0, Mark::Recorded);
        self.hooks.cursor.before(call);
        if crosses {
            self.hooks.tell("assembly", &[site]);
        }
        if understood && !operands.is_empty() {
            self.update_operands(call, site, &operands);
        }
        true
    }

    /// Whether assembly that may change memory changes its operands at most. Many say so of a single instruction on an
    /// operand, to keep the compiler from moving other accesses across it.
    fn names_its_memory(&self, text: &str, operands: &[(Value, u64)]) -> bool {
        let is_single = text.trim().split(['\n', ';']).filter(|line| !is_lock_prefix(line)).count() <= 1;
        let reaches_by_register = text.contains('(') || text.contains('[') || writes_text(text);
        touches_no_memory(text) || is_single && !operands.is_empty() && !reaches_by_register
    }

    /// Records each operand as an update: from what was there before to what is there afterwards.
    fn update_operands(&mut self, call: Value, site: Value, operands: &[(Value, u64)]) {
        self.hooks.tell("before", &[site]);
        let mut pieces = Vec::new();
        for &(address, size) in operands {
            let mut offset = 0;
            while offset < size {
                let length = [8, 4, 2, 1].into_iter().find(|length| offset + length <= size).unwrap_or(1);
                let at = self.hooks.cursor.offset(self.hooks.module, address, offset);
                let old = self.hooks.cursor.load(at, self.hooks.module.int(8 * length as u32));
                let word = self.hooks.module.int(64);
                let old = if length == 8 { old } else { self.hooks.cursor.widen(old, word) };
                pieces.push((at, length, old));
                offset += length;
            }
        }
        self.hooks.cursor.after(call);
        for (at, length, old) in pieces {
            let length = self.hooks.number(length);
            self.hooks.tell("assembled", &[at, site, length, old]);
        }
    }
}

/// Whether a line is a prefix of the instruction on the next one.
fn is_lock_prefix(line: &str) -> bool {
    matches!(line.trim(), "lock" | "")
}

/// String instructions and system calls reach memory without an operand.
fn writes_text(text: &str) -> bool {
    const IMPLICIT: [&str; 9] =
        ["stos", "movs", "lods", "scas", "cmps", "syscall", "sysenter", "int ", "call"];
    IMPLICIT.iter().any(|name| text.contains(name))
}
