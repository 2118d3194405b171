//! The law of steps: channels, and the lives of threads.

use crate::law::{HOLDER, Misuse, RECEIVER, closed, full};
use crate::model::version;
use crate::op::{Data, Op, ThreadId, tag};
use crate::state::Phase;
use crate::step::Doing;

impl Doing<'_> {
    pub(crate) fn channel(&mut self, op: &Op) {
        match *op {
            Op::Send { channel, message } | Op::TrySend { channel, message } => {
                if closed(self.model, self.state, channel) {
                    self.got(tag::FAILED | tag::CHOSEN, 0);
                } else if full(self.model, self.state, channel) {
                    self.got(tag::FAILED, 0);
                } else {
                    let message = self.resolve(message);
                    let content = self.model.queues.push(self.get(channel, 0), message);
                    self.put(channel, 0, content);
                    self.got(0, 0);
                }
            }
            Op::Receive { .. } if self.choice == 1 => self.got(tag::TIMEOUT, 0),
            Op::Receive { channel, .. } | Op::TryReceive { channel } => {
                let content = self.get(channel, 0);
                if let Some(&message) = self.model.queues.get(content).first() {
                    let rest = self.model.queues.pop(content);
                    self.put(channel, 0, rest);
                    self.got(0, message);
                } else if self.get(channel, 2) & HOLDER == 0 {
                    self.got(tag::FAILED | tag::CHOSEN, 0);
                } else {
                    self.got(tag::FAILED, 0);
                }
            }
            Op::AddSender { channel } => {
                self.add(channel, 2, 1);
                self.got(0, 0);
            }
            Op::DropSender { channel } => {
                self.add(channel, 2, -1);
                self.got(0, 0);
            }
            Op::DropReceiver { channel } => {
                let word = self.get(channel, 2);
                self.put(channel, 2, word & !RECEIVER);
                self.put(channel, 0, 0);
                self.got(0, 0);
            }
            _ => {}
        }
    }

    pub(crate) fn life(&mut self, op: &Op) {
        if let Op::JoinAll { threads } = op {
            return self.join_all(threads);
        }
        match *op {
            Op::Park { .. } => {
                let word = self.model.thread(self.state, self.thread).with_token(false);
                self.model.set_thread(self.state, self.thread, word);
                self.got(0, 0);
            }
            Op::Unpark { thread } => {
                let word = self.model.thread(self.state, thread).with_token(true);
                self.model.set_thread(self.state, thread, word);
                self.got(0, 0);
            }
            Op::Spawn { thread } | Op::SpawnSame { thread, .. } => {
                if self.model.thread(self.state, thread).phase() != Phase::Absent {
                    return self.misuse(Misuse::Restarted(thread));
                }
                self.effect.started = Some(thread);
                self.got(0, 0);
            }
            Op::Join { thread } => self.join(thread),
            Op::Choose { .. } => self.got(0, u64::from(self.choice)),
            Op::Call { object, call } => {
                let class = self.model.layout.class(object);
                let outcomes = self.model.objects.call(class, self.get(object, 0), call);
                if let Some(&(next, outcome)) = outcomes.get(self.choice as usize) {
                    self.put(object, 0, next);
                    self.got(outcome.tag, outcome.value);
                }
            }
            Op::Await { .. } | Op::Yield => self.got(0, 0),
            Op::Exit { code } => {
                self.effect.exit = Some(code);
                for thread in self.model.layout.threads().to_vec() {
                    let word = self.model.thread(self.state, thread);
                    if !matches!(word.phase(), Phase::Absent | Phase::Ended) {
                        self.model.set_thread(self.state, thread, word.in_phase(Phase::Gone));
                    }
                }
                self.phase(Phase::Ended);
            }
            Op::End { .. } => self.phase(Phase::Ended),
            _ => {}
        }
    }

    fn join_all(&mut self, threads: &[ThreadId]) {
        let mut panicked = false;
        for &thread in threads {
            let word = self.model.thread(self.state, thread);
            self.model.set_thread(self.state, thread, word.with_joined());
            panicked |= matches!(self.model.tree.op(word.node()), Some(Op::End { panicked: true, .. }));
        }
        self.got(if panicked { tag::POISONED } else { 0 }, 0);
    }

    fn join(&mut self, thread: ThreadId) {
        let word = self.model.thread(self.state, thread);
        self.model.set_thread(self.state, thread, word.with_joined());
        if let Some(&Op::End { data, panicked }) = self.model.tree.op(word.node()) {
            let value = match data {
                Data::Value(value) => value,
                Data::Version => version(word.node()),
            };
            self.got(if panicked { tag::POISONED } else { 0 }, value);
        } else {
            self.got(0, 0);
        }
    }
}
