//! Instructions and their operands.

use crate::call::Call;
use crate::operation::Operation;

/// No location, no type: an id that is none.
pub const NONE: u32 = u32::MAX;

/// One instruction.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Instruction {
    /// What it does.
    pub operation: Operation,
    /// The type of its result, by its place in the table; [`NONE`] for operations that never give a value.
    pub result: u32,
    /// Where it is in the source, by its place in the table; [`NONE`] where that is not known.
    pub location: u32,
    /// What became of it when the module was instrumented.
    pub mark: Mark,
    /// What it uses, destinations aside, in LLVM's order: of calls, the arguments, those of bundles, then the callee. A
    /// condition comes first.
    pub operands: Vec<Operand>,
    /// The blocks of its function that may follow: the one for true before the one for false, of a switch the default
    /// first, then one per case, of an invoke the normal one, then the one for unwinding.
    pub successors: Vec<u32>,
    /// What else its operation needs.
    pub detail: Detail,
}

/// What an instruction uses.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Operand {
    /// The result of an instruction of the same function, by its number in the function.
    Instruction(u32),
    /// An argument of the function.
    Argument(u32),
    /// A constant of the table.
    Constant(u32),
    /// The address of a global of the table.
    Global(u32),
    /// A block of the same function, as a value.
    Block(u32),
    /// Inline assembly, by its text among the strings.
    Assembly(u32),
    /// Something that is no value of the program: metadata, a token.
    Nothing,
}

/// What became of an instruction when its module was instrumented.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default, Debug)]
#[repr(u8)]
pub enum Mark {
    /// Nothing was to be done, or nobody looked.
    #[default]
    Unmarked = 0,
    /// Its events are recorded.
    Recorded = 1,
    /// It touches memory of an alloca that does not escape.
    Private = 2,
    /// It reads memory that never changes.
    Constant = 3,
    /// It touches memory that is shown not to be shared in another way.
    NotShared = 4,
    /// It is in code that is not to be recorded.
    Suppressed = 5,
    /// It is of a kind that is not recorded.
    Unsupported = 6,
    /// An event of another instruction tells all that its own would.
    Redundant = 7,
}

impl Mark {
    /// Every mark, in order of their codes.
    pub const ALL: [Mark; 8] = [
        Mark::Unmarked,
        Mark::Recorded,
        Mark::Private,
        Mark::Constant,
        Mark::NotShared,
        Mark::Suppressed,
        Mark::Unsupported,
        Mark::Redundant,
    ];

    /// In a few words.
    pub fn text(self) -> &'static str {
        match self {
            Mark::Unmarked => "not looked at",
            Mark::Recorded => "recorded",
            Mark::Private => "private: an alloca that does not escape",
            Mark::Constant => "constant memory",
            Mark::NotShared => "not shared",
            Mark::Suppressed => "in code that is not to be recorded",
            Mark::Unsupported => "of a kind that is not recorded",
            Mark::Redundant => "told by another event",
        }
    }
}

/// The order of an atomic access.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default, Debug)]
#[repr(u8)]
#[expect(missing_docs, reason = "the names are LLVM's")]
pub enum Order {
    #[default]
    NotAtomic = 0,
    Unordered = 1,
    Relaxed = 2,
    Acquire = 3,
    Release = 4,
    AcquireRelease = 5,
    SequentiallyConsistent = 6,
}

impl Order {
    /// Every order, in order of their codes.
    pub const ALL: [Order; 7] = [
        Order::NotAtomic,
        Order::Unordered,
        Order::Relaxed,
        Order::Acquire,
        Order::Release,
        Order::AcquireRelease,
        Order::SequentiallyConsistent,
    ];
}

/// What an atomic update computes; the codes are those of LLVM's stable interface.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
#[repr(u8)]
#[expect(missing_docs, reason = "the names are LLVM's")]
pub enum Update {
    Exchange = 0,
    Add,
    Subtract,
    And,
    NotAnd,
    Or,
    Xor,
    Maximum,
    Minimum,
    UnsignedMaximum,
    UnsignedMinimum,
    FloatAdd,
    FloatSubtract,
    FloatMaximum,
    FloatMinimum,
    IncrementWrap,
    DecrementWrap,
    SubtractCondition,
    SubtractSaturating,
    FloatMaximumNumber,
    FloatMinimumNumber,
    Other,
}

impl Update {
    /// Every update, in order of their codes.
    pub const ALL: [Update; 22] = [
        Update::Exchange,
        Update::Add,
        Update::Subtract,
        Update::And,
        Update::NotAnd,
        Update::Or,
        Update::Xor,
        Update::Maximum,
        Update::Minimum,
        Update::UnsignedMaximum,
        Update::UnsignedMinimum,
        Update::FloatAdd,
        Update::FloatSubtract,
        Update::FloatMaximum,
        Update::FloatMinimum,
        Update::IncrementWrap,
        Update::DecrementWrap,
        Update::SubtractCondition,
        Update::SubtractSaturating,
        Update::FloatMaximumNumber,
        Update::FloatMinimumNumber,
        Update::Other,
    ];
}

