//! Which operation of one build is which of another.
//!
//! Functions are paired by name, those that are left by their bodies. The operations of two functions are aligned in the order of the
//! source: two can be a pair when they do the same to the same global, and are the more likely one the more of their line's
//! text, line and column is the same. A patch, where there is one, says where lines that stay are now: then only what is there can be
//! theirs. What is left over is paired where its line occurs once in either build: code that
//! moved to another function. It can miss: an operation that was changed into another is a new one.

use std::collections::BTreeSet;

use hashbrown::HashMap;

use crate::align::align;
use crate::code::{Code, Operation, class};
use crate::diff::{Diff, Line};

/// The least part of two functions that has to be alike for one to be the other under a new name, in hundredths.
const ALIKE: u64 = 60;

/// Operations of two builds, in pairs.
#[derive(Clone, Default, Debug)]
pub struct Map {
    /// Per operation of the old build, that of the new one.
    pub to_new: Vec<Option<usize>>,
    /// Per operation of the new build, that of the old one.
    pub to_old: Vec<Option<usize>>,
    /// Functions of the old build that have another name in the new one.
    pub renamed: Vec<(String, String)>,
    /// Functions of the new build whose code is not that of the old one, or that are new.
    pub changed: BTreeSet<String>,
}

/// Operations of a function that are new, next to each other.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Hunk {
    /// The function.
    pub function: String,
    /// The operations; none where the function changed in what is not recorded.
    pub operations: Vec<usize>,
}

impl Map {
    /// Maps two builds; `diff` is the patch between them, where it is known.
    pub fn new(old: &Code, new: &Code, diff: Option<&Diff>) -> Map {
        let mut map = Map {
            to_new: vec![None; old.operations.len()],
            to_old: vec![None; new.operations.len()],
            ..Map::default()
        };
        for (function, left) in &old.functions {
            if let Some(right) = new.functions.get(function) {
                map.pair(old, new, left, right, diff);
            }
        }
        map.rename(old, new, diff);
        map.moved(old, new);
        map.changed = match diff {
            Some(diff) => map.patched_functions(old, new, diff),
            None => BTreeSet::new(),
        };
        if !old.is_partial() {
            map.changed.extend(map.changed_functions(old, new));
        }
        map
    }

    /// What a function of the old build is called in the new one.
    pub fn new_name<'n>(&'n self, function: &'n str) -> &'n str {
        let renamed = self.renamed.iter().find(|(old, _)| old == function);
        renamed.map_or(function, |(_, new)| new)
    }

    fn pair(&mut self, old: &Code, new: &Code, left: &[usize], right: &[usize], diff: Option<&Diff>) {
        let score = |a: usize, b: usize| likeness(&old.operations[left[a]], &new.operations[right[b]], diff);
        for (a, b) in align(left.len(), right.len(), score).0 {
            self.to_new[left[a]] = Some(right[b]);
            self.to_old[right[b]] = Some(left[a]);
        }
        // What changed places with its neighbours: the first of those left with the first of its like.
        for &a in left {
            let alike = |&&b: &&usize| {
                let (old, new) = (&old.operations[a], &new.operations[b]);
                self.to_old[b].is_none()
                    && does_same(old, new)
                    && old.target == new.target
                    && lies_there(old, new, diff) != Some(false)
            };
            if self.to_new[a].is_none()
                && let Some(&b) = right.iter().find(alike)
            {
                self.to_new[a] = Some(b);
                self.to_old[b] = Some(a);
            }
        }
    }

