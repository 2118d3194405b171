//! A table from its bytes, which anybody may have made.

use crate::Error;
use crate::bytes::Input;
use crate::call::{Call, Effects};
use crate::constant::Constant;
use crate::encode::{ALIGN, implied_successors};
use crate::hash::Hash;
use crate::instruction::{Access, Detail, Instruction, Mark, NONE, Operand, Order, Predicate, Update};
use crate::operation::Operation;
use crate::table::{
    Argument, Block, File, Function, Global, GlobalKind, Linkage, Location, Scope, Table, Type,
};

/// The version of the encoding.
pub const VERSION: u16 = 1;

pub(crate) const MAGIC: [u8; 8] = *b"\x89RWT\r\n\x1A\n";
/// Magic, version, codec, zero, stored length, length of the content, zeros, hash of the content.
pub(crate) const HEADER: usize = 40;

/// Codecs: how the content is stored.
pub(crate) const AS_IS: u8 = 0;
pub(crate) const DEFLATE: u8 = 1;

/// No more than so many bytes come of one that is stored: more is not possible.
const MOST_PER_BYTE: usize = 1032;

/// The bytes of one table, with what its header says.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Blob<'b> {
    version: u16,
    codec: u8,
    /// How many bytes the content has.
    length: usize,
    pub(crate) hash: Hash,
    pub(crate) stored: &'b [u8],
}

impl<'b> Blob<'b> {
    /// Takes the next table off the front of what is left of a section of so many bytes; nothing where only zeros are left.
    pub(crate) fn next(input: &mut Input<'b>, section: usize) -> Result<Option<Blob<'b>>, Error> {
        while let Some((zeros, rest)) = input.0.split_first_chunk()
            && *zeros == [0; ALIGN]
        {
            input.0 = rest;
        }
        if input.0.iter().all(|&byte| byte == 0) {
            input.0 = &[];
            return Ok(None);
        }
        let bytes = input.0;
        if !bytes.starts_with(&MAGIC) {
            let short = bytes.len() < MAGIC.len() && MAGIC.starts_with(bytes);
            return Err(if short { Error::CutOff } else { Error::NoTable { at: section - bytes.len() } });
        }
        input.take(MAGIC.len())?;
        let version = input.array().map(u16::from_le_bytes)?;
        let [codec, none] = input.array()?;
        let stored = input.array().map(u32::from_le_bytes)? as usize;
        let length = input.array().map(u32::from_le_bytes)? as usize;
        let nothing = input.array::<4>()?;
        let hash = Hash(input.array().map(u128::from_le_bytes)?);
        let padding = (HEADER + stored).next_multiple_of(ALIGN) - HEADER - stored;
        let stored = input.take(stored)?;
        let padding = input.take(padding.min(input.0.len()))?;
        // What newer versions put there is for those who know them.
        let empty = none == 0 && nothing == [0; 4] || version != VERSION;
        if !empty || padding.iter().any(|&byte| byte != 0) {
            return Err(Error::wrong("there is something where nothing should be"));
        }
        Ok(Some(Blob { version, codec, length, hash, stored }))
    }

    /// The table, checked.
    pub(crate) fn decode(&self) -> Result<Table, Error> {
        if self.version != VERSION {
            return Err(Error::Version { found: self.version });
        }
        let unpacked;
        let content = match self.codec {
            AS_IS => self.stored,
            DEFLATE => {
                let most = self.length.min(self.stored.len().saturating_mul(MOST_PER_BYTE));
                let inflated = miniz_oxide::inflate::decompress_to_vec_with_limit(self.stored, most);
                unpacked = inflated.map_err(|_| Error::Changed)?;
                &unpacked
            }
            _ => return Err(Error::wrong("it is stored in a way that is not known")),
        };
        if content.len() != self.length || Hash::of(content) != self.hash {
            return Err(Error::Changed);
        }
        Table::decode_content(content)
    }
}

impl Input<'_> {
    fn array<const N: usize>(&mut self) -> Result<[u8; N], Error> {
        self.take(N)?.first_chunk().copied().ok_or(Error::CutOff)
    }

