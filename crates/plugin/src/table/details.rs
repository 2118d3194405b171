//! What instructions have beside operands, from LLVM's.

use llvm_sys::LLVMAtomicOrdering;
use llvm_sys::LLVMTypeKind::{LLVMArrayTypeKind, LLVMStructTypeKind};
use llvm_sys::core::*;
use llvm_sys::prelude::*;
use llvm_sys::target::{LLVMOffsetOfElement, LLVMStoreSizeOfType, LLVMTargetDataRef};
use llvm_sys::{LLVMAttributeFunctionIndex, LLVMAttributeIndex};
use reweave_program::{Access, Call, Detail, Effects, NONE, Operand, Operation, Order, Predicate, Update};

use super::Maker;
use super::constants::{scales, size};
use super::llvm::{ask, operands};
use crate::ir::{reweave_plugin_case, reweave_plugin_one_thread, reweave_plugin_type_kind};

impl Maker {
    /// What an instruction has beside operands.
    pub(super) fn detail(
        &mut self,
        data: LLVMTargetDataRef,
        instruction: LLVMValueRef,
        operation: Operation,
    ) -> Detail {
        let operand = |place: u32| ask!(LLVMGetOperand(instruction, place));
        match operation {
            Operation::Load => Detail::Access(access(data, instruction, ask!(LLVMTypeOf(instruction)))),
            Operation::Store => Detail::Access(access(data, instruction, ask!(LLVMTypeOf(operand(0))))),
            Operation::AtomicUpdate => {
                let access = access(data, instruction, ask!(LLVMTypeOf(operand(1))));
                let update = ask!(LLVMGetAtomicRMWBinOp(instruction)) as usize;
                Detail::Update(access, Update::ALL.get(update).copied().unwrap_or(Update::Other))
            }
            Operation::CompareExchange => exchange(data, instruction, ask!(LLVMTypeOf(operand(1)))),
            Operation::Fence => {
                let one_thread = ask!(reweave_plugin_one_thread(instruction)) != 0;
                Detail::Fence(order(ask!(LLVMGetOrdering(instruction))), one_thread)
            }
            Operation::Compare => {
                let code = ask!(LLVMGetICmpPredicate(instruction)) as u8;
                Predicate::from_code(code).map_or(Detail::None, Detail::Compare)
            }
            Operation::FloatCompare => {
                let code = ask!(LLVMGetFCmpPredicate(instruction)) as u8;
                Predicate::from_code(code).map_or(Detail::None, Detail::Compare)
            }
            Operation::Phi => {
                let count = ask!(LLVMCountIncoming(instruction));
                Detail::From(
                    (0..count)
                        .map(|place| self.block(ask!(LLVMGetIncomingBlock(instruction, place))))
                        .collect(),
                )
            }
            Operation::Alloca => {
                let bytes = size(data, ask!(LLVMGetAllocatedType(instruction))).unwrap_or(0);
                Detail::Alloca(bytes, ask!(LLVMGetAlignment(instruction)))
            }
            Operation::ElementAddress => Detail::Offset(offset(data, instruction)),
            Operation::Call | Operation::Invoke | Operation::CallBranch => {
                Detail::Call(call(data, instruction))
            }
            Operation::Switch => {
                let count = ask!(LLVMGetNumSuccessors(instruction));
                Detail::Cases((1..count).map(|place| self.case(instruction, place)).collect())
            }
            Operation::ExtractValue | Operation::InsertValue => Detail::Path(path(instruction)),
            Operation::ShuffleVector => {
                let count = ask!(LLVMGetNumMaskElements(instruction));
                let lane = |place| ask!(LLVMGetMaskValue(instruction, place));
                Detail::Lanes((0..count).map(|place| u32::try_from(lane(place)).unwrap_or(NONE)).collect())
            }
            Operation::LandingPad => Detail::Cleanup(ask!(LLVMIsCleanup(instruction)) != 0),
            _ => Detail::None,
        }
    }

    fn case(&mut self, switch: LLVMValueRef, place: u32) -> u32 {
        match self.operand(ask!(reweave_plugin_case(switch, place)), 0) {
            Operand::Constant(constant) => constant,
            _ => NONE,
        }
    }
}

fn order(order: LLVMAtomicOrdering) -> Order {
    match order {
        LLVMAtomicOrdering::LLVMAtomicOrderingNotAtomic => Order::NotAtomic,
        LLVMAtomicOrdering::LLVMAtomicOrderingUnordered => Order::Unordered,
        LLVMAtomicOrdering::LLVMAtomicOrderingMonotonic => Order::Relaxed,
        LLVMAtomicOrdering::LLVMAtomicOrderingAcquire => Order::Acquire,
        LLVMAtomicOrdering::LLVMAtomicOrderingRelease => Order::Release,
        LLVMAtomicOrdering::LLVMAtomicOrderingAcquireRelease => Order::AcquireRelease,
        LLVMAtomicOrdering::LLVMAtomicOrderingSequentiallyConsistent => Order::SequentiallyConsistent,
    }
}

fn bytes_of(data: LLVMTargetDataRef, kind: LLVMTypeRef) -> u64 {
    let fixed = !scales(kind);
    if fixed { ask!(LLVMStoreSizeOfType(data, kind)) } else { 0 }
}

/// An access by a load, store or atomic update; a compare-exchange has two orders, which others than this one ask for.
fn access(data: LLVMTargetDataRef, instruction: LLVMValueRef, kind: LLVMTypeRef) -> Access {
    let order = order(ask!(LLVMGetOrdering(instruction)));
    Access { order, ..access_without_order(data, instruction, kind, order != Order::NotAtomic) }
}

