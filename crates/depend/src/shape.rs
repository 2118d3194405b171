//! What can be said of a function before it runs.

use std::rc::Rc;

use hashbrown::HashMap;
use reweave_program::{Function, Instruction, Mark, Operand, Operation, Table};

use crate::calls::{Callee, JUMPS};
use crate::flow::{Flow, Sources, deciding};
use crate::rule::Rule;

/// A function, for the analysis.
pub struct Shape {
    /// What it is called by the linker.
    pub name: String,
    /// Whether nothing is known of what happens in it.
    pub(crate) strange: Option<String>,
    places: Vec<Place>,
    /// What it may return.
    pub(crate) returns: Sources,
    stretches: HashMap<(Option<u32>, Target<'static>), Option<Rc<Stretch>>>,
    /// The same for those that end where a function is entered, by its number.
    entries: HashMap<(Option<u32>, usize), Option<Rc<Stretch>>>,
}

/// An instruction.
struct Place {
    /// What decides whether it is executed as it was.
    decides: Sources,
    /// What it writes, where it does.
    written: Sources,
    /// The arguments that it passes to a function that may be recorded, too.
    arguments: Vec<Sources>,
    /// What it calls: a name, where it is a function whose code is known; anything where that is not known.
    calls: Calls,
    /// Why it is not known what it does.
    unknown: Option<String>,
    /// Whether each execution is recorded.
    recorded: bool,
    /// Whether one that is recorded in several parts is to be taken together.
    wide: bool,
    ends: bool,
    next: Vec<u32>,
    before: Vec<u32>,
}

#[derive(PartialEq, Eq)]
enum Calls {
    Nothing,
    Known(String),
    Lock,
    Anything,
}

/// Where a stretch ends.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Target<'n> {
    /// At an instruction.
    At(u32),
    /// At a call that may enter a function of this name.
    Enters(&'n str),
    /// At a call that may lock something.
    Locks,
    /// Where the function is left.
    Leaves,
}

/// What may have been executed from one instruction to another, both included.
#[derive(Default)]
pub(crate) struct Stretch {
    /// What decides about what comes after it.
    pub(crate) decides: Sources,
    /// Something in it of which nobody knows what it does.
    pub(crate) unknown: Option<u32>,
    /// The ends of it that can be reached.
    pub(crate) ends: Vec<u32>,
}

impl Shape {
    /// Describes a function. `defines` says how many arguments a function names that another module of the same binary defines.
    pub fn new(table: &Table, function: &Function, defines: &dyn Fn(&str) -> Option<u32>) -> Shape {
        Shape::without(table, function, defines, None)
    }

    /// The same without a rule, for tests.
    pub fn without(
        table: &Table,
        function: &Function,
        defines: &dyn Fn(&str) -> Option<u32>,
        rule: Option<Rule>,
    ) -> Shape {
        let all = &function.instructions;
        let callees: Vec<Callee> = all.iter().map(|one| Callee::of(table, function, one, defines)).collect();
        let flow = Flow::new(function, &callees, rule);
        let mut places: Vec<Place> = (0..)
            .zip(all.iter().zip(&callees))
            .map(|(number, (one, &callee))| place(table, &flow, number, one, callee, rule))
            .collect();
        connect(function, &mut places);
        let returned: Vec<Operand> = all
            .iter()
            .filter(|one| one.operation == Operation::Return)
            .flat_map(|one| one.operands.iter().copied())
            .collect();
        Shape {
            name: table.function_name(function).to_owned(),
            strange: strange(table, function),
            returns: flow.sources(&returned),
            places,
            stretches: HashMap::new(),
            entries: HashMap::new(),
        }
    }

    /// Why an instruction is not understood.
    pub(crate) fn reason(&self, number: u32) -> String {
        let place = self.places.get(number as usize);
        place.and_then(|place| place.unknown.clone()).unwrap_or_else(|| self.name.clone())
    }

    /// What an instruction writes.
    pub(crate) fn written(&self, number: u32) -> &Sources {
        const ALL: &Sources = &Sources::ALL;
        self.places.get(number as usize).map_or(ALL, |place| &place.written)
    }

