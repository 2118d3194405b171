//! The operations of instructions.

macro_rules! operations {
    ($($name:ident = $code:literal $text:literal $arity:literal,)*) => {
        /// What an instruction does; the codes are those of LLVM's stable interface.
        #[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
        #[repr(u8)]
        #[expect(missing_docs, reason = "the names are LLVM's")]
        pub enum Operation {
            $($name = $code,)*
        }

        impl Operation {
            /// Every operation.
            pub const ALL: &'static [Operation] = &[$(Operation::$name,)*];

            /// The operation with this code.
            pub fn from_code(code: u8) -> Option<Operation> {
                match code {
                    $($code => Some(Operation::$name),)*
                    _ => None,
                }
            }

            /// Its word in LLVM's text.
            pub fn text(self) -> &'static str {
                match self {
                    $(Operation::$name => $text,)*
                }
            }

            /// How many operands it has, destinations aside, where that is always the same.
            pub fn arity(self) -> Option<usize> {
                let arity: i8 = match self {
                    $(Operation::$name => $arity,)*
                };
                usize::try_from(arity).ok()
            }
        }
    };
}

operations! {
    Return = 1 "ret" -1,
    Branch = 2 "br" -1,
    Switch = 3 "switch" 1,
    IndirectBranch = 4 "indirectbr" 1,
    Invoke = 5 "invoke" -1,
    Unreachable = 7 "unreachable" 0,
    Add = 8 "add" 2,
    FloatAdd = 9 "fadd" 2,
    Subtract = 10 "sub" 2,
    FloatSubtract = 11 "fsub" 2,
    Multiply = 12 "mul" 2,
    FloatMultiply = 13 "fmul" 2,
    UnsignedDivide = 14 "udiv" 2,
    SignedDivide = 15 "sdiv" 2,
    FloatDivide = 16 "fdiv" 2,
    UnsignedRemainder = 17 "urem" 2,
    SignedRemainder = 18 "srem" 2,
    FloatRemainder = 19 "frem" 2,
    ShiftLeft = 20 "shl" 2,
    ShiftRight = 21 "lshr" 2,
    SignedShiftRight = 22 "ashr" 2,
    And = 23 "and" 2,
    Or = 24 "or" 2,
    Xor = 25 "xor" 2,
    Alloca = 26 "alloca" 1,
    Load = 27 "load" 1,
    Store = 28 "store" 2,
    ElementAddress = 29 "getelementptr" -1,
    Truncate = 30 "trunc" 1,
    ZeroExtend = 31 "zext" 1,
    SignExtend = 32 "sext" 1,
    FloatToUnsigned = 33 "fptoui" 1,
    FloatToSigned = 34 "fptosi" 1,
    UnsignedToFloat = 35 "uitofp" 1,
    SignedToFloat = 36 "sitofp" 1,
    FloatTruncate = 37 "fptrunc" 1,
    FloatExtend = 38 "fpext" 1,
    PointerToInteger = 39 "ptrtoint" 1,
    IntegerToPointer = 40 "inttoptr" 1,
    BitCast = 41 "bitcast" 1,
    Compare = 42 "icmp" 2,
    FloatCompare = 43 "fcmp" 2,
    Phi = 44 "phi" -1,
    Call = 45 "call" -1,
    Select = 46 "select" 3,
    VariadicArgument = 49 "va_arg" 1,
    ExtractElement = 50 "extractelement" 2,
    InsertElement = 51 "insertelement" 3,
    ShuffleVector = 52 "shufflevector" 2,
    ExtractValue = 53 "extractvalue" 1,
    InsertValue = 54 "insertvalue" 2,
    Fence = 55 "fence" 0,
    CompareExchange = 56 "cmpxchg" 3,
    AtomicUpdate = 57 "atomicrmw" 2,
    Resume = 58 "resume" 1,
    LandingPad = 59 "landingpad" -1,
    AddressSpaceCast = 60 "addrspacecast" 1,
    CleanupReturn = 61 "cleanupret" -1,
    CatchReturn = 62 "catchret" -1,
    CatchPad = 63 "catchpad" -1,
    CleanupPad = 64 "cleanuppad" -1,
    CatchSwitch = 65 "catchswitch" -1,
    FloatNegate = 66 "fneg" 1,
    CallBranch = 67 "callbr" -1,
    Freeze = 68 "freeze" 1,
    PointerToAddress = 69 "ptrtoaddr" 1,
}

impl Operation {
    /// Whether it ends a block.
    pub fn ends_block(self) -> bool {
        use Operation::*;
        matches!(
            self,
            Return
                | Branch
                | Switch
                | IndirectBranch
                | Invoke
                | Unreachable
                | Resume
                | CleanupReturn
                | CatchReturn
                | CatchSwitch
                | CallBranch
        )
    }

    /// Whether it never gives a value.
    pub fn gives_nothing(self) -> bool {
        use Operation::*;
        matches!(
            self,
            Return
                | Branch
                | Switch
                | IndirectBranch
                | Unreachable
                | Store
                | Fence
                | Resume
                | CleanupReturn
                | CatchReturn
        )
    }

    /// Whether it calls something.
    pub fn calls(self) -> bool {
        matches!(self, Operation::Call | Operation::Invoke | Operation::CallBranch)
    }
}
