//! A schedule of one build, taken over to another.

use reweave_capture::{CodePlace, ModuleFile};
use reweave_replay::{Named, Schedule};

use crate::code::Code;
use crate::diff::Diff;
use crate::map::Map;

/// A schedule for the new build.
#[derive(Clone, Debug)]
pub struct Ported {
    /// The schedule.
    pub schedule: Schedule,
    /// How many steps of the old one have no counterpart.
    pub dropped: usize,
}

/// Two builds, and what is the same in them.
#[derive(Clone, Copy)]
pub struct Builds<'b> {
    /// The old build.
    pub old: &'b Code,
    /// The new build.
    pub new: &'b Code,
    /// What is the same.
    pub map: &'b Map,
    /// The patch between them, where it is known.
    pub diff: Option<&'b Diff>,
}

/// The schedule in the new build, which is `module`; an error names the first event or thread that has no counterpart there.
/// Steps without one are left out: they have nothing to do any more.
pub fn port(schedule: &Schedule, builds: Builds<'_>, module: ModuleFile) -> Result<Ported, String> {
    let mut alike: Vec<Vec<CodePlace>> = Vec::new();
    let mut place = |place: CodePlace| -> Option<CodePlace> {
        if place.module != Some(0) {
            // Libraries are the same for both.
            return Some(place);
        }
        let operation = builds.map.to_new.get(builds.old.at(place.offset)?).copied().flatten()?;
        let offsets = &builds.new.operations.get(operation)?.offsets;
        let places: Vec<CodePlace> =
            offsets.iter().map(|&offset| CodePlace { module: Some(0), offset }).collect();
        let first = *places.first()?;
        if places.len() > 1 && !alike.contains(&places) {
            alike.push(places);
        }
        Some(first)
    };
    let mut ported = schedule.clone();
    for thread in &mut ported.threads {
        if let Some(made) = &mut thread.made {
            let none =
                || format!("the place where {} is made ({}) has no counterpart", thread.name, thread.note);
            made.1 = place(made.1).ok_or_else(none)?;
        }
    }
    for event in &mut ported.events {
        let none = || format!("{} has no counterpart", event.note);
        event.place = place(event.place).ok_or_else(none)?;
    }
    let all = ported.segments.len();
    let kept = ported.segments.into_iter().filter_map(|segment| {
        let place = place(segment.place)?;
        Some(Named { place, ..segment })
    });
    ported.segments = kept.collect();
    let dropped = all - ported.segments.len();
    if let Some(program) = ported.modules.first_mut() {
        *program = module;
    }
    ported.alike = alike;
    Ok(Ported { schedule: ported, dropped })
}
