//! The sets that a synthetic trace calls.

use reweave_trace::{CallId, Names, Space};

use super::random::{Chance, Popularity, Rng};
use crate::Error;

/// How many sets there are.
const SETS: u32 = 16;
/// How many different values are put into a set: a bit each.
const VALUES: u32 = u64::BITS;
const METHODS: [&str; 3] = ["add", "remove", "contains"];

/// The sets and what is in them.
pub(super) struct Sets {
    chance: Chance,
    used: Popularity,
    content: [u64; SETS as usize],
}

impl Sets {
    /// Empty sets, of which this share of the steps call one, and the texts of all calls; nothing
    /// where no step does.
    pub(super) fn new(share: f64, skew: f64, names: &mut Names) -> Result<Option<Sets>, Error> {
        if share.is_nan() || share <= 0.0 {
            return Ok(None);
        }
        for set in 0..SETS {
            for value in 0..VALUES {
                for (method, result) in METHODS.iter().flat_map(|method| [(method, false), (method, true)]) {
                    let text = format!("set c{set}.{method}({value})={result}");
                    let known = names.space_mut(Space::Call).intern(&text);
                    known.map_err(|source| Error::Limit { path: std::path::PathBuf::new(), source })?;
                }
            }
        }
        let (chance, used) = (Chance::new(share), Popularity::new(SETS, skew));
        Ok(Some(Sets { chance, used, content: [0; SETS as usize] }))
    }

    /// A call, where this step is one.
    pub(super) fn step(&mut self, rng: &mut Rng) -> Option<CallId> {
        if !rng.happens(self.chance) {
            return None;
        }
        let (set, value) = (self.used.pick(rng), rng.below(VALUES));
        let (content, bit) = (&mut self.content[set as usize], 1 << value);
        // Looked into as often as changed.
        let method = rng.below(4).min(2);
        let was_there = *content & bit != 0;
        let result = match method {
            0 => !was_there,
            _ => was_there,
        };
        match method {
            0 => *content |= bit,
            1 => *content &= !bit,
            _ => {}
        }
        let place = (set * VALUES + value) * METHODS.len() as u32 + method;
        Some(CallId(place * 2 + u32::from(result)))
    }
}
