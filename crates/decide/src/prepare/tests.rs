//! Indexes against a look at every event.

use reweave_testkit::{Shape, ValueMode, generate};

use super::*;

#[test]
fn equal_writes_are_all_there_are_and_the_nearest_come_first() {
    let (presets, mut several) = (Shape::presets(), 0);
    for seed in 0..3_000 {
        let (_, shape) = presets[seed as usize % presets.len()].clone();
        let trace = generate(&shape.with_values(ValueMode::All), seed);
        let prepared = Prepared::new(&trace, None);
        for read in trace.ids() {
            let Some(access) = trace.op(read).access().filter(|access| access.reads) else { continue };
            let (observed, value) = (prepared.links.observed(read), trace.values(read).read);
            let writes = |&event: &EventId| {
                let other = trace.op(event).access();
                value.is_some()
                    && other.is_some_and(|other| other.writes && other.variable == access.variable)
                    && trace.values(event).written == value
            };
            let mut expected: Vec<EventId> = trace.ids().filter(writes).collect();
            expected.retain(|&write| write != read && Some(write) != observed);
            expected.sort_by_key(|write| (write.0.abs_diff(read.0), write.0));
            let initial = prepared.links.initial_value(access.variable);
            let from_start = observed.is_some() && value.is_some() && initial == value;
            let expected: Vec<_> = expected.into_iter().map(Some).chain(from_start.then_some(None)).collect();
            let mut others = prepared.equal_writes(read, false);
            let found: Vec<_> = std::iter::from_fn(|| others.next(&prepared)).collect();
            assert_eq!(found, expected, "the read {} of seed {seed}", read.0);
            several += usize::from(found.len() > 2);
        }
    }
    assert!(several > 100, "{several} reads with three or more");
}
