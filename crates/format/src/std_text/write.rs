//! The writer of STD text.

use std::io::{BufWriter, Write};
use std::ops::Range;
use std::path::PathBuf;

use reweave_trace::{
    Capabilities, Dependences, Dependent, Ending, Event, EventId, Kind, Names, Op, Space, Trace, Value,
};

use crate::operation::{balanced, word};
use crate::{Error, Format, TraceWriter, one_by_one};

/// Writes one line an event. A skipped position becomes a request, which readers skip.
pub(crate) struct Writer<W: Write> {
    out: BufWriter<W>,
    header: Option<Capabilities>,
    events: u64,
    /// Per name space, which names were found fit to be written: names are looked at once.
    fit: [Vec<bool>; Space::ALL.len()],
    fit_sites: Vec<bool>,
}

impl<W: Write> Writer<W> {
    pub(crate) fn new(out: W, capabilities: Capabilities) -> Writer<W> {
        Writer {
            out: BufWriter::with_capacity(1 << 16, out),
            header: Some(capabilities),
            events: 0,
            fit: Default::default(),
            fit_sites: Vec::new(),
        }
    }

    fn header(&mut self) -> Result<(), Error> {
        match self.header.take() {
            Some(claimed) if claimed != Capabilities::default() => {
                writeln!(self.out, "#! capabilities: {claimed}").map_err(Error::io)
            }
            _ => Ok(()),
        }
    }

    /// A line of the table of dependences; none for an empty set.
    fn entry(&mut self, who: std::fmt::Arguments<'_>, reads: &[EventId]) -> Result<(), Error> {
        if reads.is_empty() {
            return Ok(());
        }
        write!(self.out, "#! {who}:").map_err(Error::io)?;
        reads.iter().try_for_each(|read| write!(self.out, " {}", read.0)).map_err(Error::io)?;
        self.out.write_all(b"\n").map_err(Error::io)
    }

    fn check(&mut self, names: &Names, event: &Event) -> Result<(), Error> {
        let unfit =
            |message: Result<(), String>, events| message.map_err(|message| unrepresentable(events, message));
        let thread = names.space(Space::Thread).get(event.thread.0);
        if first_sight(&mut self.fit[Space::Thread as usize], event.thread.0) {
            unfit(check_target("thread", thread), self.events)?;
        }
        if thread.starts_with('#') {
            return Err(unrepresentable(
                self.events,
                format!("the line of thread `{thread}` would be a comment"),
            ));
        }
        if let Some(space) = event.op.kind().space()
            && first_sight(&mut self.fit[space as usize], event.op.target())
        {
            unfit(check_target("target", names.space(space).get(event.op.target())), self.events)?;
        }
        if first_sight(&mut self.fit_sites, event.site.0) {
            unfit(check_text("site", names.sites.get(event.site.0)), self.events)?;
        }
        Ok(())
    }

    fn value(
        &mut self,
        event: &Event,
        read: Option<Value<'_>>,
        written: Option<Value<'_>>,
    ) -> Result<(), Error> {
        for value in [read, written].into_iter().flatten() {
            if let Value::Text(text) = value {
                check_value(event.op.kind(), text)
                    .map_err(|message| unrepresentable(self.events, message))?;
            }
        }
        let out = &mut self.out;
        match (event.op, read, written) {
            (_, None, None) => Ok(()),
            (Op::Update(_), Some(old), Some(new)) => write!(out, "|{old}>{new}"),
            (Op::Update(_), Some(old), None) => write!(out, "|{old}>"),
            (Op::Update(_), None, Some(new)) => write!(out, "|>{new}"),
            (Op::FailedAttempt(_), Some(read), Some(expected)) => write!(out, "|{read}!{expected}"),
            (Op::FailedAttempt(_), None, Some(expected)) => write!(out, "|!{expected}"),
            (_, Some(value), _) | (_, None, Some(value)) => write!(out, "|{value}"),
        }
        .map_err(Error::io)
    }
}

