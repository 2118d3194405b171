//! Tables made at random, for tests.

use reweave_program::*;

/// A generator of numbers.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn below(&mut self, bound: usize) -> u32 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) % bound.max(1) as u64) as u32
    }

    fn flag(&mut self) -> bool {
        self.below(2) == 1
    }

    /// A number of any size.
    fn wide(&mut self) -> u64 {
        let shift = self.below(64);
        ((u64::from(self.below(1 << 31)) << 33) ^ u64::from(self.below(1 << 31))) >> shift
    }

    fn one<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.below(of.len()) as usize]
    }

    fn maybe(&mut self, bound: usize) -> u32 {
        if bound == 0 || self.below(4) == 0 { NONE } else { self.below(bound) }
    }
}

/// A table that `check` accepts.
pub(crate) fn table(random: &mut Random) -> Table {
    let mut table = lists(random);
    let mut first = 0;
    for _ in 0..random.below(4) {
        let function = function(random, &table, first);
        first += function.instructions.len() as u32;
        table.functions.push(function);
    }
    table
}

fn lists(random: &mut Random) -> Table {
    let strings: Vec<String> =
        (0..1 + random.below(9)).map(|number| "näme".repeat(number as usize)).collect();
    let count = strings.len();
    let mut table =
        Table { name: random.below(count), target: random.below(count), strings, ..Table::default() };
    for number in 0..1 + random.below(6) {
        let bits = 1 + random.below(128);
        let kind = match random.below(if number == 0 { 6 } else { 7 }) {
            0 => Type::Void,
            1 => Type::Integer(bits),
            2 => Type::Float(bits),
            3 => Type::Pointer(random.below(3)),
            4 => Type::Aggregate(random.wide()),
            5 => Type::Other,
            _ => Type::Vector(random.below(number as usize), bits, random.flag()),
        };
        table.types.push(kind);
    }
    for _ in 0..random.below(4) {
        table.files.push(File { folder: random.below(count), name: random.below(count) });
    }
    for _ in 0..random.below(4) {
        let file = random.maybe(table.files.len());
        table.scopes.push(Scope { name: random.below(count), file, line: random.below(1 << 20) });
    }
    for number in 0..if table.scopes.is_empty() { 0 } else { random.below(6) } {
        table.locations.push(Location {
            scope: random.below(table.scopes.len()),
            file: random.maybe(table.files.len()),
            line: random.below(1 << 20),
            column: random.below(200),
            inlined_at: random.maybe(number as usize),
        });
    }
    for _ in 0..1 + random.below(4) {
        table.globals.push(Global {
            name: random.below(count),
            kind: random.one(&GlobalKind::ALL),
            linkage: random.one(&Linkage::ALL),
            defined: random.flag(),
            bytes: random.wide(),
            stands_for: Operand::Nothing,
        });
    }
    for number in 0..1 + random.below(9) {
        let constant = constant(random, &table, number as usize);
        table.constants.push(constant);
    }
    table.globals[0].stands_for = fixed(random, &table, table.constants.len());
    table
}

fn fixed(random: &mut Random, table: &Table, constants: usize) -> Operand {
    match random.below(3) {
        0 if constants > 0 => Operand::Constant(random.below(constants)),
        1 => Operand::Global(random.below(table.globals.len())),
        _ => Operand::Nothing,
    }
}

fn constant(random: &mut Random, table: &Table, before: usize) -> Constant {
    let operands = |random: &mut Random| (0..random.below(4)).map(|_| fixed(random, table, before)).collect();
    match random.below(8) {
        0 => Constant::Zero,
        1 => Constant::Undefined,
        2 => Constant::Text(random.below(table.strings.len())),
        3 => Constant::Aggregate(operands(random)),
        4 => Constant::Expression(random.one(Operation::ALL), operands(random)),
        5 => Constant::Label(random.below(table.globals.len()), random.maybe(5)),
        6 => Constant::Other,
        _ => {
            let bits = 1 + random.below(64);
            Constant::Integer { bits, value: random.wide() & (u64::MAX >> (64 - bits)) }
        }
    }
}

