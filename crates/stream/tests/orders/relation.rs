//! Relations between up to 64 events.

/// Row e has a bit for each event that e is related to.
pub(crate) type Relation = Vec<u64>;

/// Relates `a` to `b`.
pub(crate) fn add(relation: &mut Relation, a: usize, b: usize) {
    relation[a] |= 1 << b;
}

pub(crate) fn has(relation: &Relation, a: usize, b: usize) -> bool {
    relation[a] >> b & 1 == 1
}

pub(crate) fn union(x: &Relation, y: &Relation) -> Relation {
    x.iter().zip(y).map(|(x, y)| x | y).collect()
}

pub(crate) fn compose(x: &Relation, y: &Relation) -> Relation {
    x.iter().map(|row| (0..y.len()).filter(|m| row >> m & 1 == 1).fold(0, |to, m| to | y[m])).collect()
}

/// The transitive closure.
pub(crate) fn closed(mut relation: Relation) -> Relation {
    for middle in 0..relation.len() {
        for from in 0..relation.len() {
            if has(&relation, from, middle) {
                relation[from] |= relation[middle];
            }
        }
    }
    relation
}
