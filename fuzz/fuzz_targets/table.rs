//! Program tables: sections, and the contents of tables, whose hashes no fuzzer would get right.
#![no_main]

use reweave_program::{Counts, Program, Table, private_allocas};

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    if let Ok(program) = Program::decode(data) {
        program.modules.iter().for_each(|(.., table)| walk(table));
    }
    if let Ok(table) = Table::decode_content(data) {
        walk(&table);
        assert_eq!(Table::decode(&table.encode()), Ok(table));
    }
});

/// What readers do with a table.
fn walk(table: &Table) {
    assert_eq!(table.check(), Ok(()));
    Counts::default().add(table);
    table.function_hashes();
    for function in &table.functions {
        private_allocas(table, function);
        for instruction in &function.instructions {
            table.roles(instruction);
            table.frames(instruction.location);
        }
    }
}
