//! `std::sync::atomic`, explored: every access is a step, and all are sequentially consistent.

pub use std::sync::atomic::Ordering;

use std::fmt;
use std::sync::atomic as real;

use reweave_explore::{Function, Init, ObjectId, Op, Outcome, Update, Watch, tag};

use super::super::{host, spin};
use super::Id;

/// A fence. Explored accesses are sequentially consistent anyway.
pub fn fence(ordering: Ordering) {
    if host::host(|host| host.ordered(ordering)).is_none() {
        real::fence(ordering);
    }
}

/// What stands for the cell in each of the types below.
#[derive(Clone, Copy)]
struct Cell(Id);

impl Cell {
    fn new(value: u64) -> Cell {
        Cell(Id::new("atomic", Init::Cell(value)))
    }

    #[inline(never)]
    fn get(self, ordering: Ordering) -> Option<ObjectId> {
        let cell = self.0.get()?;
        host::host(|host| host.ordered(ordering));
        Some(cell)
    }

    #[inline(never)]
    #[track_caller]
    fn load(cell: ObjectId, round: bool) -> u64 {
        if round {
            waits();
        }
        let value = host::step(Op::Read { cell, plain: false }).value;
        spin::saw(Watch::Value(cell, value));
        value
    }

    #[inline(never)]
    #[track_caller]
    fn store(cell: ObjectId, value: u64) {
        spin::stop();
        host::step(Op::Write { cell, value, plain: false });
    }

    #[inline(never)]
    #[track_caller]
    fn update(cell: ObjectId, function: Function, operand: u64, bits: u32, round: bool) -> (u64, u64) {
        if round {
            waits();
        }
        let update = Update { function, operand, bits };
        let old = host::step(Op::Update { cell, update }).value;
        let new = update.apply(old);
        if old == new {
            spin::saw(Watch::Value(cell, old))
        } else {
            spin::stop()
        }
        (old, new)
    }

    #[inline(never)]
    #[track_caller]
    fn exchange(cell: ObjectId, expected: u64, new: u64, weak: bool, again: bool) -> Outcome {
        // A weak exchange that failed without cause, and came back knowing no more, would do so again: once is enough. A
        // strong one waits.
        if again && !weak {
            waits();
        }
        let outcome = host::step(Op::Exchange { cell, expected, new, weak: weak && !again });
        if outcome.tag & tag::FAILED != 0 || expected == new {
            spin::saw(Watch::Value(cell, outcome.value));
        } else {
            spin::stop();
        }
        outcome
    }
}

/// Waits until something changes that the thread saw.
#[track_caller]
pub(crate) fn waits() {
    host::host(|host| host.relies.loops.set(true));
    host::step(Op::Await { watched: spin::seen() });
    spin::waited();
}

/// How many looks in a row make a thread worth comparing with itself.
const SUSPICIOUS: usize = 3;

macro_rules! common {
    ($name:ident, $type:ty, [$($generic:tt)*], $bits:expr, $into:expr, $from:expr) => {
        impl<$($generic)*> $name<$($generic)*> {
            /// An atomic with this value.
            pub fn new(value: $type) -> Self {
                $name { cell: Cell::new($into(value)), real: real::$name::new(value) }
            }

            /// What it has.
            #[inline(always)]
            #[track_caller]
            pub fn load(&self, ordering: Ordering) -> $type {
                match self.cell.get(ordering) {
                    Some(cell) => $from(Cell::load(cell, spin::round(u64::from(cell.0) << 8, SUSPICIOUS))),
                    None => self.real.load(ordering),
                }
            }

            /// Has it have this.
            #[track_caller]
            pub fn store(&self, value: $type, ordering: Ordering) {
                match self.cell.get(ordering) {
                    Some(cell) => {
                        Cell::store(cell, $into(value));
                        self.real.store(value, Ordering::SeqCst);
                    }
                    None => self.real.store(value, ordering),
                }
            }

            /// Has it have this; what it had.
            #[inline(always)]
            #[track_caller]
            pub fn swap(&self, value: $type, ordering: Ordering) -> $type {
                match self.cell.get(ordering) {
                    Some(cell) => {
                        let round = spin::round(u64::from(cell.0) << 8 | 1, SUSPICIOUS);
                        let (old, _) = Cell::update(cell, Function::Swap, $into(value), $bits, round);
                        self.real.store(value, Ordering::SeqCst);
                        $from(old)
                    }
                    None => self.real.swap(value, ordering),
                }
            }

            /// Has it have `new` if it has `current`; what it had.
            #[inline(always)]
            #[track_caller]
            pub fn compare_exchange(
                &self,
                current: $type,
                new: $type,
                success: Ordering,
                failure: Ordering,
            ) -> Result<$type, $type> {
                match self.cell.get(success) {
                    Some(cell) => {
                        let round = spin::round(u64::from(cell.0) << 8 | 2, SUSPICIOUS);
                        self.exchanged(cell, current, new, false, round)
                    }
                    None => self.real.compare_exchange(current, new, success, failure),
                }
            }

            /// The same, but it may fail without cause.
            #[inline(always)]
            #[track_caller]
            pub fn compare_exchange_weak(
                &self,
                current: $type,
                new: $type,
                success: Ordering,
                failure: Ordering,
            ) -> Result<$type, $type> {
                match self.cell.get(success) {
                    Some(cell) => {
                        let round = spin::round(u64::from(cell.0) << 8 | 3, 1);
                        self.exchanged(cell, current, new, true, round)
                    }
                    None => self.real.compare_exchange_weak(current, new, success, failure),
                }
            }

            #[track_caller]
            fn exchanged(
                &self,
                cell: ObjectId,
                current: $type,
                new: $type,
                weak: bool,
                round: bool,
            ) -> Result<$type, $type> {
                let outcome = Cell::exchange(cell, $into(current), $into(new), weak, round);
                let old = $from(outcome.value);
                if outcome.tag & tag::FAILED != 0 {
                    return Err(old);
                }
                self.real.store(new, Ordering::SeqCst);
                Ok(old)
            }

            /// Changes it by a function, again and again until nobody came in between.
            #[inline(always)]
            #[track_caller]
            pub fn fetch_update<F>(&self, set: Ordering, fetch: Ordering, mut change: F) -> Result<$type, $type>
            where
                F: FnMut($type) -> Option<$type>,
            {
                let mut seen = self.load(fetch);
                while let Some(next) = change(seen) {
                    match self.compare_exchange_weak(seen, next, set, fetch) {
                        Ok(old) => return Ok(old),
                        Err(other) => seen = other,
                    }
                }
                Err(seen)
            }

            /// What it has, of one that nobody else can reach.
            #[track_caller]
            pub fn into_inner(self) -> $type {
                self.load(Ordering::SeqCst)
            }
        }

        impl<$($generic)*> From<$type> for $name<$($generic)*> {
            fn from(value: $type) -> Self {
                $name::new(value)
            }
        }

        impl<$($generic)*> fmt::Debug for $name<$($generic)*> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.load(Ordering::SeqCst).fmt(f)
            }
        }
    };
}

