//! Atomic accesses, and calls that touch memory on the program's behalf.

use llvm_sys::LLVMAtomicRMWBinOp as Update;
use reweave_program::Mark;

use crate::instrument::{Instrumenter, SHORT_COPY};
use crate::interposed::memory_arguments;
use crate::ir::{Opcode, Type, Value};

impl Instrumenter<'_, '_> {
    /// The width of an atomic access in bits, where the runtime knows it.
    fn width(&self, of: Type) -> Option<u32> {
        let bits = 8 * self.hooks.module.size(of) as u32;
        matches!(bits, 8 | 16 | 32 | 64 | 128).then_some(bits)
    }

    /// A value as a number of so many bits. Small ones are passed as 32 bits: what lies above must be zeros.
    fn atomic_argument(&self, value: Value, bits: u32) -> Value {
        let cursor = &self.hooks.cursor;
        let module = self.hooks.module;
        let plain = match (value.of().bits(), value.of().is_pointer()) {
            (Some(have), _) if have < bits => cursor.widen(value, module.int(bits)),
            (Some(_), _) => value,
            (None, true) => cursor.pointer_number(value, module.int(bits)),
            (None, false) => cursor.bits(value, module.int(bits)),
        };
        if bits < 32 { cursor.widen(plain, module.int(32)) } else { plain }
    }

    /// A number that the runtime gave back, as what the program takes it for.
    fn atomic_result(&self, number: Value, of: Type) -> Value {
        let cursor = &self.hooks.cursor;
        match (of.bits(), of.is_pointer()) {
            (Some(bits), _) if number.of().bits().is_some_and(|have| have > bits) => {
                cursor.narrow(number, of)
            }
            (Some(_), _) => number,
            (None, true) => cursor.to_pointer(number, of),
            (None, false) => cursor.bits(number, of),
        }
    }

    pub(crate) fn atomic_load(&mut self, load: Value) -> bool {
        let Some(bits) = self.width(load.of()) else { return self.load(load, load.operand(0)) };
        let site = self.hooks.site(self.draft, load);
        self.hooks.cursor.before(load);
        let order = self.hooks.module.constant(self.hooks.module.int(32), 5);
        let bytes = bits / 8;
        let result = self.hooks.module.int(bits);
        let number = self.hooks.call(&format!("atomic{bytes}_load"), result, &[load.operand(0), order, site]);
        let value = self.atomic_result(number, load.of());
        load.replace_with(Some(value));
        true
    }

    pub(crate) fn atomic_store(&mut self, store: Value) -> bool {
        let (value, address) = (store.operand(0), store.operand(1));
        let Some(bits) = self.width(value.of()) else { return self.store(store, address) };
        let site = self.hooks.site(self.draft, store);
        self.hooks.cursor.before(store);
        let value = self.atomic_argument(value, bits);
        let order = self.hooks.module.constant(self.hooks.module.int(32), 5);
        let bytes = bits / 8;
        self.hooks.tell(&format!("atomic{bytes}_store"), &[address, value, order, site]);
        store.replace_with(None);
        true
    }

    pub(crate) fn update(&mut self, update: Value) -> bool {
        let (address, value) = (update.operand(0), update.operand(1));
        let Some(bits) = self.width(value.of()) else {
            self.draft.mark(update.0, Mark::Unsupported);
            return false;
        };
        let name = match update.update_operation() {
            Update::LLVMAtomicRMWBinOpXchg => "exchange",
            Update::LLVMAtomicRMWBinOpAdd => "add",
            Update::LLVMAtomicRMWBinOpSub => "sub",
            Update::LLVMAtomicRMWBinOpAnd => "and",
            Update::LLVMAtomicRMWBinOpOr => "or",
            Update::LLVMAtomicRMWBinOpXor => "xor",
            Update::LLVMAtomicRMWBinOpNand => "nand",
            _ => return self.other_update(update, bits),
        };
        let site = self.hooks.site(self.draft, update);
        self.hooks.cursor.before(update);
        let value = self.atomic_argument(value, bits);
        let order = self.hooks.module.constant(self.hooks.module.int(32), 5);
        let bytes = bits / 8;
        let result = self.hooks.module.int(bits);
        let old = self.hooks.call(&format!("atomic{bytes}_{name}"), result, &[address, value, order, site]);
        let old = self.atomic_result(old, update.of());
        update.replace_with(Some(old));
        true
    }