fn function(random: &mut Random, table: &Table, first: u32) -> Function {
    let arguments = (0..random.below(4))
        .map(|_| Argument { kind: random.below(table.types.len()), by_value: random.wide() })
        .collect();
    let (mut blocks, mut count) = (Vec::new(), 0);
    for _ in 0..1 + random.below(5) {
        let length = 1 + random.below(12);
        blocks.push(Block { first: count, length });
        count += length;
    }
    let mut function = Function {
        global: random.below(table.globals.len()),
        scope: random.maybe(table.scopes.len()),
        variadic: random.flag(),
        mark: random.one(&Mark::ALL),
        arguments,
        blocks,
        instructions: Vec::new(),
        first,
    };
    let ends: Vec<u32> = function.blocks.iter().map(|block| block.first + block.length - 1).collect();
    for number in 0..count {
        let wanted = ends.contains(&number);
        let instruction = loop {
            let operation = random.one(Operation::ALL);
            if operation.ends_block() == wanted {
                break instruction(random, table, &function, operation, count);
            }
        };
        function.instructions.push(instruction);
    }
    function
}

fn operand(random: &mut Random, table: &Table, function: &Function, count: u32) -> Operand {
    match random.below(8) {
        0 if !function.arguments.is_empty() => Operand::Argument(random.below(function.arguments.len())),
        1 => Operand::Constant(random.below(table.constants.len())),
        2 => Operand::Global(random.below(table.globals.len())),
        3 => Operand::Block(random.below(function.blocks.len())),
        4 => Operand::Assembly(random.below(table.strings.len())),
        5 => Operand::Nothing,
        _ => Operand::Instruction(random.below(count as usize)),
    }
}

fn access(random: &mut Random) -> Access {
    let align = if random.flag() { 0 } else { 1 << random.below(32) };
    let bytes = if random.flag() { u64::from(align) } else { random.wide() };
    let (volatile, one_thread) = (random.flag(), random.flag());
    Access { bytes, align, volatile, order: random.one(&Order::ALL), one_thread }
}

fn instruction(
    random: &mut Random,
    table: &Table,
    function: &Function,
    operation: Operation,
    count: u32,
) -> Instruction {
    use Operation::*;
    let operands = match operation {
        Branch | Return => random.below(2) as usize,
        _ if operation.calls() => 1 + random.below(5) as usize,
        _ => operation.arity().unwrap_or(random.below(5) as usize),
    };
    let block = |random: &mut Random| random.below(function.blocks.len());
    let ids = |random: &mut Random, bound: usize| {
        (0..random.below(5)).map(|_| random.below(bound)).collect::<Vec<u32>>()
    };
    let detail = match operation {
        Load | Store => Detail::Access(access(random)),
        AtomicUpdate => Detail::Update(access(random), random.one(&Update::ALL)),
        CompareExchange => Detail::Exchange(access(random), random.one(&Order::ALL), random.flag()),
        Fence => Detail::Fence(random.one(&Order::ALL), random.flag()),
        Compare | FloatCompare => Detail::Compare(random.one(&Predicate::ALL).0),
        Phi => Detail::From((0..operands).map(|_| block(random)).collect()),
        Alloca => Detail::Alloca(random.wide(), 1 << random.below(32)),
        ElementAddress => Detail::Offset(random.flag().then(|| random.wide() as i64)),
        Switch => Detail::Cases(ids(random, table.constants.len())),
        ExtractValue | InsertValue => Detail::Path(ids(random, 1 << 20)),
        ShuffleVector => Detail::Lanes((0..random.below(9)).map(|_| random.maybe(16)).collect()),
        LandingPad => Detail::Cleanup(random.flag()),
        Call | Invoke | CallBranch => Detail::Call(call(random, operands)),
        _ => Detail::None,
    };
    let following = match (operation, &detail) {
        (Branch, _) => 1 + operands,
        (Invoke, _) => 2,
        (Switch, Detail::Cases(cases)) => 1 + cases.len(),
        (Return | Unreachable | Resume, _) => 0,
        _ if operation.ends_block() => random.below(4) as usize,
        _ => 0,
    };
    Instruction {
        operation,
        result: if operation.gives_nothing() { NONE } else { random.below(table.types.len()) },
        location: random.maybe(table.locations.len()),
        mark: random.one(&Mark::ALL),
        operands: (0..operands).map(|_| operand(random, table, function, count)).collect(),
        successors: (0..following).map(|_| block(random)).collect(),
        detail,
    }
}

fn call(random: &mut Random, operands: usize) -> Call {
    let arguments = random.below(operands);
    let copied = if arguments == 0 { 0 } else { random.below(3) };
    Call {
        arguments,
        by_value: (0..copied).map(|_| (random.below(arguments as usize), random.wide())).collect(),
        effects: Effects { reads: random.flag(), writes: random.flag(), arguments_only: random.flag() },
        no_unwind: random.flag(),
        no_return: random.flag(),
    }
}
