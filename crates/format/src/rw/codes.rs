//! Operations, name spaces and capabilities, between the wire and the trace.

use reweave_trace::{Capabilities, Kind, Space};
use reweave_wire::{Claims, Op};

/// The wire's code of each kind, in order of [`Kind::ALL`].
const OPS: [Op; Kind::ALL.len()] = [
    Op::Read,
    Op::Write,
    Op::AtomicRead,
    Op::AtomicWrite,
    Op::Update,
    Op::Acquire,
    Op::Release,
    Op::TryAcquire,
    Op::Busy,
    Op::SharedAcquire,
    Op::SharedRelease,
    Op::Fork,
    Op::Join,
    Op::Wait,
    Op::Notify,
    Op::NotifyAll,
    Op::Branch,
    Op::Alloc,
    Op::Free,
    Op::Call,
    Op::Begin,
    Op::End,
    Op::Enter,
    Op::Exit,
    Op::Skip,
    Op::FailedAttempt,
    Op::Look,
    Op::Unseen,
];

/// The kind of each code.
const KINDS: [Kind; Op::ALL.len()] = {
    let mut kinds = [Kind::Skip; Op::ALL.len()];
    let mut i = 0;
    while i < OPS.len() {
        kinds[OPS[i] as usize] = Kind::ALL[i];
        i += 1;
    }
    kinds
};

#[inline]
pub(super) fn op(kind: Kind) -> Op {
    OPS[kind as usize]
}

#[inline]
pub(super) fn kind(op: Op) -> Kind {
    KINDS[op as usize]
}

/// Where a name of the wire's `space` is kept: with the targets of a space or, for a site, with the sites. Texts are no
/// names.
#[inline]
pub(super) fn named(space: reweave_wire::Space) -> Option<Option<Space>> {
    match space {
        reweave_wire::Space::Thread => Some(Some(Space::Thread)),
        reweave_wire::Space::Lock => Some(Some(Space::Lock)),
        reweave_wire::Space::Variable => Some(Some(Space::Variable)),
        reweave_wire::Space::Condition => Some(Some(Space::Condition)),
        reweave_wire::Space::Region => Some(Some(Space::Region)),
        reweave_wire::Space::Call => Some(Some(Space::Call)),
        reweave_wire::Space::Site => Some(None),
        reweave_wire::Space::Text => None,
    }
}

const CLAIMS: [Claims; 4] = [Claims::VALUES, Claims::BRANCHES, Claims::DEPENDENCES, Claims::APPROXIMATE];

pub(super) fn claims(capabilities: Capabilities) -> Claims {
    let Capabilities { values, branches, dependences, approximate } = capabilities;
    [values, branches, dependences, approximate]
        .into_iter()
        .zip(CLAIMS)
        .filter(|(there, _)| *there)
        .fold(Claims::default(), |claims, (_, claim)| claims.and(claim))
}

pub(super) fn capabilities(claims: Claims) -> Capabilities {
    let [values, branches, dependences, approximate] = CLAIMS.map(|claim| claims.include(claim));
    Capabilities { values, branches, dependences, approximate }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_operation_is_mapped_both_ways_and_means_the_same() {
        assert_eq!(Kind::ALL.len(), Op::ALL.len());
        for &here in Kind::ALL {
            assert_eq!(kind(op(here)), here);
            assert_eq!(format!("{:?}", op(here)), format!("{here:?}"));
            assert_eq!(op(here).space().and_then(|space| named(space).flatten()), here.space());
            assert_eq!(op(here).carries_read(), here.reads());
            assert_eq!(op(here).carries_written(), here.carries_written());
        }
        for &there in Op::ALL {
            assert_eq!(op(kind(there)), there);
            assert_eq!(Op::from_code(there as u8), Some(there));
        }
        for &space in reweave_wire::Space::ALL {
            if let Some(Some(here)) = named(space) {
                assert_eq!(format!("{space:?}"), format!("{here:?}"));
            }
        }
    }

    #[test]
    fn capabilities_survive() {
        for bits in 0..16 {
            let there = capabilities(Claims(bits));
            assert_eq!(claims(there), Claims(bits));
        }
    }
}
