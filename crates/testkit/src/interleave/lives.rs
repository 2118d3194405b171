//! The machine of small programs: initialisation, channels, parking, and the lives of threads.

use super::world::{CHOSEN, FAILED, Mode, World};
use super::{CAPACITY, Called, Instr, Result, Small};

impl World {
    pub(super) fn last(&self, program: &Small, thread: usize, instr: Instr) -> Vec<World> {
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
            Instr::OnceBegin { reg, once } => match self.onces[once] {
                None => add(&|world| {
                    world.onces[once] = Some(thread);
                    set(world, reg, 1, (CHOSEN, 0));
                }),
                Some(usize::MAX) => add(&|world| set(world, reg, 0, (0, 0))),
                Some(_) => {}
            },
            Instr::OnceEnd { once } => add(&|world| {
                world.onces[once] = Some(usize::MAX);
                go(world, (0, 0));
            }),
            Instr::Send { channel, value } if self.channels[channel].len() < CAPACITY => add(&|world| {
                world.channels[channel].push(value);
                go(world, (0, 0));
            }),
            Instr::TrySend { reg, channel, value } => add(&|world| {
                let full = self.channels[channel].len() >= CAPACITY;
                if !full {
                    world.channels[channel].push(value);
                }
                set(world, reg, u64::from(full), (FAILED * u32::from(full), 0));
            }),
            Instr::Receive { reg, channel } | Instr::TryReceive { reg, channel } => {
                match self.channels[channel].first() {
                    Some(&value) => add(&|world| {
                        world.channels[channel].remove(0);
                        set(world, reg, value, (0, value));
                    }),
                    None if matches!(instr, Instr::TryReceive { .. }) => {
                        add(&|world| set(world, reg, 0, (FAILED, 0)));
                    }
                    None => {}
                }
            }
            Instr::Park if self.locals[thread].token || program.unasked => add(&|world| {
                world.locals[thread].token = false;
                go(world, (0, 0));
            }),
            Instr::Unpark { thread: other } => add(&|world| {
                world.locals[other].token = true;
                go(world, (0, 0));
            }),
            Instr::Spawn { thread: child } => add(&|world| {
                world.locals[child].mode = Mode::Ready;
                world.settle(program, child);
                go(world, (0, 0));
            }),
            Instr::Join { thread: other } if self.locals[other].mode == Mode::Done => {
                add(&|world| go(world, (0, 0)));
            }
            Instr::JoinAll if self.locals[1..].iter().all(|local| local.mode == Mode::Done) => {
                add(&|world| go(world, (0, 0)));
            }
            Instr::Choose { reg, among } => {
                (0..among).for_each(|value| add(&|world| set(world, reg, value, (0, value))))
            }
            Instr::Call { reg, called } => add(&|world| {
                let (tag, value) = world.call(called);
                set(world, reg, value + u64::from(tag), (tag, value));
            }),
            Instr::Exit { .. } => add(&|world| {
                for local in &mut world.locals {
                    if !matches!(local.mode, Mode::Unborn | Mode::Done) {
                        local.mode = Mode::Killed;
                    }
                }
            }),
            _ => {}
        }
        worlds
    }

    /// Does a call; how it went, and what it returns, as a number.
    fn call(&mut self, called: Called) -> Result {
        let bit = |value: u64| 1 << value;
        let value = match called {
            Called::Up | Called::Down if self.owners_left == 0 => return (FAILED, 0),
            Called::Up => {
                self.owners_left += 1;
                0
            }
            Called::Down => {
                self.owners_left -= 1;
                return (if self.owners_left == 0 { CHOSEN } else { 0 }, 0);
            }
            Called::Add(value) => {
                let new = self.set & bit(value) == 0;
                self.set |= bit(value);
                u64::from(new)
            }
            Called::Remove(value) => {
                let had = self.set & bit(value) != 0;
                self.set &= !bit(value);
                u64::from(had)
            }
            Called::Has(value) => u64::from(self.set & bit(value) != 0),
            Called::Size => u64::from(self.set.count_ones()),
            Called::Inc => {
                self.counter += 1;
                0
            }
            Called::Get => self.counter,
        };
        (0, value)
    }
}
