//! Runs, compared with their events one by one.

extern crate std;

use std::vec;
use std::vec::Vec;

use super::*;
use crate::predict::START;

/// Draws numbers that are the same in every run.
struct Draw(u64);

impl Draw {
    fn below(&mut self, limit: u64) -> u32 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) % limit) as u32
    }
}

/// A predictor that has seen a loop of `body` sites with some disorder, and the thread that ran it.
fn trained(draw: &mut Draw, body: u32, noise: u64) -> (Predictor, Thread) {
    let mut predictor = Predictor::new();
    predictor.reset([[3, 90_000][draw.below(2) as usize]; crate::SPACES]);
    let (mut thread, ops) = (START, [Op::Read, Op::Write, Op::Acquire, Op::Branch]);
    let strides: [u32; 64] = core::array::from_fn(|_| [0, 0, 1, 8, u32::MAX][draw.below(5) as usize]);
    let base = [0, 2, 100, u32::MAX - 20][draw.below(4) as usize];
    for event in 0..body * (3 + draw.below(4)) {
        let (mut site, turn) = (event % body, event / body);
        let target = base.wrapping_add(turn.wrapping_mul(strides[site as usize % 64]));
        if noise > 0 && draw.below(noise) == 0 {
            site = draw.below(u64::from(body));
        }
        let arrival = predictor.arrive(&mut thread, site);
        let op = ops[site as usize % 4];
        predictor.learn(&mut thread, arrival, op, if op.space().is_some() { target } else { 0 });
    }
    (predictor, thread)
}

/// Columns for `count` events.
fn columns(count: usize) -> (Vec<Op>, Vec<u32>, Vec<u32>) {
    (vec![Op::Skip; count], vec![0; count], vec![0; count])
}

#[test]
fn a_run_is_its_events_one_by_one() {
    let mut draw = Draw(7);
    let (mut rounds, mut copies, mut gone_on) = (0, [0; 6], 0);
    for case in 0..1500 {
        let (body, noise) = (1 + draw.below(70), [0, 0, 9, 40][draw.below(4) as usize]);
        let (mut predictor, mut thread) = trained(&mut draw, body, noise);
        let (mut naive, mut naive_thread) = (predictor.clone(), thread);
        let (mut ops, mut targets, mut sites) = columns(6000);
        let (mut rows, mut round, mut start) =
            (Rows { ops: &mut ops, targets: &mut targets, sites: &mut sites }, Round::default(), 0);
        for (turn, copies) in copies.iter_mut().enumerate() {
            let end = start + draw.below(900) as usize;
            let went = predictor.follow_all(&mut thread, &mut rows, start..end, &mut round, (case % 3) as u8);
            (*copies, gone_on) = (*copies + went, gone_on + usize::from(went > 0 && went == end - start));
            for i in start..end {
                let expected = naive.follow(&mut naive_thread);
                let event = (rows.ops[i], rows.targets[i], rows.sites[i]);
                assert_eq!(event, expected, "case {case}, event {i} of {start}..{end}");
            }
            assert_eq!(thread, naive_thread, "case {case}");
            assert!(predictor == naive, "case {case}: what was learned differs");
            (rounds, start) = (rounds + (end - start) / body as usize, end);
            // The thread itself may go on otherwise, and still be on its round.
            for _ in 0..draw.below(3) {
                let [next, _] = predictor.sites(&thread);
                let site = if draw.below(4) > 0 { next } else { draw.below(u64::from(body)) };
                let target = [0, 1, 50, u32::MAX - 3][draw.below(4) as usize] + draw.below(3);
                let op = if draw.below(4) > 0 { Op::Read } else { Op::Acquire };
                round.pass(rows.sites, site);
                for (predictor, thread) in [(&mut predictor, &mut thread), (&mut naive, &mut naive_thread)] {
                    let arrival = predictor.arrive(thread, site);
                    predictor.learn(thread, arrival, op, target);
                }
                (rows.ops[start], rows.targets[start], rows.sites[start]) = (op, target, site);
                start += 1;
            }
            // Another thread, on the same places or others, may change what is repeated.
            if turn > 0 && draw.below(2) == 0 {
                let (site, op) = (draw.below(u64::from(body)), [Op::Read, Op::Write][draw.below(2) as usize]);
                for (predictor, mut other) in [(&mut predictor, thread), (&mut naive, naive_thread)] {
                    let arrival = predictor.arrive(&mut other, site);
                    predictor.learn(&mut other, arrival, op, 2 + site % 3);
                }
            }
            // So may ids that others used.
            if draw.below(4) == 0 {
                let (site, fresh) =
                    (draw.below(u64::from(body)), [3, 120, 9000, u32::MAX - 9][draw.below(4) as usize]);
                for predictor in [&mut predictor, &mut naive] {
                    predictor.fresh[Space::Site as usize] = site;
                    predictor.fresh[Space::Variable as usize] = fresh;
                }
            }
        }
    }
    assert!(rounds > 1000 && copies.iter().all(|&copies| copies > 10_000), "{rounds} {copies:?}");
    assert!(gone_on > 50, "{gone_on}");
}

