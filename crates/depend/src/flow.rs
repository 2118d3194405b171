//! What the values of a function are computed from, whatever path is taken.
//!
//! The sources of a value are loads that are recorded, arguments, and results of calls. Locals in memory whose address stays in the
//! function are not recorded: what is loaded from one may be whatever is stored to it anywhere in the function.
//!
//! **Latest or ever.** A value is computed from its operands' latest values: an operand dominates what uses it, so it cannot be
//! executed again on a way to the use that does not compute the value again. That does not hold for a phi or a local in memory,
//! which may keep the value of an earlier iteration: behind one, whatever the source has ever been counts.

use hashbrown::{HashMap, HashSet};
use reweave_program::{Function, Instruction, Mark, Operand, Operation};

use crate::calls::Callee;
use crate::rule::Rule;

/// How many sources are told apart.
const MOST: usize = 64;

/// What a value may be computed from.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub(crate) struct Sources {
    /// Anything.
    pub(crate) all: bool,
    /// The latest value of these loads.
    pub(crate) latest: Vec<u32>,
    /// Any value so far of these loads.
    pub(crate) ever: Vec<u32>,
    /// These arguments.
    pub(crate) arguments: Vec<u32>,
    /// Any result so far of these calls.
    pub(crate) calls: Vec<u32>,
}

impl Sources {
    pub(crate) const ALL: Sources =
        Sources { all: true, latest: Vec::new(), ever: Vec::new(), arguments: Vec::new(), calls: Vec::new() };

    pub(crate) fn add(&mut self, other: &Sources) {
        self.all |= other.all;
        for (own, others) in [
            (&mut self.latest, &other.latest),
            (&mut self.ever, &other.ever),
            (&mut self.arguments, &other.arguments),
            (&mut self.calls, &other.calls),
        ] {
            own.extend_from_slice(others);
        }
        self.tidy();
    }

    fn tidy(&mut self) {
        let mut count = 0;
        for list in [&mut self.latest, &mut self.ever, &mut self.arguments, &mut self.calls] {
            list.sort_unstable();
            list.dedup();
            count += list.len();
        }
        if self.all || count > MOST {
            *self = Sources::ALL;
        }
    }
}

/// What is stored to a local in memory.
enum Content {
    Value(Operand),
    /// What another local holds.
    Local(u32),
    /// What a recorded copy read.
    Copied(u32),
}

/// The data flow of a function.
pub(crate) struct Flow<'f> {
    function: &'f Function,
    callees: &'f [Callee],
    contents: HashMap<u32, Vec<Content>>,
    without: Option<Rule>,
}

impl<'f> Flow<'f> {
    /// Of a function with what its calls call, an entry for each instruction.
    pub(crate) fn new(function: &'f Function, callees: &'f [Callee], without: Option<Rule>) -> Flow<'f> {
        let mut flow = Flow { function, callees, contents: HashMap::new(), without };
        for (number, instruction) in (0..).zip(&function.instructions) {
            flow.store(number, instruction);
        }
        flow
    }

    fn store(&mut self, number: u32, instruction: &Instruction) {
        use Operation::*;
        let operand = |place: usize| instruction.operands.get(place).copied().unwrap_or(Operand::Nothing);
        let (to, content) = match (instruction.operation, self.callee(number)) {
            (Store, _) => (operand(1), Content::Value(operand(0))),
            (AtomicUpdate, _) => (operand(0), Content::Value(operand(1))),
            (CompareExchange, _) => (operand(0), Content::Value(operand(2))),
            (Call | Invoke, Callee::Fill) => (operand(0), Content::Value(operand(1))),
            (Call | Invoke, Callee::Masked(true)) => (operand(1), Content::Value(operand(0))),
            (Call | Invoke, Callee::Copy) => {
                if let (Some(to), Some(from)) = (self.local(operand(0)), self.local(operand(1))) {
                    self.contents.entry(to).or_default().push(Content::Local(from));
                }
                (operand(0), Content::Copied(number))
            }
            _ => return,
        };
        if let Some(local) = self.local(to) {
            self.contents.entry(local).or_default().push(content);
        }
    }

    fn callee(&self, number: u32) -> Callee {
        self.callees.get(number as usize).copied().unwrap_or(Callee::Unknown)
    }

    /// The alloca that an address lies in, where it was only moved by numbers.
    fn local(&self, address: Operand) -> Option<u32> {
        let mut address = address;
        loop {
            let Operand::Instruction(number) = address else { return None };
            let instruction = self.function.instructions.get(number as usize)?;
            match instruction.operation {
                Operation::Alloca => return Some(number),
                Operation::ElementAddress | Operation::BitCast | Operation::AddressSpaceCast => {
                    address = *instruction.operands.first()?;
                }
                _ => return None,
            }
        }
    }

    fn search(&self) -> Search<'_, 'f> {
        let (seen, locals) = (HashSet::new(), HashSet::new());
        Search { flow: self, found: Sources::default(), seen, locals, waiting: Vec::new() }
    }

    /// The sources of values.
    pub(crate) fn sources(&self, values: &[Operand]) -> Sources {
        let mut search = self.search();
        search.waiting.extend(values.iter().map(|&value| (value, false)));
        search.run()
    }

    /// The sources of what a copy writes: what it read, and where it was not recorded that it read, what was there.
    pub(crate) fn copied(&self, number: u32, from: Operand) -> Sources {
        let mut search = self.search();
        if self.without == Some(Rule::Copy) {
            return Sources::default();
        }
        search.found.ever.push(number);
        if let Some(local) = self.local(from) {
            search.local(local);
        }
        search.run()
    }
}

struct Search<'s, 'f> {
    flow: &'s Flow<'f>,
    found: Sources,
    seen: HashSet<(Operand, bool)>,
    locals: HashSet<u32>,
    waiting: Vec<(Operand, bool)>,
}

