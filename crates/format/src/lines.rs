//! The line number of each event.

use reweave_trace::EventId;

/// Which line of a text each event is on: one entry per run of event lines, so that a text without blank lines and
/// comments takes a single one. Looking a line up takes logarithmic time.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub struct LineMap {
    /// The first event of each run with its line, both increasing.
    runs: Vec<(u32, u64)>,
    events: u32,
}

impl LineMap {
    /// The line of an event, counted from 1.
    pub fn line(&self, event: EventId) -> Option<u64> {
        if event.0 >= self.events {
            return None;
        }
        let run = self.runs.partition_point(|&(first, _)| first <= event.0).checked_sub(1)?;
        let (first, line) = self.runs[run];
        Some(line + u64::from(event.0 - first))
    }

    /// The next event is on `line`.
    #[inline]
    pub(crate) fn push(&mut self, line: u64) {
        self.extend(line, 1);
    }

    /// The next `count` events are on the lines from `line` on.
    #[inline]
    pub(crate) fn extend(&mut self, line: u64, count: u32) {
        let due = self.runs.last().map(|&(first, at)| at + u64::from(self.events - first));
        if due != Some(line) {
            self.runs.push((self.events, line));
        }
        self.events += count;
    }

    /// Adds the events of the text that follows, whose first line comes after `lines` others.
    pub(crate) fn append(&mut self, next: &LineMap, lines: u64) {
        let ends = next.runs.iter().skip(1).map(|&(first, _)| first).chain([next.events]);
        for (&(first, line), end) in next.runs.iter().zip(ends) {
            self.extend(line + lines, end - first);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn map(lines: &[u64]) -> LineMap {
        let mut map = LineMap::default();
        lines.iter().for_each(|&line| map.push(line));
        map
    }

    #[test]
    fn every_event_finds_its_line() {
        for lines in [&[][..], &[1, 2, 3], &[3, 4, 9, 10, 12], &[7]] {
            let map = map(lines);
            let found: Vec<u64> = (0..).map_while(|event| map.line(EventId(event))).collect();
            assert_eq!(found, lines);
        }
    }

    #[test]
    fn only_gaps_take_room() {
        assert_eq!(map(&[1, 2, 3, 4, 5]).runs.len(), 1);
        assert_eq!(map(&[2, 3, 7, 8]).runs.len(), 2);
    }

    #[test]
    fn appending_is_as_if_it_were_one_text() {
        let lines = [2, 3, 4, 8, 9, 11];
        for cut in 0..lines.len() {
            for before in [lines[..cut].last().copied().unwrap_or(0), lines[cut] - 1] {
                let mut first = map(&lines[..cut]);
                let second: Vec<u64> = lines[cut..].iter().map(|line| line - before).collect();
                first.append(&map(&second), before);
                assert_eq!(first, map(&lines));
            }
        }
    }
}
