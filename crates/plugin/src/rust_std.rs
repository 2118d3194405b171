//! The primitives of Rust's standard library, known by their names.
//!
//! The compiled standard library is not instrumented, and its locks are atomic accesses that are inlined into the program. So
//! hooks are put around them here, before anything is inlined, in three ways:
//!
//! - Generic functions, such as `Mutex::lock`, have their body in the module. The hook at its start does what the scheduler
//!   has to, and from there to the end of the body the thread is *told*: nothing that it does is recorded.
//! - Functions that were compiled with the standard library, such as `Condvar::notify_one`, get a twin of our own that is called
//!   instead, and calls them.
//! - Looks at whether an initialisation is done are enclosed one by one.
//!
//! What is not known by name stays what it is, atomic accesses and futexes: sound, but not a lock. Names are those of
//! symbols in the present mangling of rustc; the types that locks are of do not matter.

mod names;
mod twins;

use crate::ir::{Cursor, Module, Opcode, Type, Value};
use names::Known;

/// Puts hooks around calls of them, before they are inlined; whether the module changed.
pub(crate) fn before_inlining(module: &Module) -> bool {
    if !module.is_for_x86_64() {
        return false;
    }
    let mut changed = twins::make(module);
    for function in module.functions() {
        let Some(known) = names::body(&function.name()) else { continue };
        changed |= Body { module, function, word: module.int(64) }.tell(known);
    }
    changed
}

/// A function of the standard library whose body is in the module.
struct Body<'m> {
    module: &'m Module,
    function: Value,
    word: Type,
}

