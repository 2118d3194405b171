//! Text without control characters: what a trace or a file is called must not drive the user's terminal.

use std::collections::hash_map::RandomState;
use std::fmt::{self, Display};
use std::hash::BuildHasher;
use std::io::{self, Write};
use std::sync::LazyLock;

/// The sequences that our own styles are made of: no others are let through, be they colours or not.
const STYLES: [&str; 7] = ["\x1b[0m", "\x1b[1m", "\x1b[2m", "\x1b[31m", "\x1b[32m", "\x1b[33m", "\x1b[36m"];

/// What stands before our own styles on their way to a terminal: a name in a trace may be a style, too, but cannot know this.
static MARK: LazyLock<String> = LazyLock::new(|| format!("\x01{:016x}", RandomState::new().hash_one(0)));

/// Text of ours, whose styles may pass.
pub(crate) fn ours(text: &str) -> String {
    let mut marked = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('\x1b') {
        let (before, after) = rest.split_at(at);
        marked.push_str(before);
        if style(after).is_some() {
            marked.push_str(&MARK);
        }
        marked.push('\x1b');
        rest = &after[1..];
    }
    marked + rest
}

/// `message` with its control characters spelled out, but for ends of lines and tabs.
pub(crate) fn plain(message: impl Display) -> String {
    let mut text = String::new();
    // Writing to a text does not fail; what cannot be shown leaves what there is.
    let _ = clean(&message.to_string(), false, &mut text);
    text
}

fn clean(text: &str, styled: bool, into: &mut impl fmt::Write) -> fmt::Result {
    let mut rest = text;
    while let Some(character) = rest.chars().next() {
        if styled
            && let Some(after) = rest.strip_prefix(MARK.as_str())
            && let Some(length) = style(after)
        {
            let (style, after) = after.split_at(length);
            into.write_str(style)?;
            rest = after;
            continue;
        }
        if is_obeyed(character) {
            write!(into, "{}", character.escape_unicode())?;
        } else {
            into.write_char(character)?;
        }
        rest = &rest[character.len_utf8()..];
    }
    Ok(())
}

/// Whether a terminal does not show the character, but does what it says.
pub(crate) fn is_obeyed(character: char) -> bool {
    character.is_control() && !matches!(character, '\n' | '\t') || is_direction(character)
}

/// Characters that change the direction of what follows, so that it reads as something else.
fn is_direction(character: char) -> bool {
    matches!(character, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// The length of the style that the text begins with.
fn style(text: &str) -> Option<usize> {
    STYLES.iter().find(|style| text.starts_with(**style)).map(|style| style.len())
}

/// A writer to a terminal, or to whatever standard output is.
pub(crate) struct Plain<W: Write> {
    to: W,
    /// Whether our own styles may pass.
    styled: bool,
    /// The start of a character, or of a colour, whose rest is still to come.
    held: Vec<u8>,
}

impl<W: Write> Plain<W> {
    pub(crate) fn new(to: W, styled: bool) -> Plain<W> {
        Plain { to, styled, held: Vec::new() }
    }

    fn pass(&mut self, length: usize) -> io::Result<()> {
        let rest = self.held.split_off(length);
        let text = String::from_utf8_lossy(&self.held).into_owned();
        self.held = rest;
        let mut cleaned = String::with_capacity(text.len());
        clean(&text, self.styled, &mut cleaned).map_err(io::Error::other)?;
        self.to.write_all(cleaned.as_bytes())
    }
}

impl<W: Write> Write for Plain<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.held.extend_from_slice(bytes);
        // Up to the end of a line nothing is cut in two.
        if let Some(end) = self.held.iter().rposition(|&byte| byte == b'\n') {
            self.pass(end + 1)?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.pass(self.held.len())?;
        self.to.flush()
    }
}

impl<W: Write> Drop for Plain<W> {
    fn drop(&mut self) {
        // Whoever wants to know of failures flushes.
        let _ = self.flush();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_drives_a_terminal_is_spelled_out() {
        assert_eq!(plain("a\x1b]0;title\x07b\x7f\r"), "a\\u{1b}]0;title\\u{7}b\\u{7f}\\u{d}");
        assert_eq!(plain("\u{9b}2J \u{202e}x"), "\\u{9b}2J \\u{202e}x");
        assert_eq!(plain("\x1b[2J"), "\\u{1b}[2J");
    }

    /// Also a colour may hide what follows, and comes from us or from nobody.
    #[test]
    fn lines_stay_and_colours_only_where_they_are_ours() {
        let text = "\x1b[1m\x1b[31merror:\x1b[0m one\n\ttwo – ü\n";
        assert_eq!(written(&ours(text), true), text);
        assert_eq!(written(&ours("a"), false), "a");
        assert_eq!(written("a\x1b[1mb\n", true), "a\\u{1b}[1mb\n");
        assert_eq!(written(&format!("{}a\x1b[31mb\n", ours("\x1b[1m")), true), "\x1b[1ma\\u{1b}[31mb\n");
        assert_eq!(written("a\x1b[8mb\x1b[38;5;1m\n", true), "a\\u{1b}[8mb\\u{1b}[38;5;1m\n");
        assert_eq!(written("a\x1b[1mb\n", false), "a\\u{1b}[1mb\n");
        assert_eq!(plain("a\x1b[1mb\n"), "a\\u{1b}[1mb\n");
    }

    #[test]
    fn a_character_may_come_in_parts() {
        assert_eq!(written(&ours("ü\u{9b}\x1b[1mx\n\x1b[2Jy"), true), "ü\\u{9b}\x1b[1mx\n\\u{1b}[2Jy");
    }

    fn written(text: &str, styled: bool) -> String {
        let mut out = Vec::new();
        let mut writer = Plain::new(&mut out, styled);
        for byte in text.as_bytes() {
            writer.write_all(&[*byte]).unwrap();
        }
        drop(writer);
        String::from_utf8(out).unwrap()
    }
}
