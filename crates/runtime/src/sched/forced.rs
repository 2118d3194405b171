//! A schedule that is forced: which thread the plan wants to run, and whether what happens is what was planned.
//!
//! Only the thread of the plan's next item runs. Whether an item is done is told by counts: how often a thread has had an
//! event at a place of code, and how many events of its own it has had. As in the greedy rescheduling of SWAN (section
//! 4.2), a thread runs on while the step that is wanted of it can still come; where it cannot (the thread has ended, is
//! blocked, spins, or has passed it), the step is given up and the next one is tried. There, reachability is looked up in
//! the control flow of the program; here it is found out by running the thread. A *strict* plan gives up as a whole, and
//! also where a thread has had more or fewer events than planned.

use reweave_wire::Op;

use crate::map::{Array, Map};
use crate::record::note;
use crate::sched::held::Hold;
use crate::sched::plan::{Do, Item, Plan};
use crate::sched::steer::{sleeps, waits_for_lock};
use crate::sched::thread::MAX_THREADS;

/// Added to the address of code of an event that is a further part of what one call tells of.
pub(crate) const PART: usize = 1 << 62;
/// Added to that of a read whose bytes are read in turn, each only because of those before.
pub(crate) const IN_TURN: usize = 1 << 61;

/// Why a step did not come.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Why {
    /// Nobody made the thread.
    NotCreated,
    Ended,
    /// It waits for what nobody gives it.
    Blocked,
    Spinning,
    /// It was done before it was wanted.
    Passed,
    /// More events than planned have passed.
    Late,
    /// Fewer.
    Early,
    /// The lock was free.
    NotBlocked,
    /// Somebody woke it.
    Woken,
    /// What should be the same memory is not.
    Elsewhere,
    /// It was told a time that is over by now.
    ClockBack,
}

/// The state of a forced schedule.
pub(crate) struct Forced {
    pub(crate) plan: Plan,
    /// The next item.
    pub(crate) at: usize,
    /// Whether the plan still decides who runs.
    pub(crate) active: bool,
    /// Whether the outcome was told.
    pub(crate) told: bool,
    /// Whether the moment to look came, and all was as it should be.
    pub(crate) reached: bool,
    /// Whether the finding is that somebody sleeps for ever: then nothing is confirmed before the end.
    pub(crate) asleep: bool,
    /// The first item that was given up, plus one.
    pub(crate) given_up: usize,
    /// Whether something came that no run of the program can have: then nothing is confirmed.
    pub(crate) spoilt: bool,
    /// Per thread and site, how many events.
    counts: Map<u64>,
    /// Per thread and place of creation, how many threads it made.
    made: Map<u64>,
    /// How many threads there ever were.
    pub(crate) threads: usize,
    /// Per thread: its number in the plan, plus one; its events; where it was last; the claim that is happening, plus one.
    pub(crate) planned: Array<u32>,
    own: Array<u64>,
    pub(crate) last: Array<usize>,
    pub(crate) happening: Array<u32>,
    pub(crate) holds: Array<Hold>,
    pub(crate) hold_count: usize,
    touched: (usize, usize),
    pub(crate) happened: u32,
    /// Points since the plan went on.
    waited: u64,
    /// How many events of its own the wanted thread had had by then.
    pub(crate) began: u64,
}

fn pair(index: usize, site: u32) -> u64 {
    (index as u64 + 1) << 32 | u64::from(site)
}

impl Forced {
    /// The plan of a file, whose name ends in a zero.
    pub(crate) fn read(name: &[u8]) -> Option<Forced> {
        Some(Forced::of(Plan::read(name)?))
    }

    pub(crate) fn of(plan: Plan) -> Forced {
        let mut forced = Forced {
            plan,
            at: 0,
            active: true,
            told: false,
            reached: false,
            asleep: false,
            given_up: 0,
            spoilt: false,
            counts: Map::new(),
            made: Map::new(),
            threads: 1,
            planned: Array::zeroed(MAX_THREADS),
            own: Array::zeroed(MAX_THREADS),
            last: Array::zeroed(MAX_THREADS),
            happening: Array::zeroed(MAX_THREADS),
            holds: Array::zeroed(1 << 12),
            hold_count: 0,
            touched: (0, 0),
            happened: 0,
            waited: 0,
            began: 0,
        };
        if let Some(main) = forced.planned.as_mut().first_mut() {
            *main = 1;
        }
        forced
    }

    pub(crate) fn count(&mut self, index: usize, site: u32) -> u64 {
        self.counts.get(pair(index, site)).map_or(0, |count| *count)
    }