    /// Pairs functions that only one build has, the most alike first.
    fn rename(&mut self, old: &Code, new: &Code, diff: Option<&Diff>) {
        let gone: Vec<_> =
            old.functions.iter().filter(|(name, _)| !new.functions.contains_key(*name)).collect();
        let come: Vec<_> =
            new.functions.iter().filter(|(name, _)| !old.functions.contains_key(*name)).collect();
        let mut pairs = Vec::new();
        for (a, (_, left)) in gone.iter().enumerate() {
            for (b, (_, right)) in come.iter().enumerate() {
                let alike = |a: usize, b: usize| {
                    u32::from(can_be(&old.operations[left[a]], &new.operations[right[b]]))
                };
                let (_, common) = align(left.len(), right.len(), alike);
                let percent = 200 * common / (left.len() + right.len()).max(1) as u64;
                if percent >= ALIKE {
                    pairs.push((std::cmp::Reverse(percent), a, b));
                }
            }
        }
        pairs.sort_unstable();
        let (mut taken, mut given) = (BTreeSet::new(), BTreeSet::new());
        for (_, a, b) in pairs {
            if !taken.contains(&a) && !given.contains(&b) {
                taken.insert(a);
                given.insert(b);
                self.renamed.push((gone[a].0.clone(), come[b].0.clone()));
                self.pair(old, new, gone[a].1, come[b].1, diff);
            }
        }
    }

    /// Pairs what moved from one function to another.
    fn moved(&mut self, old: &Code, new: &Code) {
        let alone = |code: &Code, paired: &[Option<usize>]| {
            let mut seen: HashMap<(String, String, String), Option<usize>> = HashMap::new();
            for (place, one) in
                code.operations.iter().enumerate().filter(|(place, _)| paired[*place].is_none())
            {
                if one.target.is_empty() {
                    continue;
                }
                let key = (one.what.clone(), one.target.clone(), one.text.clone());
                seen.entry(key).and_modify(|known| *known = None).or_insert(Some(place));
            }
            seen
        };
        let theirs = alone(new, &self.to_old);
        let mut pairs: Vec<(usize, usize)> = alone(old, &self.to_new)
            .into_iter()
            .filter_map(|(key, place)| Some((place?, (*theirs.get(&key)?)?)))
            .collect();
        pairs.sort_unstable();
        for (a, b) in pairs {
            self.to_new[a] = Some(b);
            self.to_old[b] = Some(a);
        }
    }

    fn changed_functions(&self, old: &Code, new: &Code) -> BTreeSet<String> {
        let mut changed = BTreeSet::new();
        for (function, body) in &new.bodies {
            let before =
                self.renamed.iter().find(|(_, new)| new == function).map_or(function, |(old, _)| old);
            if old.bodies.get(before) != Some(body) {
                changed.insert(function.clone());
            }
        }
        let added = new.operations.iter().zip(&self.to_old).filter(|(_, old)| old.is_none());
        changed.extend(added.map(|(operation, _)| operation.function.clone()));
        let gone = old.operations.iter().zip(&self.to_new).filter(|(_, new)| new.is_none());
        changed.extend(gone.map(|(operation, _)| self.new_name(&operation.function).to_owned()));
        changed
    }

    /// The functions that have lines of a patch.
    fn patched_functions(&self, old: &Code, new: &Code, diff: &Diff) -> BTreeSet<String> {
        let added = new.operations.iter().filter(|one| diff.is_added(&one.file, one.line));
        let gone = old.operations.iter().filter(|one| diff.is_removed(&one.file, one.line));
        let gone = gone.map(|one| self.new_name(&one.function).to_owned());
        added.map(|one| one.function.clone()).chain(gone).collect()
    }

    /// The operations of the new build that stand for one of the old build: its counterpart, or where it has none, those
    /// of its function that touch the same global.
    pub fn counterparts(&self, old: &Code, new: &Code, operation: usize) -> Vec<usize> {
        if let Some(exact) = self.to_new.get(operation).copied().flatten() {
            return vec![exact];
        }
        let Some(before) = old.operations.get(operation) else { return Vec::new() };
        let function = self.new_name(&before.function);
        let is_access = |what: &str| !what.starts_with("call ") && what != "begin";
        let same = |after: &Operation| {
            let here =
                after.function == function || after.within.intersection(&before.within).next().is_some();
            let alike = before.target == after.target && !before.target.is_empty()
                || before.line == after.line && !before.text.is_empty() && before.text == after.text;
            here && is_access(&before.what) && is_access(&after.what) && alike
        };
        let all = new.operations.iter().enumerate();
        all.filter(|(_, after)| same(after)).map(|(place, _)| place).collect()
    }

