//! The rows of both orders.

use std::collections::BTreeSet;

use reweave_detect::{Kind, Pattern};
use reweave_trace::EventId;
use reweave_witness::{Claim, Machine};

use super::keep::Kept;
use super::maker::{Lists, Maker, Subject};
use super::order::{Order, Piece, Stretch};
use super::run::Run;
use super::{Board, Fold, Reads, Row, State, Step, words};
use crate::claim;
use crate::event;

/// The threads of longer stretches are not counted.
const COUNTED: u64 = 100_000;

/// The most events of folds that a board has, and the most of one fold.
const UNFOLDED: usize = 400;
const OF_ONE_FOLD: usize = 200;

/// Both orders, and how many of the sites in the lists belong to their rows; those behind are of
/// folded events.
pub(super) fn board<'r, 't>(
    maker: &'r Maker<'t>,
    subject: &Subject<'_>,
    kept: &'r Kept,
    lists: &mut Lists<'r, 't>,
    machine: Option<Machine<'r>>,
    left: &mut u64,
) -> (Board, usize) {
    let trace = maker.trace();
    let all = trace.len() as u32;
    let observed = Order { trace, skips: &maker.skips, prefix: all, tail: &[] };
    let mut writer = Writer {
        maker,
        subject,
        kept,
        lists,
        run: Run::new(maker, kept, machine.clone(), *left),
        unfolded: BTreeSet::new(),
    };
    let (observed, _) = writer.rows(observed, None);
    *left = writer.run.left();
    let witness = subject.checked.witness();
    let order = Order { trace, skips: &maker.skips, prefix: witness.prefix, tail: &witness.tail };
    writer.run = Run::new(maker, kept, machine, *left);
    let pending = claim::next(subject.checked.claim());
    // What a sequence shows is there with its last event.
    let last = match pending {
        [] => subject.events.iter().rev().find(|id| is_shown(&order, **id)).copied(),
        _ => None,
    };
    let last = last_of(&order, subject, last);
    let (mut rows, bug) = writer.rows(order, last);
    let bug = match pending {
        [] => bug,
        pending => {
            rows.extend(pending.iter().map(|&id| writer.row(id, None, State::default(), true)));
            rows.len() - 1
        }
    };
    *left = writer.run.left();
    let sites = writer.lists.sites.len();
    let unfolded = std::mem::take(&mut writer.unfolded);
    let unfolded = unfolded.into_iter().map(|id| writer.step(id, None, State::default(), false)).collect();
    let model = subject.checked.model();
    let (new_reads, more_new_reads) = writer.run.news.tell(trace, model, pending, writer.lists);
    let (bug, moment) = (bug as u32, moment(maker, subject));
    (Board { observed, witness: rows, bug, moment, unfolded, new_reads, more_new_reads }, sites)
}

fn is_shown(order: &Order<'_>, id: EventId) -> bool {
    id.0 < order.prefix || order.tail.contains(&id)
}

/// The event of the finding that comes last in the order.
fn last_of(order: &Order<'_>, subject: &Subject<'_>, any: Option<EventId>) -> Option<EventId> {
    any?;
    let in_tail = order.tail.iter().rev().copied().find(|id| subject.events.contains(id));
    in_tail.or_else(|| subject.events.iter().copied().filter(|id| id.0 < order.prefix).max())
}

/// Writes rows while the machine runs.
struct Writer<'w, 'r, 't> {
    maker: &'r Maker<'t>,
    subject: &'w Subject<'w>,
    kept: &'r Kept,
    lists: &'w mut Lists<'r, 't>,
    run: Run<'r, 't>,
    /// The events of folds that the board is to have.
    unfolded: BTreeSet<EventId>,
}

