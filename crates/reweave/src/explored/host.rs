//! The host of explored threads: each is a context of its own on the caller's kernel thread, and goes on only when the search
//! lets it take its next step.

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::collections::{HashMap, HashSet};
use std::panic::Location;
use std::rc::Rc;
use std::sync::atomic::Ordering;

use corosensei::stack::{DefaultStack, Stack};
use corosensei::{Coroutine, CoroutineResult, Yielder};
use reweave_explore::{Data, Init, Next, ObjectId, Op, Outcome, Program, Rounds, Specified, ThreadId};
use reweave_spec::Type;

use super::foreign::Watched;
use super::names::Names;
use super::panics::listen;
pub(crate) use super::panics::{caught, panicking};
use super::pointers::Pointers;
use super::spin::{Relies, Spin};

/// The stack of a context. Pages that are not used take no memory.
const STACK: usize = 256 << 10;

pub(super) type Context = Coroutine<Outcome, Op, Op, DefaultStack>;
pub(super) type Start = Box<dyn FnOnce() -> Op>;

/// What belongs to one thread of one run.
#[derive(Default)]
pub(crate) struct Local {
    threads: u32,
    objects: u32,
    made: Vec<(ObjectId, Init)>,
    /// Panics that began here and may not have been caught.
    pub(super) panics: u32,
    pub(crate) name: Option<String>,
    pub(crate) spin: Spin,
    pub(crate) keys: HashMap<usize, Rc<dyn Any>>,
    yielder: Option<*const Yielder<Outcome, Op>>,
    /// Where the step is that the thread takes.
    place: Option<&'static Location<'static>>,
    /// Where the stack begins.
    pub(crate) base: usize,
}

/// All that the contexts of an exploration share with the search.
pub(crate) struct Host {
    pub(crate) names: RefCell<Names>,
    body: Rc<dyn Fn()>,
    pub(super) contexts: RefCell<Vec<(ThreadId, Context)>>,
    pub(super) locals: RefCell<HashMap<ThreadId, Local>>,
    pub(super) starts: RefCell<HashMap<ThreadId, Start>>,
    pub(super) stacks: RefCell<Vec<DefaultStack>>,
    pub(super) current: Cell<ThreadId>,
    /// Whether what is left of a run is being dropped: nothing waits any more.
    pub(super) abandoned: Cell<bool>,
    /// Steps that were asked for while it was dropped.
    pub(super) left: Cell<u32>,
    /// What panics said, by the number of the failure.
    messages: RefCell<Vec<String>>,
    pub(super) last_message: RefCell<String>,
    /// Whether an ordering weaker than sequential consistency was asked for.
    weaker: Cell<bool>,
    pub(crate) relies: Relies,
    /// Types with specifications, and the objects, calls and results of those that were used.
    pub(crate) types: Vec<Type>,
    pub(crate) specified: Rc<Specified>,
    /// Whether a call on such an object is being done: what it does inside is no step.
    pub(super) scoped: Cell<bool>,
    /// Objects that were touched inside of calls, and outside.
    pub(super) touched: RefCell<[HashSet<ObjectId>; 2]>,
    /// What makes an answer impossible.
    pub(super) trouble: RefCell<Option<String>>,
    /// Threads that are alike, whether they are to be told apart, and whether one of them told who it is.
    pub(crate) same: RefCell<HashSet<ThreadId>>,
    pub(crate) apart: bool,
    pub(super) told_apart: Cell<bool>,
    pub(crate) pointers: RefCell<Pointers>,
    pub(super) watched: Watched,
    /// Loops that count, so that they are not taken for waiting, and one more that was found to.
    pub(super) counting: Vec<String>,
    pub(super) counts: RefCell<Option<String>>,
}

thread_local! {
    pub(super) static HOST: Cell<*const Host> = const { Cell::new(std::ptr::null()) };
}

/// The host of the calling context; none outside of an exploration.
pub(crate) fn host<R>(with: impl FnOnce(&Host) -> R) -> Option<R> {
    let host = HOST.get();
    // SAFETY: it is set only while a context runs, by a host that is alive then.
    (!host.is_null()).then(|| with(unsafe { &*host }))
}

