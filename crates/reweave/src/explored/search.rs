//! The search that a builder asks for.

use std::cell::Cell;
use std::rc::Rc;
use std::time::Instant;

use reweave_explore::{Error, Explorer, Item, Limits, Policy, Progress, Report};

use super::host::{Explored, Host};
use super::{Builder, Engine, Exploration, places, progress, report};

impl Builder {
    /// Explores, and reports.
    pub fn explore<F: Fn() + 'static>(self, body: F) -> Exploration {
        let (body, started): (Rc<dyn Fn()>, _) = (Rc::new(body), Instant::now());
        self.settled(&body, |host| self.search_item(host, started, &Item::default())).1
    }

    /// Searches until no threads were taken for alike that are not, and no loop for one that waits
    /// that counts.
    pub(super) fn settled<T>(&self, body: &Rc<dyn Fn()>, mut search: impl FnMut(&Host) -> T) -> (Host, T) {
        let (mut apart, mut counting) = (!self.symmetry, Vec::new());
        loop {
            let host = Host::new(Rc::clone(body), &self.types, apart, counting.clone());
            let found = search(&host);
            if host.told_apart() && !apart {
                // Threads that should be alike made objects, or asked who they are.
                apart = true;
                continue;
            }
            let counts = host.counts.take();
            match counts {
                Some(place) if !counting.contains(&place) => counting.push(place),
                _ => return (host, found),
            }
        }
    }

    pub(super) fn search_item(&self, host: &Host, started: Instant, item: &Item) -> Exploration {
        self.searched(host, started, |explorer, limits| {
            explorer.item.clone_from(item);
            let mut program = Explored(host);
            match (self.sample, self.engine) {
                (Some((how, runs)), _) => explorer.sample(&mut program, limits, how, runs, 1),
                (None, Engine::Saturate) => explorer.saturate(&mut program, limits),
                (None, Engine::Trace) => explorer.trace(&mut program, limits),
            }
        })
    }

    pub(super) fn searched(
        &self,
        host: &Host,
        started: Instant,
        search: impl FnOnce(&mut Explorer, &Limits<'_>) -> Result<Report, Error>,
    ) -> Exploration {
        let (time, asked) = (self.time, Cell::new(0u32));
        let stop = || {
            asked.set(asked.get().wrapping_add(1));
            host.is_over()
                || asked.get().is_multiple_of(64) && time.is_some_and(|time| started.elapsed() > time)
        };
        let lines = progress::Lines::new(self.progress, started);
        let progress = |now: &Progress| lines.report(now);
        let limits = Limits {
            max_steps: self.max_steps,
            preemptions: self.preemptions,
            stop: &stop,
            progress: &progress,
            ..Limits::default()
        };
        let mut explorer = self.explorer(host);
        (explorer.audit, explorer.keep_going) = (self.audit, self.keep_going);
        let result = search(&mut explorer, &limits);
        let mut exploration = report::exploration(self, host, &mut explorer, result);
        exploration.seconds = started.elapsed().as_secs_f64();
        exploration
    }

    fn explorer(&self, host: &Host) -> Explorer {
        Explorer::with_objects(self.policy(), Rc::clone(&host.specified) as Rc<_>, self.commuting)
    }

    /// Runs one schedule.
    pub fn replay<F: Fn() + 'static>(self, schedule: &str, body: F) -> Exploration {
        let (counting, schedule) = places::counting(schedule);
        let host = Host::new(Rc::new(body), &self.types, true, counting);
        let mut explorer = self.explorer(&host);
        let limits = Limits { max_steps: self.max_steps, ..Limits::default() };
        let result = match report::read_schedule(&host, schedule) {
            Some(moves) => explorer.replay(&mut Explored(&host), &moves, &limits),
            None => Err(Error::Impossible(0)),
        };
        report::exploration(&self, &host, &mut explorer, result)
    }

    fn policy(&self) -> Policy {
        Policy { timeouts: self.timeouts, spurious: self.spurious, weak: self.spurious, fair_writers: true }
    }
}