impl<W: Write> TraceWriter for Writer<W> {
    fn event(
        &mut self,
        names: &Names,
        event: &Event,
        read: Option<Value<'_>>,
        written: Option<Value<'_>>,
    ) -> Result<(), Error> {
        self.header()?;
        self.check(names, event)?;
        let kind = event.op.kind();
        let mut put = |parts: &[&str]| -> Result<(), Error> {
            parts.iter().try_for_each(|part| self.out.write_all(part.as_bytes())).map_err(Error::io)
        };
        put(&[names.space(Space::Thread).get(event.thread.0), "|", word(kind)])?;
        if let Some(space) = kind.space() {
            put(&["(", names.space(space).get(event.op.target()), ")"])?;
        }
        put(&["|", names.sites.get(event.site.0)])?;
        self.value(event, read, written)?;
        self.out.write_all(b"\n").map_err(Error::io)?;
        self.events += 1;
        Ok(())
    }

    fn events(&mut self, trace: &Trace, range: Range<usize>) -> Result<(), Error> {
        one_by_one(self, trace, range)
    }

    fn dependences(&mut self, names: &Names, table: &Dependences) -> Result<(), Error> {
        self.header()?;
        let entries = table.entries();
        if entries.is_empty() {
            // Without a line a text has no table: it might have been cut off before it.
            return self.out.write_all(b"#! needs 0:\n").map_err(Error::io);
        }
        for (who, reads) in entries {
            match who {
                Dependent::Needs(event) => self.entry(format_args!("needs {}", event.0), reads)?,
                Dependent::Feeds(event) => self.entry(format_args!("feeds {}", event.0), reads)?,
                Dependent::End(thread) => {
                    let name = names.space(Space::Thread).get(thread.0);
                    self.entry(format_args!("end {name}"), reads)?;
                }
            }
        }
        Ok(())
    }

    fn stable_sites(&mut self, names: &Names) -> Result<(), Error> {
        self.header()?;
        for (site, stable) in names.stable.iter() {
            let text = names.sites.get(site.0);
            let unfit = |message: String| unrepresentable(self.events, message);
            check_text("site", text).and_then(|()| check_text("stable name", stable)).map_err(unfit)?;
            writeln!(self.out, "#! stable {text}|{stable}").map_err(Error::io)?;
        }
        Ok(())
    }

    fn ending(&mut self, ending: &Ending) -> Result<(), Error> {
        self.header()?;
        let mut lines = ending.to_text();
        lines.insert(0, '\n');
        let lines = lines.trim_end().replace('\n', "\n#! ended ");
        writeln!(self.out, "{}", lines.trim_start()).map_err(Error::io)
    }

    fn finish(&mut self) -> Result<(), Error> {
        self.header()?;
        self.out.flush().map_err(Error::io)
    }
}

/// Whether entry `id` was not marked yet; marks it.
fn first_sight(seen: &mut Vec<bool>, id: u32) -> bool {
    let id = id as usize;
    if id >= seen.len() {
        seen.resize(id + 1, false);
    }
    !std::mem::replace(&mut seen[id], true)
}

fn unrepresentable(event: u64, message: String) -> Error {
    Error::Unrepresentable { path: PathBuf::new(), format: Format::Std, event, message }
}

fn check_text(what: &str, text: &str) -> Result<(), String> {
    if text.contains(['|', '\n']) || text.ends_with('\r') {
        return Err(format!("the {what} {text:?} has a character that ends a field or line"));
    }
    Ok(())
}

fn check_target(what: &str, name: &str) -> Result<(), String> {
    check_text(what, name)?;
    if name.is_empty() || name.trim_ascii() != name {
        return Err(format!("the {what} {name:?} is empty or has white space around it"));
    }
    if !balanced(name) {
        return Err(format!("the parentheses in the {what} {name:?} do not match"));
    }
    Ok(())
}

fn check_value(kind: Kind, text: &str) -> Result<(), String> {
    check_text("value", text)?;
    if text.is_empty() {
        return Err("a value is empty".to_owned());
    }
    if kind == Kind::Update && text.contains('>') {
        return Err(format!("the value {text:?} of an update has a `>`"));
    }
    if kind == Kind::FailedAttempt && text.contains('!') {
        return Err(format!("the value {text:?} of a failed attempt has a `!`"));
    }
    Ok(())
}
