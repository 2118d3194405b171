//! Tests of how far functions of libc read.

use core::ffi::CStr;

use super::*;

fn at(text: &'static CStr) -> usize {
    text.as_ptr() as usize
}

#[test]
fn a_number_is_read_up_to_the_byte_that_ends_it() {
    let cases = [
        (c"", 1),
        (c"1", 2),
        (c" \t-12;34", 6),
        (c"0x1F rest", 5),
        (c"1e+5+1", 5),
        (c"5-3", 2),
        (c"3.25)", 5),
        (c"x", 2),
    ];
    for (text, length) in cases {
        assert_eq!(number_length(at(text)), length, "{text:?}");
    }
}

#[test]
fn texts_are_compared_up_to_their_first_difference() {
    let cases = [(c"abc", c"ABd", 9, 3), (c"ab", c"AB", 9, 3), (c"abc", c"abc", 2, 2), (c"", c"x", 9, 1)];
    for (a, b, most, length) in cases {
        assert_eq!(alike(at(a), at(b), most), length, "{a:?} {b:?}");
    }
    assert_eq!((text(at(c"ab")), text_to(at(c"ab"), 1), text_to(at(c"ab"), 3)), (3, 1, 3));
}

#[test]
fn the_number_of_a_kind_is_its_place() {
    assert!(ALL.iter().enumerate().all(|(place, &what)| what as usize == place));
}
