//! What the data in a lock or a message is to the search: its value where that can be compared, else a version.

use reweave_explore::Data;

/// Integers, and what is read like one.
const PLAIN: &[&str] =
    &["bool", "char", "u8", "u16", "u32", "u64", "usize", "i8", "i16", "i32", "i64", "isize", "()"];

/// The value of an integer. Anything else is known by the history of who gave it.
pub(crate) fn of<T: ?Sized>(data: &T) -> Data {
    let size = size_of_val(data);
    if size == 0 {
        return Data::Value(0);
    }
    // No type of a program has the bare name of a primitive one: the name of any other has its path.
    if size > 8 || !PLAIN.contains(&std::any::type_name::<T>()) {
        return Data::Version;
    }
    let mut bytes = [0; 8];
    // SAFETY: it is a primitive type of `size` bytes, all of which are initialised.
    unsafe { std::ptr::copy_nonoverlapping(std::ptr::from_ref(data).cast::<u8>(), bytes.as_mut_ptr(), size) };
    Data::Value(u64::from_ne_bytes(bytes))
}