impl Body<'_> {
    /// Whether it was of the shape that is known.
    fn tell(&self, known: Known) -> bool {
        match known {
            Known::Lock { hook, shared } => self.lock(hook, shared),
            Known::Unlock => self.unlock(),
            Known::Initialise => self.initialise(),
            Known::Look => self.looks(),
            Known::Unpark => self.first("__reweave_std_unpark"),
            Known::Scope => {
                let cursor = Cursor::new(self.module);
                let hook = self.module.declare("__reweave_std_scope_ends", self.module.void(), &[]);
                for end in self.ends() {
                    cursor.before(end);
                    cursor.call(hook, &[]);
                }
                true
            }
        }
    }

    /// The object that a method is called on: what comes before is only where the result goes.
    fn this(&self) -> Option<Value> {
        let parameters = self.function.parameters();
        let place = parameters.iter().position(|parameter| !self.is_result(*parameter))?;
        parameters.get(place).copied().filter(|this| this.of().is_pointer())
    }

    fn is_result(&self, parameter: Value) -> bool {
        let place = self.function.parameters().iter().position(|other| *other == parameter);
        place.is_some_and(|place| self.function.is_result_parameter(place as u32))
    }

    fn start(&self) -> Option<Value> {
        self.function.blocks().first()?.first_after_allocas()
    }

    /// Where control leaves the function, by return or by unwinding.
    fn ends(&self) -> Vec<Value> {
        let last = self.function.blocks().into_iter().filter_map(|block| block.terminator());
        last.filter(|end| end.is(Opcode::LLVMRet) || end.is(Opcode::LLVMResume)).collect()
    }

    fn end_if(&self, cursor: &Cursor, told: Value) {
        let hook = self.module.declare("__reweave_told_end_if", self.module.void(), &[self.word]);
        for end in self.ends() {
            cursor.before(end);
            cursor.call(hook, &[told]);
        }
    }

    fn lock(&self, hook: &str, shared: bool) -> bool {
        let (Some(this), Some(start)) = (self.this(), self.start()) else { return false };
        let cursor = Cursor::new(self.module);
        let hook = self.module.declare(hook, self.word, &[self.module.pointer(), self.word]);
        cursor.before(start);
        let shared = self.module.constant(self.word, u64::from(shared));
        let told = cursor.call(hook, &[this, shared]);
        self.end_if(&cursor, told);
        true
    }

    /// The first pointer that a guard's end looks at is that to its lock.
    fn unlock(&self) -> bool {
        let Some(first) = self.function.blocks().first().copied() else { return false };
        let instructions = first.instructions();
        let is_lock = |at: &&Value| at.is(Opcode::LLVMLoad) && at.of().is_pointer() && !self.is_spilled(**at);
        let Some(lock) = instructions.iter().find(is_lock) else { return false };
        let cursor = Cursor::new(self.module);
        let hook = self.module.declare("__reweave_std_unlock", self.word, &[self.module.pointer()]);
        cursor.after(*lock);
        let told = cursor.call(hook, &[*lock]);
        self.end_if(&cursor, told);
        true
    }

    /// Whether what is loaded is the guard's own address, which was put into a variable for a debugger.
    fn is_spilled(&self, load: Value) -> bool {
        load.operand(0).is(Opcode::LLVMAlloca)
    }

    fn first(&self, hook: &str) -> bool {
        let Some(start) = self.start() else { return false };
        let cursor = Cursor::new(self.module);
        cursor.before(start);
        cursor.call(self.module.declare(hook, self.module.void(), &[]), &[]);
        true
    }

    /// The caller may be the one who initialises; then what it runs is the program's.
    fn initialise(&self) -> bool {
        let (Some(this), Some(start)) = (self.this(), self.start()) else { return false };
        let cursor = Cursor::new(self.module);
        let pointer = self.module.pointer();
        let begin = self.module.declare("__reweave_std_once", self.word, &[pointer]);
        let end = self.module.declare("__reweave_std_once_ends", self.module.void(), &[self.word, pointer]);
        self.looks();
        cursor.before(start);
        let role = cursor.call(begin, &[this]);
        for at in self.ends() {
            cursor.before(at);
            cursor.call(end, &[role, this]);
        }
        true
    }

    /// Encloses each atomic read of a word in the body.
    fn looks(&self) -> bool {
        let mut found = false;
        let blocks = self.function.blocks();
        for look in blocks.into_iter().flat_map(|block| block.instructions()) {
            if look.of().bits() != Some(32) {
                continue;
            }
            if look.is(Opcode::LLVMLoad) && look.is_atomic() {
                let cursor = Cursor::new(self.module);
                let (begin, seen) = look_hooks(self.module);
                cursor.before(look);
                let told = cursor.call(begin, &[]);
                cursor.after(look);
                cursor.call(seen, &[told, look.operand(0)]);
                found = true;
            } else if matches!(look.opcode(), Opcode::LLVMCall | Opcode::LLVMInvoke)
                && look.callee().is_function()
                && names::is_atomic_load(&look.callee().name())
            {
                look.call_instead(self.look_function(look.callee()));
                found = true;
            }
        }
        found
    }

    /// A function that reads as another does, enclosed.
    fn look_function(&self, original: Value) -> Value {
        const PREFIX: &str = "reweave_look";
        if let Some(made) = self.module.function(&format!("{PREFIX}.{}", original.name())) {
            return made;
        }
        let (of, result) = original.function_type();
        let own = self.module.define_twin(original, PREFIX);
        let cursor = Cursor::new(self.module);
        cursor.at_end(self.module.entry(own));
        let (begin, seen) = look_hooks(self.module);
        let arguments = own.parameters();
        let told = cursor.call(begin, &[]);
        let read = cursor.call((original, of), &arguments);
        cursor.call(seen, &[told, arguments.first().copied().unwrap_or(told)]);
        cursor.give(read, result);
        own
    }
}

/// What comes before and after a look at whether an initialisation is done.
fn look_hooks(module: &Module) -> ((Value, Type), (Value, Type)) {
    let word = module.int(64);
    let begin = module.declare("__reweave_told_begin", word, &[]);
    (begin, module.declare("__reweave_std_once_seen", module.void(), &[word, module.pointer()]))
}