    /// The thread that the plan means, by its number in the plan.
    pub(crate) fn index_of(&self, planned: u32) -> Option<usize> {
        let thread = self.plan.threads.as_ref().get(planned as usize)?;
        (thread.index as usize).checked_sub(1)
    }

    pub(crate) fn item(&self) -> Option<Item> {
        self.plan.items.as_ref().get(self.at).copied().filter(|_| self.at < self.plan.counts.items)
    }

    /// Whether the plan names this place.
    pub(crate) fn names(&mut self, code: usize) -> bool {
        // What libc frees, it frees with locks of its own held.
        let (start, end) = self.plan.program;
        self.active && (start..end).contains(&(code as u64)) && self.plan.site_at(code).is_some()
    }

    /// A thread was made.
    pub(crate) fn created(&mut self, parent: usize, code: usize, index: usize) {
        self.threads = self.threads.max(index + 1).min(MAX_THREADS);
        let Some(site) = self.plan.site_at(code) else { return };
        let Some(made) = self.made.entry(pair(parent, site)) else { return };
        *made += 1;
        let nth = *made;
        let Some(&parent) = self.planned.as_ref().get(parent) else { return };
        let count = self.plan.counts.threads;
        for (number, thread) in self.plan.threads.as_mut().iter_mut().enumerate().take(count).skip(1) {
            if parent != 0 && thread.parent + 1 == parent && thread.site == site && thread.nth == nth {
                thread.index = index as u32 + 1;
                if let Some(room) = self.planned.as_mut().get_mut(index) {
                    *room = number as u32 + 1;
                }
            }
        }
    }

    /// The memory that the next event touches.
    #[inline]
    pub(crate) fn touches(&mut self, at: usize, length: usize) {
        self.touched = (at, at.saturating_add(length));
    }

    /// An event of a thread; [`PART`] says that it is a further part of the one before.
    pub(crate) fn event(&mut self, index: usize, op: Op, code: usize) {
        // Calls and returns are told where something else is, and branches not always: they are no steps.
        if matches!(op, Op::Enter | Op::Exit | Op::Branch) {
            return;
        }
        let touched = core::mem::take(&mut self.touched);
        if code & PART != 0 {
            return self.touch(index, touched);
        }
        if let Some(happening) = self.happening.as_mut().get_mut(index) {
            *happening = 0;
        }
        let (start, end) = self.plan.program;
        let inside = (start..end).contains(&(code as u64));
        if inside
            && !matches!(op, Op::Alloc | Op::Free)
            && let Some(own) = self.own.as_mut().get_mut(index)
        {
            *own += 1;
        }
        // What libc allocates in a call that had to wait has no place, and is no step.
        let placeless = code == 0 && matches!(op, Op::Alloc | Op::Free);
        let site = if placeless { None } else { self.plan.site_at(code) };
        let count = site.and_then(|site| self.counts.entry(pair(index, site))).map(|count| {
            *count += 1;
            *count
        });
        if let (Some(site), Some(count)) = (site, count) {
            self.claim(index, site, count, code);
        }
        // What a finding's own event begins or ends is what it is about.
        if matches!(op, Op::Alloc | Op::Free) && self.happening.as_ref().get(index) == Some(&0) {
            self.lifetime(touched);
        }
        let (Some(site), Some(count)) = (site, count) else { return };
        self.touch(index, touched);
        if self.plan.strict && self.active && inside && !matches!(op, Op::Alloc | Op::Free) {
            self.check_number(index, site, count, code);
        }
    }

    fn check_number(&mut self, index: usize, site: u32, count: u64, code: usize) {
        let Some(item) = self.item() else { return };
        let own = self.own.as_ref().get(index).copied().unwrap_or(0);
        let is_it =
            self.index_of(item.thread) == Some(index) && item.site == site && item.occurrence == count;
        if is_it && item.own != 0 && item.own != own {
            self.give_up(if own < item.own { Why::Early } else { Why::Late }, index, code);
        }
    }

    /// The step cannot come, or not as planned.
    pub(crate) fn give_up(&mut self, why: Why, index: usize, code: usize) {
        note::given_up(self.at, why, index, code);
        if self.given_up == 0 {
            self.given_up = self.at + 1;
        }
        self.waited = 0;
        self.at += 1;
        if self.plan.strict {
            self.active = false;
        }
    }

    /// What the program is given cannot be had in this order: whatever comes now, it shows nothing.
    pub(crate) fn spoil(&mut self, why: Why, index: usize) {
        if !core::mem::replace(&mut self.spoilt, true) {
            let code = self.last.as_ref().get(index).copied().unwrap_or(0);
            note::given_up(self.at, why, index, code);
        }
    }