    /// An update that the program does itself: what it wrote is there afterwards.
    fn other_update(&mut self, update: Value, bits: u32) -> bool {
        let site = self.hooks.site(self.draft, update);
        self.hooks.cursor.before(update);
        self.hooks.tell("before", &[site]);
        self.hooks.cursor.after(update);
        let Some(old) = self.hooks.as_number(update) else { return true };
        let size = self.hooks.number(u64::from(bits / 8));
        self.hooks.tell("updated", &[update.operand(0), site, size, old]);
        true
    }

    pub(crate) fn compare(&mut self, compare: Value) -> bool {
        let (address, expected) = (compare.operand(0), compare.operand(1));
        let of = expected.of();
        let Some(bits) = self.width(of) else {
            self.draft.mark(compare.0, Mark::Unsupported);
            return false;
        };
        let site = self.hooks.site(self.draft, compare);
        self.hooks.cursor.before(compare);
        let wanted = self.atomic_argument(expected, bits);
        let new = self.atomic_argument(compare.operand(2), bits);
        let order = self.hooks.module.constant(self.hooks.module.int(32), 5);
        let bytes = bits / 8;
        let result = self.hooks.module.int(bits);
        let name = format!("atomic{bytes}_compare");
        let old = match bits {
            128 => self.hooks.call(&name, result, &[address, wanted, new, site]),
            _ => self.hooks.call(&name, result, &[address, wanted, new, order, order, site]),
        };
        let expected = if bits < 32 { self.hooks.cursor.narrow(wanted, result) } else { wanted };
        let done = self.hooks.cursor.equal(old, expected);
        let old = self.atomic_result(old, of);
        let pair = self.hooks.cursor.pair(compare.of(), old, done);
        compare.replace_with(Some(pair));
        true
    }

    /// A call: one that touches memory on the program's behalf is done by the runtime; and what is passed as a copy is read.
    pub(crate) fn called(&mut self, call: Value) -> bool {
        let callee = call.callee();
        if !callee.is_function() {
            return self.unknown_callee(call, callee) | self.copied_arguments(call);
        }
        let name = callee.name();
        if callee.is_intrinsic() {
            let known = ["memcpy", "memmove", "memset"]
                .into_iter()
                .find(|known| name.strip_prefix("llvm.").is_some_and(|name| name.starts_with(known)));
            return match known {
                Some(known) => self.copy(call, known),
                None if name.starts_with("llvm.masked.") => self.masked(call, &name),
                None => false,
            };
        }
        let is_libc = callee.is_declared_elsewhere() && call.is(Opcode::LLVMCall);
        match memory_arguments(&name) {
            Some(count) if is_libc && call.call_arguments().len() == count => {
                let site = self.hooks.site(self.draft, call);
                self.draft.mark(call.0, Mark::Recorded);
                self.hooks.cursor.before(call);
                let mut arguments = call.call_arguments();
                arguments.push(site);
                let result = self.hooks.call(&name, call.of(), &arguments);
                call.replace_with(Some(result));
                true
            }
            _ => self.copied_arguments(call),
        }
    }

    /// A function that is called by its address may be a library's.
    fn unknown_callee(&mut self, call: Value, callee: Value) -> bool {
        let site = self.hooks.site(self.draft, call);
        self.hooks.cursor.before(call);
        self.hooks.tell("calls", &[callee, site]);
        true
    }

