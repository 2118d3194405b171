//! What is said to the user, in colour where that is wanted.

use std::fmt::Display;
use std::fs::File;
use std::io::{self, BufWriter, IsTerminal, Write};

use anstyle::{AnsiColor, Style};

use crate::args::{Color, Global};
use crate::plain::{Plain, ours, plain};

pub(crate) const GOOD: Style = AnsiColor::Green.on_default().bold();
pub(crate) const BAD: Style = AnsiColor::Red.on_default().bold();
pub(crate) const STRONG: Style = Style::new().bold();
const WARNING: Style = AnsiColor::Yellow.on_default().bold();
const HINT: Style = AnsiColor::Cyan.on_default().bold();

/// Standard output for results, standard error for everything else.
pub(crate) struct Console {
    quiet: bool,
    color_out: bool,
    color_err: bool,
    /// Where messages go instead of standard error.
    file: Option<File>,
}

impl Console {
    pub(crate) fn new(global: &Global) -> Console {
        let auto = |terminal: bool| match global.color {
            Color::Always => true,
            Color::Never => false,
            Color::Auto => terminal && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty()),
        };
        Console {
            quiet: global.quiet,
            color_out: auto(io::stdout().is_terminal()),
            color_err: auto(io::stderr().is_terminal()),
            file: None,
        }
    }

    /// Messages go to a file, without colour or progress.
    pub(crate) fn to_file(file: File) -> Console {
        Console { quiet: false, color_out: false, color_err: false, file: Some(file) }
    }

    /// Whether progress may be shown.
    pub(crate) fn shows_progress(&self) -> bool {
        !self.quiet && self.file.is_none() && io::stderr().is_terminal()
    }

    /// Standard output, to write a result to.
    pub(crate) fn out(&self) -> Plain<BufWriter<io::StdoutLock<'static>>> {
        Plain::new(BufWriter::new(io::stdout().lock()), self.color_out)
    }

    /// Whether standard output is in colour.
    pub(crate) fn colors(&self) -> bool {
        self.color_out
    }

    /// `text` in `style`, for standard output.
    pub(crate) fn styled(&self, style: Style, text: impl Display) -> String {
        self.ours(paint(self.color_out, style, plain(text)))
    }

    /// Text for standard output that was made in colour where that is wanted, with every name in it spelled out.
    pub(crate) fn ours(&self, text: String) -> String {
        if self.color_out { ours(&text) } else { text }
    }

    pub(crate) fn error(&self, message: impl Display) {
        self.say(BAD, "error", message);
    }

    pub(crate) fn hint(&self, message: impl Display) {
        self.say(HINT, "hint", message);
    }

    /// Something that the user has to know, also with `--quiet`.
    pub(crate) fn warn(&self, message: impl Display) {
        self.say(WARNING, "warning", message);
    }

    /// Something that is nice to know.
    pub(crate) fn note(&self, message: impl Display) {
        if !self.quiet {
            self.line(format_args!("{}", plain(message)));
        }
    }

    /// When standard error cannot be written to there is nobody left to tell.
    fn say(&self, style: Style, label: &str, message: impl Display) {
        let label = paint(self.color_err, style, format_args!("{label}:"));
        self.line(format_args!("{label} {}", plain(message)));
    }

    fn line(&self, line: impl Display) {
        let _ = match &self.file {
            Some(file) => writeln!(&mut &*file, "{line}"),
            None => writeln!(io::stderr(), "{line}"),
        };
    }
}

fn paint(color: bool, style: Style, text: impl Display) -> String {
    if color { format!("{style}{text}{style:#}") } else { text.to_string() }
}
