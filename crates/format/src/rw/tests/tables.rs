//! Tables of dependences, written and read again.

use reweave_trace::DependenceBuilder;

use super::sample::Sample;
use super::*;

#[test]
fn tables_of_dependences_survive() {
    for seed in 1..=20 {
        let trace = Sample::new(seed).trace([40, 300, 3000][seed as usize % 3], true);
        let table = reweave_testkit::dependences(&trace, &mut reweave_testkit::Rng::new(seed));
        let trace = trace.with_dependences(table).unwrap();
        let bytes = crate::save_bytes(&trace, crate::Format::Rw).unwrap();
        let again = finish(read(&bytes, 2).unwrap());
        let (old, new) = (trace.dependences().unwrap(), again.dependences().unwrap());
        for id in trace.ids() {
            assert_eq!((old.needs(id), old.feeds(id)), (new.needs(id), new.feeds(id)), "seed {seed}");
        }
        for name in trace.names().space(Space::Thread).iter() {
            let end = |trace: &Trace| {
                let threads = trace.names().space(Space::Thread);
                // A thread without events is not in the file.
                let id = threads.iter().position(|other| other == name).map(ThreadId::from_index);
                id.map_or(Vec::new(), |id| trace.dependences().unwrap().end_needs(id).to_vec())
            };
            assert_eq!(end(&trace), end(&again), "seed {seed}");
        }
        // Cut off, the table is not of the whole trace any more.
        let cut = finish(read(&bytes[..bytes.len() - 100], 1).unwrap());
        assert!(cut.dependences().is_none() && !cut.capabilities().dependences);
    }
}

#[test]
fn a_table_with_no_entry_is_told_from_none() {
    let trace = Sample::new(3).trace(40, true);
    assert!(trace.dependences().is_none() && trace.capabilities().dependences);
    let told = |trace: &Trace| {
        let bytes = crate::save_bytes(trace, crate::Format::Rw).unwrap();
        finish(read(&bytes, 1).unwrap()).dependences().map(|table| table.entries().len())
    };
    assert_eq!(told(&trace), None);
    assert_eq!(told(&trace.with_dependences(DependenceBuilder::new().finish()).unwrap()), Some(0));
}