/// What a comparison asks.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
#[repr(u8)]
#[expect(missing_docs, reason = "the names are LLVM's")]
pub enum Predicate {
    FloatFalse = 0,
    FloatOrderedEqual,
    FloatOrderedGreater,
    FloatOrderedGreaterEqual,
    FloatOrderedLess,
    FloatOrderedLessEqual,
    FloatOrderedNotEqual,
    FloatOrdered,
    FloatUnordered,
    FloatUnorderedEqual,
    FloatUnorderedGreater,
    FloatUnorderedGreaterEqual,
    FloatUnorderedLess,
    FloatUnorderedLessEqual,
    FloatUnorderedNotEqual,
    FloatTrue,
    Equal = 32,
    NotEqual,
    UnsignedGreater,
    UnsignedGreaterEqual,
    UnsignedLess,
    UnsignedLessEqual,
    SignedGreater,
    SignedGreaterEqual,
    SignedLess,
    SignedLessEqual,
}

impl Predicate {
    /// Every predicate, with its words in LLVM's text.
    pub const ALL: [(Predicate, &'static str); 26] = [
        (Predicate::FloatFalse, "false"),
        (Predicate::FloatOrderedEqual, "oeq"),
        (Predicate::FloatOrderedGreater, "ogt"),
        (Predicate::FloatOrderedGreaterEqual, "oge"),
        (Predicate::FloatOrderedLess, "olt"),
        (Predicate::FloatOrderedLessEqual, "ole"),
        (Predicate::FloatOrderedNotEqual, "one"),
        (Predicate::FloatOrdered, "ord"),
        (Predicate::FloatUnordered, "uno"),
        (Predicate::FloatUnorderedEqual, "ueq"),
        (Predicate::FloatUnorderedGreater, "ugt"),
        (Predicate::FloatUnorderedGreaterEqual, "uge"),
        (Predicate::FloatUnorderedLess, "ult"),
        (Predicate::FloatUnorderedLessEqual, "ule"),
        (Predicate::FloatUnorderedNotEqual, "une"),
        (Predicate::FloatTrue, "true"),
        (Predicate::Equal, "eq"),
        (Predicate::NotEqual, "ne"),
        (Predicate::UnsignedGreater, "ugt"),
        (Predicate::UnsignedGreaterEqual, "uge"),
        (Predicate::UnsignedLess, "ult"),
        (Predicate::UnsignedLessEqual, "ule"),
        (Predicate::SignedGreater, "sgt"),
        (Predicate::SignedGreaterEqual, "sge"),
        (Predicate::SignedLess, "slt"),
        (Predicate::SignedLessEqual, "sle"),
    ];

    /// The predicate with this code, which is that of LLVM.
    pub fn from_code(code: u8) -> Option<Predicate> {
        Self::ALL.iter().map(|&(predicate, _)| predicate).find(|&predicate| predicate as u8 == code)
    }

    /// Its word in LLVM's text.
    pub fn text(self) -> &'static str {
        Self::ALL.iter().find(|&&(predicate, _)| predicate == self).map_or("", |&(_, text)| text)
    }
}

/// How memory is accessed.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default, Debug)]
pub struct Access {
    /// How many bytes; of scalable vectors, the least.
    pub bytes: u64,
    /// The alignment in bytes that may be relied on; 0 where none is known.
    pub align: u32,
    /// Whether it must not be left out or doubled.
    pub volatile: bool,
    /// Its order.
    pub order: Order,
    /// Whether it is atomic with respect to signal handlers of the same thread only.
    pub one_thread: bool,
}

/// What an instruction has beside its operands: which of these is decided by its operation.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Detail {
    /// Nothing.
    None,
    /// Of a load or store.
    Access(Access),
    /// Of an atomic update.
    Update(Access, Update),
    /// Of a compare-exchange: the access with the order of success, the order of failure, whether it may fail as it likes.
    Exchange(Access, Order, bool),
    /// Of a fence: its order, and whether it is for signal handlers of the same thread only.
    Fence(Order, bool),
    /// Of a comparison.
    Compare(Predicate),
    /// Of a phi: the block that each operand comes from.
    From(Vec<u32>),
    /// Of an alloca: the bytes of one element, and the alignment.
    Alloca(u64, u32),
    /// Of the address of an element: how many bytes it lies after the first operand, where that is fixed.
    Offset(Option<i64>),
    /// Of a call, invoke or call with branches.
    Call(Call),
    /// Of a switch: the value of each case, a constant of the table.
    Cases(Vec<u32>),
    /// Of taking out or putting in a part of an aggregate: the way to it.
    Path(Vec<u32>),
    /// Of a shuffle of vectors: which lane each lane of the result is; [`NONE`] where that does not matter.
    Lanes(Vec<u32>),
    /// Of a landing pad: whether it also lands where no clause matches.
    Cleanup(bool),
}

impl Instruction {
    /// The access of a load, store or atomic operation.
    pub fn access(&self) -> Option<&Access> {
        match &self.detail {
            Detail::Access(access) | Detail::Update(access, _) | Detail::Exchange(access, ..) => Some(access),
            _ => None,
        }
    }

    /// What is known of the call that it makes.
    pub fn call(&self) -> Option<&Call> {
        match &self.detail {
            Detail::Call(call) => Some(call),
            _ => None,
        }
    }

    /// The callee of a call: its last operand.
    pub fn callee(&self) -> Option<Operand> {
        self.call().and(self.operands.last().copied())
    }

    /// Whether it chooses between ways: more than one block may follow, or another value.
    pub fn chooses(&self) -> bool {
        self.operation == Operation::Select || self.successors.len() > 1
    }
}
