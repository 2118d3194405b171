//! Which thread runs next: seeded, so that the same seed gives the same run.
//!
//! *Random* switches after a random number of accesses and, at half of all synchronisation, to any thread that can
//! run. Most bugs need a switch at one of a few places, at any distance from the last; so distances of every order of
//! magnitude are equally likely, up to one that grows with the run: a switch costs as much as hundreds of accesses. *Pct* is the scheduler of Burckhardt et al., "A Randomized Scheduler with Probabilistic Guarantees of Finding
//! Bugs" (ASPLOS 2010): random priorities, the highest one runs, and at a few random steps the running one falls below
//! all others. Unlike there, the length of the run is not known, so the distance to the next such step is drawn from
//! doubling ranges; and a thread that runs for long while others could is taken to be spinning and falls as well.
//! *Plain* goes on until it cannot, and then takes the first thread; those that let others run come after all others, or two that
//! wait for a third would only ever let each other run.
//!
//! A thread that goes in circles for long, as one does that waits for a variable, lets others run under every policy; so
//! does one that synchronises after a long while, and one that runs for very long. One whose rounds are all the same, to the last
//! value, does so soon, and rests ([`crate::sched::spin`]).

/// How threads are chosen.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    Random,
    Pct,
    Plain,
}

/// A step of the running thread.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Step {
    /// An access to memory.
    Access,
    /// Anything that threads use to wait for each other.
    Sync,
    /// The thread says that it has nothing to do.
    Yield,
}

/// What to do at a step.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Choice {
    Stay,
    /// Choose among all that can run.
    Choose,
    /// Choose among the others.
    Leave,
    /// Choose among the others; the running one only repeats itself.
    Rest,
}

/// The longest number of accesses between two switches under `Random`, as a power of two: at first, and after a long run.
const REACH: [u32; 2] = [7, 22];
/// It doubles after so many such distances.
const PATIENCE: u64 = 32;
/// After so many steps in a row a thread that goes in circles is taken to be spinning; and any other, after so many.
const SPINNING: [u64; 2] = [5_000, 1 << 20];
/// After so many steps of a turn it is looked whether the thread repeats itself.
const REPEATING: u64 = 256;

/// The state of a policy.
#[derive(Clone, Debug)]
pub(crate) struct Policy {
    kind: Kind,
    random: u64,
    /// Steps until the next change.
    left: u64,
    /// How far ahead the next change may lie.
    reach: u64,
    /// Priorities below all others, falling.
    lowest: u64,
    /// Steps of the running thread in a row.
    run: u64,
    /// After how many of them is to be looked whether it is spinning.
    patience: u64,
    /// Whether the running thread is no longer certain to have the highest priority.
    stale: bool,
    /// Steps since another thread ran.
    turn: u64,
    /// After how many of them is to be looked whether the thread repeats itself.
    look: u64,
}

impl Policy {
    pub(crate) fn new(kind: Kind, seed: u64) -> Policy {
        let random = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ 0xD1B5_4A32_D192_ED03;
        let mut policy = Policy {
            kind,
            random: random.max(1),
            left: 0,
            reach: 64,
            lowest: 1 << 32,
            run: 0,
            patience: SPINNING[0],
            stale: false,
            turn: 0,
            look: REPEATING,
        };
        policy.draw();
        policy.left = policy.distance();
        policy
    }

    fn draw(&mut self) -> u64 {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        self.random.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 16
    }

    fn below(&mut self, bound: u64) -> u64 {
        self.draw() % bound.max(1)
    }

    fn distance(&mut self) -> u64 {
        match self.kind {
            Kind::Random => {
                self.reach += 1;
                let longest = (REACH[0] + (self.reach / PATIENCE).min(64) as u32).min(REACH[1]);
                let scale = 1 + self.below(u64::from(longest));
                1 + self.below(1 << scale)
            }
            Kind::Plain => u64::MAX,
            Kind::Pct => {
                let distance = 1 + self.below(self.reach);
                self.reach = self.reach.saturating_mul(2).min(1 << 40);
                distance
            }
        }
    }

    /// The priority of a new thread: above all that fell.
    pub(crate) fn priority(&mut self) -> u64 {
        self.stale = true;
        let drawn = self.below(1 << 31);
        // *Plain* takes the first of those that never fell.
        (1 << 32) + 1 + if self.kind == Kind::Plain { 0 } else { drawn }
    }

    /// Some thread can run that could not.
    #[inline]
    pub(crate) fn woken(&mut self) {
        self.stale = true;
    }