/// Rounds of 40 places over an array, whose elements are used for the first time or not. However the run is cut, and
/// whatever comes between, no more than two rounds of each part are followed place by place, and one if the round is known.
#[test]
fn all_but_the_first_rounds_are_copies() {
    for (elements, jump) in [(1000, 0), (1000, 100), (10, 0)] {
        let (mut predictor, mut thread) = (Predictor::new(), START);
        predictor.reset([0; crate::SPACES]);
        predictor.fresh[Space::Variable as usize] = elements;
        predictor.fresh[Space::Site as usize] = 40;
        let go = |predictor: &mut Predictor, thread: &mut Thread, event: u32, jump: u32| {
            let arrival = predictor.arrive(thread, event % 40);
            predictor.learn(thread, arrival, Op::Read, jump + event / 40);
        };
        (0..160).for_each(|event| go(&mut predictor, &mut thread, event, 0));
        let (mut ops, mut targets, mut sites) = columns(3000);
        let mut rows = Rows { ops: &mut ops, targets: &mut targets, sites: &mut sites };
        let mut round = Round::default();
        assert_eq!(predictor.follow_all(&mut thread, &mut rows, 0..800, &mut round, 1), 720);
        assert_eq!(rows.targets[799], 23);
        go(&mut predictor, &mut thread, 960, jump);
        round.pass(rows.sites, 0);
        rows.sites[800] = 0;
        assert_eq!(predictor.follow_all(&mut thread, &mut rows, 801..1080, &mut round, 1), 239);
        assert_eq!(rows.targets[1079], 30 + jump);
        assert_eq!(predictor.follow_all(&mut thread, &mut rows, 1080..1159, &mut round, 1), 0);
        assert_eq!(predictor.follow_all(&mut thread, &mut rows, 1159..1239, &mut round, 1), 40);
        assert_eq!(rows.targets[1238], 34 + jump);
        assert_eq!(predictor.fresh[Space::Variable as usize], elements.max(35));
        // Nothing of it is walked again, unless an element is new or somebody was there.
        let all = if elements == 1000 { 120 } else { 80 };
        assert_eq!(predictor.follow_all(&mut thread, &mut rows, 1239..1359, &mut round, 1), all);
        assert_eq!(rows.targets[1358], 37 + jump);
        let mut other = START;
        (0..2).for_each(|event| go(&mut predictor, &mut other, event, 0));
        assert_eq!(predictor.follow_all(&mut thread, &mut rows, 1359..1479, &mut round, 1), 80);
    }
}

#[test]
fn columns_go_on_as_they_began() {
    for period in 1..20 {
        for length in 2 * period..200 {
            let entry = |i: usize| (i % period * 7) as u32 + (i / period) as u32 * (i % period) as u32;
            let mut column: Vec<u32> =
                (0..length).map(|i| if i < 2 * period { entry(i) } else { 0 }).collect();
            progress(&mut column, period);
            assert!((0..length).all(|i| column[i] == entry(i)));
            repeat(&mut column, period);
            assert!((0..length).all(|i| column[i] == entry(i % period)));
        }
    }
}
