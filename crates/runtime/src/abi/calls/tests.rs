//! Calls that return, that are jumped out of, and that are too many.

use super::*;

fn untold(_: Slot) -> bool {
    false
}

fn depth(calls: &Calls) -> usize {
    calls.depth.load(Relaxed)
}

#[test]
fn calls_that_were_left_without_an_exit_are_found_out() {
    let calls = Calls::default();
    calls.enter(1, 1000, 0, untold);
    calls.enter(2, 900, 0, untold);
    calls.enter(3, 800, 0, untold);
    calls.exit(800, 0, untold);
    calls.enter(4, 800, 0, untold);
    assert_eq!((depth(&calls), calls.get(2).code), (3, 4));
    // Back in the first function, as after a jump, another one is called; its frame is smaller than the one before.
    calls.enter(5, 950, 0, untold);
    assert_eq!((depth(&calls), calls.get(1).code), (2, 5));
    calls.exit(950, 0, untold);
    calls.enter(6, 900, 0, untold);
    calls.enter(7, 700, 0, untold);
    // The outermost function returns, and nothing else did.
    calls.exit(1000, 0, untold);
    assert_eq!(depth(&calls), 0);
    calls.exit(1100, 0, untold);
    assert_eq!(depth(&calls), 0);
}

#[test]
fn a_function_may_end_with_a_jump_to_the_hook() {
    let calls = Calls::default();
    calls.enter(1, 1000, 0, untold);
    calls.enter(2, 900, 0, untold);
    calls.enter(3, 800, 0, untold);
    // The frame of the innermost function is gone: the stack ends where its caller's did.
    calls.exit(900, 3, untold);
    assert_eq!((depth(&calls), calls.get(1).code), (2, 2));
    calls.exit(1000, 2, untold);
    assert_eq!((depth(&calls), calls.get(0).code), (1, 1));
    // The same, after a jump out of two more.
    calls.enter(2, 900, 0, untold);
    calls.enter(4, 800, 0, untold);
    calls.enter(5, 700, 0, untold);
    calls.exit(1000, 2, untold);
    assert_eq!(depth(&calls), 1);
}

#[test]
fn a_handler_on_any_stack_leaves_interrupted_calls_alone() {
    // SAFETY: all zeroes are a thread.
    let me: Thread = unsafe { core::mem::zeroed() };
    for stack in [100, 5000] {
        me.calls.enter(1, 1000, 0, untold);
        let interrupted = interrupt(&me);
        me.calls.enter(2, stack, 0, untold);
        me.calls.exit(stack, 0, untold);
        me.calls.exit(stack, 0, untold);
        resume(&me, &interrupted);
        assert_eq!((depth(&me.calls), me.calls.get(0).code), (1, 1));
        me.calls.exit(1000, 0, untold);
    }
    assert_eq!(depth(&me.calls), 0);
}

#[test]
fn recursion_beyond_what_is_kept_is_counted() {
    let calls = Calls::default();
    let stack = |place: usize| usize::MAX / 2 - place * 16;
    for place in 0..KEPT + 100 {
        calls.enter(place + 1, stack(place), 0, untold);
    }
    assert_eq!((depth(&calls), calls.get(KEPT - 1).code, calls.get(KEPT + 50).code), (KEPT + 100, KEPT, 0));
    for place in (0..KEPT + 100).rev() {
        calls.exit(stack(place), 0, untold);
        assert_eq!(depth(&calls), place);
    }
    // As after a jump out of it.
    (0..KEPT + 100).for_each(|place| calls.enter(place + 1, stack(place), 0, untold));
    calls.enter(7, stack(2), 0, untold);
    assert_eq!((depth(&calls), calls.get(2).code), (3, 7));
}

#[test]
fn what_is_recorded_at_once_gives_the_calls_under_way() {
    use core::cell::RefCell;
    let (calls, recorded) = (Calls::default(), RefCell::new(Vec::new()));
    let tell = |slot: Slot| {
        let mut recorded = recorded.borrow_mut();
        recorded.truncate(slot.target() as usize);
        if slot == Slot::operation(Op::Enter, slot.code(), slot.target(), 7 * slot.code()) {
            recorded.push(slot.code());
        }
        true
    };
    let mut random = 1u64;
    let mut frames = vec![100_000];
    for code in 1..5_000 {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        match random >> 33 {
            draw if draw % 2 == 0 || frames.len() < 2 => {
                frames.push(frames[frames.len() - 1] - 32);
                calls.enter(code, frames[frames.len() - 1], 7 * code, tell);
            }
            // As after a jump out of several.
            draw => {
                let left = 1 + draw as usize / 2 % 3;
                frames.truncate(frames.len().saturating_sub(left).max(1) + 1);
                calls.exit(frames.pop().unwrap(), 0, tell);
            }
        }
        let expected: Vec<u64> = (0..depth(&calls)).map(|place| calls.get(place).code as u64).collect();
        assert_eq!(*recorded.borrow(), expected);
        assert!(!calls.are_untold() && depth(&calls) == frames.len() - 1);
    }
}