    /// Whether an operation of the old build was taken out: its function is still there, and does nothing of its kind to that
    /// target any more.
    pub fn is_removed(&self, old: &Code, new: &Code, operation: usize) -> bool {
        let Some(before) = old.operations.get(operation) else { return false };
        let function = self.new_name(&before.function);
        // ThreadSanitizer's hooks do not say which global they are about.
        let is_told = |code: &Code| code.operations.iter().any(|one| !one.target.is_empty());
        let are_told = is_told(old) && is_told(new);
        let still = new.inside(function).any(|after| {
            does_same(before, after) && (after.target == before.target || !are_told && can_be(before, after))
        });
        !still && new.inside(function).next().is_some() && self.counterparts(old, new, operation).is_empty()
    }

    /// What is new in the new build: operations next to each other, and functions with none that changed.
    pub fn hunks(&self, new: &Code) -> Vec<Hunk> {
        let mut hunks: Vec<Hunk> = Vec::new();
        let is_seen = |function: &String| {
            let own = new.functions.get(function);
            own.is_some_and(|own| own.iter().any(|&place| new.operations[place].is_seen))
        };
        for (function, list) in &new.functions {
            let mut open = false;
            let before = hunks.len();
            for &place in list {
                if self.to_old[place].is_some() {
                    open = false;
                    continue;
                }
                if !new.operations[place].is_seen {
                    continue;
                }
                match hunks.last_mut().filter(|_| open) {
                    Some(hunk) => hunk.operations.push(place),
                    None => hunks.push(Hunk { function: function.clone(), operations: vec![place] }),
                }
                open = true;
            }
            if hunks.len() == before && self.changed.contains(function) && is_seen(function) {
                hunks.push(Hunk { function: function.clone(), operations: Vec::new() });
            }
        }
        let unseen = self.changed.iter().filter(|function| !is_seen(function));
        let only_in_new = |function: &&String| new.bodies.contains_key(*function);
        hunks.extend(
            unseen
                .filter(only_in_new)
                .map(|function| Hunk { function: function.clone(), operations: Vec::new() }),
        );
        hunks
    }
}

/// Whether two operations do the same. What is only known from a trace is less exact.
fn does_same(old: &Operation, new: &Operation) -> bool {
    old.what == new.what || class(&new.what) == Some(&old.what)
}

fn can_be(old: &Operation, new: &Operation) -> bool {
    does_same(old, new) && (old.target == new.target || old.target.is_empty() || new.target.is_empty())
}

/// Whether a line of the new build is where a patch put that of the old one; none where no patch says.
fn lies_there(old: &Operation, new: &Operation, diff: Option<&Diff>) -> Option<bool> {
    let diff = diff?;
    Some(match diff.moved(&old.file, old.line)? {
        Line::At(line) => new.line == line,
        // It was changed into one that came, or is gone.
        Line::Gone => diff.is_added(&new.file, new.line),
    })
}

fn likeness(old: &Operation, new: &Operation, diff: Option<&Diff>) -> u32 {
    let there = lies_there(old, new, diff);
    if !can_be(old, new) || there == Some(false) {
        return 0;
    }
    let text = !old.text.is_empty() && old.text == new.text;
    10 + 8 * u32::from(text)
        + 8 * u32::from(there == Some(true))
        + 4 * u32::from(old.line == new.line && old.column == new.column)
        + 2 * u32::from(old.column == new.column)
        + u32::from(old.line == new.line)
        + u32::from(old.rank == new.rank)
}
