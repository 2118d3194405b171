//! What random traces should look like.

/// Which accesses carry their value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ValueMode {
    /// None.
    Off,
    /// Some of them: unknown values must equal nothing.
    Some,
    /// All, and the trace claims so.
    All,
}

/// How often each operation is tried, relative to the others.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Weights {
    /// r.
    pub read: usize,
    /// w.
    pub write: usize,
    /// ar.
    pub atomic_read: usize,
    /// aw.
    pub atomic_write: usize,
    /// au.
    pub update: usize,
    /// acq.
    pub acquire: usize,
    /// tryacq.
    pub try_acquire: usize,
    /// rel.
    pub release: usize,
    /// busy.
    pub busy: usize,
    /// racq.
    pub shared_acquire: usize,
    /// rrel.
    pub shared_release: usize,
    /// fork.
    pub fork: usize,
    /// join.
    pub join: usize,
    /// wait, with the releases before it and the acquires after.
    pub wait: usize,
    /// notify.
    pub notify: usize,
    /// notifyall.
    pub notify_all: usize,
    /// br.
    pub branch: usize,
    /// alloc.
    pub alloc: usize,
    /// free.
    pub free: usize,
    /// enter and exit.
    pub region: usize,
    /// end.
    pub end: usize,
    /// af.
    pub failed: usize,
    /// look.
    pub look: usize,
    /// unseen.
    pub unseen: usize,
    /// call.
    pub call: usize,
}

/// What random traces should look like. Ranges include both ends.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Shape {
    /// How many threads, those that never run included.
    pub threads: (usize, usize),
    /// How many events at most. A trace in which nothing can run any more is shorter.
    pub events: (usize, usize),
    /// How many plain variables.
    pub variables: (usize, usize),
    /// How many locks.
    pub locks: (usize, usize),
    /// How many condition variables.
    pub conditions: (usize, usize),
    /// How many objects with fields.
    pub objects: (usize, usize),
    /// How many different values.
    pub values: usize,
    /// Which accesses carry them.
    pub value_mode: ValueMode,
    /// Whether the trace claims to have all branches.
    pub branches: bool,
    /// Whether the trace claims to come with a dependence table.
    pub dependences: bool,
    /// Out of 100 threads, how many start without a fork.
    pub free_starts: usize,
    /// Out of 100 turns after one that left its thread in the middle of a nest or wait, how many go to it again.
    pub burst: usize,
    /// Out of 100 turns, how many start a nest of two critical sections.
    pub nests: usize,
    /// How often each operation is tried.
    pub weights: Weights,
}

impl Shape {
    /// Every preset with its name.
    pub fn presets() -> Vec<(&'static str, Shape)> {
        vec![
            ("tiny", Shape::tiny()),
            ("memory", Shape::memory()),
            ("locks", Shape::locks()),
            ("rings", Shape::rings()),
            ("waits", Shape::waits()),
            ("objects", Shape::objects()),
            ("mixed", Shape::mixed()),
            ("conditional", Shape::conditional()),
            ("calls", Shape::calls()),
            ("wide", Shape::wide()),
        ]
    }

    /// A bit of everything in so few events that all schedules can be listed.
    pub fn tiny() -> Shape {
        Shape { threads: (2, 3), events: (4, 7), ..Shape::mixed() }
    }

    /// Reads, writes, atomics and branches, hardly any locks.
    pub fn memory() -> Shape {
        let weights = Weights {
            read: 30,
            write: 25,
            atomic_read: 4,
            atomic_write: 4,
            update: 4,
            branch: 8,
            fork: 6,
            join: 6,
            ..Weights::rare()
        };
        Shape { conditions: (0, 0), objects: (0, 0), locks: (0, 1), weights, ..Shape::mixed() }
    }

    /// Locks of every kind, nested, around a few accesses: deadlocks.
    pub fn locks() -> Shape {
        let weights = Weights {
            acquire: 15,
            release: 100,
            shared_acquire: 8,
            shared_release: 40,
            try_acquire: 4,
            busy: 6,
            end: 5,
            ..Weights::rare()
        };
        Shape {
            variables: (1, 1),
            locks: (2, 3),
            events: (8, 13),
            conditions: (0, 0),
            objects: (0, 0),
            free_starts: 90,
            burst: 75,
            nests: 55,
            weights,
            ..Shape::mixed()
        }
    }