    /// A number that is the place of one of `all`.
    fn one_of<T: Copy>(&mut self, all: &[T], what: &'static str) -> Result<T, Error> {
        let code = self.byte()?;
        all.get(usize::from(code)).copied().ok_or(Error::wrong(what))
    }
}

impl Table {
    /// The table in `bytes`, which are one table and nothing else.
    pub fn decode(bytes: &[u8]) -> Result<Table, Error> {
        let mut input = Input(bytes);
        let blob = Blob::next(&mut input, bytes.len())?.ok_or(Error::NoTable { at: 0 })?;
        if input.0.iter().any(|&byte| byte != 0) {
            return Err(Error::wrong("something follows it"));
        }
        blob.decode()
    }

    /// The table with this content. No header stands before it, nothing vouches for it: so fuzzers reach what lies behind.
    pub fn decode_content(bytes: &[u8]) -> Result<Table, Error> {
        let mut input = Input(bytes);
        let strings = input.list(|input| {
            let length = input.count()?;
            let text = std::str::from_utf8(input.take(length)?);
            text.map(str::to_owned).map_err(|_| Error::wrong("a string is not UTF-8"))
        })?;
        let mut table = Table { strings, ..Table::default() };
        table.name = input.id()?;
        table.target = input.id()?;
        table.types = input.list(take_type)?;
        table.files = input.list(|input| Ok(File { folder: input.id()?, name: input.id()? }))?;
        table.scopes =
            input.list(|input| Ok(Scope { name: input.id()?, file: input.maybe()?, line: input.id()? }))?;
        table.locations = take_locations(&mut input, &table.scopes)?;
        table.globals = input.list(take_global)?;
        table.constants = input.list(take_constant)?;
        let mut first = 0u32;
        table.functions = input.list(|input| {
            let function = take_function(input, first)?;
            let count = u32::try_from(function.instructions.len()).ok();
            first = count
                .and_then(|count| first.checked_add(count))
                .filter(|&next| next < 1 << 31)
                .ok_or(Error::wrong("it has too many instructions"))?;
            Ok(function)
        })?;
        if !input.0.is_empty() {
            return Err(Error::wrong("something follows its last function"));
        }
        table.check()?;
        Ok(table)
    }
}

fn take_type(input: &mut Input<'_>) -> Result<Type, Error> {
    Ok(match input.byte()? {
        0 => Type::Void,
        1 => Type::Integer(input.id()?),
        2 => Type::Float(input.id()?),
        3 => Type::Pointer(input.id()?),
        4 => Type::Vector(input.id()?, input.id()?, false),
        5 => Type::Vector(input.id()?, input.id()?, true),
        6 => Type::Aggregate(input.number()?),
        7 => Type::Other,
        _ => return Err(Error::wrong("a type is not one")),
    })
}

/// What lies a step from `from`.
fn stepped(from: u32, step: i64) -> Result<u32, Error> {
    i64::from(from)
        .checked_add(step)
        .and_then(|sum| u32::try_from(sum).ok())
        .ok_or(Error::wrong("a step leads too far"))
}

fn take_locations(input: &mut Input<'_>, scopes: &[Scope]) -> Result<Vec<Location>, Error> {
    let (mut scope, mut line, mut number) = (0, 0, 0u32);
    input.list(|input| {
        scope = stepped(scope, input.step()?)?;
        let file = match input.id()? {
            0 => scopes.get(scope as usize).map_or(NONE, |scope| scope.file),
            other => other.wrapping_sub(2),
        };
        line = stepped(line, input.step()?)?;
        let column = input.id()?;
        let inlined_at = match input.id()? {
            0 => NONE,
            back => number.checked_sub(back).ok_or(Error::wrong("a place is inlined into a later one"))?,
        };
        number += 1;
        Ok(Location { scope, file, line, column, inlined_at })
    })
}

fn take_global(input: &mut Input<'_>) -> Result<Global, Error> {
    let name = input.id()?;
    let flags = input.byte()?;
    let wrong = Error::wrong("a global is not one");
    let (Some(&kind), Some(&linkage), 0 | 1) = (
        GlobalKind::ALL.get(usize::from(flags & 7)),
        Linkage::ALL.get(usize::from(flags >> 3 & 7)),
        flags >> 6,
    ) else {
        return Err(wrong);
    };
    let (bytes, stands_for) = (input.number()?, take_operand(input, 0)?);
    Ok(Global { name, kind, linkage, defined: flags >> 6 == 1, bytes, stands_for })
}

