//! Names of threads and objects that are the same in every run: the creator, and a number among its creations.

use std::collections::HashMap;

use reweave_explore::{ObjectId, ThreadId};

/// The names that were given, with their numbers.
#[derive(Default)]
pub(crate) struct Names {
    threads: HashMap<(ThreadId, u32), ThreadId>,
    creators: Vec<Option<(ThreadId, u32)>>,
    objects: HashMap<(ThreadId, u32, &'static str), ObjectId>,
    kinds: Vec<(ThreadId, u32, &'static str)>,
}

impl Names {
    pub(crate) fn new() -> Names {
        Names { creators: vec![None], ..Names::default() }
    }

    /// The `count`-th thread that a thread makes.
    pub(crate) fn thread(&mut self, creator: ThreadId, count: u32) -> ThreadId {
        let next = ThreadId(self.creators.len() as u32);
        let id = *self.threads.entry((creator, count)).or_insert(next);
        if id == next {
            self.creators.push(Some((creator, count)));
        }
        id
    }

    /// The `count`-th object that a thread makes. One history may make a lock where another makes a channel, so the kind is part
    /// of the name.
    pub(crate) fn object(&mut self, creator: ThreadId, count: u32, kind: &'static str) -> ObjectId {
        let next = ObjectId(self.kinds.len() as u32);
        let id = *self.objects.entry((creator, count, kind)).or_insert(next);
        if id == next {
            self.kinds.push((creator, count, kind));
        }
        id
    }

    /// `main`, `main.2`, `main.2.1`.
    pub(crate) fn show_thread(&self, thread: ThreadId) -> String {
        match self.creators.get(thread.0 as usize).copied().flatten() {
            Some((creator, count)) => format!("{}.{count}", self.show_thread(creator)),
            None => "main".to_owned(),
        }
    }

    /// The thread of such a name.
    pub(crate) fn read_thread(&mut self, text: &str) -> Option<ThreadId> {
        let mut parts = text.split('.');
        (parts.next() == Some("main")).then_some(())?;
        parts.try_fold(ThreadId::MAIN, |creator, part| Some(self.thread(creator, part.parse().ok()?)))
    }

    pub(crate) fn show_object(&self, object: ObjectId) -> String {
        match self.kinds.get(object.0 as usize) {
            Some((creator, count, kind)) => format!("{kind} {}#{count}", self.show_thread(*creator)),
            None => format!("object {}", object.0),
        }
    }
}
