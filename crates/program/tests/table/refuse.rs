//! Tables that readers must not get.

use std::collections::HashMap;

use reweave_program::*;

use crate::generate::{Random, table};

/// Somewhere in a table, what a change is applied to.
type Change = fn(&mut Table, &mut Random) -> Option<()>;

fn instruction<'t>(
    table: &'t mut Table,
    random: &mut Random,
    wanted: impl Fn(&Instruction) -> bool,
) -> Option<&'t mut Instruction> {
    let mut all: Vec<_> =
        table.functions.iter_mut().flat_map(|function| &mut function.instructions).collect();
    all.retain(|instruction| wanted(instruction));
    if all.is_empty() {
        return None;
    }
    let place = random.below(all.len()) as usize;
    Some(all.swap_remove(place))
}

fn first_operand(table: &mut Table, random: &mut Random, operand: Operand) -> Option<()> {
    let found = instruction(table, random, |instruction| !instruction.operands.is_empty())?;
    found.operands[0] = operand;
    Some(())
}

const FAR: u32 = 1 << 20;

const CHANGES: &[(&str, Change)] = &[
    ("result", |table, random| first_operand(table, random, Operand::Instruction(FAR))),
    ("argument", |table, random| first_operand(table, random, Operand::Argument(FAR))),
    ("constant", |table, random| first_operand(table, random, Operand::Constant(FAR))),
    ("global", |table, random| first_operand(table, random, Operand::Global(FAR))),
    ("block", |table, random| first_operand(table, random, Operand::Block(FAR))),
    ("assembly", |table, random| first_operand(table, random, Operand::Assembly(FAR))),
    ("one operand more", |table, random| {
        let found = instruction(table, random, |instruction| instruction.operation.arity().is_some())?;
        found.operands.push(Operand::Nothing);
        Some(())
    }),
    ("type", |table, random| {
        instruction(table, random, |instruction| instruction.result != NONE)?.result = FAR;
        Some(())
    }),
    ("place", |table, random| {
        instruction(table, random, |_| true)?.location = FAR;
        Some(())
    }),
    ("successor", |table, random| {
        *instruction(table, random, |instruction| !instruction.successors.is_empty())?
            .successors
            .last_mut()? = FAR;
        Some(())
    }),
    ("successor of no branch", |table, random| {
        instruction(table, random, |instruction| !instruction.operation.ends_block())?.successors.push(0);
        Some(())
    }),
    ("end within a block", |table, random| {
        let found = instruction(table, random, |instruction| !instruction.operation.ends_block())?;
        (found.operation, found.result, found.detail) = (Operation::Unreachable, NONE, Detail::None);
        found.operands.clear();
        Some(())
    }),
    ("detail of another", |table, random| {
        let found = instruction(table, random, |instruction| instruction.detail != Detail::None)?;
        found.detail = Detail::None;
        Some(())
    }),
    ("origin of a phi", |table, random| {
        let found = instruction(
            table,
            random,
            |instruction| matches!(&instruction.detail, Detail::From(list) if !list.is_empty()),
        )?;
        found.detail = Detail::From(vec![FAR; found.operands.len()]);
        Some(())
    }),
    ("arguments", |table, random| {
        let found = instruction(table, random, |instruction| instruction.call().is_some())?;
        found.detail = Detail::Call(Call { arguments: found.operands.len() as u32, ..Call::default() });
        Some(())
    }),
    ("block without instructions", |table, _| {
        table.functions.first_mut()?.blocks.push(Block { first: 0, length: 0 });
        Some(())
    }),
    ("numbers", |table, _| {
        table.functions.last_mut()?.first += 1;
        Some(())
    }),
    ("inlined into itself", |table, _| {
        let last = table.locations.len().checked_sub(1)?;
        table.locations[last].inlined_at = last as u32;
        Some(())
    }),
    ("constant of itself", |table, _| {
        let last = table.constants.len() as u32;
        table.constants.push(Constant::Aggregate(vec![Operand::Constant(last)]));
        Some(())
    }),
    ("wide integer", |table, _| {
        table.constants.push(Constant::Integer { bits: 3, value: 8 });
        Some(())
    }),
    ("name", |table, _| {
        table.name = FAR;
        Some(())
    }),
];

#[test]
fn what_readers_rely_on_is_checked() {
    for &(name, change) in CHANGES {
        let mut tried = 0;
        for seed in 0..200 {
            let mut changed = table(&mut Random(seed));
            if change(&mut changed, &mut Random(seed + 1)).is_some() {
                assert!(changed.check().is_err(), "{name}, seed {seed}");
                tried += 1;
            }
        }
        assert!(tried > 20, "{name}: {tried}");
    }
}

/// Two tables with one tag: no site of either leads anywhere, and nothing is lost.
#[test]
fn sites_of_modules_with_the_same_tag_lead_nowhere() {
    let of = |number: u32| Table { strings: vec![format!("module {number}")], ..Table::default() };
    let mut known: HashMap<u32, u32> = HashMap::new();
    let (first, second) = (0..)
        .find_map(|number| known.insert(of(number).hash().tag(), number).map(|earlier| (earlier, number)))
        .expect("numbers enough");
    let (mut one, mut other) = (of(first), of(second));
    let section = [one.encode(), other.encode()].concat();
    let program = Program::decode(&section).unwrap();
    assert_eq!(program.modules.len(), 2);
    assert_eq!(one.hash().tag(), other.hash().tag());
    let site = Site { tag: one.hash().tag(), place: Place::Function(0) };
    assert!(program.find(site).is_none());
    // Each alone is found again by its tag.
    for table in [&mut one, &mut other] {
        table.globals.push(Global {
            name: 0,
            kind: GlobalKind::Function,
            linkage: Linkage::External,
            defined: true,
            bytes: 0,
            stands_for: Operand::Nothing,
        });
        let end = Instruction {
            operation: Operation::Unreachable,
            result: NONE,
            location: NONE,
            mark: Mark::Unmarked,
            operands: Vec::new(),
            successors: Vec::new(),
            detail: Detail::None,
        };
        table.functions.push(Function {
            global: 0,
            scope: NONE,
            variadic: false,
            mark: Mark::Unmarked,
            arguments: Vec::new(),
            blocks: vec![Block { first: 0, length: 1 }],
            instructions: vec![end],
            first: 0,
        });
        let site = Site { tag: table.hash().tag(), place: Place::Function(0) };
        assert!(Program::decode(&table.encode()).unwrap().find(site).is_some());
    }
}
