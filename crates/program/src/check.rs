//! What readers of a table may rely on.
//!
//! Every id names something that is there. Lists that refer to themselves refer to what comes before, so following them ends.
//! The blocks of a function cover its instructions; a block ends in the one instruction of it that ends blocks. Operands and
//! details are as many and of the kind that the operation has.

use crate::Error;
use crate::constant::Constant;
use crate::encode::implied_successors;
use crate::instruction::{Detail, Instruction, NONE, Operand};
use crate::operation::Operation;
use crate::table::{Function, Table, Type};

impl Table {
    /// Whether it is a table that readers may rely on.
    pub fn check(&self) -> Result<(), Error> {
        self.check_lists()?;
        let mut first = 0u32;
        for function in &self.functions {
            if function.first != first {
                return Err(Error::wrong("a function does not begin where the one before ends"));
            }
            Checker { table: self, function }.check()?;
            first = u32::try_from(function.instructions.len())
                .ok()
                .and_then(|count| first.checked_add(count))
                .filter(|&next| next < 1 << 31)
                .ok_or(Error::wrong("it has too many instructions"))?;
        }
        Ok(())
    }

    fn check_lists(&self) -> Result<(), Error> {
        let string = |id| inside(id, self.strings.len(), "a string");
        let file = |id| if id == NONE { Ok(()) } else { inside(id, self.files.len(), "a file") };
        string(self.name)?;
        string(self.target)?;
        for (number, kind) in self.types.iter().enumerate() {
            if let Type::Vector(element, ..) = *kind {
                inside(element, number, "the type of elements")?;
            }
        }
        for place in &self.files {
            string(place.folder)?;
            string(place.name)?;
        }
        for scope in &self.scopes {
            string(scope.name)?;
            file(scope.file)?;
        }
        for (number, location) in self.locations.iter().enumerate() {
            inside(location.scope, self.scopes.len(), "a function of the source")?;
            file(location.file)?;
            if location.inlined_at != NONE {
                inside(location.inlined_at, number, "a place that was inlined into")?;
            }
        }
        for global in &self.globals {
            string(global.name)?;
            self.check_fixed(global.stands_for, self.constants.len())?;
        }
        for (number, constant) in self.constants.iter().enumerate() {
            self.check_constant(constant, number)?;
        }
        Ok(())
    }

    fn check_constant(&self, constant: &Constant, number: usize) -> Result<(), Error> {
        match constant {
            Constant::Integer { bits, value } => {
                let fits = match bits {
                    1..=63 => *value >> bits == 0,
                    64 => true,
                    _ => false,
                };
                if fits { Ok(()) } else { Err(Error::wrong("an integer does not fit its type")) }
            }
            Constant::Text(text) => inside(*text, self.strings.len(), "a string"),
            Constant::Aggregate(operands) | Constant::Expression(_, operands) => {
                operands.iter().try_for_each(|&operand| self.check_fixed(operand, number))
            }
            Constant::Label(function, _) => inside(*function, self.globals.len(), "a global"),
            Constant::Zero | Constant::Undefined | Constant::Other => Ok(()),
        }
    }

    /// Checks an operand outside functions, where constants before `constants` are known.
    fn check_fixed(&self, operand: Operand, constants: usize) -> Result<(), Error> {
        match operand {
            Operand::Constant(constant) => inside(constant, constants, "a constant"),
            Operand::Global(global) => inside(global, self.globals.len(), "a global"),
            Operand::Nothing => Ok(()),
            _ => Err(Error::wrong("a constant has an operand that is none")),
        }
    }
}

fn inside(id: u32, count: usize, what: &'static str) -> Result<(), Error> {
    if (id as usize) < count { Ok(()) } else { Err(Error::Missing { what }) }
}

struct Checker<'t> {
    table: &'t Table,
    function: &'t Function,
}

