//! Random numbers, and random choices with a skew.

/// The generator xoshiro256++ of Blackman and Vigna, seeded by SplitMix64 as they advise.
pub(super) struct Rng {
    state: [u64; 4],
}

impl Rng {
    pub(super) fn new(seed: u64) -> Rng {
        let mut mix = seed;
        let state = std::array::from_fn(|_| {
            mix = mix.wrapping_add(0x9E37_79B9_7F4A_7C15);
            let mut z = mix;
            z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
            z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
            z ^ (z >> 31)
        });
        Rng { state }
    }

    #[inline]
    pub(super) fn next(&mut self) -> u64 {
        let [a, b, c, d] = self.state;
        let result = a.wrapping_add(d).rotate_left(23).wrapping_add(a);
        let (c, d) = (c ^ a, d ^ b);
        self.state = [a ^ d, b ^ c, c ^ (b << 17), d.rotate_left(45)];
        result
    }

    /// A number below `bound`; 0 where that is 0.
    #[inline]
    pub(super) fn below(&mut self, bound: u32) -> u32 {
        scale(self.next() >> 32, bound)
    }

    #[inline]
    pub(super) fn happens(&mut self, chance: Chance) -> bool {
        self.next() >> 32 < chance.0
    }
}

/// 32 random bits as a number below `bound`.
#[inline]
fn scale(bits: u64, bound: u32) -> u32 {
    ((bits * u64::from(bound)) >> 32) as u32
}

/// A probability, in parts of 2^32.
#[derive(Clone, Copy)]
pub(super) struct Chance(u64);

impl Chance {
    /// The nearest probability to `share`.
    pub(super) fn new(share: f64) -> Chance {
        // A float that is not a number becomes 0, one that is out of range the nearest in it.
        Chance((share.clamp(0.0, 1.0) * (1_u64 << 32) as f64) as u64)
    }
}

/// A choice of one of the first so many numbers, where the k-th comes up in proportion to k^-skew.
pub(super) struct Popularity {
    size: u32,
    /// Walker's alias method: entry i stays i when 32 random bits are below the first number, else is the second.
    /// Empty where all come up alike.
    aliases: Vec<(u32, u32)>,
}

impl Popularity {
    pub(super) fn new(size: u32, skew: f64) -> Popularity {
        let skew = skew.clamp(0.0, 20.0);
        if size < 2 || skew.is_nan() || skew == 0.0 {
            return Popularity { size, aliases: Vec::new() };
        }
        let weights = (1..=size).map(|k| f64::from(k).powf(-skew));
        let total: f64 = weights.clone().sum();
        let mut scaled: Vec<f64> = weights.map(|weight| weight / total * f64::from(size)).collect();
        let mut aliases: Vec<(u32, u32)> = (0..size).map(|i| (u32::MAX, i)).collect();
        // Weights fall: the large ones are at the front, and the small ones are met from the back.
        let mut large = 0;
        for small in (0..size as usize).rev() {
            let mut needy = small;
            while scaled[needy] < 1.0 && large < small && needy != large {
                aliases[needy] = ((scaled[needy] * f64::from(u32::MAX)) as u32, large as u32);
                scaled[large] -= 1.0 - scaled[needy];
                if scaled[large] >= 1.0 {
                    break;
                }
                // The large one has become small itself: the next one fills it up.
                needy = large;
                large += 1;
            }
        }
        Popularity { size, aliases }
    }

    #[inline]
    pub(super) fn pick(&self, rng: &mut Rng) -> u32 {
        let bits = rng.next();
        let i = scale(bits >> 32, self.size);
        match self.aliases.get(i as usize) {
            Some(&(keep, alias)) if bits as u32 > keep => alias,
            _ => i,
        }
    }
}

/// Things that are dealt out to owners in turn: owner i gets the things i, i + owners, i + 2 owners and so on.
pub(super) struct Deal {
    owners: u32,
    /// How many things every owner gets.
    each: u32,
    /// The first so many owners get one more.
    more: u32,
    popularity: Popularity,
}

impl Deal {
    /// Deals out `things` to `owners`, of whom there is at least one.
    pub(super) fn new(things: u32, owners: u32, skew: f64) -> Deal {
        let popularity = Popularity::new(things.div_ceil(owners), skew);
        Deal { owners, each: things / owners, more: things % owners, popularity }
    }

    /// One of the things of `owner`, if it has any.
    #[inline]
    pub(super) fn pick(&self, owner: u32, rng: &mut Rng) -> Option<u32> {
        let count = self.each + u32::from(owner < self.more);
        if count == 0 {
            return None;
        }
        let place = self.popularity.pick(rng);
        // An owner who has not got one more takes the first again.
        Some(owner + if place < count { place * self.owners } else { 0 })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn popularity_falls_as_asked_for() {
        for skew in [0.0, 0.5, 1.0, 2.0] {
            let (size, rounds) = (50, 400_000);
            let (popularity, mut rng) = (Popularity::new(size, skew), Rng::new(3));
            let mut counts = vec![0_u32; size as usize];
            for _ in 0..rounds {
                counts[popularity.pick(&mut rng) as usize] += 1;
            }
            let total: f64 = (1..=size).map(|k| f64::from(k).powf(-skew)).sum();
            for (i, &count) in counts.iter().enumerate() {
                let expected = f64::from(rounds) * ((i + 1) as f64).powf(-skew) / total;
                let slack = 5.0 * expected.sqrt() + 1.0;
                assert!((f64::from(count) - expected).abs() < slack, "{skew}: {i}: {count} for {expected}");
            }
        }
    }

    #[test]
    fn everything_is_dealt_out_once() {
        for (things, owners) in [(0, 3), (2, 3), (3, 3), (10, 3), (5, 1)] {
            let (deal, mut rng) = (Deal::new(things, owners, 0.5), Rng::new(1));
            let mut dealt = vec![None; things as usize];
            for owner in 0..owners {
                for thing in (0..500).filter_map(|_| deal.pick(owner, &mut rng)) {
                    assert!(dealt[thing as usize].is_none_or(|other| other == owner));
                    dealt[thing as usize] = Some(owner);
                }
            }
            assert!(dealt.iter().all(Option::is_some), "{things} {owners}: {dealt:?}");
        }
    }

    #[test]
    fn a_chance_happens_as_often_as_it_says() {
        let mut rng = Rng::new(1);
        for share in [0.0, 0.01, 0.5, 1.0] {
            let chance = Chance::new(share);
            let happened = (0..100_000).filter(|_| rng.happens(chance)).count() as f64;
            assert!((happened / 100_000.0 - share).abs() < 0.01, "{share}: {happened}");
        }
        assert!(!rng.happens(Chance::new(f64::NAN)));
        assert!((0..100).all(|_| rng.below(3) < 3) && rng.below(0) == 0);
    }
}
