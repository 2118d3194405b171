//! Two methods with all arguments, in all states: which cases there are, and which of them commute.

use std::collections::{BTreeMap, BTreeSet};

use super::states::{States, arguments, bound, run};
use super::text::{both_text, completed, outcome_text, state_text};
use super::{Checked, Counterexample, Problem};
use crate::{Outcome, Type, Value};

/// The values of two calls: the arguments of each, followed by its result if it has one.
type Case = [Vec<Value>; 2];

/// What is known of a case.
#[derive(Default)]
struct Seen {
    /// The first state in which the calls do not commute.
    against: Option<usize>,
}

/// All cases of two methods.
pub(super) struct Cases<'t> {
    of: &'t Type,
    states: &'t States,
    methods: [usize; 2],
    cases: BTreeMap<Case, Seen>,
    fault: Option<Problem>,
}

/// What two calls give in one state.
pub(super) struct Both {
    /// Each alone.
    pub(super) alone: [Outcome; 2],
    /// In this order, and the other way round: the outcomes in the order in which they are called.
    pub(super) orders: [Vec<Outcome>; 2],
}

impl Both {
    pub(super) fn of(
        of: &Type,
        state: &[Value],
        methods: [usize; 2],
        arguments: [&[Value]; 2],
    ) -> Result<Both, Problem> {
        let alone = [run(of, state, methods[0], arguments[0])?, run(of, state, methods[1], arguments[1])?];
        let follow = |first: usize| -> Result<Vec<Outcome>, Problem> {
            let mut outcomes = vec![alone[first].clone()];
            if let Outcome::Done(_, after) = &alone[first] {
                outcomes.push(run(of, after, methods[1 - first], arguments[1 - first])?);
            }
            Ok(outcomes)
        };
        let orders = [follow(0)?, follow(1)?];
        Ok(Both { alone, orders })
    }

    /// The results of both, the first call's first, where `outcomes` are those of calls that are all done.
    fn results(outcomes: &[Outcome], reversed: bool) -> Option<[Value; 2]> {
        let [Outcome::Done(one, _), Outcome::Done(two, _)] = outcomes else { return None };
        Some(if reversed { [two.clone(), one.clone()] } else { [one.clone(), two.clone()] })
    }

    /// The results that either order, or each alone, gives.
    pub(super) fn all_results(&self) -> [Option<[Value; 2]>; 3] {
        [
            Both::results(&self.orders[0], false),
            Both::results(&self.orders[1], true),
            Both::results(&self.alone, false),
        ]
    }

    /// Whether both orders end in one state.
    fn same_end(&self) -> bool {
        matches!((self.orders[0].last(), self.orders[1].last()),
            (Some(Outcome::Done(_, left)), Some(Outcome::Done(_, right))) if left == right)
    }
}