    /// How many accesses may pass before [`Policy::step`] must be asked.
    #[inline]
    pub(crate) fn budget(&self) -> u64 {
        if self.kind == Kind::Pct && self.stale {
            return 0;
        }
        let until_look = self.look.saturating_sub(self.turn + 1);
        (self.left - 1).min(self.patience.saturating_sub(self.run + 1)).min(until_look)
    }

    /// So many accesses passed, no more than [`Policy::budget`] allowed.
    #[inline]
    pub(crate) fn passed(&mut self, count: u64) {
        self.left = self.left.saturating_sub(count).max(1);
        self.run += count;
        self.turn += count;
    }

    /// What the running thread, whose priority may change, does at a step; `circles` tells whether it goes in circles, and
    /// `repeats` whether it repeats itself.
    #[inline]
    pub(crate) fn step(
        &mut self,
        step: Step,
        priority: &mut u64,
        circles: impl FnOnce() -> bool,
        repeats: impl FnOnce() -> bool,
    ) -> Choice {
        self.left -= 1;
        self.run += 1;
        self.turn += 1;
        if self.turn >= self.look {
            self.look = self.turn.saturating_mul(2);
            if repeats() {
                self.look = self.turn + REPEATING;
                self.left = self.left.max(1);
                self.fall(priority);
                return Choice::Rest;
            }
        }
        let late = self.run >= self.patience;
        if self.left == 0 || late || step != Step::Access || self.stale {
            // What waits for a thread or lock by asking again and again may leave no trace at all.
            let spinning = late && (step != Step::Access || self.run >= SPINNING[1] || circles());
            if late {
                self.patience = self.run.saturating_mul(2).min(SPINNING[1]);
            }
            return self.consider(step, spinning, priority);
        }
        Choice::Stay
    }

    #[cold]
    fn consider(&mut self, step: Step, spinning: bool, priority: &mut u64) -> Choice {
        let changes = self.left == 0;
        if changes {
            self.left = self.distance();
        }
        if spinning {
            self.switched();
        }
        let heads = step == Step::Sync && self.kind == Kind::Random && self.draw().is_multiple_of(2);
        let stale = self.kind == Kind::Pct && core::mem::take(&mut self.stale);
        match self.kind {
            _ if step == Step::Yield || spinning => {
                self.fall(priority);
                Choice::Leave
            }
            Kind::Random if changes || heads => Choice::Choose,
            Kind::Pct if changes => {
                self.fall(priority);
                Choice::Choose
            }
            Kind::Pct if stale => Choice::Choose,
            _ => Choice::Stay,
        }
    }

    fn fall(&mut self, priority: &mut u64) {
        if self.kind != Kind::Random {
            self.lowest -= 1;
            *priority = self.lowest;
        }
    }

    /// The place of the next thread among `count`, whose priorities are given.
    pub(crate) fn choose(&mut self, count: usize, priority: impl Fn(usize) -> u64) -> usize {
        match self.kind {
            Kind::Random => self.below(count as u64) as usize,
            Kind::Plain | Kind::Pct => {
                let mut best = 0;
                for place in 1..count {
                    if priority(place) > priority(best) {
                        best = place;
                    }
                }
                best
            }
        }
    }

    /// Another thread than before runs now.
    pub(crate) fn turned(&mut self) {
        (self.turn, self.look) = (0, REPEATING);
    }