fn access_without_order(
    data: LLVMTargetDataRef,
    instruction: LLVMValueRef,
    kind: LLVMTypeRef,
    atomic: bool,
) -> Access {
    Access {
        bytes: bytes_of(data, kind),
        align: ask!(LLVMGetAlignment(instruction)),
        volatile: ask!(LLVMGetVolatile(instruction)) != 0,
        order: Order::NotAtomic,
        one_thread: atomic && ask!(reweave_plugin_one_thread(instruction)) != 0,
    }
}

fn exchange(data: LLVMTargetDataRef, instruction: LLVMValueRef, kind: LLVMTypeRef) -> Detail {
    let order_of_success = order(ask!(LLVMGetCmpXchgSuccessOrdering(instruction)));
    let access = Access { order: order_of_success, ..access_without_order(data, instruction, kind, true) };
    let failure = order(ask!(LLVMGetCmpXchgFailureOrdering(instruction)));
    Detail::Exchange(access, failure, ask!(LLVMGetWeak(instruction)) != 0)
}

/// How far the address of an element lies from the first operand, where all indices are fixed.
fn offset(data: LLVMTargetDataRef, instruction: LLVMValueRef) -> Option<i64> {
    let mut kind = ask!(LLVMGetGEPSourceElementType(instruction));
    let mut offset = 0i64;
    for (place, index) in operands(instruction).skip(1).enumerate() {
        let index_kind = ask!(LLVMTypeOf(index));
        let is_number = !ask!(LLVMIsAConstantInt(index)).is_null()
            && ask!(reweave_plugin_type_kind(index_kind)) == llvm_sys::LLVMTypeKind::LLVMIntegerTypeKind;
        if !is_number {
            return None;
        }
        let number = ask!(LLVMConstIntGetSExtValue(index));
        if place > 0 && ask!(reweave_plugin_type_kind(kind)) == LLVMStructTypeKind {
            size(data, kind)?;
            let element = u32::try_from(number).ok()?;
            let start = i64::try_from(ask!(LLVMOffsetOfElement(data, kind, element))).ok()?;
            offset = offset.checked_add(start)?;
            kind = ask!(LLVMStructGetTypeAtIndex(kind, element));
            continue;
        }
        if place > 0 {
            let is_array = ask!(reweave_plugin_type_kind(kind)) == LLVMArrayTypeKind;
            kind = is_array.then(|| ask!(LLVMGetElementType(kind)))?;
        }
        let stride = i64::try_from(size(data, kind)?).ok()?;
        offset = offset.checked_add(number.checked_mul(stride)?)?;
    }
    Some(offset)
}

fn path(instruction: LLVMValueRef) -> Vec<u32> {
    let (count, start) = (ask!(LLVMGetNumIndices(instruction)), ask!(LLVMGetIndices(instruction)));
    if count == 0 || start.is_null() {
        return Vec::new();
    }
    // SAFETY: LLVM gives a start and a count of indices, which live as long as the instruction.
    unsafe { std::slice::from_raw_parts(start, count as usize) }.to_vec()
}

/// An attribute of a call, or of the function that it names.
fn attribute(
    instruction: LLVMValueRef,
    place: LLVMAttributeIndex,
    name: &str,
    of_call: bool,
) -> LLVMAttributeRef {
    let kind = ask!(LLVMGetEnumAttributeKindForName(name.as_ptr().cast(), name.len()));
    if of_call {
        return ask!(LLVMGetCallSiteEnumAttribute(instruction, place, kind));
    }
    let called = ask!(LLVMGetCalledValue(instruction));
    let callee = ask!(LLVMIsAFunction(called));
    if callee.is_null() {
        std::ptr::null_mut()
    } else {
        ask!(LLVMGetEnumAttributeAtIndex(callee, place, kind))
    }
}

fn call(data: LLVMTargetDataRef, instruction: LLVMValueRef) -> Call {
    let arguments = ask!(LLVMGetNumArgOperands(instruction));
    let has = |name: &str| {
        [true, false]
            .into_iter()
            .any(|of_call| !attribute(instruction, LLVMAttributeFunctionIndex, name, of_call).is_null())
    };
    let by_value = (0..arguments)
        .filter_map(|argument| {
            let copied = attribute(instruction, argument + 1, "byval", true);
            by_value(data, copied).map(|bytes| (argument, bytes))
        })
        .collect();
    let mut effects = Effects::default();
    for of_call in [true, false] {
        let found = attribute(instruction, LLVMAttributeFunctionIndex, "memory", of_call);
        if !found.is_null() {
            limit(&mut effects, ask!(LLVMGetEnumAttributeValue(found)));
        }
    }
    Call { arguments, by_value, effects, no_unwind: has("nounwind"), no_return: has("noreturn") }
}

/// What LLVM's attribute promises: two bits for each kind of memory, reads and writes, the lowest for what arguments point to.
fn limit(effects: &mut Effects, promise: u64) {
    effects.reads &= promise & 0x5555_5555_5555_5555 != 0;
    effects.writes &= promise & 0xAAAA_AAAA_AAAA_AAAA != 0;
    effects.arguments_only |= promise >> 2 == 0;
}

/// How many bytes an attribute says are copied for the callee.
pub(super) fn by_value(data: LLVMTargetDataRef, attribute: LLVMAttributeRef) -> Option<u64> {
    (!attribute.is_null()).then(|| size(data, ask!(LLVMGetTypeAttributeValue(attribute))).unwrap_or(0))
}