impl Checker<'_> {
    fn check(&self) -> Result<(), Error> {
        let function = self.function;
        inside(function.global, self.table.globals.len(), "a global")?;
        if function.scope != NONE {
            inside(function.scope, self.table.scopes.len(), "a function of the source")?;
        }
        for argument in &function.arguments {
            inside(argument.kind, self.table.types.len(), "a type")?;
        }
        let mut next = 0u32;
        for block in &function.blocks {
            if block.first != next || block.length == 0 {
                return Err(Error::wrong("a block does not begin where the one before ends"));
            }
            next = next.checked_add(block.length).ok_or(Error::wrong("a block is too long"))?;
        }
        if next as usize != function.instructions.len() || function.blocks.is_empty() {
            return Err(Error::wrong("blocks and instructions of a function do not agree"));
        }
        let mut blocks = function.blocks.iter();
        let mut end = blocks.next().map_or(0, |block| block.length);
        for (number, instruction) in (0u32..).zip(&function.instructions) {
            if instruction.operation.ends_block() != (number + 1 == end) {
                return Err(Error::wrong("a block does not end where its last instruction is"));
            }
            if number + 1 == end {
                end += blocks.next().map_or(0, |block| block.length);
            }
            self.instruction(instruction)?;
        }
        Ok(())
    }

    fn instruction(&self, instruction: &Instruction) -> Result<(), Error> {
        let operation = instruction.operation;
        match operation.gives_nothing() {
            true if instruction.result == NONE => {}
            true => return Err(Error::wrong("an instruction has a result that it cannot have")),
            false => inside(instruction.result, self.table.types.len(), "a type")?,
        }
        if instruction.location != NONE {
            inside(instruction.location, self.table.locations.len(), "a place in the source")?;
        }
        let count = instruction.operands.len();
        if operation.arity().is_some_and(|arity| arity != count)
            || operation == Operation::Branch && count > 1
            || operation == Operation::Return && count > 1
        {
            return Err(Error::wrong("an instruction has not as many operands as its operation"));
        }
        instruction.operands.iter().try_for_each(|&operand| self.operand(operand))?;
        let block = |&block: &u32| inside(block, self.function.blocks.len(), "a block");
        instruction.successors.iter().try_for_each(block)?;
        let following = instruction.successors.len();
        let implied = implied_successors(operation, count, &instruction.detail);
        if implied.is_some_and(|implied| implied != following) || following > 0 && !operation.ends_block() {
            return Err(Error::wrong("an instruction has not as many successors as its operation"));
        }
        self.detail(instruction)
    }

    fn operand(&self, operand: Operand) -> Result<(), Error> {
        let (table, function) = (self.table, self.function);
        match operand {
            Operand::Instruction(used) => inside(used, function.instructions.len(), "an operand"),
            Operand::Argument(argument) => inside(argument, function.arguments.len(), "an argument"),
            Operand::Constant(constant) => inside(constant, table.constants.len(), "a constant"),
            Operand::Global(global) => inside(global, table.globals.len(), "a global"),
            Operand::Block(block) => inside(block, function.blocks.len(), "a block"),
            Operand::Assembly(text) => inside(text, table.strings.len(), "a string"),
            Operand::Nothing => Ok(()),
        }
    }

    fn detail(&self, instruction: &Instruction) -> Result<(), Error> {
        use Operation::*;
        let wrong = Err(Error::wrong("an instruction has a detail of another operation"));
        let aligned = |align: u32| align == 0 || align.is_power_of_two();
        match (instruction.operation, &instruction.detail) {
            (Load | Store, Detail::Access(access))
            | (AtomicUpdate, Detail::Update(access, _))
            | (CompareExchange, Detail::Exchange(access, ..)) => {
                if aligned(access.align) {
                    Ok(())
                } else {
                    Err(Error::wrong("an alignment is not one"))
                }
            }
            (Phi, Detail::From(blocks)) => {
                let block = |&block: &u32| inside(block, self.function.blocks.len(), "a block");
                if blocks.len() != instruction.operands.len() {
                    return wrong;
                }
                blocks.iter().try_for_each(block)
            }
            (Alloca, Detail::Alloca(_, align)) => {
                if aligned(*align) {
                    Ok(())
                } else {
                    Err(Error::wrong("an alignment is not one"))
                }
            }
            (Call | Invoke | CallBranch, Detail::Call(call)) => {
                let arguments = call.arguments as usize;
                if arguments + 1 > instruction.operands.len() {
                    return Err(Error::wrong("a call has more arguments than operands"));
                }
                let copied = |&(argument, _): &(u32, u64)| inside(argument, arguments, "an argument");
                call.by_value.iter().try_for_each(copied)
            }
            (Switch, Detail::Cases(cases)) => {
                let constant = |&case: &u32| inside(case, self.table.constants.len(), "a constant");
                cases.iter().try_for_each(constant)
            }
            (Fence, Detail::Fence(..))
            | (Compare | FloatCompare, Detail::Compare(_))
            | (ElementAddress, Detail::Offset(_))
            | (ExtractValue | InsertValue, Detail::Path(_))
            | (ShuffleVector, Detail::Lanes(_))
            | (LandingPad, Detail::Cleanup(_)) => Ok(()),
            (
                Load | Store | AtomicUpdate | CompareExchange | Phi | Alloca | Call | Invoke | CallBranch
                | Switch | Fence | Compare | FloatCompare | ElementAddress | ExtractValue | InsertValue
                | ShuffleVector | LandingPad,
                _,
            ) => wrong,
            (_, Detail::None) => Ok(()),
            _ => wrong,
        }
    }
}
