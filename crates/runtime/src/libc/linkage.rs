//! The dynamic linkage of recorded code: calls of libraries without hooks are led through stubs.
//!
//! A program and its shared libraries call each other through tables of addresses, which the loader fills. Where such an
//! address of a module with hooks is that of a function in a library without, or of one of libc that is on no list, it is
//! replaced by a stub's ([`crate::libc::libraries`]). This is done when the program starts, and when it has loaded a library. Functions whose
//! address is computed otherwise (`dlsym`, tables of functions) are not seen there.

use core::ffi::{CStr, c_char, c_void};

use crate::libc::libraries::{self, Callee, Code};
use crate::libc::listed;
use crate::libc::real;
use crate::sys;

/// The loader's `struct dl_phdr_info`, its first part.
#[repr(C)]
struct Loaded {
    base: usize,
    name: *const c_char,
    headers: *const Header,
    count: u16,
}

/// A program header.
#[derive(Clone, Copy)]
#[repr(C)]
struct Header {
    kind: u32,
    flags: u32,
    offset: usize,
    address: usize,
    physical: usize,
    file_size: usize,
    size: usize,
    align: usize,
}

const LOAD: u32 = 1;
const EXECUTE: u32 = 1;
const DYNAMIC: u32 = 2;
const RELRO: u32 = 0x6474_e552;

#[derive(Clone, Copy)]
#[repr(C)]
struct Relocation {
    offset: usize,
    info: usize,
    addend: isize,
}

#[derive(Clone, Copy)]
#[repr(C)]
struct Symbol {
    name: u32,
    info: u8,
    other: u8,
    section: u16,
    value: usize,
    size: usize,
}

const JUMP_SLOT: usize = 7;
const GLOB_DAT: usize = 6;

/// What is needed of a module.
#[derive(Clone, Copy, Default)]
struct Module {
    start: usize,
    end: usize,
    base: usize,
    symbols: usize,
    strings: usize,
    /// Two tables of relocations: address and size in bytes.
    tables: [(usize, usize); 2],
    /// What may not be written any more.
    sealed: (usize, usize),
    is_new: bool,
    code: Option<Code>,
    /// Where its instructions are.
    instructions: (usize, usize),
    /// Whether each of its functions is on a list, or counts as unlisted.
    is_reviewed: bool,
}

const MOST: usize = 512;

struct Modules {
    list: [Module; MOST],
    count: usize,
}

unsafe extern "C" {
    fn dl_iterate_phdr(each: extern "C" fn(&Loaded, usize, *mut c_void) -> i32, data: *mut c_void) -> i32;
}

/// Leads the calls of all that was loaded since the last time.
pub(crate) fn lead() {
    real::keep();
    let room = sys::map(size_of::<Modules>()) as *mut Modules;
    if room.is_null() {
        return;
    }
    // SAFETY: the loader calls the function for each module, with what we pass.
    unsafe { dl_iterate_phdr(note, room.cast()) };
    // SAFETY: zeroed memory of that size, which nobody else knows of any more; zeroes are no modules.
    let Some(modules) = (unsafe { room.as_mut() }) else { return };
    let Modules { list, count } = modules;
    for module in list.iter_mut().take(*count) {
        let known = libraries::code_at(module.start);
        module.is_new = known == Code::Unknown;
        if module.is_new {
            let code =
                module.code.unwrap_or_else(|| if has_hooks(module) { Code::Recorded } else { Code::Foreign });
            libraries::add(module.start, module.end, code);
            module.code = Some(code);
        }
    }
    let all = list.get(..*count).unwrap_or_default();
    all.iter()
        .filter(|module| module.is_new && module.code == Some(Code::Recorded))
        .for_each(|module| lead_calls(module, all));
}

/// Notes a module.
extern "C" fn note(loaded: &Loaded, _size: usize, modules: *mut c_void) -> i32 {
    // SAFETY: `lead` passes this address of fresh memory, and nobody else uses it meanwhile.
    let Some(modules) = (unsafe { modules.cast::<Modules>().as_mut() }) else { return 0 };
    let is_program = modules.count == 0;
    let Some(room) = modules.list.get_mut(modules.count) else { return 0 };
    let mut module = Module { base: loaded.base, start: usize::MAX, ..Module::default() };
    let mut dynamic = 0;
    for place in 0..usize::from(loaded.count) {
        // SAFETY: the loader says that there are so many headers.
        let header = unsafe { loaded.headers.add(place).read() };
        let at = loaded.base.wrapping_add(header.address);
        match header.kind {
            LOAD => {
                if header.flags & EXECUTE != 0 {
                    module.instructions = (at, at.wrapping_add(header.size));
                }
                module.start = module.start.min(at);
                module.end = module.end.max(at.wrapping_add(header.size));
            }
            DYNAMIC => dynamic = at,
            RELRO => module.sealed = (at, at.wrapping_add(header.size)),
            _ => {}
        }
    }
    if dynamic == 0 || module.start >= module.end {
        return 0;
    }
    read_dynamic(&mut module, dynamic);
    // SAFETY: a text of the loader's, or none.
    let name = if loaded.name.is_null() { c"" } else { unsafe { CStr::from_ptr(loaded.name) } };
    module.code = if is_program {
        Some(Code::Recorded)
    } else {
        listed::is_system(name.to_bytes()).then_some(Code::System)
    };
    module.is_reviewed = listed::is_reviewed(name.to_bytes());
    *room = module;
    modules.count += 1;
    0
}

