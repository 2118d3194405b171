//! The types that Reweave knows without being given a specification.

use crate::Spec;

macro_rules! files {
    ($($name:literal),*) => {
        /// The name and the text of the specification of each built-in type.
        pub const BUILTIN: &[(&str, &str)] =
            &[$(($name, include_str!(concat!("../builtin/", $name, ".rwspec")))),*];
    };
}

files![
    "barrier",
    "channel",
    "condition",
    "context",
    "counter",
    "descriptor",
    "directory",
    "file",
    "map",
    "mutex",
    "once",
    "queue",
    "refcount",
    "register",
    "semaphore",
    "set",
    "socket",
    "stack",
    "union_find",
    "wait_group"
];

/// The built-in type called `name`, with the name of its file.
pub fn builtin(name: &str) -> Option<Spec> {
    let (_, text) = BUILTIN.iter().find(|(known, _)| *known == name)?;
    Spec::parse(text).ok()
}
