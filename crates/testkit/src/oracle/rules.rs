//! The law compiled into one rule per event, over states that are numbers.

use reweave_trace::{Dependences, EventId, Kind, Model, Op, Trace};

use super::facts::Facts;
use super::{Refused, bit, id};

/// Where in a state's number some part of it is.
#[derive(Clone, Copy, Debug)]
pub(super) struct Field {
    pub(super) shift: u32,
    pub(super) mask: u128,
}

impl Field {
    #[inline]
    pub(super) fn get(self, key: u128) -> u128 {
        key >> self.shift & self.mask
    }

    #[inline]
    pub(super) fn put(self, key: u128, value: u128) -> u128 {
        key & !(self.mask << self.shift) | value << self.shift
    }
}

/// When an event may run, locks and updates aside, and what it does. `ran` sets are of events; the others are of
/// bits of the state's number.
#[derive(Clone, Debug, Default)]
pub(super) struct Rule {
    /// The events that must have run.
    pub(super) ran: u128,
    /// The bits that must be set.
    pub(super) demands: u128,
    /// The bits that must not be set.
    pub(super) forbids: u128,
    /// For a read: where the last writer of its variable is, and which writers (by place) are clean for it.
    pub(super) read: Option<(Field, u128)>,
    /// For an unwoken wait: the bit that tells of a notification since its start.
    pub(super) notified: u128,
    /// The bits to set when the event turns out to be an unclean read.
    pub(super) taints: u128,
    /// The bits any of which makes what the event writes tainted.
    pub(super) fed_by: u128,
    /// Where the event becomes last writer, and as which number (taint aside).
    pub(super) writes: Vec<(Field, u128)>,
    /// For a notification: the waits it may concern.
    pub(super) notifies: Vec<Notice>,
    /// The bits that mean nothing once the event has run.
    pub(super) forgets: u128,
    /// One step of the thread's cursor.
    pub(super) step: u128,
}

/// A bit to set if a notification runs while a wait is on.
#[derive(Clone, Copy, Debug)]
pub(super) struct Notice {
    pub(super) start: u128,
    pub(super) wait: u128,
    pub(super) bit: u128,
}

/// Hands out the bits of a state's number.
#[derive(Default)]
struct Layout {
    used: u32,
}

impl Layout {
    fn field(&mut self, largest: usize) -> Result<Field, Refused> {
        let (shift, bits) = (self.used, usize::BITS - largest.leading_zeros());
        self.used += bits;
        if self.used > u128::BITS {
            Err(Refused::TooLarge)
        } else {
            Ok(Field { shift, mask: (1 << bits) - 1 })
        }
    }

    fn bit(&mut self) -> Result<u128, Refused> {
        self.field(1).map(|field| 1 << field.shift)
    }
}

pub(super) struct Compiler<'a> {
    trace: &'a Trace,
    facts: &'a Facts,
    model: Model,
    dependences: Option<&'a Dependences>,
    layout: Layout,
    pub(super) rules: Vec<Rule>,
    /// Per thread.
    pub(super) cursors: Vec<Field>,
}

/// Whether a tainted thread may run the operation in the branch models.
fn transparent(kind: Kind) -> bool {
    use Kind::*;
    matches!(
        kind,
        Read | Write
            | AtomicRead
            | AtomicWrite
            | Acquire
            | TryAcquire
            | Release
            | SharedAcquire
            | SharedRelease
    )
}