macro_rules! fetch {
    ($name:ident, $type:ty, $bits:expr, $into:expr, $from:expr, $($method:ident = $function:expr;)*) => {
        impl $name {
            $(
                /// Changes it; what it had.
                #[track_caller]
                pub fn $method(&self, value: $type, ordering: Ordering) -> $type {
                    match self.cell.get(ordering) {
                        Some(cell) => {
                            let (old, new) = Cell::update(cell, $function, $into(value), $bits, false);
                            self.real.store($from(new), Ordering::SeqCst);
                            $from(old)
                        }
                        None => self.real.$method(value, ordering),
                    }
                }
            )*
        }
    };
}

macro_rules! integer {
    ($name:ident, $type:ty, $unsigned:ty, $max:ident, $min:ident) => {
        /// The atomic of this name, explored.
        pub struct $name {
            cell: Cell,
            real: real::$name,
        }

        common!($name, $type, [], <$type>::BITS, |value: $type| value as $unsigned as u64, |word: u64| word as $type);
        fetch!(
            $name, $type, <$type>::BITS, |value: $type| value as $unsigned as u64, |word: u64| word as $type,
            fetch_add = Function::Add;
            fetch_sub = Function::Sub;
            fetch_and = Function::And;
            fetch_nand = Function::Nand;
            fetch_or = Function::Or;
            fetch_xor = Function::Xor;
            fetch_max = Function::$max;
            fetch_min = Function::$min;
        );

        impl Default for $name {
            fn default() -> Self {
                $name::new(0)
            }
        }
    };
}

integer!(AtomicU8, u8, u8, Max, Min);
integer!(AtomicU16, u16, u16, Max, Min);
integer!(AtomicU32, u32, u32, Max, Min);
integer!(AtomicU64, u64, u64, Max, Min);
integer!(AtomicUsize, usize, usize, Max, Min);
integer!(AtomicI8, i8, u8, MaxSigned, MinSigned);
integer!(AtomicI16, i16, u16, MaxSigned, MinSigned);
integer!(AtomicI32, i32, u32, MaxSigned, MinSigned);
integer!(AtomicI64, i64, u64, MaxSigned, MinSigned);
integer!(AtomicIsize, isize, usize, MaxSigned, MinSigned);

/// The atomic of this name, explored.
pub struct AtomicBool {
    cell: Cell,
    real: real::AtomicBool,
}

common!(AtomicBool, bool, [], 1, u64::from, |word: u64| word != 0);
fetch!(
    AtomicBool, bool, 1, u64::from, |word: u64| word != 0,
    fetch_and = Function::And;
    fetch_nand = Function::Nand;
    fetch_or = Function::Or;
    fetch_xor = Function::Xor;
);

impl Default for AtomicBool {
    fn default() -> Self {
        AtomicBool::new(false)
    }
}

/// The atomic of this name, explored. To the search an address is the thread that gave it away first, and a number.
pub struct AtomicPtr<T> {
    cell: Cell,
    real: real::AtomicPtr<T>,
}

fn named<T>(pointer: *mut T) -> u64 {
    host::host(|host| {
        host.tells();
        host.pointers.borrow_mut().name(host.current(), pointer.expose_provenance())
    })
    .unwrap_or_default()
}

fn address<T>(name: u64) -> *mut T {
    let address = host::host(|host| host.pointers.borrow().address(name)).unwrap_or_default();
    std::ptr::with_exposed_provenance_mut(address)
}

common!(AtomicPtr, *mut T, [T], 64, named, address);

impl<T> Default for AtomicPtr<T> {
    fn default() -> Self {
        AtomicPtr::new(std::ptr::null_mut())
    }
}
