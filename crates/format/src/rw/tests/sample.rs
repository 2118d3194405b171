//! Random well-formed traces from a seed.

use std::collections::HashMap;

use reweave_trace::{Builder, ContextId, Event, EventValues, Kind, Op, Space, Trace, Value};

/// A random number generator (xorshift), and the traces it makes.
pub(super) struct Sample(u64);

impl Sample {
    pub(super) fn new(seed: u64) -> Sample {
        Sample(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    pub(super) fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % limit
    }

    /// A trace of `events` positions: what cannot have been observed is skipped, the rest has every operation.
    pub(super) fn trace(&mut self, events: usize, values: bool) -> Trace {
        let mut builder = Builder::new();
        builder.claim(super::ALL);
        let mut memory: HashMap<u32, Option<String>> = HashMap::new();
        let mut site = 0;
        for position in 0..events {
            // Half of the time the program goes on where it is, so that there is something to predict.
            site = if self.below(2) == 0 { site + 1 } else { self.below(events) };
            let kind = Kind::ALL[if self.below(3) == 0 { self.below(Kind::ALL.len()) } else { site % 2 }];
            let name = match kind {
                Kind::Alloc | Kind::Free => format!("object{}", self.below(50)),
                // A lock that two threads hold at once would be no lock after the repair.
                _ if kind.space() == Some(Space::Lock) => {
                    let owner = (site / 3 + usize::from(kind == Kind::Busy)) % 5;
                    format!("lock{} of {owner}", self.below(3))
                }
                _ => self.name(position),
            };
            let target = builder.target(kind, &name).unwrap();
            let event = Event {
                thread: match kind {
                    // Whoever ends does nothing after it.
                    Kind::End => builder.thread(&format!("E{position}")).unwrap(),
                    _ => builder.thread(&format!("T{}", site / 3 % 5)).unwrap(),
                },
                op: Op::new(kind, target),
                site: builder.site(&format!("Main.java:{}", site % 60)).unwrap(),
            };
            let values =
                if values { self.values(&mut builder, &mut memory, kind, target) } else { EventValues::NONE };
            if self.below(4) == 0 {
                let context = self.context(&mut builder, site);
                builder.change_context(event.thread, context);
            }
            builder.push(event, values).unwrap();
        }
        builder.repair().unwrap().0
    }

    /// Mostly calls that were seen before.
    fn context(&mut self, builder: &mut Builder, site: usize) -> ContextId {
        let mut context = ContextId::NONE;
        for _ in 0..self.below(5) {
            let call = if self.below(9) == 0 { site } else { self.below(2) };
            let site = builder.site(&format!("call {call}")).unwrap();
            context = builder.context(context, site).unwrap();
        }
        context
    }

    fn name(&mut self, position: usize) -> String {
        match self.below(12) {
            0 => String::new(),
            1 => "naïve ✓ 変数".to_owned(),
            2 => format!("{}", u64::MAX - self.below(3) as u64),
            3 => format!("{}", (37_142 + self.below(4) as u64) << 32 | position as u64),
            4 => format!("{}9999999999999999999{}", self.below(2), self.below(5)),
            5 => format!("00{}", self.below(12)),
            6 => "x".repeat(self.below(600)),
            7 => format!("{}{}", "y".repeat(250 + self.below(10)), self.below(9)),
            8 => format!("p.field{}", self.below(4)),
            _ => format!("{}", position + self.below(3)),
        }
    }

    /// Values that agree: a read observes what was written last, or what the first read observed.
    fn values(
        &mut self,
        builder: &mut Builder,
        memory: &mut HashMap<u32, Option<String>>,
        kind: Kind,
        target: u32,
    ) -> EventValues {
        let mut values = EventValues::NONE;
        let mut intern =
            |text: &Option<String>| text.as_ref().map(|text| builder.value(Value::parse(text)).unwrap());
        if kind.reads() {
            let first = self.value();
            values.read = intern(memory.entry(target).or_insert(first));
        }
        if kind.writes() {
            let new = self.value();
            values.written = intern(&new);
            memory.insert(target, new);
        }
        values
    }

    fn value(&mut self) -> Option<String> {
        match self.below(8) {
            0 => None,
            1 => Some("null".to_owned()),
            2 => Some(format!("-{}", self.below(30))),
            3 => Some(format!("{}", u64::MAX - self.below(2) as u64)),
            4 => Some(format!("{}", self.below(1 << 40))),
            _ => Some(format!("{}", self.below(10))),
        }
    }
}