/// Whether the calling thread is explored.
pub(crate) fn explored() -> bool {
    host(|host| !host.scoped.get()).unwrap_or(false)
}

/// Whether a call on an object with a specification is being done.
pub(crate) fn scoped_now() -> bool {
    host(|host| host.scoped.get()).unwrap_or(false)
}

/// Does what a call does, in which nothing is a step.
pub(crate) fn scoped<R>(run: impl FnOnce() -> R) -> R {
    struct Over;
    impl Drop for Over {
        fn drop(&mut self) {
            host(|host| host.scoped.set(false));
        }
    }
    host(|host| host.scoped.set(true));
    let _over = Over;
    run()
}

/// Takes a step: the search decides when, and what comes of it.
#[track_caller]
pub(crate) fn step(op: Op) -> Outcome {
    let place = Location::caller();
    host(|host| host.step(op, place)).unwrap_or_default()
}

/// A new object of the calling thread, if that is explored.
pub(crate) fn object(kind: &'static str, init: Init) -> Option<ObjectId> {
    host(|host| {
        if host.scoped.get() {
            return None;
        }
        host.tells();
        let thread = host.current.get();
        let count = host.local(|local| {
            local.spin.stop();
            local.objects += 1;
            local.objects
        });
        let id = host.names.borrow_mut().object(thread, count, kind);
        host.local(|local| local.made.push((id, init)));
        Some(id)
    })
    .flatten()
}

impl Host {
    pub(crate) fn new(body: Rc<dyn Fn()>, types: &[Type], apart: bool, counting: Vec<String>) -> Host {
        listen();
        Host {
            names: RefCell::new(Names::new()),
            body,
            contexts: RefCell::default(),
            locals: RefCell::default(),
            starts: RefCell::default(),
            stacks: RefCell::default(),
            current: Cell::new(ThreadId::MAIN),
            abandoned: Cell::new(false),
            left: Cell::new(0),
            messages: RefCell::default(),
            last_message: RefCell::default(),
            weaker: Cell::new(false),
            relies: Relies::default(),
            types: types.to_vec(),
            specified: Rc::default(),
            scoped: Cell::new(false),
            touched: RefCell::default(),
            trouble: RefCell::default(),
            same: RefCell::default(),
            apart,
            told_apart: Cell::new(false),
            pointers: RefCell::default(),
            watched: Watched::new(),
            counting,
            counts: RefCell::default(),
        }
    }

    /// What belongs to the calling thread.
    pub(crate) fn local<R>(&self, with: impl FnOnce(&mut Local) -> R) -> R {
        with(self.locals.borrow_mut().entry(self.current.get()).or_default())
    }

    pub(crate) fn current(&self) -> ThreadId {
        self.current.get()
    }

    /// Takes note of an ordering.
    pub(crate) fn ordered(&self, ordering: Ordering) {
        if ordering != Ordering::SeqCst {
            self.weaker.set(true);
        }
    }

    pub(crate) fn weaker(&self) -> bool {
        self.weaker.get()
    }

    pub(crate) fn abandoned(&self) -> bool {
        self.abandoned.get()
    }

    /// What is known of a failure.
    pub(crate) fn message(&self, site: u32) -> String {
        self.messages.borrow().get(site as usize).cloned().unwrap_or_default()
    }

    fn site(&self) -> u32 {
        let message = self.last_message.take();
        let mut messages = self.messages.borrow_mut();
        let known = messages.iter().position(|known| *known == message);
        known.unwrap_or_else(|| {
            messages.push(message);
            messages.len() - 1
        }) as u32
    }

    /// A name for a thread, and what it does.
    pub(crate) fn prepare(&self, start: Start) -> ThreadId {
        self.tells();
        let creator = self.current.get();
        let count = self.local(|local| {
            local.threads += 1;
            local.threads
        });
        let id = self.names.borrow_mut().thread(creator, count);
        self.watched.named(id, || self.names.borrow().show_thread(id));
        self.starts.borrow_mut().insert(id, start);
        id
    }

