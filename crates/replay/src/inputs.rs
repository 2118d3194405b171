//! Inputs of the recorded run, for the threads of a schedule.
//!
//! The runtime keeps them with the number of the thread in that run, which is in its name: `main` is 0, `T3` is 3. In a
//! replay a thread is known by its place in the schedule. What threads that the schedule does not have were told by themselves
//! is left out; what they took from a source that all share is not.

use crate::schedule::Schedule;

const HEAD: usize = 24;
/// The kind of what is no input, but what the clocks told at the start.
const ORIGINS: u32 = 10;

/// The same inputs, with threads as the schedule numbers them. What is cut off is left out.
pub(crate) fn translate(mut bytes: &[u8], schedule: &Schedule) -> Vec<u8> {
    let mut given = Vec::with_capacity(bytes.len());
    while let Some((head, rest)) = bytes.split_first_chunk::<HEAD>() {
        let length = u64::from_le_bytes(std::array::from_fn(|place| head[16 + place]));
        let Some((input, next)) =
            usize::try_from(length).ok().and_then(|length| rest.split_at_checked(length))
        else {
            break;
        };
        let thread = u32::from_le_bytes(std::array::from_fn(|place| head[place]));
        let name = if thread == 0 { "main".to_owned() } else { format!("T{thread}") };
        let kind = u32::from_le_bytes(std::array::from_fn(|place| head[4 + place]));
        let known = schedule.threads.iter().position(|thread| thread.name == name);
        // A source that all threads share has a number above the kind; what the clocks began with is nobody's.
        let shared = kind >> 8 != 0 || kind == ORIGINS;
        if let Some(place) = known.map(|place| place as u32).or(shared.then_some(u32::MAX)) {
            given.extend_from_slice(&place.to_le_bytes());
            given.extend_from_slice(&head[4..]);
            given.extend_from_slice(input);
        }
        bytes = next;
    }
    given
}