    fn next(&mut self) {
        self.at += 1;
        self.waited = 0;
    }

    /// The thread that the plan wants to run; none once the plan is over.
    pub(crate) fn wanted(&mut self) -> Option<u32> {
        while self.active {
            let Some(item) = self.item() else {
                self.active = false;
                note::outcome(self);
                break;
            };
            if item.what == Do::Look {
                self.look();
                continue;
            }
            let Some(index) = self.index_of(item.thread) else { return Some(item.thread) };
            let done = self.count(index, item.site) >= item.occurrence;
            match item.what {
                Do::Run if done => self.next(),
                Do::Stand if self.stands(&item) => self.next(),
                Do::Stand if done => self.give_up(Why::Passed, index, 0),
                Do::Block if done => self.give_up(Why::NotBlocked, index, 0),
                Do::Block if waits_for_lock(index) => self.next(),
                Do::Sleep if done => self.give_up(Why::Woken, index, 0),
                Do::Sleep if sleeps(index) => self.sleeps_at(&item, index),
                _ => return Some(item.thread),
            }
        }
        None
    }

    /// The thread sleeps where the finding says that it does; whether it is woken after all is seen at the end.
    fn sleeps_at(&mut self, item: &Item, index: usize) {
        let code = self.last.as_ref().get(index).copied().unwrap_or(0);
        let claims = self.plan.counts.claims;
        let is_it = |claim: &crate::sched::plan::Claimed| {
            claim.thread == item.thread && claim.site == item.site && claim.occurrence == item.occurrence
        };
        if let Some(number) = self.plan.claims.as_ref().iter().take(claims).position(is_it)
            && let Some(claim) = self.plan.claims.as_mut().get_mut(number)
        {
            claim.stands = true;
            self.asleep = true;
            note::stack(b"stands", number, index, code);
        }
        self.next();
    }

    /// Whether no wait that the finding is about has returned.
    pub(crate) fn is_still_asleep(&self) -> bool {
        self.plan
            .claims
            .as_ref()
            .iter()
            .take(self.plan.counts.claims)
            .all(|claim| claim.stands && claim.when == 0)
    }

    fn stands(&self, item: &Item) -> bool {
        let claims = self.plan.claims.as_ref();
        claims.iter().take(self.plan.counts.claims).any(|claim| {
            claim.stands
                && claim.thread == item.thread
                && claim.site == item.site
                && claim.occurrence == item.occurrence
        })
    }

    /// The thread with the baton is about to do something at `code`.
    pub(crate) fn arrives(&mut self, index: usize, code: usize) {
        if let Some(last) = self.last.as_mut().get_mut(index) {
            *last = code;
        }
        // What this thread has done by now may have been all that was wanted of it.
        self.wanted();
        if !self.active {
            return;
        }
        let Some(item) = self.item().filter(|item| self.index_of(item.thread) == Some(index)) else { return };
        let own = self.own.as_ref().get(index).copied().unwrap_or(0);
        if self.waited == 0 {
            self.began = own;
        }
        self.waited += 1;
        let site = self.plan.site_at(code);
        let is_next = site == Some(item.site) && self.count(index, item.site) + 1 == item.occurrence;
        if is_next && item.what == Do::Stand {
            let claims = self.plan.counts.claims;
            let found = self.plan.claims.as_mut().iter_mut().take(claims).position(|claim| {
                claim.thread == item.thread && claim.site == item.site && claim.occurrence == item.occurrence
            });
            if let Some(number) = found
                && let Some(claim) = self.plan.claims.as_mut().get_mut(number)
            {
                claim.stands = true;
                note::stack(b"stands", number, index, code);
            }
        } else if !is_next && self.plan.strict && item.own != 0 && own >= item.own {
            if self.count(index, item.site) < item.occurrence {
                self.give_up(Why::Late, index, code);
            }
        } else if self.waited > self.patience(&item) {
            self.give_up(Why::Spinning, index, code);
        }
    }

    /// All threads are where they should be: so it is confirmed, but for what is still to be seen.
    fn look(&mut self) {
        self.next();
        let all = self.are_all_there();
        self.reached = all;
        note::look(self);
        if all {
            note::reached(self.plan.stops);
        }
    }

    /// Among threads that wait for the same, the one that the plan needs first.
    pub(crate) fn prefer(&self, threads: &[u32]) -> Option<usize> {
        let items = self.plan.items.as_ref();
        let rest = items.iter().take(self.plan.counts.items).skip(self.at);
        rest.filter_map(|item| self.index_of(item.thread))
            .find_map(|index| threads.iter().position(|&one| one as usize == index))
    }
}
