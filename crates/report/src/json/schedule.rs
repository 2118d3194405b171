//! A schedule in a document: a prefix of the trace, then runs of consecutive events.
//!
//! A run of three events or more is the pair of its first and last id, so that a schedule deep in a long trace stays
//! short; others are listed one by one. Readers take any mixture.

use std::fmt;

use reweave_trace::{EventId, Trace};
use reweave_witness::Witness;
use serde::de::{Error as _, Unexpected, Visitor};
use serde::ser::SerializeSeq;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A schedule: the trace's own first positions, then these events.
#[derive(Serialize, Deserialize, Clone, PartialEq, Eq, Debug)]
pub struct Schedule {
    /// How many positions.
    #[serde(default)]
    pub witness_prefix: u32,
    /// The events.
    pub witness: Runs,
}

impl Schedule {
    /// The schedule with every event spelled out, to be checked.
    ///
    /// A document may name more events than the trace has. Then the expansion stops one event behind what can be right: the
    /// checker rejects it for the reason that it would reject all of it for, and the size of the trace bounds the memory.
    pub fn expand(&self, trace: &Trace) -> Witness {
        let most = trace.len() + 1;
        let ids = self.witness.0.iter().flat_map(|run| run.first..=run.last.min(run.first.max(most as u32)));
        Witness { prefix: self.witness_prefix, tail: ids.take(most).map(EventId).collect() }
    }
}

impl From<&Witness> for Schedule {
    fn from(witness: &Witness) -> Schedule {
        Schedule { witness_prefix: witness.prefix, witness: witness.tail.iter().copied().collect() }
    }
}

/// Events in order, as runs of consecutive ids.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Runs(Vec<Run>);

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Run {
    first: u32,
    last: u32,
}

impl Run {
    fn length(self) -> u64 {
        u64::from(self.last - self.first) + 1
    }
}

impl Runs {
    /// How many events there are.
    pub fn events(&self) -> u64 {
        self.0.iter().map(|run| run.length()).sum()
    }

    fn push(&mut self, run: Run) {
        match self.0.last_mut() {
            Some(last) if last.last.checked_add(1) == Some(run.first) => last.last = run.last,
            _ => self.0.push(run),
        }
    }
}

impl FromIterator<EventId> for Runs {
    fn from_iter<I: IntoIterator<Item = EventId>>(events: I) -> Runs {
        let mut runs = Runs::default();
        for event in events {
            runs.push(Run { first: event.0, last: event.0 });
        }
        runs
    }
}

impl Serialize for Runs {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut list = serializer.serialize_seq(None)?;
        for &run in &self.0 {
            if run.length() > 2 {
                list.serialize_element(&[run.first, run.last])?;
            } else {
                (run.first..=run.last).try_for_each(|event| list.serialize_element(&event))?;
            }
        }
        list.end()
    }
}

impl<'de> Deserialize<'de> for Runs {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Runs, D::Error> {
        struct List;
        impl<'de> Visitor<'de> for List {
            type Value = Runs;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a list of events, each an id or a pair [first, last]")
            }

            fn visit_seq<A: serde::de::SeqAccess<'de>>(self, mut list: A) -> Result<Runs, A::Error> {
                let mut runs = Runs::default();
                while let Some(run) = list.next_element()? {
                    runs.push(run);
                }
                Ok(runs)
            }
        }
        deserializer.deserialize_seq(List)
    }
}

impl<'de> Deserialize<'de> for Run {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Run, D::Error> {
        struct One;
        impl<'de> Visitor<'de> for One {
            type Value = Run;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an event id below 4294967296, or a pair [first, last] of them")
            }

            fn visit_u64<E: serde::de::Error>(self, event: u64) -> Result<Run, E> {
                let event =
                    u32::try_from(event).map_err(|_| E::invalid_value(Unexpected::Unsigned(event), &self))?;
                Ok(Run { first: event, last: event })
            }

            fn visit_seq<A: serde::de::SeqAccess<'de>>(self, mut pair: A) -> Result<Run, A::Error> {
                let missing = |length| A::Error::invalid_length(length, &"a pair [first, last] of event ids");
                let first: u32 = pair.next_element()?.ok_or_else(|| missing(0))?;
                let last: u32 = pair.next_element()?.ok_or_else(|| missing(1))?;
                if pair.next_element::<u32>()?.is_some() {
                    return Err(missing(3));
                }
                if last < first {
                    return Err(A::Error::custom(format_args!(
                        "the run [{first}, {last}] ends before it begins"
                    )));
                }
                Ok(Run { first, last })
            }
        }
        deserializer.deserialize_any(One)
    }
}

#[cfg(test)]
mod tests {
    use reweave_testkit::trace;

    use super::*;

    fn of(ids: &[u32]) -> Runs {
        ids.iter().copied().map(EventId).collect()
    }

    #[test]
    fn runs_of_three_are_pairs() {
        let check = |ids: &[u32], text: &str| {
            assert_eq!(serde_json::to_string(&of(ids)).expect("JSON"), text);
            assert_eq!(serde_json::from_str::<Runs>(text).expect(text), of(ids));
            assert_eq!(of(ids).events(), ids.len() as u64);
        };
        check(&[], "[]");
        check(&[8], "[8]");
        check(&[8, 9], "[8,9]");
        check(&[8, 9, 10], "[[8,10]]");
        check(&[3, 0, 1, 2, 7, u32::MAX], "[3,[0,2],7,4294967295]");
    }

    #[test]
    fn any_mixture_is_read() {
        for text in ["[4,5,6,7]", "[[4,7]]", "[4,[5,7]]", "[[4,4],5,[6,7]]"] {
            assert_eq!(serde_json::from_str::<Runs>(text).expect(text), of(&[4, 5, 6, 7]), "{text}");
        }
    }

    #[test]
    fn what_is_no_run_is_refused() {
        for (text, reason) in [
            ("[[7,4]]", "the run [7, 4] ends before it begins"),
            ("[[7]]", "invalid length 1"),
            ("[[1,2,3]]", "invalid length 3"),
            ("[[]]", "invalid length 0"),
            ("[-1]", "invalid type: integer `-1`"),
            ("[4294967296]", "invalid value: integer `4294967296`"),
            ("[\"x\"]", "invalid type: string"),
            ("7", "a list of events"),
        ] {
            let message = serde_json::from_str::<Runs>(text).expect_err(text).to_string();
            assert!(message.contains(reason), "{text}: {message}");
        }
    }

    #[test]
    fn expansion_is_bounded_by_the_trace() {
        let trace = trace! { a: w(x); a: w(y); b: w(x); };
        let expand = |text: &str| {
            let schedule: Schedule = serde_json::from_str(text).expect(text);
            schedule.expand(&trace).tail.iter().map(|event| event.0).collect::<Vec<_>>()
        };
        assert_eq!(expand(r#"{"witness": [[0, 2]]}"#), [0, 1, 2]);
        assert_eq!(expand(r#"{"witness": [2, [0, 4294967295]]}"#), [2, 0, 1, 2]);
        assert_eq!(expand(r#"{"witness": [[1, 4294967295]]}"#), [1, 2, 3, 4]);
        assert_eq!(expand(r#"{"witness": [[9, 4294967295]]}"#), [9]);
        assert_eq!(expand(r#"{"witness": [0, 0, 0, 0, 0, 0]}"#), [0, 0, 0, 0]);
    }
}
