//! The best pairing of two sequences that keeps their order: the longest common subsequence, weighted.

/// Above so many pairs, sequences are paired greedily: no function of people has so many operations.
const MOST: usize = 16_000_000;

/// The pairs of positions whose scores have the largest sum; a score of 0 is no pair. Quadratic in time and memory.
pub(crate) fn align(
    left: usize,
    right: usize,
    score: impl Fn(usize, usize) -> u32,
) -> (Vec<(usize, usize)>, u64) {
    if left.saturating_mul(right) > MOST {
        return greedy(left, right, score);
    }
    let width = right + 1;
    let mut best = vec![0u64; (left + 1) * width];
    // From the end, so that among equals the first pair is taken first.
    for a in (0..left).rev() {
        for b in (0..right).rev() {
            let pair = match score(a, b) {
                0 => 0,
                points => best[(a + 1) * width + b + 1] + u64::from(points),
            };
            best[a * width + b] = pair.max(best[(a + 1) * width + b]).max(best[a * width + b + 1]);
        }
    }
    let (mut a, mut b, mut pairs) = (0, 0, Vec::new());
    while a < left && b < right {
        let here = best[a * width + b];
        let points = score(a, b);
        if points > 0 && here == best[(a + 1) * width + b + 1] + u64::from(points) {
            pairs.push((a, b));
            a += 1;
            b += 1;
        } else if here == best[(a + 1) * width + b] {
            a += 1;
        } else {
            b += 1;
        }
    }
    (pairs, best.first().copied().unwrap_or(0))
}

fn greedy(left: usize, right: usize, score: impl Fn(usize, usize) -> u32) -> (Vec<(usize, usize)>, u64) {
    let (mut pairs, mut sum, mut from) = (Vec::new(), 0, 0);
    for a in 0..left {
        let found = (from..right).take(200).find(|&b| score(a, b) > 0);
        if let Some(b) = found {
            pairs.push((a, b));
            sum += u64::from(score(a, b));
            from = b + 1;
        }
    }
    (pairs, sum)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every way to pair, tried out.
    fn naive(left: &[u8], right: &[u8], score: &impl Fn(u8, u8) -> u32) -> u64 {
        let ([a, lefts @ ..], [b, rights @ ..]) = (left, right) else { return 0 };
        let paired = match score(*a, *b) {
            0 => 0,
            points => u64::from(points) + naive(lefts, rights, score),
        };
        paired.max(naive(lefts, right, score)).max(naive(left, rights, score))
    }

    #[test]
    fn the_sum_is_the_largest() {
        let mut state = 7u32;
        let mut next = |limit: u32| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 16) % limit
        };
        for _ in 0..300 {
            let (left, right) = (next(7), next(7));
            let left: Vec<u8> = (0..left).map(|_| next(4) as u8).collect();
            let right: Vec<u8> = (0..right).map(|_| next(4) as u8).collect();
            let score = |a: u8, b: u8| if a == b { 2 + u32::from(a) } else { u32::from(a + b == 3) };
            let (pairs, sum) = align(left.len(), right.len(), |a, b| score(left[a], right[b]));
            assert_eq!(sum, naive(&left, &right, &score), "{left:?} {right:?}");
            let scores = pairs.iter().map(|&(a, b)| u64::from(score(left[a], right[b])));
            assert_eq!(scores.sum::<u64>(), sum, "{left:?} {right:?} {pairs:?}");
            assert!(pairs.is_sorted() && pairs.windows(2).all(|two| two[0].1 < two[1].1), "{pairs:?}");
        }
    }
}
