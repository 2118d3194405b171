//! RAPID's table: a row per event, a column per thread, and `op(target)` in the column of the event's thread.
//!
//! The thread of column n, counted from 0, is called `Tn`. Operations are those of STD text; `start` is a fork, and
//! `sync(x)`, a synchronising access, an update of x. There are no sites and no values. Blank lines and `#` comments are
//! no events.

use reweave_trace::{Builder, Event, EventValues, Kind, Op, ThreadId};

use crate::operation;
use crate::std_text::intern_target;
use crate::text::{Line, LineError, LineParser, excerpt};

/// Reads one row after another.
#[derive(Default)]
pub(crate) struct Parser {
    /// The threads of the first columns.
    threads: Vec<Option<ThreadId>>,
}

/// How many columns are remembered; others are looked up by name.
const REMEMBERED_COLUMNS: usize = 1 << 12;

impl LineParser for Parser {
    fn line(&mut self, line: &str, builder: &mut Builder) -> Result<Line, LineError> {
        let line = line.trim_ascii();
        let cell = line.trim_start_matches(',');
        let column = line.len() - cell.len();
        let cell = cell.trim_end_matches(',').trim_ascii();
        if cell.is_empty() || cell.starts_with('#') {
            return Ok(Line::Nothing);
        }
        let (kind, target) = match cell.split_once('(') {
            Some(("start", rest)) => (Kind::Fork, target(rest, cell)?),
            Some(("sync", rest)) => (Kind::Update, target(rest, cell)?),
            _ => operation::parse(cell)?,
        };
        let thread = self.thread(builder, column)?;
        let target = intern_target(builder, kind, target)?;
        let site = builder.site("")?;
        builder.push(Event { thread, op: Op::new(kind, target), site }, EventValues::NONE)?;
        Ok(Line::Event)
    }
}

impl Parser {
    fn thread(&mut self, builder: &mut Builder, column: usize) -> Result<ThreadId, LineError> {
        if let Some(&Some(thread)) = self.threads.get(column) {
            return Ok(thread);
        }
        let thread = builder.thread(&format!("T{column}"))?;
        if column < REMEMBERED_COLUMNS {
            if self.threads.len() <= column {
                self.threads.resize(column + 1, None);
            }
            self.threads[column] = Some(thread);
        }
        Ok(thread)
    }
}

fn target<'t>(rest: &'t str, cell: &str) -> Result<&'t str, LineError> {
    rest.strip_suffix(')')
        .map(str::trim_ascii)
        .filter(|target| !target.is_empty())
        .ok_or_else(|| LineError::new(format!("expected `op(target)`, found {}", excerpt(cell))))
}

#[cfg(test)]
mod tests {
    use crate::Format;

    fn check(input: &str, expected: &str) {
        crate::testing::check(Format::RapidCsv, input.as_bytes(), expected);
    }

    #[test]
    fn a_table_is_read() {
        check(
            "r(V123),,\r\n,w(V234.23[0]),\n# note\nfork(T2),,\n,,acq(L34)\n\n,,rel(L34)\nenter(u),,\nexit(u),,\njoin(T2),,",
            "T0|r(V123)|\nT1|w(V234.23[0])|\nT0|fork(T2)|\nT2|acq(L34)|\nT2|rel(L34)|\nT0|enter(u)|\nT0|exit(u)|\nT0|join(T2)|\n",
        );
        check(
            "start(T1),\n,sync(z)\n,call(m.put(1,2)=true)",
            "T0|fork(T1)|\nT1|au(z)|\nT1|call(m.put(1,2)=true)|\n",
        );
    }

    #[test]
    fn what_is_wrong_is_told_with_its_line() {
        for (row, message) in [
            ("r(x),w(y)", "the parentheses in `x),w(y` do not match"),
            ("start(),", "expected `op(target)`, found `start()`"),
            ("sync(x,", "expected `op(target)`, found `sync(x`"),
            ("a,b", "unknown operation `a,b`: expected one such as `r(x)`, `w(x)` or `acq(l)`"),
        ] {
            check(&format!(",,\n{row}\n"), &format!("t:2: {message}"));
        }
    }
}
