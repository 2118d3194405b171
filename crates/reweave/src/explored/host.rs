//! The host of explored threads: each is a context of its own on the caller's kernel thread, and goes on only when the search
//! lets it take its next step.

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::collections::{HashMap, HashSet};
use std::panic::{self, AssertUnwindSafe};
use std::rc::Rc;
use std::sync::Once;
use std::sync::atomic::Ordering;

use corosensei::stack::{DefaultStack, Stack};
use corosensei::{Coroutine, CoroutineResult, Yielder};
use reweave_explore::{Data, Init, Next, ObjectId, Op, Outcome, Program, Specified, ThreadId};
use reweave_spec::Type;

use super::foreign::Watched;
use super::names::Names;
use super::pointers::Pointers;
use super::spin::Spin;

/// The stack of a context. Pages that are not used take no memory.
const STACK: usize = 256 << 10;

type Context = Coroutine<Outcome, Op, Op, DefaultStack>;
type Start = Box<dyn FnOnce() -> Op>;

/// What belongs to one thread of one run.
#[derive(Default)]
pub(crate) struct Local {
    threads: u32,
    objects: u32,
    made: Vec<(ObjectId, Init)>,
    /// Panics that began here and may not have been caught.
    panics: u32,
    pub(crate) name: Option<String>,
    pub(crate) spin: Spin,
    pub(crate) keys: HashMap<usize, Rc<dyn Any>>,
    yielder: Option<*const Yielder<Outcome, Op>>,
    /// Where the stack begins.
    pub(crate) base: usize,
}

/// All that the contexts of an exploration share with the search.
pub(crate) struct Host {
    pub(crate) names: RefCell<Names>,
    body: Rc<dyn Fn()>,
    contexts: RefCell<Vec<(ThreadId, Context)>>,
    locals: RefCell<HashMap<ThreadId, Local>>,
    starts: RefCell<HashMap<ThreadId, Start>>,
    stacks: RefCell<Vec<DefaultStack>>,
    current: Cell<ThreadId>,
    /// Whether what is left of a run is being dropped: nothing waits any more.
    abandoned: Cell<bool>,
    /// What panics said, by the number of the failure.
    messages: RefCell<Vec<String>>,
    last_message: RefCell<String>,
    /// Whether an ordering weaker than sequential consistency was asked for.
    weaker: Cell<bool>,
    /// Whether a proof relies on data that only changes through `&mut`, or on loops that keep nothing on the heap.
    pub(crate) relies: Cell<(bool, bool)>,
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
}

thread_local! {
    static HOST: Cell<*const Host> = const { Cell::new(std::ptr::null()) };
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
pub(crate) fn step(op: Op) -> Outcome {
    host(|host| host.step(op)).unwrap_or_default()
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
            local.objects += 1;
            local.objects
        });
        let id = host.names.borrow_mut().object(thread, count, kind);
        host.local(|local| local.made.push((id, init)));
        Some(id)
    })
    .flatten()
}

/// Whether the calling context unwinds. std counts for the kernel thread, which is that of all contexts.
pub(crate) fn panicking() -> bool {
    let any = std::thread::panicking();
    host(|host| {
        host.local(|local| {
            if !any {
                local.panics = 0;
            }
            local.panics > 0
        })
    })
    .unwrap_or(any)
}

impl Host {
    pub(crate) fn new(body: Rc<dyn Fn()>, types: &[Type], apart: bool) -> Host {
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
            messages: RefCell::default(),
            last_message: RefCell::default(),
            weaker: Cell::new(false),
            relies: Cell::new((false, false)),
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

    fn step(&self, op: Op) -> Outcome {
        if self.scoped.get() {
            self.trouble(format!("a call on an object with a specification takes a step: {op:?}"));
            return Outcome::default();
        }
        let yielder = self.local(|local| local.yielder);
        let Some(yielder) = yielder.filter(|_| !self.abandoned.get()) else { return Outcome::default() };
        // SAFETY: the yielder of the context that is running, which is that of the caller.
        unsafe { (*yielder).suspend(op) }
    }

    /// Lets a context go on to its next step.
    fn go_on(&self, thread: ThreadId, outcome: Outcome) -> Next {
        let index = self.contexts.borrow().iter().position(|(id, _)| *id == thread);
        let Some(index) = index else { return Next { made: Vec::new(), op: Op::Yield } };
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
        let made = self.local(|local| std::mem::take(&mut local.made));
        Next { made, op }
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

    /// Drops what is left of a run. A thread may have borrowed from one that was there before it, so the last come first.
    fn abandon(&self) {
        self.abandoned.set(true);
        let mut left = std::mem::take(&mut *self.contexts.borrow_mut());
        left.sort_by_key(|(thread, _)| std::cmp::Reverse(*thread));
        for (thread, mut context) in left {
            self.current.set(thread);
            let before = HOST.replace(std::ptr::from_ref(self));
            context.force_unwind();
            HOST.set(before);
            self.stacks.borrow_mut().push(context.into_stack());
        }
        self.starts.borrow_mut().clear();
        self.locals.borrow_mut().clear();
        self.same.borrow_mut().clear();
        self.pointers.borrow_mut().forget();
        self.abandoned.set(false);
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
            None => Next { made: Vec::new(), op: Op::Yield },
        }
    }

    fn resume(&mut self, thread: ThreadId, outcome: Outcome) -> Next {
        self.0.go_on(thread, outcome)
    }

    fn finish(&mut self) {
        self.0.abandon();
    }
}

/// Runs a thread's own code; a panic ends it there, unless the run is being dropped.
pub(crate) fn caught<R>(run: impl FnOnce() -> R) -> std::thread::Result<R> {
    let result = panic::catch_unwind(AssertUnwindSafe(run));
    match result {
        Err(payload) if host(Host::abandoned).unwrap_or(false) => panic::resume_unwind(payload),
        Err(payload) => {
            host(|host| host.local(|local| local.panics = 0));
            Err(payload)
        }
        done => done,
    }
}

/// Has panics of explored threads kept instead of printed: most runs are not the one to show.
fn listen() {
    static LISTENING: Once = Once::new();
    LISTENING.call_once(|| {
        let usual = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            let kept = host(|host| {
                host.local(|local| local.panics += 1);
                let place = info.location().map(|place| format!(" at {}:{}", place.file(), place.line()));
                let text = info.payload_as_str().unwrap_or("a panic");
                *host.last_message.borrow_mut() = format!("{text}{}", place.unwrap_or_default());
            });
            if kept.is_none() {
                usual(info);
            }
        }));
    });
}
