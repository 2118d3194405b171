//! The contents of channels, interned, so that a channel has one word for them.

use hashbrown::HashMap;

/// All contents that were met; 0 is the empty one.
pub(crate) struct Queues {
    contents: Vec<Vec<u64>>,
    ids: HashMap<Vec<u64>, u64>,
}

impl Queues {
    pub(crate) fn new() -> Queues {
        Queues { contents: vec![Vec::new()], ids: HashMap::from_iter([(Vec::new(), 0)]) }
    }

    pub(crate) fn get(&self, id: u64) -> &[u64] {
        self.contents.get(id as usize).map_or(&[], Vec::as_slice)
    }

    fn intern(&mut self, content: Vec<u64>) -> u64 {
        if let Some(&id) = self.ids.get(&content) {
            return id;
        }
        let id = self.contents.len() as u64;
        self.contents.push(content.clone());
        self.ids.insert(content, id);
        id
    }

    pub(crate) fn push(&mut self, id: u64, message: u64) -> u64 {
        let mut content = self.get(id).to_vec();
        content.push(message);
        self.intern(content)
    }

    /// The content without its first message.
    pub(crate) fn pop(&mut self, id: u64) -> u64 {
        let content = self.get(id).get(1..).unwrap_or_default().to_vec();
        self.intern(content)
    }
}
