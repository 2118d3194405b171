//! Places in the source, from LLVM's debug locations.

use llvm_sys::core::LLVMValueAsMetadata;
use llvm_sys::debuginfo::*;
use llvm_sys::prelude::*;
use reweave_program::{File, Location, NONE, Scope};

use super::Maker;
use super::llvm::{ask, file, metadata_text, node};

/// Where the operands of LLVM's nodes are.
const PARENT: usize = 1;
const NAME: usize = 2;
const LINKAGE_NAME: usize = 3;

impl Maker {
    /// The place of an instruction in the source.
    pub(super) fn location(&mut self, context: LLVMContextRef, instruction: LLVMValueRef) -> u32 {
        // What a place was inlined into comes before it: so from the outside in.
        let mut chain = Vec::new();
        let mut next = ask!(LLVMInstructionGetDebugLoc(instruction));
        let mut around = NONE;
        while !next.is_null() {
            if let Some(&known) = self.known_locations.get(&next) {
                around = known;
                break;
            }
            chain.push(next);
            next = ask!(LLVMDILocationGetInlinedAt(next));
        }
        for place in chain.into_iter().rev() {
            let scope = ask!(LLVMDILocationGetScope(place));
            let location = Location {
                scope: self.scope(context, scope),
                file: self.file_of(scope),
                line: ask!(LLVMDILocationGetLine(place)),
                column: ask!(LLVMDILocationGetColumn(place)),
                inlined_at: around,
            };
            around = self.locations.place(&mut self.table.locations, location);
            self.known_locations.insert(place, around);
        }
        around
    }

    /// The function that a scope is in.
    pub(super) fn scope(&mut self, context: LLVMContextRef, scope: LLVMMetadataRef) -> u32 {
        if let Some(&known) = self.known_scopes.get(&scope) {
            return known;
        }
        let mut function = scope;
        let mut operands = node(context, function);
        while !is_function(function) {
            let Some(&parent) = operands.get(PARENT).filter(|parent| !parent.is_null()) else { break };
            function = ask!(LLVMValueAsMetadata(parent));
            operands = node(context, function);
        }
        let mut names = [LINKAGE_NAME, NAME]
            .map(|place| operands.get(place).map_or(String::new(), |&name| metadata_text(name)))
            .into_iter();
        let name = names.find(|name| !name.is_empty()).unwrap_or_default();
        let scope_found = Scope {
            name: self.string(&name),
            file: self.file_of(function),
            line: if is_function(function) { ask!(LLVMDISubprogramGetLine(function)) } else { 0 },
        };
        let place = self.scopes.place(&mut self.table.scopes, scope_found);
        self.known_scopes.insert(scope, place);
        place
    }

    fn file_of(&mut self, scope: LLVMMetadataRef) -> u32 {
        let found = ask!(LLVMDIScopeGetFile(scope));
        if found.is_null() {
            return NONE;
        }
        let (folder, name) = file(found);
        let found = File { folder: self.string(&folder), name: self.string(&name) };
        self.files.place(&mut self.table.files, found)
    }
}

/// Whether a scope is a function, rather than a block in one.
fn is_function(scope: LLVMMetadataRef) -> bool {
    matches!(ask!(LLVMGetMetadataKind(scope)), LLVMMetadataKind::LLVMDISubprogramMetadataKind)
}