    /// What a call passes.
    pub(crate) fn arguments(&self, number: u32) -> &[Sources] {
        self.places.get(number as usize).map(|place| place.arguments.as_slice()).unwrap_or_default()
    }

    /// Whether an access is recorded in one piece.
    pub(crate) fn is_whole(&self, number: u32) -> bool {
        self.places.get(number as usize).is_some_and(|place| place.recorded && !place.wide)
    }

    /// What may be executed from an instruction, or from the start, to where `to` says, with no recorded access in
    /// between; nothing where that cannot be.
    pub(crate) fn stretch(&mut self, from: Option<u32>, to: Target<'static>) -> Option<Rc<Stretch>> {
        if let Some(known) = self.stretches.get(&(from, to)) {
            return known.clone();
        }
        let found = self.find(from, to).map(Rc::new);
        self.stretches.insert((from, to), found.clone());
        found
    }

    /// The same to where a function is entered; `number` stands for its name.
    pub(crate) fn entering(&mut self, from: Option<u32>, number: usize, name: &str) -> Option<Rc<Stretch>> {
        if let Some(known) = self.entries.get(&(from, number)) {
            return known.clone();
        }
        let found = self.find(from, Target::Enters(name)).map(Rc::new);
        self.entries.insert((from, number), found.clone());
        found
    }

    fn find(&self, from: Option<u32>, to: Target<'_>) -> Option<Stretch> {
        let start = match from {
            None if self.places.is_empty() => Vec::new(),
            None => vec![0],
            // What is told of a call comes before it.
            Some(from) => match self.places.get(from as usize)? {
                place if place.calls == Calls::Nothing => place.next.clone(),
                _ => vec![from],
            },
        };
        let passes = |number: u32| self.places.get(number as usize).is_some_and(|place| !place.recorded);
        let forward = self.reach(start, passes, |place| &place.next);
        let ends: Vec<u32> = (0..)
            .zip(&self.places)
            .filter(|&(number, place)| forward[number as usize] && is_end(number, place, &to))
            .map(|(number, _)| number)
            .collect();
        if ends.is_empty() {
            return None;
        }
        let mut is_target = vec![false; self.places.len()];
        ends.iter().for_each(|&end| is_target[end as usize] = true);
        let passes = |number: u32| forward[number as usize] && (is_target[number as usize] || passes(number));
        let backward = self.reach(ends.clone(), passes, |place| &place.before);
        let mut stretch = Stretch { ends, ..Stretch::default() };
        let between = (0..self.places.len()).filter(|&number| {
            Some(number as u32) == from
                || forward[number]
                    && backward[number]
                    && (is_target[number] || self.places.get(number).is_some_and(|place| !place.recorded))
        });
        for number in between {
            let place = &self.places[number];
            stretch.decides.add(&place.decides);
            if place.unknown.is_some() {
                stretch.unknown = stretch.unknown.or(Some(number as u32));
            }
        }
        Some(stretch)
    }