/// Reads the dynamic section.
fn read_dynamic(module: &mut Module, mut at: usize) {
    const END: usize = 0;
    const PLT_SIZE: usize = 2;
    const STRINGS: usize = 5;
    const SYMBOLS: usize = 6;
    const RELA: usize = 7;
    const RELA_SIZE: usize = 8;
    const JMPREL: usize = 23;
    loop {
        let (tag, value) = (word(at), word(at + 8));
        // The loader has added the base already, but where the section cannot be written.
        let address = if value < module.base { value.wrapping_add(module.base) } else { value };
        match tag {
            END => return,
            STRINGS => module.strings = address,
            SYMBOLS => module.symbols = address,
            RELA => module.tables[0].0 = address,
            RELA_SIZE => module.tables[0].1 = value,
            JMPREL => module.tables[1].0 = address,
            PLT_SIZE => module.tables[1].1 = value,
            _ => {}
        }
        at += 16;
    }
}

fn word(at: usize) -> usize {
    crate::abi::access::load(at, 8) as usize
}

impl Module {
    /// The addresses of functions elsewhere that the loader fills in: where, and the name.
    fn addresses(&self) -> impl Iterator<Item = (usize, &'static CStr)> {
        let Module { base, symbols, strings, tables, .. } = *self;
        let relocations = tables.into_iter().filter(|table| table.0 != 0).flat_map(|(at, bytes)| {
            let count = bytes / size_of::<Relocation>();
            // SAFETY: the module says that there are so many.
            (0..count).map(move |place| unsafe { (at as *const Relocation).add(place).read() })
        });
        relocations.filter_map(move |relocation| {
            let (kind, number) = (relocation.info & 0xFFFF_FFFF, relocation.info >> 32);
            if !matches!(kind, JUMP_SLOT | GLOB_DAT) || number == 0 || symbols == 0 || strings == 0 {
                return None;
            }
            // SAFETY: the module's own symbol.
            let symbol = unsafe { (symbols as *const Symbol).add(number).read() };
            // SAFETY: its name, in the module's own table.
            let name = unsafe { CStr::from_ptr((strings + symbol.name as usize) as *const c_char) };
            (symbol.section == 0).then_some((base.wrapping_add(relocation.offset), name))
        })
    }
}

/// Whether a module calls hooks.
fn has_hooks(module: &Module) -> bool {
    module.addresses().any(|(_, name)| {
        let name = name.to_bytes();
        name.starts_with(b"__tsan_") || name.starts_with(b"__reweave_")
    })
}

/// The function that an address in a table stands for, and whether it is one that is on no list; none where its calls are not
/// led anywhere.
fn function(module: &Module, all: &[Module], at: usize, name: &CStr) -> Option<(usize, bool)> {
    let found = word(at);
    // Before its first call, an address may lead back to the module, and from there to the loader.
    let found = if (module.start..module.end).contains(&found) { real::look_up(0, name) } else { found };
    // It may also be the address of data.
    let holds = |(start, end): (usize, usize)| (start..end).contains(&found);
    let target = all.iter().find(|module| holds(module.instructions))?;
    match libraries::code_at(found) {
        Code::Foreign => Some((found, false)).filter(|_| !listed::is_harmless(name.to_bytes())),
        Code::System => {
            Some((found, true)).filter(|_| target.is_reviewed && !listed::is_pure(name.to_bytes()))
        }
        _ => None,
    }
}

const STUB_BYTES: usize = 16;
const PAGE: usize = 4096;

/// Replaces addresses in a module's tables.
fn lead_calls(module: &Module, all: &[Module]) {
    let led = |(at, name)| function(module, all, at, name).is_some();
    let found = module.addresses().filter(|&address| led(address)).count();
    if found == 0 {
        return;
    }
    let (stubs, callees) = (sys::map(found * STUB_BYTES), sys::map(found * size_of::<Callee>()));
    if stubs == 0 || callees == 0 {
        return;
    }
    let length = (found * STUB_BYTES).next_multiple_of(PAGE);
    let mut place = 0;
    for (at, name) in module.addresses() {
        let Some((function, unlisted)) = function(module, all, at, name).filter(|_| place < found) else {
            continue;
        };
        let name = if unlisted { name.as_ptr() } else { core::ptr::null() };
        let (stub, callee) = (stubs + place * STUB_BYTES, callees + place * size_of::<Callee>());
        // SAFETY: both lie in memory that was just mapped.
        unsafe {
            (callee as *mut Callee).write(Callee::new(function, name));
            (stub as *mut [u8; STUB_BYTES]).write(stub_code(callee));
        }
        place += 1;
        replace(module, at, stub);
    }
    sys::protect(stubs, length, sys::READ_EXECUTE);
}

/// `mov r11, callee; jmp [r11]`
fn stub_code(callee: usize) -> [u8; STUB_BYTES] {
    let [a, b, c, d, e, f, g, h] = callee.to_le_bytes();
    [0x49, 0xBB, a, b, c, d, e, f, g, h, 0x41, 0xFF, 0x23, 0xCC, 0xCC, 0xCC]
}

/// Writes an address, also where the loader has made that read-only.
fn replace(module: &Module, at: usize, address: usize) {
    let sealed = (module.sealed.0 / PAGE * PAGE..module.sealed.1).contains(&at);
    let page = at / PAGE * PAGE;
    if sealed && !sys::protect(page, PAGE, sys::READ_WRITE) {
        return;
    }
    // SAFETY: an aligned word of the module's table, which can be written.
    unsafe { (at as *mut usize).write_volatile(address) };
    if sealed {
        // What the loader seals ends with a page.
        sys::protect(page, PAGE, sys::READ_ONLY);
    }
}
