//! Batches against their events one by one.

use super::*;
use crate::Op;

fn named() -> Builder {
    let mut builder = Builder::new();
    builder.thread("t").unwrap();
    builder.site("s").unwrap();
    builder.variable("x").unwrap();
    builder
}

#[test]
fn a_batch_is_its_events_one_by_one() {
    let (mut one_by_one, mut at_once) = (named(), named());
    let value = one_by_one.value(Value::Number(7)).unwrap();
    let values = [EventValues { read: Some(value), written: Some(value) }, EventValues::NONE];
    let (kinds, zeros) = ([Kind::Read, Kind::Branch], [0, 0]);
    let event = |kind| Event { thread: ThreadId(0), op: Op::new(kind, 0), site: SiteId(0) };
    for values in [[EventValues::NONE; 2], values, [EventValues::NONE; 2]] {
        for (kind, values) in kinds.into_iter().zip(values) {
            one_by_one.push(event(kind), values).unwrap();
        }
        let mut column = BatchValues::default();
        kinds.into_iter().zip(values).for_each(|(kind, values)| column.push(kind, values));
        let values = values.iter().any(|&v| v != EventValues::NONE).then_some(&column);
        let batch = Batch { kinds: &kinds, threads: &zeros, targets: &zeros, sites: &zeros, values };
        at_once.extend(&batch).unwrap();
    }
    let (one_by_one, at_once) = (one_by_one.finish().unwrap(), at_once.finish().unwrap());
    assert_eq!(one_by_one.len(), at_once.len());
    for id in at_once.ids() {
        assert_eq!(at_once.event(id), one_by_one.event(id));
        assert_eq!(at_once.values(id), one_by_one.values(id));
    }
}

#[test]
fn a_batch_with_an_unknown_id_or_ragged_columns_is_refused() {
    let good = Batch { kinds: &[Kind::Read], threads: &[0], targets: &[0], sites: &[0], values: None };
    let mut two = BatchValues::default();
    two.extend([None, None].into_iter());
    let bad = [
        Batch { threads: &[1], ..good },
        Batch { sites: &[1], ..good },
        Batch { targets: &[1], ..good },
        Batch { kinds: &[Kind::Acquire], ..good },
        Batch { kinds: &[Kind::Begin], targets: &[1], ..good },
        Batch { sites: &[], ..good },
        Batch { values: Some(&two), ..good },
    ];
    let mut builder = named();
    for batch in bad {
        assert!(matches!(builder.extend(&batch), Err(Error::UnknownName)));
    }
    assert!(builder.is_empty());
    assert!(builder.extend(&good).is_ok());
}
