//! The machine of small programs.

use super::{Instr, OBJECTS, REGISTERS, Result, Small};

pub(super) const FAILED: u32 = 1;
const TIMEOUT: u32 = 2;
pub(super) const CHOSEN: u32 = 8;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Mode {
    Unborn,
    Ready,
    /// In a wait; notified means that it still needs the lock.
    Asleep,
    Awake {
        timeout: bool,
    },
    /// A writer in the queue, and a reader behind it.
    QueuedWriter,
    QueuedReader,
    AtBarrier,
    Failed,
    Done,
    Killed,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Local {
    pub(super) at: usize,
    pub(super) registers: [u64; REGISTERS],
    pub(super) mode: Mode,
    pub(super) token: bool,
    /// What a spinning thread saw last.
    pub(super) seen: Option<u64>,
    pub(super) history: Vec<Result>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct World {
    pub(super) locals: Vec<Local>,
    cells: [u64; OBJECTS],
    pub(super) owners: [Option<usize>; OBJECTS],
    pub(super) writers: [Option<usize>; OBJECTS],
    readers: [usize; OBJECTS],
    semaphores: [u64; OBJECTS],
    /// Who initialises; `usize::MAX` when it is done.
    pub(super) onces: [Option<usize>; OBJECTS],
    pub(super) channels: [Vec<u64>; OBJECTS],
    /// A bit for each element.
    pub(super) set: u64,
    pub(super) counter: u64,
    pub(super) owners_left: u64,
}

impl World {
    pub(super) fn new(program: &Small) -> World {
        let local = Local {
            at: 0,
            registers: [0; REGISTERS],
            mode: Mode::Unborn,
            token: false,
            seen: None,
            history: Vec::new(),
        };
        let mut world = World {
            locals: vec![local; program.threads.len()],
            cells: [0; OBJECTS],
            owners: [None; OBJECTS],
            writers: [None; OBJECTS],
            readers: [0; OBJECTS],
            semaphores: [0; OBJECTS],
            onces: [None; OBJECTS],
            channels: Default::default(),
            set: 0,
            counter: 0,
            owners_left: 2,
        };
        world.locals[0].mode = Mode::Ready;
        world.settle(program, 0);
        world
    }

    /// The instruction that a thread is at; none is its end.
    pub(super) fn instr(&self, program: &Small, thread: usize) -> Option<Instr> {
        program.threads[thread].get(self.locals[thread].at).copied()
    }

    /// Does what is no step: skips, and failing.
    pub(super) fn settle(&mut self, program: &Small, thread: usize) {
        while let Some(Instr::SkipIf { reg, value, count }) = self.instr(program, thread) {
            let local = &mut self.locals[thread];
            local.at += if local.registers[reg] == value { count + 1 } else { 1 };
        }
        if let Some(Instr::Fail { .. }) = self.instr(program, thread) {
            self.locals[thread].mode = Mode::Failed;
        }
    }

    /// A thread goes on with a result, of which the register gets a part.
    pub(super) fn go(&mut self, program: &Small, thread: usize, reg: Option<(usize, u64)>, result: Result) {
        let local = &mut self.locals[thread];
        if let Some((reg, value)) = reg {
            local.registers[reg] = value;
        }
        local.history.push(result);
        local.mode = Mode::Ready;
        local.seen = None;
        local.at += 1;
        self.settle(program, thread);
    }

    /// All worlds after one step of a thread. A spin that sees nothing new is none.
    pub(super) fn after(&self, program: &Small, thread: usize) -> Vec<World> {
        let mut worlds = Vec::new();
        let mut add = |change: &dyn Fn(&mut World)| {
            let mut world = self.clone();
            change(&mut world);
            worlds.push(world);
        };
        let go = |world: &mut World, result: Result| world.go(program, thread, None, result);
        match self.locals[thread].mode {
            Mode::Ready => return self.ready(program, thread),
            Mode::Asleep => {
                if let Some(Instr::Wait { timed, .. }) = self.instr(program, thread)
                    && program.unasked
                {
                    add(&|world| world.locals[thread].mode = Mode::Awake { timeout: false });
                    if timed {
                        add(&|world| world.locals[thread].mode = Mode::Awake { timeout: true });
                    }
                }
            }
            Mode::Awake { timeout } => {
                if let Some(Instr::Wait { reg, lock, .. }) = self.instr(program, thread)
                    && self.owners[lock].is_none()
                {
                    add(&|world| {
                        world.owners[lock] = Some(thread);
                        let late = u64::from(timeout);
                        world.go(program, thread, Some((reg, late)), (TIMEOUT * u32::from(timeout), 0));
                    });
                }
            }
            Mode::QueuedWriter => {
                if let Some(Instr::Write { lock }) = self.instr(program, thread)
                    && self.writers[lock].is_none()
                    && self.readers[lock] == 0
                {
                    add(&|world| {
                        world.writers[lock] = Some(thread);
                        go(world, (0, 0));
                    });
                }
            }
            Mode::QueuedReader => {
                if let Some(Instr::Read { lock }) = self.instr(program, thread)
                    && self.writers[lock].is_none()
                    && !self.writer_queues(program, lock)
                {
                    add(&|world| {
                        world.readers[lock] += 1;
                        go(world, (0, 0));
                    });
                }
            }
            _ => {}
        }
        worlds
    }

    /// Whether a spinning thread would see what it has not seen just before.
    pub(super) fn sees_news(&self, thread: usize, cell: usize) -> bool {
        self.locals[thread].seen != Some(self.cells[cell])
    }

    /// Whether a thread can go on only if its wait ends without cause.
    pub(super) fn only_by_chance(&self, program: &Small, thread: usize) -> bool {
        let local = &self.locals[thread];
        match (local.mode, self.instr(program, thread)) {
            (Mode::Asleep, Some(Instr::Wait { timed, .. })) => !timed,
            (Mode::Ready, Some(Instr::Park)) => !local.token,
            _ => false,
        }
    }

    fn writer_queues(&self, program: &Small, lock: usize) -> bool {
        (0..self.locals.len()).any(|other| {
            self.locals[other].mode == Mode::QueuedWriter
                && matches!(self.instr(program, other), Some(Instr::Write { lock: own }) if own == lock)
        })
    }

    fn sleepers(&self, program: &Small, condition: usize) -> Vec<usize> {
        let waits = |other: &usize| {
            self.locals[*other].mode == Mode::Asleep
                && matches!(self.instr(program, *other), Some(Instr::Wait { condition: own, .. }) if own == condition)
        };
        (0..self.locals.len()).filter(waits).collect()
    }

    fn ready(&self, program: &Small, thread: usize) -> Vec<World> {
        let mut worlds = Vec::new();
        let mut add = |change: &dyn Fn(&mut World)| {
            let mut world = self.clone();
            change(&mut world);
            worlds.push(world);
        };
        let go = |world: &mut World, result: Result| world.go(program, thread, None, result);
        let set = |world: &mut World, reg: usize, value: u64, result: Result| {
            world.go(program, thread, Some((reg, value)), result);
        };
        let Some(instr) = self.instr(program, thread) else {
            add(&|world| world.locals[thread].mode = Mode::Done);
            return worlds;
        };
        match instr {
            Instr::Load { reg, cell, .. } => {
                add(&|world| set(world, reg, self.cells[cell], (0, self.cells[cell])))
            }
            Instr::Store { cell, value, .. } => add(&|world| {
                world.cells[cell] = value;
                go(world, (0, 0));
            }),
            Instr::Add { reg, cell, by } => add(&|world| {
                world.cells[cell] += by;
                set(world, reg, self.cells[cell], (0, self.cells[cell]));
            }),
            Instr::Swap { reg, cell, value } => add(&|world| {
                world.cells[cell] = value;
                set(world, reg, self.cells[cell], (0, self.cells[cell]));
            }),
            Instr::Cas { reg, cell, expected, new, weak } => {
                let old = self.cells[cell];
                if old == expected {
                    add(&|world| {
                        world.cells[cell] = new;
                        set(world, reg, 0, (0, old));
                    });
                }
                if old != expected || weak && program.unasked {
                    add(&|world| set(world, reg, 1, (FAILED, old)));
                }
            }
            Instr::Spin { cell, value } => {
                let now = self.cells[cell];
                if now == value {
                    add(&|world| go(world, (0, now)));
                } else if self.locals[thread].seen != Some(now) {
                    add(&|world| {
                        world.locals[thread].seen = Some(now);
                        world.locals[thread].history.push((0, now));
                    });
                }
            }
            Instr::Lock { lock } if self.owners[lock].is_some() => {}
            Instr::Lock { lock } => add(&|world| {
                world.owners[lock] = Some(thread);
                go(world, (0, 0));
            }),
            Instr::TryLock { reg, lock } => match self.owners[lock] {
                Some(_) => add(&|world| set(world, reg, 1, (FAILED, 0))),
                None => add(&|world| {
                    world.owners[lock] = Some(thread);
                    set(world, reg, 0, (0, 0));
                }),
            },
            Instr::Unlock { lock } => add(&|world| {
                world.owners[lock] = None;
                go(world, (0, 0));
            }),
            Instr::Wait { lock, .. } => add(&|world| {
                world.owners[lock] = None;
                world.locals[thread].mode = Mode::Asleep;
            }),
            Instr::Notify { condition, all } => {
                let sleepers = self.sleepers(program, condition);
                if all || sleepers.is_empty() {
                    add(&|world| {
                        for &other in &sleepers {
                            world.locals[other].mode = Mode::Awake { timeout: false };
                        }
                        go(world, (0, 0));
                    });
                } else {
                    for other in sleepers {
                        add(&|world| {
                            world.locals[other].mode = Mode::Awake { timeout: false };
                            go(world, (0, 0));
                        });
                    }
                }
            }
            other => worlds.extend(self.rest(program, thread, other)),
        }
        worlds
    }

    fn rest(&self, program: &Small, thread: usize, instr: Instr) -> Vec<World> {
        let mut worlds = Vec::new();
        let mut add = |change: &dyn Fn(&mut World)| {
            let mut world = self.clone();
            change(&mut world);
            worlds.push(world);
        };
        let go = |world: &mut World, result: Result| world.go(program, thread, None, result);
        let set = |world: &mut World, reg: usize, value: u64, result: Result| {
            world.go(program, thread, Some((reg, value)), result);
        };
        match instr {
            Instr::Read { lock } => {
                if self.writers[lock].is_none() {
                    add(&|world| {
                        world.readers[lock] += 1;
                        go(world, (0, 0));
                    });
                    if self.writer_queues(program, lock) {
                        add(&|world| world.locals[thread].mode = Mode::QueuedReader);
                    }
                }
            }
            Instr::TryRead { reg, lock } => {
                if self.writers[lock].is_none() {
                    add(&|world| {
                        world.readers[lock] += 1;
                        set(world, reg, 0, (0, 0));
                    });
                }
                if self.writers[lock].is_some() || self.writer_queues(program, lock) {
                    add(&|world| set(world, reg, 1, (FAILED, 0)));
                }
            }
            Instr::ReadEnd { lock } => add(&|world| {
                world.readers[lock] -= 1;
                go(world, (0, 0));
            }),
            Instr::Write { lock } | Instr::TryWrite { lock, .. } => {
                let free = self.writers[lock].is_none() && self.readers[lock] == 0;
                let attempt = if let Instr::TryWrite { reg, .. } = instr { Some(reg) } else { None };
                add(&|world| match (free, attempt) {
                    (true, reg) => {
                        world.writers[lock] = Some(thread);
                        world.go(program, thread, reg.map(|reg| (reg, 0)), (0, 0));
                    }
                    (false, Some(reg)) => set(world, reg, 1, (FAILED, 0)),
                    (false, None) => world.locals[thread].mode = Mode::QueuedWriter,
                });
            }
            Instr::WriteEnd { lock } => add(&|world| {
                world.writers[lock] = None;
                go(world, (0, 0));
            }),
            Instr::Downgrade { lock } => add(&|world| {
                world.writers[lock] = None;
                world.readers[lock] = 1;
                go(world, (0, 0));
            }),
            Instr::Down { semaphore } | Instr::TryDown { semaphore, .. } => {
                let attempt = if let Instr::TryDown { reg, .. } = instr { Some(reg) } else { None };
                if self.semaphores[semaphore] > 0 {
                    add(&|world| {
                        world.semaphores[semaphore] -= 1;
                        world.go(program, thread, attempt.map(|reg| (reg, 0)), (0, 0));
                    });
                } else if let Some(reg) = attempt {
                    add(&|world| set(world, reg, 1, (FAILED, 0)));
                }
            }
            Instr::Up { semaphore } => add(&|world| {
                world.semaphores[semaphore] += 1;
                go(world, (0, 0));
            }),
            Instr::Barrier { reg, barrier, size } => {
                let here = |other: &usize| {
                    self.locals[*other].mode == Mode::AtBarrier
                        && matches!(self.instr(program, *other), Some(Instr::Barrier { barrier: own, .. }) if own == barrier)
                };
                let others: Vec<usize> = (0..self.locals.len()).filter(here).collect();
                add(&|world| {
                    if others.len() + 1 < size {
                        world.locals[thread].mode = Mode::AtBarrier;
                        return;
                    }
                    set(world, reg, 1, (CHOSEN, 0));
                    for &other in &others {
                        if let Some(Instr::Barrier { reg, .. }) = self.instr(program, other) {
                            world.go(program, other, Some((reg, 0)), (0, 0));
                        }
                    }
                });
            }
            other => worlds.extend(self.last(program, thread, other)),
        }
        worlds
    }
}