    /// Three locks or more, nested in turn by three threads or more: long deadlocks.
    pub fn rings() -> Shape {
        let weights = Weights { release: 20, ..Weights::rare() };
        Shape {
            threads: (3, 4),
            events: (11, 16),
            locks: (3, 3),
            burst: 97,
            nests: 85,
            free_starts: 100,
            weights,
            ..Shape::locks()
        }
    }

    /// Condition variables: woken, spurious and contended waits.
    pub fn waits() -> Shape {
        let weights =
            Weights { acquire: 12, release: 6, wait: 60, notify: 18, notify_all: 4, ..Weights::rare() };
        Shape {
            threads: (3, 4),
            variables: (1, 1),
            locks: (0, 1),
            conditions: (1, 1),
            objects: (0, 0),
            free_starts: 90,
            weights,
            ..Shape::mixed()
        }
    }

    /// Failed attempts, looks at clocks, unseen writes and calls, among accesses and branches.
    pub fn conditional() -> Shape {
        let weights = Weights {
            read: 14,
            write: 16,
            atomic_write: 4,
            update: 3,
            branch: 5,
            fork: 5,
            join: 4,
            failed: 16,
            look: 8,
            unseen: 2,
            call: 9,
            ..Weights::rare()
        };
        Shape { conditions: (0, 0), objects: (0, 0), locks: (0, 1), values: 3, weights, ..Shape::mixed() }
    }

    /// Calls on one object, with locks around them.
    pub fn calls() -> Shape {
        let weights = Weights {
            read: 8,
            write: 8,
            acquire: 10,
            release: 20,
            branch: 3,
            fork: 3,
            call: 34,
            ..Weights::rare()
        };
        Shape {
            conditions: (0, 0),
            objects: (0, 0),
            variables: (1, 2),
            locks: (0, 1),
            weights,
            ..Shape::mixed()
        }
    }

    /// Births, deaths and fields.
    pub fn objects() -> Shape {
        let weights = Weights { read: 20, write: 15, alloc: 8, free: 10, ..Weights::few() };
        Shape {
            variables: (0, 1),
            locks: (0, 1),
            conditions: (0, 0),
            objects: (1, 2),
            weights,
            ..Shape::mixed()
        }
    }

    /// Everything, 8 to 12 events in 2 to 4 threads.
    pub fn mixed() -> Shape {
        Shape {
            threads: (2, 4),
            events: (8, 12),
            variables: (1, 2),
            locks: (1, 2),
            conditions: (0, 1),
            objects: (0, 1),
            values: 2,
            value_mode: ValueMode::Some,
            branches: true,
            dependences: false,
            free_starts: 75,
            burst: 20,
            nests: 6,
            weights: Weights::few(),
        }
    }

    /// More threads and events than the other presets: 10 to 16 events in 3 to 5 threads.
    pub fn wide() -> Shape {
        Shape { threads: (3, 5), events: (10, 16), variables: (1, 3), locks: (1, 3), ..Shape::mixed() }
    }

    /// The same with other accesses carrying values.
    pub fn with_values(self, value_mode: ValueMode) -> Shape {
        Shape { value_mode, ..self }
    }

    /// The same with at most `events` events.
    pub fn with_events(self, events: (usize, usize)) -> Shape {
        Shape { events, ..self }
    }
}

impl Weights {
    /// Each operation as rarely as any other.
    pub fn rare() -> Weights {
        Weights {
            read: 2,
            write: 2,
            atomic_read: 1,
            atomic_write: 1,
            update: 1,
            acquire: 1,
            try_acquire: 1,
            release: 1,
            busy: 1,
            shared_acquire: 1,
            shared_release: 1,
            fork: 2,
            join: 1,
            wait: 1,
            notify: 1,
            notify_all: 1,
            branch: 1,
            alloc: 1,
            free: 1,
            region: 0,
            end: 1,
            failed: 1,
            look: 1,
            unseen: 0,
            call: 1,
        }
    }

    /// Each operation now and then, accesses and locks more often.
    pub fn few() -> Weights {
        Weights {
            read: 14,
            write: 12,
            atomic_read: 4,
            atomic_write: 4,
            update: 4,
            acquire: 8,
            try_acquire: 2,
            release: 16,
            busy: 4,
            shared_acquire: 3,
            shared_release: 10,
            fork: 8,
            join: 3,
            wait: 5,
            notify: 4,
            notify_all: 1,
            branch: 5,
            alloc: 2,
            free: 2,
            region: 3,
            end: 2,
            failed: 4,
            look: 3,
            unseen: 1,
            call: 3,
        }
    }
}
