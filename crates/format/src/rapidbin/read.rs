//! The reader of RAPID's binary format.

use std::collections::HashMap;
use std::fmt::Write;

use reweave_trace::{Builder, Event, EventValues, Kind, LockId, Op, SiteId, Space, ThreadId};

use super::{EVENT_BYTES, HEADER_BYTES, KINDS, OPERATION_BITS, SITE_BITS, TARGET_BITS, THREAD_BITS};
use crate::error::{Malformed, Place};

/// What a header says. Its other counts are not needed, and often wrong.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Header {
    events: u64,
}

impl Header {
    /// Reads the header at the start of a file.
    pub(crate) fn parse(head: &[u8]) -> Result<Header, Malformed> {
        let malformed = |at: u64, message: String| Err(Malformed { at: Place::Byte(at), message });
        let Some(head) = head.first_chunk::<HEADER_BYTES>() else {
            let message = format!("the file ends in its header, which takes {HEADER_BYTES} bytes");
            return malformed(head.len() as u64, message);
        };
        let counts = [
            (0, "threads", i64::from(i16::from_be_bytes([head[0], head[1]]))),
            (2, "locks", i64::from(i32::from_be_bytes(array(&head[2..])))),
            (6, "variables", i64::from(i32::from_be_bytes(array(&head[6..])))),
            (10, "events", i64::from_be_bytes(array(&head[10..]))),
        ];
        for (at, what, count) in counts {
            if count < 0 {
                return malformed(at, format!("the header says that there are {count} {what}"));
            }
        }
        Ok(Header { events: counts[3].2 as u64 })
    }

    /// Compares the count of events with what there was, and `rest` bytes of one more: a notice, or an error.
    pub(crate) fn compare(self, events: u64, rest: usize) -> Result<Option<String>, Malformed> {
        let said = self.events;
        if events > said {
            let at =
                Place::Byte((HEADER_BYTES as u64).saturating_add(said.saturating_mul(EVENT_BYTES as u64)));
            let message = format!("the header says that there are {said} events, but the file goes on");
            return Err(Malformed { at, message });
        }
        if rest > 0 {
            let whole = format!("the {events} events before it were read, of {said} in the header");
            return Ok(Some(format!("the file ends in the middle of an event; {whole}")));
        }
        Ok((said > events + 1).then(|| {
            format!("the header says that there are {said} events, but the file ends after {events}")
        }))
    }
}

/// Whether a file that starts so can be of this format: few threads, and counts that are small for their size.
pub(crate) fn looks_like(head: &[u8]) -> bool {
    let small = |field: &[u8]| field.first() == Some(&0);
    Header::parse(head).is_ok()
        && head[0] <= 4
        && small(&head[2..])
        && small(&head[6..])
        && small(&head[10..])
}

/// Reads whole events; `offset` is the position of the block in the file. How many bytes are left, too few for an event.
pub(crate) fn parse_block(block: &[u8], offset: u64, builder: &mut Builder) -> Result<usize, Malformed> {
    let (events, rest) = block.as_chunks::<EVENT_BYTES>();
    let mut names = Numbers::default();
    for (i, event) in events.iter().enumerate() {
        push(u64::from_be_bytes(*event), &mut names, builder)
            .map_err(|message| Malformed { at: Place::Byte(offset + (i * EVENT_BYTES) as u64), message })?;
    }
    Ok(rest.len())
}

fn push(bits: u64, names: &mut Numbers, builder: &mut Builder) -> Result<(), String> {
    if bits >> 63 != 0 {
        return Err("the highest bit of an event is set".to_owned());
    }
    let field = |start: u32, width: u32| bits >> start & ((1 << width) - 1);
    let code = field(THREAD_BITS, OPERATION_BITS);
    let kind = *KINDS
        .get(code as usize)
        .ok_or_else(|| format!("there is no operation {code}: expected 0 to {}", KINDS.len() - 1))?;
    let number = field(THREAD_BITS + OPERATION_BITS, TARGET_BITS);
    let site = field(THREAD_BITS + OPERATION_BITS + TARGET_BITS, SITE_BITS);
    let mut add = || -> Result<(), reweave_trace::Error> {
        let thread = ThreadId(names.target(builder, Kind::Fork, field(0, THREAD_BITS))?);
        let target = match kind {
            // A request.
            Kind::Skip => {
                let lock = LockId(names.target(builder, Kind::Acquire, number)?);
                builder.ask(thread, lock);
                0
            }
            kind => names.target(builder, kind, number)?,
        };
        let site = names.site(builder, site)?;
        builder.push(Event { thread, op: Op::new(kind, target), site }, EventValues::NONE)?;
        Ok(())
    };
    add().map_err(|error| error.to_string())
}

/// The ids of numbers, so that each is written out once a block.
#[derive(Default)]
struct Numbers {
    targets: HashMap<(Space, u64), u32>,
    sites: HashMap<u64, SiteId>,
    text: String,
}

impl Numbers {
    fn target(
        &mut self,
        builder: &mut Builder,
        kind: Kind,
        number: u64,
    ) -> Result<u32, reweave_trace::Error> {
        let Some(space) = kind.space() else { return Ok(0) };
        if let Some(&id) = self.targets.get(&(space, number)) {
            return Ok(id);
        }
        let prefix = match space {
            Space::Thread => 'T',
            Space::Lock => 'L',
            _ => 'V',
        };
        self.text.clear();
        // Writing to a string cannot fail.
        let _ = write!(self.text, "{prefix}{number}");
        let id = builder.target(kind, &self.text)?;
        self.targets.insert((space, number), id);
        Ok(id)
    }

    fn site(&mut self, builder: &mut Builder, number: u64) -> Result<SiteId, reweave_trace::Error> {
        if let Some(&id) = self.sites.get(&number) {
            return Ok(id);
        }
        self.text.clear();
        let _ = write!(self.text, "{number}");
        let id = builder.site(&self.text)?;
        self.sites.insert(number, id);
        Ok(id)
    }
}

/// The first bytes of a slice that is known to be long enough.
fn array<const N: usize>(bytes: &[u8]) -> [u8; N] {
    bytes.first_chunk().copied().unwrap_or([0; N])
}
