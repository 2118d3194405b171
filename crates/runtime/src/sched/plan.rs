//! The plan of a replay: what `reweave replay` wants to happen, as a list of lines with numbers in them.
//!
//! `m name` is a module, `t parent module offset nth` a thread by where it is made, `c thread module offset occurrence`
//! an event that the finding is about, `x a b` two of those that must touch the same memory, `y a b` two that must come in
//! this order, `a module offset module offset` two places that count as one. What follows is done in order: `r` a thread
//! runs until it has done a step, `s` until it stands before one, `b` until it waits for the lock of one, each
//! `thread module offset occurrence number`, `w` until it waits to be notified at one; `k` is the moment to look. `p` is how many points a thread may pass on its way to a
//! step. `strict` and `stop` stand alone. The file was checked by whoever wrote it: what is not understood is left out.

use crate::map::{Array, Map};
use crate::sched::confirm::PATIENCE;
use crate::sys;

/// What is to be done.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Do {
    /// Run until the step is done.
    Run,
    /// Run until it is next.
    Stand,
    /// Run until the thread waits for the lock that the step takes.
    Block,
    /// Run until the thread waits to be notified.
    Sleep,
    /// All is as it should be: look.
    Look,
}

/// An item of the plan.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Item {
    pub(crate) what: Do,
    pub(crate) thread: u32,
    pub(crate) site: u32,
    pub(crate) occurrence: u64,
    /// How many events of its own the thread has had after the step; 0 is not known.
    pub(crate) own: u64,
}

/// A thread of the plan.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Planned {
    pub(crate) parent: u32,
    pub(crate) site: u32,
    pub(crate) nth: u64,
    /// The thread that turned out to be it, plus one.
    pub(crate) index: u32,
}

/// A range of bytes.
pub(crate) type Bytes = (usize, usize);

/// An event that the finding is about.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Claimed {
    pub(crate) thread: u32,
    pub(crate) site: u32,
    pub(crate) occurrence: u64,
    /// When it happened, counted from 1; 0 is not yet.
    pub(crate) when: u32,
    /// Whether its thread stands before it.
    pub(crate) stands: bool,
    pub(crate) touched: [Bytes; 6],
    pub(crate) touches: usize,
    /// Whether a block began or ended there since.
    pub(crate) gone: bool,
}

/// A place of code: a module and an offset in it.
#[derive(Clone, Copy, Debug)]
struct Site {
    module: u32,
    offset: u64,
    /// The site that it counts as, plus one; 0 is itself.
    stands_for: u32,
}

/// A module: its name in the file, and where it is mapped.
#[derive(Clone, Copy, Debug)]
struct Module {
    name: (usize, usize),
    at: u64,
}

/// The plan.
pub(crate) struct Plan {
    text: Array<u8>,
    modules: Array<Module>,
    sites: Array<Site>,
    pub(crate) threads: Array<Planned>,
    pub(crate) items: Array<Item>,
    pub(crate) claims: Array<Claimed>,
    pub(crate) same: Array<(u32, u32)>,
    pub(crate) ordered: Array<(u32, u32)>,
    pub(crate) counts: Counts,
    pub(crate) strict: bool,
    pub(crate) stops: bool,
    /// How many points a thread may pass on its way to a step.
    pub(crate) patience: u64,
    /// From an address of code plus one to its site plus one.
    by_code: Map<u32>,
    /// From a place to its site plus one.
    by_place: Map<u32>,
    /// Where the program itself is mapped.
    pub(crate) program: (u64, u64),
}

/// How many there are of each.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct Counts {
    modules: usize,
    sites: usize,
    pub(crate) threads: usize,
    pub(crate) items: usize,
    pub(crate) claims: usize,
    pub(crate) same: usize,
    pub(crate) ordered: usize,
}

fn put<T: Copy>(list: &mut Array<T>, count: &mut usize, value: T) {
    if let Some(room) = list.as_mut().get_mut(*count) {
        *room = value;
        *count += 1;
    }
}

impl Plan {
    /// The plan in a file, whose name ends in a zero.
    pub(crate) fn read(name: &[u8]) -> Option<Plan> {
        let mut plan = Plan::of(contents(name)?);
        plan.find_modules();
        Some(plan)
    }

    /// The plan that a text describes; where its modules are mapped is not known yet.
    pub(crate) fn of(text: Array<u8>) -> Plan {
        let lines = text.as_ref().iter().filter(|&&byte| byte == b'\n').count() + 1;
        let mut plan = Plan {
            text: Array::zeroed(1),
            modules: Array::zeroed(lines),
            sites: Array::zeroed(2 * lines),
            threads: Array::zeroed(lines + 1),
            items: Array::zeroed(lines),
            claims: Array::zeroed(lines),
            same: Array::zeroed(lines),
            ordered: Array::zeroed(lines),
            counts: Counts::default(),
            strict: false,
            stops: false,
            patience: PATIENCE,
            by_code: Map::new(),
            by_place: Map::new(),
            program: (0, 0),
        };
        // The first thread is there from the start.
        let main = Planned { parent: 0, site: 0, nth: 0, index: 1 };
        put(&mut plan.threads, &mut plan.counts.threads, main);
        let mut at = 0;
        for line in text.as_ref().split(|&byte| byte == b'\n') {
            plan.line(line, at);
            at += line.len() + 1;
        }
        plan.text = text;
        plan
    }