    fn step(&self, op: Op, place: &'static Location<'static>) -> Outcome {
        if self.scoped.get() {
            self.trouble(format!("a call on an object with a specification takes a step: {op:?}"));
            return Outcome::default();
        }
        let (yielder, answer, kept) = self.local(|local| {
            local.place = Some(place);
            (local.yielder, local.spin.answer(&op), local.spin.keeps().then(|| op.clone()))
        });
        if let Some(answer) = answer {
            return answer;
        }
        if self.abandoned.get() {
            self.ends_soon();
            return Outcome::default();
        }
        let Some(yielder) = yielder else { return Outcome::default() };
        // SAFETY: the yielder of the context that is running, which is that of the caller.
        let outcome = unsafe { (*yielder).suspend(op) };
        if let Some(op) = kept {
            self.local(|local| local.spin.took(op, outcome));
        }
        outcome
    }

    /// What belongs to a thread.
    pub(crate) fn local_of<R>(&self, thread: ThreadId, with: impl FnOnce(&mut Local) -> R) -> R {
        self.current.set(thread);
        self.local(with)
    }

    /// Lets a context go on to its next step.
    pub(crate) fn go_on(&self, thread: ThreadId, outcome: Outcome) -> Next {
        let index = self.contexts.borrow().iter().position(|(id, _)| *id == thread);
        let Some(index) = index else { return Next { made: Vec::new(), op: Op::Yield, place: None } };
        let (_, mut context) = self.contexts.borrow_mut().swap_remove(index);
        self.current.set(thread);
        let before = HOST.replace(std::ptr::from_ref(self));
        self.watched.switched(thread);
        let result = context.resume(outcome);
        self.watched.switched(thread);
        HOST.set(before);
        let op = match result {
            CoroutineResult::Yield(op) => {
                self.contexts.borrow_mut().push((thread, context));
                op
            }
            CoroutineResult::Return(op) => {
                self.stacks.borrow_mut().push(context.into_stack());
                op
            }
        };
        let (made, place) = self.local(|local| (std::mem::take(&mut local.made), local.place.take()));
        Next { made, op, place }
    }

    fn enter(&self, thread: ThreadId, start: Start) -> Next {
        let stack = self.stacks.borrow_mut().pop();
        let stack = stack.unwrap_or_else(|| DefaultStack::new(STACK).expect("memory for a stack"));
        self.current.set(thread);
        let base = stack.base().get();
        self.local(|local| local.base = base);
        let context = Coroutine::with_stack(stack, move |yielder: &Yielder<Outcome, Op>, _: Outcome| {
            host(|host| host.local(|local| local.yielder = Some(std::ptr::from_ref(yielder))));
            start()
        });
        self.contexts.borrow_mut().push((thread, context));
        self.go_on(thread, Outcome::default())
    }
}

/// A search's view of a host.
pub(crate) struct Explored<'a>(pub(crate) &'a Host);

impl Program for Explored<'_> {
    fn start(&mut self) -> Next {
        let body = Rc::clone(&self.0.body);
        self.0.enter(
            ThreadId::MAIN,
            Box::new(move || match caught(|| body()) {
                Ok(()) => Op::End { data: Data::Value(0), panicked: false },
                Err(_) => Op::Fail { site: host(Host::site).unwrap_or(0) },
            }),
        )
    }

    fn begin(&mut self, thread: ThreadId) -> Next {
        let start = self.0.starts.borrow_mut().remove(&thread);
        match start {
            Some(start) => self.0.enter(thread, start),
            None => Next { made: Vec::new(), op: Op::Yield, place: None },
        }
    }

    fn resume(&mut self, thread: ThreadId, outcome: Outcome) -> Next {
        self.0.go_on(thread, outcome)
    }

    fn guesses_waits(&self) -> bool {
        true
    }

    fn go_round(&mut self, thread: ThreadId, rounds: u32, same: bool) -> Rounds {
        self.0.go_round(thread, rounds, same)
    }

    fn finish(&mut self) {
        self.0.abandon();
    }
}