    /// A thread was chosen that runs now.
    pub(crate) fn switched(&mut self) {
        self.run = 0;
        // Not the same each time: a thread that spins with a lock would always be left at the same place, holding it.
        self.patience = SPINNING[0] + self.below(SPINNING[0] / 8);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn choices(kind: Kind, seed: u64) -> Vec<(Choice, usize)> {
        let mut policy = Policy::new(kind, seed);
        let priorities: Vec<u64> = (0..5).map(|_| policy.priority()).collect();
        (0..2_000)
            .map(|place| {
                let step = if place % 7 == 0 { Step::Sync } else { Step::Access };
                let choice = policy.step(step, &mut priorities[place % 5].clone(), || false, || false);
                (choice, policy.choose(5, |place| priorities[place]))
            })
            .collect()
    }

    #[test]
    fn who_waits_for_others_by_yielding_lets_all_of_them_run() {
        for kind in [Kind::Plain, Kind::Pct] {
            let mut policy = Policy::new(kind, 7);
            let mut priorities: Vec<u64> = (0..3).map(|_| policy.priority()).collect();
            let (mut ran, mut running) = ([0; 3], 0);
            for _ in 0..30 {
                let mut priority = priorities[running];
                assert_eq!(policy.step(Step::Yield, &mut priority, || false, || false), Choice::Leave);
                priorities[running] = priority;
                let others: Vec<usize> = (0..3).filter(|&thread| thread != running).collect();
                running = others[policy.choose(2, |place| priorities[others[place]])];
                ran[running] += 1;
            }
            assert_eq!(ran, [10; 3], "{kind:?}");
        }
    }

    #[test]
    fn the_same_seed_gives_the_same_choices_and_another_seed_others() {
        for kind in [Kind::Random, Kind::Pct] {
            assert_eq!(choices(kind, 7), choices(kind, 7));
            assert_ne!(choices(kind, 7), choices(kind, 8));
        }
    }

    #[test]
    fn random_reaches_every_thread_and_switches_now_and_then() {
        let choices = choices(Kind::Random, 3);
        for thread in 0..5 {
            assert!(choices.iter().any(|&(_, chosen)| chosen == thread));
        }
        let switches = choices.iter().filter(|(choice, _)| *choice != Choice::Stay).count();
        assert!((100..600).contains(&switches), "{switches}");
    }

    #[test]
    fn the_highest_priority_runs_until_it_falls() {
        let mut policy = Policy::new(Kind::Pct, 1);
        let mut priorities: Vec<u64> = (0..4).map(|_| policy.priority()).collect();
        let first = policy.choose(4, |place| priorities[place]);
        assert_eq!(priorities.iter().max(), Some(&priorities[first]));
        policy.step(Step::Yield, &mut priorities[first], || false, || false);
        assert_ne!(policy.choose(4, |place| priorities[place]), first);
        assert_eq!(priorities.iter().min(), Some(&priorities[first]));
    }

    #[test]
    fn a_spinning_thread_lets_others_run_under_every_policy() {
        for kind in [Kind::Random, Kind::Pct, Kind::Plain] {
            let mut policy = Policy::new(kind, 5);
            let mut priority = policy.priority();
            let mut leaves = |steps: usize, circles: bool| {
                (0..steps)
                    .filter(|_| {
                        policy.step(Step::Access, &mut priority, || circles, || false) == Choice::Leave
                    })
                    .count()
            };
            assert!(leaves(20_000, true) >= 3, "{kind:?}");
            assert_eq!(leaves(1_000_000, false), 0, "{kind:?}");
            assert!(leaves(2_000_000, false) >= 1, "{kind:?}");
        }
    }

    /// One that takes a lock, looks and gives it back is left without it at times, however long its round is.
    #[test]
    fn a_thread_that_spins_with_a_lock_is_left_everywhere_in_its_round() {
        for kind in [Kind::Random, Kind::Pct, Kind::Plain] {
            for round in 2..10 {
                let mut policy = Policy::new(kind, 1);
                let mut priority = policy.priority();
                let mut places = vec![false; round];
                for step in 0..300_000 {
                    let left = policy.step(Step::Access, &mut priority, || true, || false) == Choice::Leave;
                    places[step % round] |= left;
                }
                assert!(places.iter().all(|&left| left), "{kind:?} {round} {places:?}");
            }
        }
    }

    #[test]
    fn a_thread_that_repeats_itself_is_left_soon_and_again_soon() {
        for kind in [Kind::Random, Kind::Pct, Kind::Plain] {
            let mut policy = Policy::new(kind, 3);
            let mut priority = policy.priority();
            let rests = (0..1_100)
                .filter(|_| policy.step(Step::Access, &mut priority, || false, || true) == Choice::Rest);
            assert_eq!(rests.count(), 4, "{kind:?}");
            // What does not repeat itself is looked at ever less often.
            policy.turned();
            let mut looks = 0;
            for _ in 0..100_000 {
                policy.step(
                    Step::Access,
                    &mut priority,
                    || false,
                    || {
                        looks += 1;
                        false
                    },
                );
            }
            assert!(looks < 12, "{kind:?} {looks}");
        }
    }

    #[test]
    fn a_thread_that_asks_again_and_again_lets_others_run() {
        for kind in [Kind::Random, Kind::Pct, Kind::Plain] {
            let mut policy = Policy::new(kind, 5);
            let mut priority = policy.priority();
            let leaves = (0..20_000)
                .filter(|_| policy.step(Step::Sync, &mut priority, || false, || false) == Choice::Leave);
            assert!(leaves.count() >= 2, "{kind:?}");
        }
    }
}