impl<'t> Cases<'t> {
    /// Tries everything.
    pub(super) fn of(of: &'t Type, states: &'t States, methods: [usize; 2]) -> Cases<'t> {
        let mut cases = Cases { of, states, methods, cases: BTreeMap::new(), fault: None };
        let bound = bound(of);
        let tried = [arguments(of, methods[0], bound), arguments(of, methods[1], bound)];
        for place in 0..states.all.len() {
            for left in &tried[0] {
                for right in &tried[1] {
                    if let Err(fault) = cases.visit(place, [left, right]) {
                        cases.fault = Some(fault);
                        return cases;
                    }
                }
            }
        }
        cases
    }

    fn visit(&mut self, place: usize, arguments: [&[Value]; 2]) -> Result<(), Problem> {
        let both = Both::of(self.of, &self.states.all[place], self.methods, arguments)?;
        let all = both.all_results();
        let found: BTreeSet<&[Value; 2]> = all.iter().flatten().collect();
        for results in found {
            let agree = all.iter().all(|each| each.as_ref() == Some(results)) && both.same_end();
            let case = [0, 1].map(|call| self.values(call, arguments[call], &results[call]));
            let seen = self.cases.entry(case).or_default();
            if !agree {
                seen.against.get_or_insert(place);
            }
        }
        Ok(())
    }

    /// A call's arguments, and its result if it has one.
    fn values(&self, call: usize, arguments: &[Value], result: &Value) -> Vec<Value> {
        let mut values = arguments.to_vec();
        if self.of.methods[self.methods[call]].result.is_some() {
            values.push(result.clone());
        }
        values
    }

    fn texts(&self, case: &Case) -> [String; 2] {
        [0, 1].map(|call| completed(self.of, self.methods[call], &case[call]))
    }

    /// Whether the conditions of the type say that the calls commute.
    fn claimed(&self, case: &Case) -> bool {
        self.of.commute((self.methods[0], &case[0]), (self.methods[1], &case[1]))
    }

    /// Compares what the type claims with what there is. Of each kind of problem one is enough.
    pub(super) fn judge(&self, checked: &mut Checked) {
        if let Some(fault) = &self.fault {
            checked.problems.push(fault.clone());
            return;
        }
        checked.cases += self.cases.len();
        let given =
            self.of.commutes.iter().find(|each| {
                each.methods == self.methods || each.methods == [self.methods[1], self.methods[0]]
            });
        let line = given.map_or(0, |each| each.line);
        let mut unsound: Option<(usize, &Case)> = None;
        let mut uncovered = None;
        let mut others: [Option<Problem>; 3] = [None, None, None];
        for (case, seen) in &self.cases {
            let claimed = self.claimed(case);
            let calls = || self.texts(case);
            checked.commuting += usize::from(seen.against.is_none());
            match (claimed, seen.against) {
                (true, Some(place)) if unsound.is_none_or(|(least, _)| place < least) => {
                    unsound = Some((place, case));
                }
                (true, None) => checked.covered += 1,
                (false, None) if given.is_some_and(|given| given.exact) => {
                    others[0].get_or_insert_with(|| Problem::NotExact { line, calls: calls() });
                }
                (false, None) => {
                    uncovered.get_or_insert_with(calls);
                }
                _ => {}
            }
            if self.methods[0] == self.methods[1]
                && claimed != self.claimed(&[case[1].clone(), case[0].clone()])
            {
                others[1].get_or_insert_with(|| Problem::Asymmetric { line, calls: calls() });
            }
            match (self.points_conflict(case), claimed) {
                (Some(false), false) => {
                    let line = self.touch_line();
                    others[2].get_or_insert_with(|| Problem::Points { line, calls: calls() });
                }
                (Some(true), true) => checked.coarse += 1,
                _ => {}
            }
        }
        checked.problems.extend(unsound.map(|(place, case)| self.counterexample(line, place, case)));
        checked.problems.extend(others.into_iter().flatten());
        checked.uncovered.extend(uncovered);
        checked.vacuous += self.vacuous();
    }

    fn touch_line(&self) -> u32 {
        let touch = self.of.touches.iter().find(|touch| touch.method == self.methods[0]);
        touch.map_or(0, |touch| touch.line)
    }

    /// Whether what the calls touch conflicts, where both have access points.
    fn points_conflict(&self, case: &Case) -> Option<bool> {
        if !self.methods.iter().all(|method| self.of.has_points(*method)) {
            return None;
        }
        let [left, right] = [0, 1].map(|call| self.of.touched(self.methods[call], &case[call]));
        Some(left.iter().any(|one| right.iter().any(|two| one.conflicts(two))))
    }

    /// How many cases that no state allows the condition holds for. Their results are some that these arguments give.
    fn vacuous(&self) -> usize {
        let calls = [0, 1].map(|call| {
            let all: BTreeSet<&Vec<Value>> = self.cases.keys().map(|case| &case[call]).collect();
            all
        });
        let mut count = 0;
        for left in &calls[0] {
            for right in &calls[1] {
                let case = [(*left).clone(), (*right).clone()];
                count += usize::from(!self.cases.contains_key(&case) && self.claimed(&case));
            }
        }
        count
    }

    fn counterexample(&self, line: u32, place: usize, case: &Case) -> Problem {
        let state = &self.states.all[place];
        let arguments = [0, 1].map(|call| {
            let count = self.of.methods[self.methods[call]].parameters.len();
            &case[call][..count]
        });
        match Both::of(self.of, state, self.methods, arguments) {
            Err(fault) => fault,
            Ok(both) => Problem::Unsound(Box::new(example(self.of, line, state, self.texts(case), &both))),
        }
    }
}

/// Both orders of two calls, as text.
pub(super) fn example(
    of: &Type,
    line: u32,
    state: &[Value],
    calls: [String; 2],
    both: &Both,
) -> Counterexample {
    Counterexample {
        line,
        state: state_text(of, state),
        calls,
        first: both_text(of, &both.orders[0]),
        second: both_text(of, &both.orders[1]),
        alone: format!("{}; {}", outcome_text(&both.alone[0]), outcome_text(&both.alone[1])),
    }
}
