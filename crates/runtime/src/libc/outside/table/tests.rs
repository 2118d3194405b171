//! Tests of the tables.

use std::collections::HashSet;

use super::*;
use crate::libc::outside::entries::MOST_USES;
use crate::libc::outside::{attributes, texts};

/// The functions of all tables.
fn all() -> impl Iterator<Item = &'static (&'static str, &'static [u32])> {
    [TABLE, attributes::TABLE, texts::computing::TABLE, texts::called::TABLE]
        .into_iter()
        .flatten()
        .copied()
        .flatten()
}

#[test]
fn every_function_is_there_once_with_uses_that_can_be_told_apart() {
    let mut seen = HashSet::new();
    for (name, uses) in all() {
        assert!(seen.insert(name), "{name} is there twice");
        assert!((1..=MOST_USES).contains(&uses.len()), "{name}");
        let of = |part: &u32| (part >> 8 & 0xFF, part & 0xFF);
        let is_state = |part: &&u32| **part >> 24 == 1;
        let states: HashSet<_> = uses.iter().filter(is_state).map(of).collect();
        let count = uses.iter().filter(is_state).count();
        assert!(states.len() == count, "{name} uses a state in two ways");
        for &part in uses.iter().filter(is_state) {
            let several = [Stream, File, Directory].contains(&State::from_code((part >> 8) as u8).unwrap());
            assert_eq!(several, part & 0xFF != 0, "{name}: one of several needs an argument");
        }
    }
}

/// What is told of a function must be told where the program calls it: libc has all of them.
#[test]
fn libc_has_every_function() {
    unsafe extern "C" {
        fn dlsym(handle: *mut core::ffi::c_void, name: *const core::ffi::c_char) -> *mut core::ffi::c_void;
    }
    let missing: Vec<&str> = all()
        .map(|&(name, _)| name)
        .filter(|name| {
            let text = std::ffi::CString::new(*name).unwrap();
            // SAFETY: the text ends in a zero, and null means the libraries of this program.
            unsafe { dlsym(std::ptr::null_mut(), text.as_ptr()) }.is_null()
        })
        .collect();
    assert_eq!(missing, NEWER_OR_GONE, "functions that this libc does not have");
}

/// Functions that some versions of libc lack.
const NEWER_OR_GONE: &[&str] = &[];
