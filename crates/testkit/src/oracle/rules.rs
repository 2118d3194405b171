//! The law compiled into one rule per event, over states that are numbers.

use reweave_trace::{Dependences, EventId, Kind, Model, Op, Trace};

use super::facts::Facts;
use super::{Refused, bit, id};
use crate::calls::{Standing, is_void, standing};

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
    /// The events that must not have run.
    pub(super) unless: u128,
    /// The bits that must be set.
    pub(super) demands: u128,
    /// The bits that must not be set.
    pub(super) forbids: u128,
    /// For a read: where the last writer of its variable is, and which writers (by place) are clean for it.
    pub(super) read: Option<(Field, u128)>,
    /// For a woken wait: the bit that tells of any notification since its start.
    pub(super) heard: u128,
    /// For an attempt that failed: at which writers, by place, it is known to fail.
    pub(super) fails: u128,
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
    /// The call that goes ahead, and the event that comes too late.
    ahead: Option<(usize, usize)>,
    layout: Layout,
    pub(super) rules: Vec<Rule>,
    /// Per thread.
    pub(super) cursors: Vec<Field>,
}

/// Whether a tainted thread may run the operation in the branch models.
pub(super) fn transparent(kind: Kind) -> bool {
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
        ahead: Option<(usize, usize)>,
    ) -> Result<Compiler<'a>, Refused> {
        let rules = vec![Rule::default(); trace.len()];
        let (layout, cursors) = (Layout::default(), Vec::new());
        let mut compiler = Compiler { trace, facts, model, dependences, ahead, layout, rules, cursors };
        compiler.order()?;
        compiler.waits()?;
        compiler.looks_and_unseen();
        if model != Model::Sync {
            compiler.memory()?;
            compiler.calls();
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
                let heard = Notice { bit: self.layout.bit()?, ..notice };
                self.rules[wait].heard = heard.bit;
                self.rules[wait].forgets |= heard.bit;
                self.tell_of_any(condition, heard);
                continue;
            }
            if self.model != Model::Sync {
                self.rules[wait].forbids |= notice.bit;
            }
            self.tell_of_any(condition, notice);
        }
        Ok(())
    }

    /// Every notification of the condition variable sets the bit.
    fn tell_of_any(&mut self, condition: reweave_trace::ConditionId, notice: Notice) {
        for (event, rule) in self.rules.iter_mut().enumerate() {
            if [Op::Notify(condition), Op::NotifyAll(condition)].contains(&self.trace.op(id(event))) {
                rule.notifies.push(notice);
            }
        }
    }

    /// A look at a clock comes before all later ones; an unseen write after all that came before it.
    fn looks_and_unseen(&mut self) {
        for event in 0..self.rules.len() {
            let op = self.trace.op(id(event));
            match op {
                Op::Look(_) => {
                    let later = (event + 1..self.rules.len()).filter(|&e| self.trace.op(id(e)) == op);
                    self.rules[event].unless = later.fold(0, |set, e| set | bit(e));
                }
                Op::Unseen(_) => {
                    let earlier = self.facts.threads.iter().flatten().filter(|&&e| e < event);
                    self.rules[event].ran |= earlier.fold(0, |set, &e| set | bit(e));
                }
                _ => {}
            }
        }
    }

    /// A call comes after those before it on its objects that do not commute with it. One may go ahead: then it comes after fewer, and
    /// nothing else on its objects comes after it, but for the event that comes too late.
    fn calls(&mut self) {
        let objects: Vec<Vec<String>> =
            (0..self.rules.len()).map(|event| super::facts::objects_of(self.trace, event)).collect();
        let text = |event: usize| self.trace.target_name(self.trace.op(id(event))).unwrap_or_default();
        let standing =
            |earlier: usize, later: usize| match objects[earlier].len() == 1 && objects[later].len() == 1 {
                true => standing(text(earlier), text(later)),
                false => Standing::Conflict,
            };
        let meet = |one: usize, two: usize| objects[one].iter().any(|object| objects[two].contains(object));
        let calls: Vec<usize> = (0..objects.len()).filter(|&event| !objects[event].is_empty()).collect();
        let (ahead, late) = self.ahead.unzip();
        for &call in &calls {
            for &earlier in calls.iter().filter(|&&earlier| earlier < call && meet(earlier, call)) {
                match standing(earlier, call) {
                    Standing::Commute => {}
                    Standing::Ordered if ahead == Some(call) => {}
                    _ => self.rules[call].ran |= bit(earlier),
                }
            }
            if let Some(ahead) =
                ahead.filter(|&ahead| ahead != call && late != Some(call) && meet(ahead, call))
            {
                self.rules[call].unless |= bit(ahead);
            }
        }
        if let Some(ahead) = ahead.filter(|&ahead| !is_void(text(ahead))) {
            for events in &self.facts.threads {
                let place =
                    events.iter().position(|&event| event == ahead).map_or(events.len(), |place| place + 1);
                events[place..].iter().for_each(|&event| self.rules[event].unless |= bit(ahead));
            }
        }
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
                let observable = std::iter::once(None).chain(writers.iter().map(|&w| Some(w)));
                let fails = observable.enumerate().filter(|&(_, w)| self.fails(reader, variable, w));
                self.rules[reader].fails = fails.fold(0, |set, (place, _)| set | bit(place));
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

    /// Whether the attempt `reader`, which failed by its value, fails at what `writer` wrote.
    fn fails(&self, reader: usize, variable: usize, writer: Option<usize>) -> bool {
        let found = match writer {
            Some(writer) => self.trace.values(id(writer)).written,
            None => self.facts.initial[variable],
        };
        let values = self.trace.values(id(reader));
        let (Some(read), Some(expected), Some(found)) = (values.read, values.written, found) else {
            return false;
        };
        let attempt = self.trace.kind(id(reader)) == Kind::FailedAttempt;
        self.model.by_value() && attempt && read != expected && found != expected
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
            if self.facts.reads[event].is_some() {
                self.rules[event].taints = self.layout.bit()?;
            }
        }
        let taints: Vec<u128> = self.rules.iter().map(|rule| rule.taints).collect();
        let any = |reads: &[EventId]| reads.iter().fold(0, |set, read| set | taints[read.index()]);
        for (event, rule) in self.rules.iter_mut().enumerate() {
            rule.forbids |= any(table.needs(id(event)));
            if self.trace.kind(id(event)) == Kind::Call {
                rule.forbids |= any(table.feeds(id(event)));
            }
            rule.fed_by = any(table.feeds(id(event)));
        }
        for (join, joined) in self.joins() {
            let joined = reweave_trace::ThreadId::from_index(joined);
            self.rules[join].forbids |= any(table.end_needs(joined));
        }
        Ok(())
    }
}