    fn line(&mut self, line: &[u8], at: usize) {
        let mut words = line.split(|&byte| byte == b' ');
        let kind = words.next().unwrap_or_default();
        if kind == b"m" {
            let name = (at + 2, at + line.len());
            return put(&mut self.modules, &mut self.counts.modules, Module { name, at: 0 });
        }
        let mut numbers = [0u64; 5];
        for (number, word) in numbers.iter_mut().zip(words) {
            *number = word.iter().fold(0u64, |sum, digit| {
                sum.wrapping_mul(10).wrapping_add(u64::from(digit.wrapping_sub(b'0')))
            });
        }
        let [a, b, c, d, e] = numbers;
        let counts = &mut self.counts;
        match kind {
            b"t" => {
                let site = self.site(b, c);
                let thread = Planned { parent: a as u32, site, nth: d, index: 0 };
                put(&mut self.threads, &mut self.counts.threads, thread);
            }
            b"c" => {
                let claim = Claimed {
                    thread: a as u32,
                    site: self.site(b, c),
                    occurrence: d,
                    when: 0,
                    stands: false,
                    touched: [(0, 0); 6],
                    touches: 0,
                    gone: false,
                };
                put(&mut self.claims, &mut self.counts.claims, claim);
            }
            b"a" => {
                let (first, other) = (self.site(a, b), self.site(c, d));
                if let Some(site) = self.sites.as_mut().get_mut(other as usize).filter(|_| first != other) {
                    site.stands_for = first + 1;
                }
            }
            b"x" => put(&mut self.same, &mut counts.same, (a as u32, b as u32)),
            b"y" => put(&mut self.ordered, &mut counts.ordered, (a as u32, b as u32)),
            b"strict" => self.strict = true,
            b"stop" => self.stops = true,
            b"p" => self.patience = a,
            b"r" | b"s" | b"b" | b"w" | b"k" => {
                let what = match kind {
                    b"r" => Do::Run,
                    b"s" => Do::Stand,
                    b"b" => Do::Block,
                    b"w" => Do::Sleep,
                    _ => Do::Look,
                };
                let site = if what == Do::Look { 0 } else { self.site(b, c) };
                let item = Item { what, thread: a as u32, site, occurrence: d, own: e };
                put(&mut self.items, &mut self.counts.items, item);
            }
            _ => {}
        }
    }

    fn site(&mut self, module: u64, offset: u64) -> u32 {
        let next = self.counts.sites as u32;
        let Some(known) = self.by_place.entry((module + 1) << 48 ^ offset) else { return 0 };
        if *known == 0 {
            *known = next + 1;
            put(
                &mut self.sites,
                &mut self.counts.sites,
                Site { module: module as u32, offset, stands_for: 0 },
            );
            return next;
        }
        *known - 1
    }

    /// Looks where the modules are mapped by now.
    pub(crate) fn find_modules(&mut self) {
        let Some(maps) = contents(b"/proc/self/maps\0") else { return };
        for line in maps.as_ref().split(|&byte| byte == b'\n') {
            let Some((start, _, offset, path)) = mapping(line) else { continue };
            if offset == 0 {
                self.found(path, start);
            }
        }
        self.measure_program(maps.as_ref());
        for site in 0..self.counts.sites {
            let Some(&Site { module, offset, stands_for }) = self.sites.as_ref().get(site) else { continue };
            let base = self.modules.as_ref().get(module as usize).map_or(0, |module| module.at);
            // A module without a name stands for no place at all.
            let named = self.modules.as_ref().get(module as usize).is_some_and(|m| m.name.0 < m.name.1);
            let code = match (named, base) {
                (false, _) => 0,
                (true, 0) => continue,
                (true, base) => base + offset,
            };
            if let Some(known) = self.by_code.entry(code + 1) {
                *known = if stands_for == 0 { site as u32 + 1 } else { stands_for };
            }
        }
    }

    /// The first file that is mapped is the program, and its mappings follow each other.
    fn measure_program(&mut self, maps: &[u8]) {
        let mut first: &[u8] = &[];
        for line in maps.split(|&byte| byte == b'\n') {
            let Some((start, end, _, path)) = mapping(line) else { continue };
            if first.is_empty() {
                first = path;
                self.program.0 = start;
            }
            if path == first {
                self.program.1 = end;
            }
        }
    }