    /// Which instructions are reached from some, in a direction, through those that let pass.
    fn reach(
        &self,
        start: Vec<u32>,
        passes: impl Fn(u32) -> bool,
        next: impl Fn(&Place) -> &[u32],
    ) -> Vec<bool> {
        let (mut reached, mut waiting) = (vec![false; self.places.len()], start);
        while let Some(number) = waiting.pop() {
            let Some(seen) = reached.get_mut(number as usize) else { continue };
            if !std::mem::replace(seen, true) && passes(number) {
                waiting.extend_from_slice(next(&self.places[number as usize]));
            }
        }
        reached
    }
}

fn is_end(number: u32, place: &Place, to: &Target<'_>) -> bool {
    match to {
        Target::At(at) => number == *at,
        Target::Enters(name) => match &place.calls {
            Calls::Known(known) => known == name,
            Calls::Anything => true,
            Calls::Nothing | Calls::Lock => false,
        },
        Target::Locks => matches!(place.calls, Calls::Lock | Calls::Anything),
        Target::Leaves => place.ends,
    }
}

fn strange(table: &Table, function: &Function) -> Option<String> {
    let jumps =
        |one: &Instruction| table.callee_name(one).filter(|name| JUMPS.contains(name)).map(str::to_owned);
    let is_rust = || table.files.iter().any(|file| table.string(file.name).ends_with(".rs"));
    if function.mark == Mark::Suppressed {
        Some("code that is not recorded".to_owned())
    } else if function.variadic {
        Some("a variadic function".to_owned())
    } else if is_rust() {
        Some("code compiled from Rust".to_owned())
    } else {
        function.instructions.iter().find_map(jumps)
    }
}

fn place(
    table: &Table,
    flow: &Flow<'_>,
    number: u32,
    one: &Instruction,
    callee: Callee,
    without: Option<Rule>,
) -> Place {
    use Operation::*;
    let operand = |place: usize| one.operands.get(place).copied().unwrap_or(Operand::Nothing);
    let accesses = matches!(one.operation, Load | Store | AtomicUpdate | CompareExchange);
    let calls = one.operation.calls();
    let written = match (one.operation, callee) {
        (Store, _) => flow.sources(&[operand(0)]),
        (AtomicUpdate, _) => flow.sources(&[operand(1)]),
        (CompareExchange, _) => flow.sources(&[operand(2)]),
        (_, Callee::Copy) if calls => flow.copied(number, operand(1)),
        (_, Callee::Fill) if calls => flow.sources(&[operand(1)]),
        (_, Callee::Masked(true)) if calls => flow.sources(&[operand(0)]),
        _ => Sources::ALL,
    };
    let passed = one.call().map_or(0, |call| call.arguments as usize);
    let passed = one.operands.get(..passed).unwrap_or_default();
    let bytes = one.access().map_or(0, |access| access.bytes);
    Place {
        decides: flow.sources(&deciding(one, callee, without)),
        written,
        arguments: if matches!(callee, Callee::Known(_)) && calls {
            passed.iter().map(|&argument| flow.sources(&[argument])).collect()
        } else {
            Vec::new()
        },
        calls: match callee {
            _ if !calls => Calls::Nothing,
            Callee::Known(known) => Calls::Known(table.global_name(known.global).to_owned()),
            Callee::Recorded(true) => Calls::Lock,
            Callee::Unknown => Calls::Anything,
            _ => Calls::Nothing,
        },
        unknown: unknown(table, one, callee),
        recorded: accesses && one.mark == Mark::Recorded && bytes > 0,
        wide: bytes > 8,
        ends: matches!(one.operation, Return | Resume | Unreachable)
            || calls && one.call().is_some_and(|call| !call.no_unwind || call.no_return),
        next: Vec::new(),
        before: Vec::new(),
    }
}

/// Why nobody knows what an instruction does, where that is so.
fn unknown(table: &Table, one: &Instruction, callee: Callee) -> Option<String> {
    use Operation::*;
    let marked = matches!(one.mark, Mark::Recorded | Mark::Private | Mark::Constant);
    match one.operation {
        Load | Store | AtomicUpdate | CompareExchange if !marked => {
            Some("an access of another kind".to_owned())
        }
        VariadicArgument => Some("a variadic argument".to_owned()),
        LandingPad | CatchPad | CleanupPad | CatchSwitch => Some("an exception".to_owned()),
        Call | Invoke | CallBranch => match callee {
            Callee::Copy | Callee::Fill | Callee::Masked(_) if !marked => {
                Some("an access of another kind".to_owned())
            }
            Callee::Unknown => Some(match one.callee() {
                _ if one.mark == Mark::Unsupported => "a tail call".to_owned(),
                Some(Operand::Global(_)) => table.callee_name(one).unwrap_or_default().to_owned(),
                Some(Operand::Assembly(_)) => "inline assembly".to_owned(),
                _ => "a call through a pointer".to_owned(),
            }),
            _ => None,
        },
        _ => None,
    }
}

fn connect(function: &Function, places: &mut [Place]) {
    for block in &function.blocks {
        let last = block.first + block.length.saturating_sub(1);
        for number in block.first..last {
            places[number as usize].next.push(number + 1);
        }
        let successors = function.instructions.get(last as usize).map(|one| one.successors.as_slice());
        for &next in successors.unwrap_or_default() {
            if let Some(next) = function.blocks.get(next as usize) {
                places[last as usize].next.push(next.first);
            }
        }
    }
    for number in 0..places.len() {
        for next in places[number].next.clone() {
            places[next as usize].before.push(number as u32);
        }
    }
}