fn take_operand(input: &mut Input<'_>, at: u32) -> Result<Operand, Error> {
    let both = input.number()?;
    let number = u32::try_from(both >> 3).map_err(|_| Error::wrong("an operand is too large"))?;
    Ok(match both & 7 {
        0 => match at.checked_sub(number) {
            Some(used) if number > 0 => Operand::Instruction(used),
            _ => return Err(Error::wrong("an operand lies before its function")),
        },
        1 => Operand::Argument(number),
        2 => Operand::Constant(number),
        3 => Operand::Global(number),
        4 => Operand::Block(number),
        5 => Operand::Assembly(number),
        6 if number == 0 => Operand::Nothing,
        7 => Operand::Instruction(
            at.checked_add(number).ok_or(Error::wrong("an operand lies behind its function"))?,
        ),
        _ => return Err(Error::wrong("an operand is not one")),
    })
}

fn take_constant(input: &mut Input<'_>) -> Result<Constant, Error> {
    Ok(match input.byte()? {
        0 => {
            let (bits, value) = (input.id()?, input.step()?);
            let mask = if bits >= 64 { u64::MAX } else { (1 << bits) - 1 };
            Constant::Integer { bits, value: value as u64 & mask }
        }
        1 => Constant::Zero,
        2 => Constant::Undefined,
        3 => Constant::Text(input.id()?),
        4 => Constant::Aggregate(input.list(|input| take_operand(input, 0))?),
        5 => {
            let operation = take_operation(input.byte()?)?;
            Constant::Expression(operation, input.list(|input| take_operand(input, 0))?)
        }
        6 => Constant::Label(input.id()?, input.maybe()?),
        7 => Constant::Other,
        _ => return Err(Error::wrong("a constant is not one")),
    })
}

fn take_operation(code: u8) -> Result<Operation, Error> {
    Operation::from_code(code).ok_or(Error::wrong("an operation is not known"))
}

fn take_function(input: &mut Input<'_>, first: u32) -> Result<Function, Error> {
    let (global, scope, flags) = (input.id()?, input.maybe()?, input.byte()?);
    let mark = Mark::ALL.get(usize::from(flags >> 1)).copied();
    let mark = mark.ok_or(Error::wrong("a mark is not one"))?;
    let arguments = input.list(|input| Ok(Argument { kind: input.id()?, by_value: input.number()? }))?;
    let mut count = 0u32;
    let blocks = input.list(|input| {
        let block = Block { first: count, length: input.id()? };
        count = count.checked_add(block.length).ok_or(Error::wrong("a block is too long"))?;
        Ok(block)
    })?;
    // An instruction takes at least two bytes, a location and an operation.
    if count as usize > input.0.len() / 2 {
        return Err(Error::CutOff);
    }
    let (mut instructions, mut location) = (Vec::with_capacity((count as usize).min(1 << 12)), NONE);
    for number in 0..count {
        instructions.push(take_instruction(input, number, &mut location)?);
    }
    instructions.shrink_to_fit();
    Ok(Function { global, scope, variadic: flags & 1 == 1, mark, arguments, blocks, instructions, first })
}

fn take_instruction(input: &mut Input<'_>, at: u32, last: &mut u32) -> Result<Instruction, Error> {
    let code = input.byte()?;
    let operation = take_operation(code & 0x7F)?;
    let mark = match code >> 7 {
        0 => Mark::Unmarked,
        _ => input.one_of(&Mark::ALL, "a mark is not one")?,
    };
    match input.number()? {
        0 => {}
        1 => *last = NONE,
        more => {
            let step = more - 2;
            let from = if *last == NONE { 0 } else { *last };
            *last = stepped(from, (step >> 1) as i64 ^ -((step & 1) as i64))?;
        }
    }
    let result = if operation.gives_nothing() { NONE } else { input.id()? };
    let count = match operation.arity() {
        Some(count) => count,
        None => input.count()?,
    };
    let mut operands = Vec::with_capacity(count.min(64));
    for _ in 0..count {
        operands.push(take_operand(input, at)?);
    }
    let detail = take_detail(input, operation, count)?;
    let mut successors = Vec::new();
    if operation.ends_block() {
        let count = match implied_successors(operation, count, &detail) {
            Some(count) => count,
            None => input.count()?,
        };
        for _ in 0..count {
            successors.push(input.id()?);
        }
    }
    Ok(Instruction { operation, result, location: *last, mark, operands, successors, detail })
}