    /// What a parameter is a copy of is read by the call.
    fn copied_arguments(&mut self, call: Value) -> bool {
        let mut told = false;
        for (place, argument) in call.call_arguments().into_iter().enumerate() {
            if let Some(of) = call.copied_parameter(place as u32)
                && !self.escapes.is_private(argument)
            {
                let size = self.hooks.module.size(of);
                let site = self.hooks.site(self.draft, call);
                self.hooks.cursor.before(call);
                told |= self.read(argument, site, size);
            }
        }
        told
    }

    /// A copy by LLVM's own functions. A side that no other thread can reach is not told of.
    fn copy(&mut self, call: Value, name: &str) -> bool {
        let arguments = call.call_arguments();
        let [to, from, length, ..] = arguments[..] else { return false };
        if to.address_space() != 0 || from.address_space() != 0 {
            self.draft.mark(call.0, Mark::Unsupported);
            return false;
        }
        let (to_private, from_private) =
            (self.escapes.is_private(to), name != "memset" && self.escapes.is_private(from));
        let hook = match (name, to_private, from_private) {
            ("memset", true, _) => "set_unseen",
            ("memset", ..) => "memset",
            (_, true, true) => "copy_unseen",
            (_, true, false) => "copy_in",
            (_, false, true) => "copy_out",
            _ => "memmove",
        };
        let unseen = hook.ends_with("unseen");
        self.draft.mark(call.0, if unseen { Mark::Private } else { Mark::Recorded });
        if unseen && length.number().is_some_and(|length| length <= SHORT_COPY) {
            return false;
        }
        let site = self.hooks.site(self.draft, call);
        self.hooks.cursor.before(call);
        let second =
            if name == "memset" { self.hooks.cursor.widen(from, self.hooks.module.int(32)) } else { from };
        let length = match length.of().bits() {
            Some(64) => length,
            _ => self.hooks.cursor.widen(length, self.hooks.module.int(64)),
        };
        self.hooks.tell(hook, &[to, second, length, site]);
        call.replace_with(None);
        !unseen
    }

    /// A vector of which only some lanes are read or written.
    fn masked(&mut self, call: Value, name: &str) -> bool {
        let arguments = call.call_arguments();
        let stores = name.starts_with("llvm.masked.store") || name.starts_with("llvm.masked.scatter");
        let scattered = name.starts_with("llvm.masked.gather") || name.starts_with("llvm.masked.scatter");
        let loads = name.starts_with("llvm.masked.load") || name.starts_with("llvm.masked.gather");
        let known =
            if stores { Some((arguments[0].of(), arguments[1])) } else { Some((call.of(), arguments[0])) };
        let mask = arguments
            .iter()
            .copied()
            .find(|argument| argument.of().lanes().is_some_and(|(_, of)| of.bits() == Some(1)));
        let (Some((of, address)), Some(mask), true) = (known, mask, stores || loads) else {
            self.draft.mark(call.0, Mark::Unsupported);
            return false;
        };
        let Some((lanes, of_one)) = of.lanes() else { return false };
        self.draft.mark(call.0, Mark::Recorded);
        let (site, size) = (self.hooks.site(self.draft, call), self.hooks.module.size(of_one));
        self.hooks.cursor.before(call);
        if stores {
            self.hooks.tell("before", &[site]);
            self.hooks.cursor.after(call);
        }
        for lane in 0..u64::from(lanes) {
            let place = self.hooks.number(lane);
            let at = if scattered {
                self.hooks.cursor.lane(address, place)
            } else {
                self.hooks.cursor.offset(self.hooks.module, address, lane * size)
            };
            let bit = self.hooks.cursor.lane(mask, place);
            let bit = self.hooks.cursor.widen(bit, self.hooks.module.int(64));
            let size = self.hooks.number(size);
            self.hooks.tell(if stores { "wrote_lane" } else { "read_lane" }, &[at, site, size, bit, place]);
        }
        true
    }
}