impl Search<'_, '_> {
    fn run(mut self) -> Sources {
        while let Some((value, ever)) = self.waiting.pop() {
            if self.found.all || self.seen.len() > 16 * MOST {
                return Sources::ALL;
            }
            if self.seen.insert((value, ever)) {
                self.value(value, ever);
            }
        }
        self.found.tidy();
        self.found
    }

    fn value(&mut self, value: Operand, ever: bool) {
        match value {
            Operand::Instruction(number) => match self.flow.function.instructions.get(number as usize) {
                Some(instruction) => self.instruction(number, instruction, ever),
                None => self.found.all = true,
            },
            Operand::Argument(number) => self.found.arguments.push(number),
            Operand::Assembly(_) => self.found.all = true,
            Operand::Constant(_) | Operand::Global(_) | Operand::Block(_) | Operand::Nothing => {}
        }
    }

    fn instruction(&mut self, number: u32, instruction: &Instruction, ever: bool) {
        use Operation::*;
        match instruction.operation {
            Load | AtomicUpdate | CompareExchange => match instruction.mark {
                Mark::Recorded => self.load(number, ever),
                Mark::Private => match instruction.operands.first().and_then(|&at| self.flow.local(at)) {
                    Some(local) => self.local(local),
                    None => self.found.all = true,
                },
                // Its address decides; what is there never changes.
                Mark::Constant => {}
                _ => self.found.all = true,
            },
            // An address that the stack gives.
            Alloca => {}
            Phi => {
                let left_out = if self.flow.without == Some(Rule::Phi) { 1 } else { 0 };
                let operands = instruction.operands.iter().skip(left_out);
                self.waiting.extend(operands.map(|&operand| (operand, true)));
            }
            Call | Invoke | CallBranch => self.call(number, instruction, ever),
            VariadicArgument | LandingPad | CatchPad | CleanupPad | CatchSwitch => self.found.all = true,
            _ => self.waiting.extend(instruction.operands.iter().map(|&operand| (operand, ever))),
        }
    }

    fn call(&mut self, number: u32, instruction: &Instruction, ever: bool) {
        let arguments = instruction.call().map_or(0, |call| call.arguments as usize);
        let arguments = instruction.operands.get(..arguments).unwrap_or(&instruction.operands);
        match self.flow.callee(number) {
            Callee::Computes | Callee::MayFail => {
                self.waiting.extend(arguments.iter().map(|&argument| (argument, ever)));
            }
            // What a call gives that nothing was recorded of is computed from its arguments.
            Callee::Known(_) => {
                self.found.calls.push(number);
                self.waiting.extend(arguments.iter().map(|&argument| (argument, true)));
            }
            Callee::Masked(false) => {
                self.load(number, ever);
                self.waiting.extend(arguments.iter().map(|&argument| (argument, ever)));
            }
            Callee::Nothing | Callee::Allocates => {}
            _ => self.found.all = self.flow.without != Some(Rule::Unknown),
        }
    }

    fn load(&mut self, number: u32, ever: bool) {
        if ever { self.found.ever.push(number) } else { self.found.latest.push(number) }
    }

    fn local(&mut self, local: u32) {
        if !self.locals.insert(local) || self.flow.without == Some(Rule::Local) {
            return;
        }
        for content in self.flow.contents.get(&local).map(Vec::as_slice).unwrap_or_default() {
            match content {
                Content::Value(value) => self.waiting.push((*value, true)),
                Content::Local(other) => self.local(*other),
                Content::Copied(_) if self.flow.without == Some(Rule::Copy) => {}
                Content::Copied(copy) => self.found.ever.push(*copy),
            }
        }
    }
}

/// The operands that decide whether an instruction is executed as it was, and what comes after it.
pub(crate) fn deciding(instruction: &Instruction, callee: Callee, without: Option<Rule>) -> Vec<Operand> {
    use Operation::*;
    match (without, instruction.operation) {
        (Some(Rule::Condition), Branch | Switch)
        | (Some(Rule::Address), Load | Store | AtomicUpdate)
        | (Some(Rule::Division), UnsignedDivide | UnsignedRemainder | SignedDivide | SignedRemainder) => {
            return Vec::new();
        }
        _ => {}
    }
    let operand = |place: usize| instruction.operands.get(place).copied().unwrap_or(Operand::Nothing);
    match instruction.operation {
        Branch if instruction.successors.len() < 2 => Vec::new(),
        Branch | Switch | IndirectBranch | Load | AtomicUpdate | Alloca => vec![operand(0)],
        Store | UnsignedDivide | UnsignedRemainder => vec![operand(1)],
        CompareExchange | SignedDivide | SignedRemainder => vec![operand(0), operand(1)],
        Call | Invoke | CallBranch => deciding_call(instruction, callee),
        _ => Vec::new(),
    }
}

fn deciding_call(instruction: &Instruction, callee: Callee) -> Vec<Operand> {
    let call = instruction.call().cloned().unwrap_or_default();
    let arguments = instruction.operands.get(..call.arguments as usize).unwrap_or_default();
    match callee {
        Callee::Computes | Callee::Nothing => Vec::new(),
        Callee::Known(known) => {
            let copied = call.by_value.iter().filter_map(|&(place, _)| arguments.get(place as usize));
            let more = arguments.get(known.arguments as usize..).unwrap_or_default();
            copied.chain(more).copied().collect()
        }
        Callee::Copy => arguments.get(..3).unwrap_or(arguments).to_vec(),
        Callee::Fill => [0, 2].iter().filter_map(|&place: &usize| arguments.get(place).copied()).collect(),
        _ => arguments.to_vec(),
    }
}
