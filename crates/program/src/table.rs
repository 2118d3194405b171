//! The table of a module.

use crate::constant::Constant;
use crate::hash::Hash;
use crate::instruction::{Instruction, Mark, Operand};

/// The code of one module: a source file with what it includes, or a part of a crate.
///
/// Strings, types, constants, globals and places in the source are each in one list, and named by their position in it.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Table {
    /// Every string.
    pub strings: Vec<String>,
    /// What the module is called: mostly its source file.
    pub name: u32,
    /// The machine it is compiled for.
    pub target: u32,
    /// Every type. An element's type comes before its vector's.
    pub types: Vec<Type>,
    /// Source files.
    pub files: Vec<File>,
    /// Functions of the source, also those that were inlined.
    pub scopes: Vec<Scope>,
    /// Places in the source. What one was inlined into comes before it.
    pub locations: Vec<Location>,
    /// Functions, variables and aliases, defined or declared.
    pub globals: Vec<Global>,
    /// Every constant. The operands of one come before it.
    pub constants: Vec<Constant>,
    /// The functions that the module defines.
    pub functions: Vec<Function>,
}

/// A type.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Type {
    /// No value.
    Void,
    /// An integer of so many bits.
    Integer(u32),
    /// A floating-point number of so many bits.
    Float(u32),
    /// An address, in an address space.
    Pointer(u32),
    /// A vector: the type of its elements, how many, and whether that is only the least.
    Vector(u32, u32, bool),
    /// A structure or array of so many bytes.
    Aggregate(u64),
    /// Anything else, such as a token.
    Other,
}

/// A source file.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct File {
    /// Its folder, among the strings.
    pub folder: u32,
    /// Its name, which may have folders too, among the strings.
    pub name: u32,
}

/// A function of the source.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Scope {
    /// Its name for the linker, else its plain name, among the strings.
    pub name: u32,
    /// Its file; [`crate::NONE`] where that is not known.
    pub file: u32,
    /// Its line; 0 where that is not known.
    pub line: u32,
}

/// A place in the source.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Location {
    /// The function.
    pub scope: u32,
    /// The file, which may be another than the function's; [`crate::NONE`] where that is not known.
    pub file: u32,
    /// The line; 0 where there is none.
    pub line: u32,
    /// The column; 0 where there is none.
    pub column: u32,
    /// The place of the call that was replaced by the function's code; [`crate::NONE`] where it was not.
    pub inlined_at: u32,
}

/// What a global is.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
#[repr(u8)]
pub enum GlobalKind {
    /// A function.
    Function = 0,
    /// A variable.
    Variable = 1,
    /// Memory that never changes.
    Constant = 2,
    /// A variable of which each thread has its own.
    ThreadLocal = 3,
    /// Another name for a global, or what chooses one when the program is loaded.
    Alias = 4,
}

impl GlobalKind {
    /// Every kind, in order of their codes.
    pub const ALL: [GlobalKind; 5] = [
        GlobalKind::Function,
        GlobalKind::Variable,
        GlobalKind::Constant,
        GlobalKind::ThreadLocal,
        GlobalKind::Alias,
    ];
}

/// A function, variable or alias.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Global {
    /// Its name, among the strings; empty where it has none.
    pub name: u32,
    /// What it is.
    pub kind: GlobalKind,
    /// How the linker sees it.
    pub linkage: Linkage,
    /// Whether it is defined in this module.
    pub defined: bool,
    /// How many bytes it has; 0 for functions.
    pub bytes: u64,
    /// What an alias stands for; [`Operand::Nothing`] for other globals.
    pub stands_for: Operand,
}

/// How the linker sees a global.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
#[repr(u8)]
pub enum Linkage {
    /// Seen by other modules.
    External = 0,
    /// Seen by this module only.
    Local = 1,
    /// The linker takes one of several that are the same.
    OneOfSame = 2,
    /// The linker takes one of several that may differ.
    Weak = 3,
    /// A copy for the optimiser: the code that runs is another module's.
    Elsewhere = 4,
}

impl Linkage {
    /// Every linkage, in order of their codes.
    pub const ALL: [Linkage; 5] =
        [Linkage::External, Linkage::Local, Linkage::OneOfSame, Linkage::Weak, Linkage::Elsewhere];
}

/// A function that the module defines.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Function {
    /// The global.
    pub global: u32,
    /// Where it is in the source; [`crate::NONE`] where that is not known.
    pub scope: u32,
    /// Whether it takes more arguments than it names.
    pub variadic: bool,
    /// Why nothing in it is recorded, where that is so.
    pub mark: Mark,
    /// Its arguments.
    pub arguments: Vec<Argument>,
    /// Its blocks; the first is where it begins.
    pub blocks: Vec<Block>,
    /// The instructions of its blocks, one block after another.
    pub instructions: Vec<Instruction>,
    /// The number of its first instruction in the module.
    pub first: u32,
}

/// An argument of a function.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Argument {
    /// Its type.
    pub kind: u32,
    /// How many bytes it points to that are the function's own copy; 0 where it is not that.
    pub by_value: u64,
}

/// A block: instructions that run one after another.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Block {
    /// Its first instruction, by its number in the function.
    pub first: u32,
    /// How many it has, at least one.
    pub length: u32,
}

impl Table {
    /// A string; empty where there is none with that number.
    pub fn string(&self, string: u32) -> &str {
        self.strings.get(string as usize).map_or("", String::as_str)
    }

    /// What a global is called.
    pub fn global_name(&self, global: u32) -> &str {
        self.globals.get(global as usize).map_or("", |global| self.string(global.name))
    }

    /// What a function is called by the linker.
    pub fn function_name(&self, function: &Function) -> &str {
        self.global_name(function.global)
    }

    /// The function of an instruction of the module, by number, and the instruction's number in it.
    pub fn instruction(&self, number: u32) -> Option<(u32, u32)> {
        let after = self.functions.partition_point(|function| function.first <= number);
        let place = after.checked_sub(1)?;
        let function = self.functions.get(place)?;
        let inside = number - function.first;
        ((inside as usize) < function.instructions.len()).then_some((place as u32, inside))
    }

    /// The hash of its content: the same for the same code from the same source.
    pub fn hash(&self) -> Hash {
        Hash::of(&self.encode_content())
    }
}

impl Function {
    /// The block of an instruction, by their numbers.
    pub fn block_of(&self, instruction: u32) -> Option<u32> {
        let after = self.blocks.partition_point(|block| block.first <= instruction);
        let block = after.checked_sub(1)?;
        let found = self.blocks.get(block)?;
        (instruction - found.first < found.length).then_some(block as u32)
    }

    /// The instructions of a block.
    pub fn block(&self, block: u32) -> &[Instruction] {
        let found = self.blocks.get(block as usize);
        found
            .and_then(|block| self.instructions.get(block.first as usize..)?.get(..block.length as usize))
            .unwrap_or_default()
    }

    /// Who uses each instruction's result: for each instruction, the numbers of those that have it as an operand, in order.
    pub fn users(&self) -> Vec<Vec<u32>> {
        let mut users = vec![Vec::new(); self.instructions.len()];
        for (number, instruction) in self.instructions.iter().enumerate() {
            for operand in &instruction.operands {
                if let Operand::Instruction(used) = operand
                    && let Some(list) = users.get_mut(*used as usize)
                    && list.last() != Some(&(number as u32))
                {
                    list.push(number as u32);
                }
            }
        }
        users
    }
}