impl Writer<'_, '_, '_> {
    /// The rows of an order, and the place of the row of `last`, after which nothing is run.
    fn rows(&mut self, order: Order<'_>, last: Option<EventId>) -> (Vec<Row>, usize) {
        let pieces = order.pieces(&self.kept.events);
        let end = pieces.iter().rposition(|piece| match (piece, last) {
            (Piece::Shown(id), Some(last)) => *id == last,
            (Piece::Shown(_), None) => true,
            (Piece::Folded(_), _) => false,
        });
        let mut rows = Vec::new();
        for (place, piece) in pieces.iter().enumerate() {
            let behind = end.is_some_and(|end| place > end);
            rows.push(match piece {
                Piece::Shown(id) if !behind => {
                    let reads = self.run.step(*id, order.prefix);
                    let ran = id.0 >= order.prefix || id.0 >= self.kept.near;
                    let state = if ran { self.run.state(self.lists) } else { State::default() };
                    self.row(*id, reads, state, false)
                }
                Piece::Shown(id) => self.row(*id, None, State::default(), false),
                Piece::Folded(stretch) => self.fold(&order, stretch, behind),
            });
        }
        let bug = end.unwrap_or(rows.len().saturating_sub(1));
        if last.is_some() {
            return (self.without_rest(rows, &order, &pieces, bug), bug);
        }
        (rows, bug)
    }

    /// The rows up to the bug, and one for all that comes after it.
    fn without_rest(
        &mut self,
        mut rows: Vec<Row>,
        order: &Order<'_>,
        pieces: &[Piece],
        bug: usize,
    ) -> Vec<Row> {
        let rest = pieces.iter().skip(bug + 1).map(|piece| match piece {
            Piece::Shown(_) => 1,
            Piece::Folded(stretch) => order.count(stretch),
        });
        let folded = rest.sum();
        rows.truncate(bug + 1);
        if folded > 0 {
            let rest =
                pieces.iter().skip(bug + 1).flat_map(|piece| -> Box<dyn Iterator<Item = EventId> + '_> {
                    match piece {
                        Piece::Shown(id) => Box::new(std::iter::once(*id)),
                        Piece::Folded(stretch) => Box::new(order.events(stretch)),
                    }
                });
            let events = self.unfold(rest);
            rows.push(Row::Fold(Fold { folded, of_threads: 0, events, state: State::default() }));
        }
        rows
    }

    /// The first events of a fold, as far as there is room for them.
    fn unfold(&mut self, events: impl Iterator<Item = EventId>) -> Vec<u32> {
        let mut first = Vec::new();
        for id in events.take(OF_ONE_FOLD) {
            if self.unfolded.len() >= UNFOLDED && !self.unfolded.contains(&id) {
                break;
            }
            self.unfolded.insert(id);
            first.push(id.0);
        }
        first
    }

    fn fold(&mut self, order: &Order<'_>, stretch: &Stretch, behind: bool) -> Row {
        let folded = order.count(stretch);
        let mut of_threads = 0;
        if folded <= COUNTED {
            let threads: BTreeSet<_> =
                order.events(stretch).map(|id| self.maker.trace().thread(id)).collect();
            of_threads = threads.len() as u32;
        }
        let mut state = State::default();
        if !behind {
            // What lies before the machine's start has run.
            let from = stretch.positions.start.max(self.kept.near).min(stretch.positions.end);
            let rest = Stretch { positions: from..stretch.positions.end, places: stretch.places.clone() };
            for id in order.events(&rest) {
                self.run.step(id, order.prefix);
            }
            if stretch.positions.end > self.kept.near || !stretch.places.is_empty() {
                state = self.run.state(self.lists);
            }
        }
        let events = self.unfold(order.events(stretch));
        Row::Fold(Fold { folded, of_threads, events, state })
    }

    fn row(&mut self, id: EventId, reads: Option<Reads>, state: State, pending: bool) -> Row {
        Row::Step(Box::new(self.step(id, reads, state, pending)))
    }

    fn step(&mut self, id: EventId, reads: Option<Reads>, state: State, pending: bool) -> Step {
        let trace = self.maker.trace();
        let op = trace.op(id);
        let values = trace.values(id);
        let value = if op.kind().writes() { values.written } else { values.read };
        let site = self.lists.site(id);
        Step {
            event: id.0,
            thread: self.lists.thread(trace.thread(id)),
            op: event::word(op.kind()).to_owned(),
            target: self.lists.target(op),
            site: Some(site),
            value: value.map(|value| trace.value(value).to_string()),
            bug: self.subject.events.contains(&id),
            pending,
            reads,
            state,
        }
    }
}

/// What is so when the bug is there.
fn moment(maker: &Maker<'_>, subject: &Subject<'_>) -> String {
    match (subject.checked.claim(), subject.kind, subject.pattern) {
        (Claim::CoEnabled(_), ..) => "both can run now".to_owned(),
        (Claim::Deadlock(acquires), ..) if acquires.len() == 1 => "it waits for ever".to_owned(),
        (Claim::Deadlock(_), ..) => "they wait for each other for ever".to_owned(),
        (Claim::Asleep(_), ..) => "nobody is left to wake it".to_owned(),
        (Claim::Unwritten(_), ..) => "nobody has written it yet".to_owned(),
        (_, _, Pattern::DoubleFree) => "it is freed a second time".to_owned(),
        (_, Kind::UseAfterFree, _) => "the memory is gone".to_owned(),
        _ => words::wrong(maker.trace(), subject).unwrap_or_else(|| "it comes too early".to_owned()),
    }
}
