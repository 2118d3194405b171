//! Tables as bytes and back.

mod generate;
mod refuse;

use std::collections::BTreeSet;

use generate::{Random, table};
use reweave_program::*;

#[test]
fn tables_come_back_as_they_were() {
    let mut seen = BTreeSet::new();
    for seed in 0..3_000 {
        let table = table(&mut Random(seed));
        table.check().unwrap_or_else(|error| panic!("{seed}: {error}"));
        let bytes = table.encode();
        assert_eq!(bytes.len() % 8, 0);
        assert_eq!(Table::decode(&bytes).as_ref(), Ok(&table), "{seed}");
        let instructions = table.functions.iter().flat_map(|function| &function.instructions);
        seen.extend(instructions.map(|instruction| instruction.operation));
    }
    assert_eq!(seen.len(), Operation::ALL.len(), "every operation was tried");
}

/// Whatever is changed or missing is noticed; also where somebody mended the hash, nothing panics.
#[test]
fn damaged_tables_are_refused() {
    let mut random = Random(7);
    let (mut refused, mut taken, mut packed, mut unnoticed) = (0, 0, 0, 0);
    for seed in 0..300 {
        let table = table(&mut Random(seed));
        let bytes = table.encode();
        let field = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap()) as usize;
        let (stored, length) = (field(12), field(16));
        packed += usize::from(bytes[10] == 1);
        let content = match bytes[10] {
            0 => bytes[40..40 + stored].to_vec(),
            _ => miniz_oxide::inflate::decompress_to_vec(&bytes[40..40 + stored]).unwrap(),
        };
        assert_eq!(content.len(), length);
        assert_eq!(Table::decode_content(&content).as_ref(), Ok(&table));
        for _ in 0..40 {
            let bit = random.below(8 * bytes.len()) as usize;
            let mut damaged = bytes.clone();
            damaged[bit / 8] ^= 1 << (bit % 8);
            // The last bits of what is compressed may mean nothing.
            assert!(
                Table::decode(&damaged).is_ok_and(|same| same == table) || Table::decode(&damaged).is_err()
            );
            unnoticed += usize::from(Table::decode(&damaged).is_ok());
            let cut = random.below(40 + stored) as usize;
            assert!(Table::decode(&bytes[..cut]).is_err(), "{seed} {cut}");
            let mut content = content.clone();
            let bit = random.below(8 * length) as usize;
            content[bit / 8] ^= 1 << (bit % 8);
            match Table::decode_content(&content) {
                Ok(table) => {
                    assert_eq!(table.check(), Ok(()));
                    walk(&table);
                    taken += 1;
                }
                Err(error) => {
                    assert!(!error.to_string().is_empty());
                    refused += 1;
                }
            }
            assert!(Table::decode_content(&content[..random.below(length) as usize]).is_err());
        }
    }
    assert!(refused > 1_000 && taken > 1_000 && packed > 100 && packed < 300, "{refused} {taken} {packed}");
    assert!(unnoticed < 120, "of 12,000: {unnoticed}");
}

/// Everything that readers do with a table.
fn walk(table: &Table) {
    let mut counts = Counts::default();
    counts.add(table);
    table.function_hashes();
    for function in &table.functions {
        private_allocas(table, function);
        function.users();
        for instruction in &function.instructions {
            table.roles(instruction);
            table.frames(instruction.location);
        }
    }
}

#[test]
fn claims_larger_than_the_input_take_no_memory() {
    for claim in [&[0xFF, 0xFF, 0xFF, 0xFF, 0x0F][..], &[0xFF; 9], &[0x80, 0x80, 0x80, 0x80, 0x40]] {
        assert_eq!(Table::decode_content(claim).unwrap_err(), Error::CutOff);
    }
    let mut bytes = Table { strings: vec![String::new()], ..Table::default() }.encode();
    assert!(Table::decode(&bytes).is_ok());
    bytes[12..16].copy_from_slice(&u32::MAX.to_le_bytes());
    assert_eq!(Table::decode(&bytes), Err(Error::CutOff));
}

#[test]
fn other_versions_are_told_from_damage() {
    let mut bytes = table(&mut Random(1)).encode();
    bytes[8] = 9;
    assert_eq!(Table::decode(&bytes), Err(Error::Version { found: 9 }));
    assert!(Program::decode(&bytes).unwrap_err().to_string().contains("version 9"));
}

/// As linkers do it: one after another, zeros in between, some of them twice.
#[test]
fn a_section_of_several_tables_is_read() {
    let tables: Vec<Table> = (0..20).map(|seed| table(&mut Random(1_000 + seed))).collect();
    let distinct: BTreeSet<Vec<u8>> = tables.iter().map(Table::encode).collect();
    let mut section = Vec::new();
    for (number, table) in tables.iter().chain(&tables[..5]).enumerate() {
        section.extend_from_slice(&table.encode());
        section.resize(section.len() + 8 * (number % 3), 0);
    }
    let program = Program::decode(&section).unwrap();
    assert_eq!(program.modules.len(), distinct.len());
    let mut found = 0;
    for table in &tables {
        let tag = table.hash().tag();
        for (number, function) in (0u32..).zip(&table.functions) {
            let site = Site { tag, place: Place::Function(number) };
            assert_eq!(Site::from_bytes(site.to_bytes()), site);
            assert_eq!(program.find(site).unwrap().function, function);
            for (inside, instruction) in (0u32..).zip(&function.instructions) {
                let site = Site { tag, place: Place::Instruction(function.first + inside) };
                let there = program.find(Site::from_bytes(site.to_bytes())).unwrap();
                assert_eq!(there.instruction(), Some(instruction));
                assert_eq!(there.number, Some(inside));
                assert!(!there.frames().is_empty());
                let block = function.block_of(inside).unwrap();
                assert!(function.block(block).contains(instruction));
                found += 1;
            }
        }
        let count: usize = table.functions.iter().map(|function| function.instructions.len()).sum();
        let behind = Site { tag, place: Place::Instruction(count as u32) };
        assert!(program.find(behind).is_none());
    }
    assert!(found > 100);
    assert!(program.find(Site { tag: 0, place: Place::Instruction(0) }).is_none());
    section.truncate(section.len() - 1 - section.iter().rev().take_while(|&&byte| byte == 0).count());
    assert_eq!(Program::decode(&section), Err(Error::CutOff));
    assert_eq!(Program::decode(b"something else"), Err(Error::NoTable { at: 0 }));
    assert!(Program::decode(&[0; 24]).unwrap().modules.is_empty());
}

/// A function's hash is the same in another module with other strings, types and constants before its own.
#[test]
fn hashes_of_functions_depend_on_their_code_only() {
    for seed in 0..500 {
        let table = table(&mut Random(seed));
        let mut moved = table.clone();
        moved.strings.push("another".to_owned());
        moved.locations.clear();
        for function in &mut moved.functions {
            function.scope = NONE;
            for instruction in &mut function.instructions {
                instruction.location = NONE;
                instruction.mark = Mark::Unmarked;
            }
        }
        moved.check().unwrap();
        assert_eq!(moved.function_hashes(), table.function_hashes());
        if let Some(function) = moved.functions.first_mut() {
            function.variadic = !function.variadic;
            assert_ne!(moved.function_hashes()[0], table.function_hashes()[0]);
        }
    }
}