    fn found(&mut self, path: &[u8], start: u64) {
        let name = path.rsplit(|&byte| byte == b'/').next().unwrap_or_default();
        let count = self.counts.modules;
        for module in self.modules.as_mut().iter_mut().take(count) {
            if self.text.as_ref().get(module.name.0..module.name.1) == Some(name) {
                module.at = start;
            }
        }
    }

    /// The site at an address of code.
    pub(crate) fn site_at(&mut self, code: usize) -> Option<u32> {
        self.by_code.get(code as u64 + 1).map(|site| *site - 1)
    }
}

/// Start, end, offset and file of a line of `/proc/self/maps`, where it has a file.
fn mapping(line: &[u8]) -> Option<(u64, u64, u64, &[u8])> {
    let mut fields = line.split(|&byte| byte == b' ').filter(|field| !field.is_empty());
    let mut range = fields.next()?.split(|&byte| byte == b'-');
    let (start, end) = (hexadecimal(range.next()?)?, hexadecimal(range.next()?)?);
    let offset = hexadecimal(fields.nth(1)?)?;
    let path_at = line.iter().position(|&byte| byte == b'/')?;
    Some((start, end, offset, line.get(path_at..)?))
}

fn hexadecimal(digits: &[u8]) -> Option<u64> {
    digits.iter().try_fold(0u64, |sum, &digit| Some(sum << 4 | u64::from(char::from(digit).to_digit(16)?)))
}

/// What is in a file, whose name ends in a zero.
pub(crate) fn contents(name: &[u8]) -> Option<Array<u8>> {
    let mut size = 1 << 16;
    loop {
        let file = i32::try_from(sys::open(name, sys::RDONLY)).ok().filter(|&file| file >= 0)?;
        let mut text = Array::zeroed(size);
        let mut length = 0;
        loop {
            let count = sys::read(file, text.as_mut().get_mut(length..)?);
            length += count;
            if count == 0 {
                break;
            }
        }
        sys::close(file);
        if length < size {
            return Some(text.cut(length));
        }
        size *= 4;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // What `reweave replay` writes, as its own test has it.
    const PLANS: &str = include_str!("../../../replay/tests/data/plans.txt");

    /// A plan, from what was understood of it.
    fn text(plan: &Plan) -> String {
        let mut text = String::new();
        let place = |site: u32| {
            let Site { module, offset, .. } = plan.sites.as_ref()[site as usize];
            format!("{module} {offset}")
        };
        for &Module { name: (start, end), .. } in &plan.modules.as_ref()[..plan.counts.modules] {
            text += &format!("m {}\n", String::from_utf8_lossy(&plan.text.as_ref()[start..end]));
        }
        let flags = [(plan.strict, "strict\n"), (plan.stops, "stop\n")];
        flags.iter().filter(|(is_set, _)| *is_set).for_each(|(_, line)| text += line);
        if plan.patience != PATIENCE {
            text += &format!("p {}\n", plan.patience);
        }
        for (number, site) in (0u32..).zip(&plan.sites.as_ref()[..plan.counts.sites]) {
            if let Some(first) = site.stands_for.checked_sub(1) {
                text += &format!("a {} {}\n", place(first), place(number));
            }
        }
        for thread in &plan.threads.as_ref()[1..plan.counts.threads] {
            text += &format!("t {} {} {}\n", thread.parent, place(thread.site), thread.nth);
        }
        for claim in &plan.claims.as_ref()[..plan.counts.claims] {
            text += &format!("c {} {} {}\n", claim.thread, place(claim.site), claim.occurrence);
        }
        let pairs = [("x", &plan.same, plan.counts.same), ("y", &plan.ordered, plan.counts.ordered)];
        for (word, pairs, count) in pairs {
            pairs.as_ref()[..count].iter().for_each(|(a, b)| text += &format!("{word} {a} {b}\n"));
        }
        for item in &plan.items.as_ref()[..plan.counts.items] {
            let word = match item.what {
                Do::Run => "r",
                Do::Stand => "s",
                Do::Block => "b",
                Do::Sleep => "w",
                Do::Look => {
                    text += "k\n";
                    continue;
                }
            };
            let Item { thread, site, occurrence, own, .. } = *item;
            text += &format!("{word} {thread} {} {occurrence} {own}\n", place(site));
        }
        text
    }

    #[test]
    fn plans_are_understood_to_the_last_line() {
        assert_eq!(PLANS.split("# ").count(), 7);
        for plan in PLANS.split("# ").skip(1) {
            let (_, plan) = plan.split_once('\n').expect("a name");
            let mut bytes = Array::zeroed(plan.len());
            bytes.as_mut().copy_from_slice(plan.as_bytes());
            assert_eq!(text(&Plan::of(bytes)), plan);
        }
    }
}
