//! Rows of numbers that share their equal parts.
//!
//! A row is a tree: a node of the lowest level holds `width` entries, one above holds `width` nodes. To change
//! an entry copies the nodes from the root to it and shares the rest (Driscoll et al., "Making Data Structures
//! Persistent", 1989). Nodes made since [`Rows::begin`] are nobody else's yet and are changed in place.
//!
//! The tree is as low as it can be with nodes of at most [`WIDEST`] cells, and its nodes then as narrow as
//! they can be: a change costs little memory, a lookup few steps.

/// The row whose entries are all 0, and every part of it, whatever the level.
pub(super) const EMPTY: u32 = 0;

/// The most cells in a node.
const WIDEST: u32 = 16;

#[derive(Clone, Debug)]
pub(super) struct Rows {
    width: u32,
    /// How many entries a child of the root covers.
    span: u32,
    /// The nodes, `width` cells each.
    cells: Vec<u32>,
    /// The first node that is still private to the caller.
    private: u32,
}

impl Rows {
    /// Rows of at least `length` entries.
    pub(super) fn new(length: u32) -> Rows {
        let mut levels = 1;
        while u64::from(WIDEST).pow(levels) < u64::from(length) {
            levels += 1;
        }
        let mut width = 1_u32;
        while u64::from(width).pow(levels) < u64::from(length) {
            width += 1;
        }
        Rows { width, span: width.pow(levels - 1), cells: vec![0; width as usize], private: 1 }
    }

    /// Makes every node shared, so that rows made so far never change again.
    pub(super) fn begin(&mut self) {
        self.private = self.nodes();
    }

    /// Entry `index` of `row`.
    #[inline]
    pub(super) fn get(&self, row: u32, index: u32) -> u32 {
        let (mut node, mut rest, mut span) = (row, index, self.span);
        while span > 1 {
            node = self.cells[self.start(node) + (rest / span) as usize];
            rest %= span;
            span /= self.width;
        }
        self.cells[self.start(node) + rest as usize]
    }

    /// `row` with entry `index` at least `entry`.
    pub(super) fn raise(&mut self, row: u32, index: u32, entry: u32) -> u32 {
        self.raise_below(row, self.span, index, entry)
    }

    /// The entrywise maximum of two rows, of which the second is shared. Equal to either, it is that one.
    pub(super) fn join(&mut self, a: u32, b: u32) -> u32 {
        self.join_below(a, b, self.span)
    }

    /// The entrywise minimum of two rows.
    pub(super) fn meet(&mut self, a: u32, b: u32) -> u32 {
        self.meet_below(a, b, self.span)
    }

    /// Forgets the nodes made since [`Rows::begin`].
    pub(super) fn forget_private(&mut self) {
        self.cells.truncate(self.start(self.private));
    }

    /// Calls `found` with each index, in order, at which `after` differs from `before`, and its entry there.
    pub(super) fn changes(&self, before: u32, after: u32, found: &mut impl FnMut(u32, u32)) {
        self.changes_below(before, after, self.span, 0, found);
    }

    pub(super) fn shrink(&mut self) {
        self.cells.shrink_to_fit();
    }

    pub(super) fn bytes(&self) -> usize {
        self.cells.len() * size_of::<u32>()
    }

    fn raise_below(&mut self, node: u32, span: u32, index: u32, entry: u32) -> u32 {
        let slot = (index / span) as usize;
        let old = self.cells[self.start(node) + slot];
        let new = match span {
            1 => old.max(entry),
            _ => self.raise_below(old, span / self.width, index % span, entry),
        };
        if new == old {
            return node;
        }
        let node = self.own(node);
        let start = self.start(node);
        self.cells[start + slot] = new;
        node
    }

    fn join_below(&mut self, a: u32, b: u32, span: u32) -> u32 {
        if a == b || b == EMPTY {
            return a;
        }
        if a == EMPTY {
            return b;
        }
        let (width, first, second) = (self.width as usize, self.start(a), self.start(b));
        let mut joined = [0; WIDEST as usize];
        for (slot, joined) in joined[..width].iter_mut().enumerate() {
            let (a, b) = (self.cells[first + slot], self.cells[second + slot]);
            *joined = if span == 1 { a.max(b) } else { self.join_below(a, b, span / self.width) };
        }
        let joined = &joined[..width];
        if *joined == self.cells[first..first + width] {
            return a;
        }
        if *joined == self.cells[second..second + width] {
            return b;
        }
        let node = self.own(a);
        let start = self.start(node);
        self.cells[start..start + width].copy_from_slice(joined);
        node
    }

    fn meet_below(&mut self, a: u32, b: u32, span: u32) -> u32 {
        if a == b || a == EMPTY || b == EMPTY {
            return if a == b { a } else { EMPTY };
        }
        let (width, first, second) = (self.width as usize, self.start(a), self.start(b));
        let mut met = [0; WIDEST as usize];
        for (slot, met) in met[..width].iter_mut().enumerate() {
            let (a, b) = (self.cells[first + slot], self.cells[second + slot]);
            *met = if span == 1 { a.min(b) } else { self.meet_below(a, b, span / self.width) };
        }
        let met = &met[..width];
        if met.iter().all(|&cell| cell == 0) {
            return EMPTY;
        }
        if *met == self.cells[first..first + width] {
            return a;
        }
        if *met == self.cells[second..second + width] {
            return b;
        }
        let node = self.nodes();
        self.cells.extend_from_slice(met);
        node
    }

    fn changes_below(
        &self,
        before: u32,
        after: u32,
        span: u32,
        first: u32,
        found: &mut impl FnMut(u32, u32),
    ) {
        for slot in 0..self.width {
            let cell = |node: u32| self.cells[self.start(node) + slot as usize];
            let (before, after) = (cell(before), cell(after));
            let index = first + slot * span;
            match (before == after, span) {
                (true, _) => {}
                (false, 1) => found(index, after),
                (false, _) => self.changes_below(before, after, span / self.width, index, found),
            }
        }
    }

    /// `node`, or a copy if it is shared.
    fn own(&mut self, node: u32) -> u32 {
        if node >= self.private {
            return node;
        }
        let start = self.start(node);
        let copy = self.nodes();
        self.cells.extend_from_within(start..start + self.width as usize);
        copy
    }

    fn nodes(&self) -> u32 {
        u32::try_from(self.cells.len() / self.width as usize).expect("too many rows")
    }

    #[inline]
    fn start(&self, node: u32) -> usize {
        node as usize * self.width as usize
    }
}