fn take_detail(input: &mut Input<'_>, operation: Operation, operands: usize) -> Result<Detail, Error> {
    Ok(match operation {
        Operation::Load | Operation::Store => Detail::Access(take_access(input)?),
        Operation::AtomicUpdate => {
            Detail::Update(take_access(input)?, input.one_of(&Update::ALL, "an atomic update is not one")?)
        }
        Operation::CompareExchange => {
            let access = take_access(input)?;
            let flags = input.byte()?;
            Detail::Exchange(access, order(flags, 8)?, flags & 8 != 0)
        }
        Operation::Fence => {
            let flags = input.byte()?;
            Detail::Fence(order(flags, 16)?, flags & 16 != 0)
        }
        Operation::Compare | Operation::FloatCompare => {
            let predicate = Predicate::from_code(input.byte()?);
            Detail::Compare(predicate.ok_or(Error::wrong("a comparison is not one"))?)
        }
        Operation::Phi => {
            let blocks = (0..operands).map(|_| input.id()).collect::<Result<_, _>>()?;
            Detail::From(blocks)
        }
        Operation::Alloca => Detail::Alloca(input.number()?, take_align(input)?),
        Operation::ElementAddress => Detail::Offset(match input.byte()? {
            0 => None,
            1 => Some(input.step()?),
            _ => return Err(Error::wrong("an offset is not one")),
        }),
        Operation::Call | Operation::Invoke | Operation::CallBranch => Detail::Call(take_call(input)?),
        Operation::Switch => Detail::Cases(input.list(Input::id)?),
        Operation::ExtractValue | Operation::InsertValue => Detail::Path(input.list(Input::id)?),
        Operation::ShuffleVector => Detail::Lanes(input.list(Input::maybe)?),
        Operation::LandingPad => match input.byte()? {
            cleanup @ (0 | 1) => Detail::Cleanup(cleanup == 1),
            _ => return Err(Error::wrong("a landing pad is not one")),
        },
        _ => Detail::None,
    })
}

/// The order in the lowest bits of `flags`, which may have `others` set too.
fn order(flags: u8, others: u8) -> Result<Order, Error> {
    let order = Order::ALL.get(usize::from(flags & !others)).copied();
    order.ok_or(Error::wrong("an order of accesses is not one"))
}

fn take_align(input: &mut Input<'_>) -> Result<u32, Error> {
    match input.byte()? {
        0 => Ok(0),
        exponent => {
            1u32.checked_shl(u32::from(exponent) - 1).ok_or(Error::wrong("an alignment is too large"))
        }
    }
}

fn take_access(input: &mut Input<'_>) -> Result<Access, Error> {
    let (bytes, flags) = (input.number()?, input.byte()?);
    let order = order(flags, 0b11_1000)?;
    let align = match flags & 32 {
        0 => take_align(input)?,
        _ => u32::try_from(bytes).map_err(|_| Error::wrong("an alignment is too large"))?,
    };
    Ok(Access { bytes, align, volatile: flags & 8 != 0, order, one_thread: flags & 16 != 0 })
}

fn take_call(input: &mut Input<'_>) -> Result<Call, Error> {
    let (arguments, flags) = (input.id()?, input.byte()?);
    let is = |bit: u8| flags >> bit & 1 == 1;
    if flags >> 6 != 0 {
        return Err(Error::wrong("a call is not one"));
    }
    let by_value = match is(5) {
        false => Vec::new(),
        true => input.list(|input| Ok((input.id()?, input.number()?)))?,
    };
    let effects = Effects { reads: is(0), writes: is(1), arguments_only: is(2) };
    Ok(Call { arguments, by_value, effects, no_unwind: is(3), no_return: is(4) })
}
