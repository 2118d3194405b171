//! Programs, drawn from a seed.

use super::{Atomic, Bug, Feed, HandOver, LockKind, Mode, Program, Region, State, Statement, Step, Token};
use crate::Rng;

const LOCKS: &[LockKind] = &[
    LockKind::Normal,
    LockKind::Normal,
    LockKind::Recursive,
    LockKind::ErrorCheck,
    LockKind::Robust,
    LockKind::ReadWrite,
    LockKind::Spin,
    LockKind::Semaphore,
    LockKind::Pipe,
    LockKind::Atomic,
    LockKind::Stream,
];
const STATES: &[State] = &[
    State::Random,
    State::Random48,
    State::Token,
    State::Environment,
    State::Offset,
    State::Stream,
    State::Content,
    State::Descriptor,
    State::Mask,
];
/// Values stay below this.
const VALUES: usize = 8;

/// The program of a seed.
pub fn draw(seed: u64, bug: Option<Bug>) -> Program {
    let mut rng = Rng::new(seed);
    let locks = (0..rng.within((1, 3))).filter_map(|_| rng.pick(LOCKS)).collect();
    let threads = rng.within((2, 4));
    let program = Program {
        seed,
        locks,
        atomics: 2,
        tokens: Vec::new(),
        feeds: Vec::new(),
        meetings: 0,
        threads: vec![Vec::new(); threads],
        bug,
    };
    let mut drawing = Drawing { rng, program, open: Vec::new() };
    for _ in 0..drawing.rng.within((3, 10)) {
        drawing.statement();
    }
    drawing.finish()
}

struct Drawing {
    rng: Rng,
    program: Program,
    /// Tokens that were given and not taken yet, with their givers.
    open: Vec<(usize, usize)>,
}

impl Drawing {
    fn number(&mut self) -> u32 {
        self.rng.below(VALUES) as u32
    }

    fn thread(&mut self) -> usize {
        self.rng.below(self.program.threads.len())
    }

    /// Appends a statement to one thread, or to all.
    fn statement(&mut self) {
        let thread = self.thread();
        let statement = match self.rng.below(100) {
            0..44 => Statement::Locked(self.region(0, 2)),
            44..60 => self.atomic(),
            60..72 => return self.hand_over(thread),
            72..80 => return self.take(),
            80..86 => self.eat(),
            86..90 => {
                let meeting = self.program.meetings;
                self.program.meetings += 1;
                let all = self.program.threads.iter_mut();
                return all.for_each(|thread| thread.push(Statement::Meet(meeting)));
            }
            90..95 => Statement::Once(self.rng.below(2)),
            _ => Statement::Helper,
        };
        self.program.threads[thread].push(statement);
    }

    /// Takes what was given and not taken, and ends each thread.
    fn finish(mut self) -> Program {
        while !self.open.is_empty() {
            self.take();
        }
        let robust = self.program.locks.iter().position(|&kind| kind == LockKind::Robust);
        if let Some(lock) = robust
            && self.rng.chance(30)
        {
            let thread = self.thread();
            self.program.threads[thread].push(Statement::Abandon(lock));
        }
        self.program
    }

    fn hand_over(&mut self, giver: usize) {
        let ways = [HandOver::Semaphore, HandOver::Condition, HandOver::Pipe, HandOver::Flag];
        let Some(how) = self.rng.pick(&ways) else { return };
        let number = self.program.tokens.len();
        let token = Token {
            how,
            block: self.rng.chance(40),
            patient: !self.rng.chance(25),
            looks: how == HandOver::Flag || how == HandOver::Semaphore && self.rng.chance(30),
        };
        self.program.tokens.push(token);
        self.program.threads[giver].push(Statement::Give(number));
        self.open.push((number, giver));
    }

    fn take(&mut self) {
        if self.open.is_empty() {
            return;
        }
        let (token, giver) = self.open.remove(self.rng.below(self.open.len()));
        let others: Vec<usize> = (0..self.program.threads.len()).filter(|&other| other != giver).collect();
        if let Some(taker) = self.rng.pick(&others) {
            self.program.threads[taker].push(Statement::Take(token));
        }
    }

    fn eat(&mut self) -> Statement {
        let ways = [HandOver::Semaphore, HandOver::Condition, HandOver::Pipe];
        if self.program.feeds.is_empty() || self.rng.chance(30) && self.program.feeds.len() < 2 {
            let how = self.rng.pick(&ways).unwrap_or(HandOver::Condition);
            self.program.feeds.push(Feed { how, count: 0 });
        }
        let feed = self.rng.below(self.program.feeds.len());
        self.program.feeds[feed].count += 1;
        Statement::Eat(feed)
    }

    fn atomic(&mut self) -> Statement {
        let (a, b) = (self.number(), self.number());
        let access = match self.rng.below(7) {
            0 => Atomic::Load,
            1 => Atomic::Store(a),
            2 => Atomic::Add(a),
            3 => Atomic::Swap(a),
            4 | 5 => Atomic::Compare(a % 2, b),
            _ => Atomic::Loop,
        };
        Statement::Atomic(self.rng.below(self.program.atomics), access)
    }

    /// A region of a lock that is not below `lowest`.
    fn region(&mut self, lowest: usize, depth: usize) -> Region {
        let lock = self.rng.within((lowest, self.program.locks.len() - 1));
        let kind = self.program.locks[lock];
        let shared = kind == LockKind::ReadWrite;
        let mode = match self.rng.below(10) {
            0..2 => Mode::Try,
            2 => Mode::Timed,
            3..6 if shared => Mode::Shared,
            6 if shared => Mode::TryShared,
            _ => Mode::Wait,
        };
        let mode = if kind == LockKind::Pipe { Mode::Wait } else { mode };
        let steps = self.steps(lock, matches!(mode, Mode::Shared | Mode::TryShared), depth);
        Region { lock, mode, steps }
    }

    fn steps(&mut self, lock: usize, shared: bool, depth: usize) -> Vec<Step> {
        (0..self.rng.within((1, 3))).map(|_| self.step(lock, shared, depth)).collect()
    }

    fn step(&mut self, lock: usize, shared: bool, depth: usize) -> Step {
        let (variable, number) = (self.rng.below(2), self.number());
        if shared {
            return if self.rng.chance(25) { Step::Use } else { Step::Load(variable) };
        }
        match self.rng.below(100) {
            0..15 => Step::Load(variable),
            15..30 => Step::Store(variable, number),
            30..42 => Step::Add(variable, number),
            42..58 if depth > 0 => {
                let then = self.steps(lock, shared, depth - 1);
                let other = self.steps(lock, shared, depth - 1);
                Step::If(variable, number, then, other)
            }
            58..63 => Step::Index,
            63..66 => Step::Divide(variable),
            66..72 => Step::Use,
            72..78 => Step::Replace(number),
            78..80 => Step::Drop,
            80..88 => self.call(lock, number),
            88..90 => Step::Clock(number * 4),
            90..93 => Step::Again,
            93..100 if depth > 0 && lock + 1 < self.program.locks.len() => {
                Step::Inner(self.region(lock + 1, depth - 1))
            }
            _ => Step::Add(variable, number),
        }
    }

    /// A call whose state belongs to this lock, if there is one.
    fn call(&mut self, lock: usize, number: u32) -> Step {
        let locks = self.program.locks.len();
        let mine: Vec<State> = { STATES.iter().enumerate() }
            .filter(|(at, _)| at % locks == lock)
            .map(|(_, &state)| state)
            .collect();
        self.rng.pick(&mine).map_or(Step::Add(0, number), Step::Call)
    }
}