impl<'a> Compiler<'a> {
    /// Rules for every event of `trace`.
    pub(super) fn run(
        trace: &'a Trace,
        facts: &'a Facts,
        model: Model,
        dependences: Option<&'a Dependences>,
    ) -> Result<Compiler<'a>, Refused> {
        let rules = vec![Rule::default(); trace.len()];
        let (layout, cursors) = (Layout::default(), Vec::new());
        let mut compiler = Compiler { trace, facts, model, dependences, layout, rules, cursors };
        compiler.order()?;
        compiler.waits()?;
        if model != Model::Sync {
            compiler.memory()?;
            if model.by_dependence() { compiler.taint_of_reads()? } else { compiler.taint_of_threads()? }
        }
        Ok(compiler)
    }

    fn order(&mut self) -> Result<(), Refused> {
        for (thread, events) in self.facts.threads.iter().enumerate() {
            let cursor = self.layout.field(events.len())?;
            self.cursors.push(cursor);
            for &event in events {
                self.rules[event].step = 1 << cursor.shift;
            }
            if let (Some(fork), Some(&first)) = (self.facts.fork[thread], events.first()) {
                self.rules[first].ran |= bit(fork);
            }
        }
        for (join, joined) in self.joins() {
            let fork = self.facts.fork[joined].into_iter();
            let all = fork.chain(self.facts.threads[joined].iter().copied());
            self.rules[join].ran |= all.fold(0, |set, event| set | bit(event));
        }
        Ok(())
    }

    /// Each join, with the thread joined.
    fn joins(&self) -> Vec<(usize, usize)> {
        let joined = |op| if let Op::Join(child) = op { Some(child.index()) } else { None };
        self.trace.events().filter_map(|(id, event)| Some((id.index(), joined(event.op)?))).collect()
    }

    fn waits(&mut self) -> Result<(), Refused> {
        for (wait, start) in self.facts.start.iter().enumerate() {
            let (Some(start), Op::Wait(condition)) = (*start, self.trace.op(id(wait))) else { continue };
            let notice = Notice { start: bit(start), wait: bit(wait), bit: self.layout.bit()? };
            self.rules[wait].forgets |= notice.bit;
            if let Some(waker) = self.facts.waker[wait] {
                self.rules[wait].demands |= notice.bit;
                self.rules[waker].notifies.push(notice);
                continue;
            }
            self.rules[wait].notified = notice.bit;
            for (event, rule) in self.rules.iter_mut().enumerate() {
                if [Op::Notify(condition), Op::NotifyAll(condition)].contains(&self.trace.op(id(event))) {
                    rule.notifies.push(notice);
                }
            }
        }
        Ok(())
    }

    /// Last writers, numbered per variable from 1 in observed order; 0 is the initial value.
    fn memory(&mut self) -> Result<(), Refused> {
        for variable in 0..self.facts.initial.len() {
            let readers: Vec<usize> =
                (0..self.rules.len()).filter(|&e| self.facts.reads[e] == Some(variable)).collect();
            if readers.is_empty() {
                continue;
            }
            let writers: Vec<usize> =
                (0..self.rules.len()).filter(|&e| self.facts.writes[e].contains(&variable)).collect();
            // The lowest bit is the taint.
            let field = self.layout.field(writers.len() << 1 | 1)?;
            for (place, &writer) in writers.iter().enumerate() {
                self.rules[writer].writes.push((field, (place as u128 + 1) << 1));
            }
            for reader in readers {
                let observable = std::iter::once(None).chain(writers.iter().map(|&w| Some(w)));
                let clean = observable.enumerate().filter(|&(_, w)| self.clean(reader, variable, w));
                let clean = clean.fold(0, |set, (place, _)| set | bit(place));
                self.rules[reader].read = Some((field, clean));
            }
        }
        Ok(())
    }

    /// Whether `reader` is clean when it observes what `writer` wrote, if that is not tainted.
    fn clean(&self, reader: usize, variable: usize, writer: Option<usize>) -> bool {
        let found = match writer {
            Some(writer) => self.trace.values(id(writer)).written,
            None => self.facts.initial[variable],
        };
        let read = self.trace.values(id(reader)).read;
        writer == self.facts.observed[reader] || self.model.by_value() && read.is_some() && read == found
    }

    fn taint_of_threads(&mut self) -> Result<(), Refused> {
        let mut taints = Vec::new();
        for events in &self.facts.threads {
            let taint = self.layout.bit()?;
            taints.push(taint);
            for &event in events {
                let rule = &mut self.rules[event];
                rule.taints = taint;
                rule.fed_by = taint;
                let stops = matches!(self.model, Model::Rf | Model::Value);
                if stops || !transparent(self.trace.kind(id(event))) {
                    rule.forbids |= taint;
                }
            }
        }
        for (join, joined) in self.joins() {
            self.rules[join].forbids |= taints[joined];
        }
        Ok(())
    }

    fn taint_of_reads(&mut self) -> Result<(), Refused> {
        let table = self.dependences.ok_or(Refused::NoDependences)?;
        for event in 0..self.rules.len() {
            if self.facts.reads[event].is_some() || self.facts.start[event].is_some() {
                self.rules[event].taints = self.layout.bit()?;
            }
        }
        let taints: Vec<u128> = self.rules.iter().map(|rule| rule.taints).collect();
        let any = |reads: &[EventId]| reads.iter().fold(0, |set, read| set | taints[read.index()]);
        for (event, rule) in self.rules.iter_mut().enumerate() {
            rule.forbids |= any(table.needs(id(event)));
            rule.fed_by = any(table.feeds(id(event)));
        }
        for (join, joined) in self.joins() {
            let joined = reweave_trace::ThreadId::from_index(joined);
            self.rules[join].forbids |= any(table.end_needs(joined));
        }
        Ok(())
    }
}
