//! Tests of what formats say.

use core::ffi::CStr;
use std::vec::Vec;

use super::*;

/// A list of arguments whose registers are used up.
fn on_stack(words: &[usize]) -> Rest {
    Rest { register: 0, registers_end: 0, floats: FLOATS, stack: words.as_ptr() as usize }
}

fn texts(format: &CStr, words: &[usize]) -> Vec<usize> {
    let mut found = Vec::new();
    printed(format.as_ptr() as usize, false, on_stack(words), |_, length| found.push(length));
    found.remove(0);
    found
}

#[test]
fn a_format_says_which_texts_are_read() {
    let (a, b) = (c"hello".as_ptr() as usize, c"x".as_ptr() as usize);
    assert_eq!(texts(c"%s %d %s", &[a, 1, b]), [6, 2]);
    assert_eq!(texts(c"%.3s|%.*s|%-*s%%", &[a, 2, a, 9, a]), [3, 2, 6]);
    assert_eq!(texts(c"%f %5.2lf %s %Lg", &[a]), [6]);
    assert_eq!(texts(c"%s%m%ld%hhx%zu%p", &[0, 1, 2, 3, 4]), [0]);
    assert_eq!(texts(c"%1$s", &[a]), [6]);
    assert_eq!(texts(c"%3$s %1$d %2$f %3$.*1$s%4$05ld", &[2, a, 7]), [6, 2]);
    assert_eq!(texts(c"%1$s %3$s", &[a, 5, b]), [6, 2]);
    assert_eq!(texts(c"100%", &[]), [] as [usize; 0]);
}

#[test]
fn a_format_of_wide_characters_says_the_same() {
    let (text, wide) = (c"abc".as_ptr() as usize, ['x' as u32, 'y' as u32, 0]);
    let format: Vec<u32> = "\u{20ac}%d%s %ls\0".chars().map(u32::from).collect();
    let mut found = Vec::new();
    let words = [1, text, wide.as_ptr() as usize];
    printed(format.as_ptr() as usize, true, on_stack(&words), |_, length| found.push(length));
    assert_eq!(found, [format.len() * WIDE, 4, 3 * WIDE]);
}

#[test]
fn the_address_of_a_numbered_argument_is_the_one_that_is_written() {
    let mut found = Vec::new();
    let words = [0x1000, 0x2000];
    scanned(c"%2$d %1$hd".as_ptr() as usize, on_stack(&words), 2, |at, length| found.push((at, length)));
    assert_eq!(found, [(0x2000, 4), (0x1000, 2)]);
}

#[test]
fn a_format_says_what_was_written() {
    let word = c"ab".as_ptr() as usize;
    let cases: [(&CStr, usize, &[usize]); 7] = [
        (c"%2$d %1$ld", 2, &[4, 8]),
        (c"%d %ld %hhd", 3, &[4, 8, 1]),
        (c"%d %ld %hhd", 1, &[4]),
        (c"%*d%n%lf", 1, &[4, 8]),
        (c"%[^]x]%5c", 2, &[3, 5]),
        (c"%s %d", 1, &[3]),
        (c"%d%n", 1, &[4]),
    ];
    for (format, assigned, expected) in cases {
        let mut found = Vec::new();
        scanned(format.as_ptr() as usize, on_stack(&[word; 4]), assigned, |_, length| found.push(length));
        assert_eq!(found, expected, "{format:?}");
    }
}
