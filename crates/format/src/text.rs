//! Lines of text into events, for every text format.

use memchr::memchr;
use reweave_trace::Builder;

use crate::LineMap;
use crate::error::{Malformed, Place};

/// The longest line, in bytes. Longer ones are refused before they take memory.
pub(crate) const MAX_LINE_BYTES: usize = 1 << 20;

/// What a format makes of one line.
pub(crate) trait LineParser: Default + Send {
    /// Pushes the event of `line`, if it has one. The line comes without its end.
    fn line(&mut self, line: &str, builder: &mut Builder) -> Result<Line, LineError>;

    /// Pushes the events of lines from `start` on for as long as that is easy; answers with where it stopped, at the
    /// start of a line, and how many there were, each an event.
    fn quick_lines(&mut self, _text: &str, start: usize, _builder: &mut Builder) -> (usize, u32) {
        (start, 0)
    }
}

/// What a line was.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Line {
    /// An event, now pushed.
    Event,
    /// Nothing: blank, a comment, or chatter that the format is known to have.
    Nothing,
    /// Something like an event, but of a kind that we have no use for.
    Unknown,
    /// A claim to capabilities, now made.
    Claim,
}

/// Why a line was refused.
#[derive(Debug, thiserror::Error)]
pub(crate) enum LineError {
    #[error("{0}")]
    Malformed(String),
    #[error(transparent)]
    Trace(#[from] reweave_trace::Error),
}

impl LineError {
    pub(crate) fn new(message: impl Into<String>) -> LineError {
        LineError::Malformed(message.into())
    }
}

/// The start of `text`, short enough for a message.
pub(crate) fn excerpt(text: &str) -> String {
    match text.char_indices().nth(40) {
        Some((end, _)) => format!("`{}…`", &text[..end]),
        None => format!("`{text}`"),
    }
}

/// What is known of the lines read so far.
#[derive(Default, Debug)]
pub(crate) struct Tally {
    lines: u64,
    pub(crate) map: LineMap,
    /// How many lines were [`Line::Unknown`], and the first.
    pub(crate) unknown: Option<(u64, u64)>,
    /// The first claim to capabilities.
    claim: Option<u64>,
    events: bool,
}

impl Tally {
    fn note(&mut self, line: Line) -> Result<(), LineError> {
        match line {
            Line::Event => {
                self.map.push(self.lines);
                self.events = true;
            }
            Line::Nothing => {}
            Line::Unknown => self.unknown.get_or_insert((0, self.lines)).0 += 1,
            Line::Claim if self.events => return Err(LineError::new(LATE_CLAIM)),
            Line::Claim => _ = self.claim.get_or_insert(self.lines),
        }
        Ok(())
    }

    /// The next `count` lines are events.
    fn events(&mut self, count: u32) {
        if count > 0 {
            self.map.extend(self.lines + 1, count);
            self.lines += u64::from(count);
            self.events = true;
        }
    }

    /// Adds the lines that follow, which were parsed apart.
    pub(crate) fn append(&mut self, next: &Tally) -> Result<(), Malformed> {
        if let Some(line) = next.claim.filter(|_| self.events) {
            return Err(Malformed { at: Place::Line(self.lines + line), message: LATE_CLAIM.to_owned() });
        }
        self.map.append(&next.map, self.lines);
        if let Some((count, first)) = next.unknown {
            self.unknown.get_or_insert((0, self.lines + first)).0 += count;
        }
        self.claim = self.claim.or(next.claim.map(|line| self.lines + line));
        self.events |= next.events;
        self.lines += next.lines;
        Ok(())
    }

    /// A defect of the lines that follow, as one of the whole text.
    pub(crate) fn locate(&self, defect: Malformed) -> Malformed {
        match defect.at {
            Place::Line(line) => Malformed { at: Place::Line(self.lines + line), ..defect },
            _ => defect,
        }
    }
}

const LATE_CLAIM: &str = "capabilities are claimed after the first event: the claim belongs at the top";

/// Parses whole lines; the last may lack its end.
pub(crate) fn parse_block<P: LineParser>(
    parser: &mut P,
    block: &[u8],
    builder: &mut Builder,
    tally: &mut Tally,
) -> Result<(), Malformed> {
    if let Ok(text) = simdutf8::basic::from_utf8(block) {
        return parse_lines(parser, text, builder, tally);
    }
    // What comes before the fault may have a fault of its own, which is to be reported first.
    let valid = std::str::from_utf8(block).map_or_else(|error| error.valid_up_to(), str::len);
    let whole = memchr::memrchr(b'\n', &block[..valid]).map_or(0, |end| end + 1);
    if let Ok(text) = std::str::from_utf8(&block[..whole]) {
        parse_lines(parser, text, builder, tally)?;
    }
    let at = Place::Line(tally.lines + 1);
    Err(Malformed { at, message: "the line is not UTF-8 text".to_owned() })
}

fn parse_lines<P: LineParser>(
    parser: &mut P,
    text: &str,
    builder: &mut Builder,
    tally: &mut Tally,
) -> Result<(), Malformed> {
    let mut start = 0;
    loop {
        let (stop, events) = parser.quick_lines(text, start, builder);
        tally.events(events);
        if stop >= text.len() {
            return Ok(());
        }
        let end = memchr(b'\n', &text.as_bytes()[stop..]).map_or(text.len(), |end| stop + end);
        parse_line(parser, &text[stop..end], builder, tally)?;
        start = (end + 1).min(text.len());
    }
}

#[inline]
fn parse_line<P: LineParser>(
    parser: &mut P,
    line: &str,
    builder: &mut Builder,
    tally: &mut Tally,
) -> Result<(), Malformed> {
    tally.lines += 1;
    let line = if line.ends_with('\r') { line.trim_end_matches('\r') } else { line };
    let parsed = if line.len() > MAX_LINE_BYTES {
        Err(LineError::new(format!("the line is longer than {MAX_LINE_BYTES} bytes")))
    } else {
        parser.line(line, builder)
    };
    parsed
        .and_then(|line| tally.note(line))
        .map_err(|error| Malformed { at: Place::Line(tally.lines), message: error.to_string() })
}
