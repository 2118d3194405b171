//! The built-in types: every claim checked, and every mutation refused.

use reweave_spec::{BUILTIN, Binary, Expr, Spec, Value, builtin, check};

fn parsed() -> Vec<(&'static str, Spec)> {
    BUILTIN
        .iter()
        .map(|(name, text)| (*name, Spec::parse(text).unwrap_or_else(|error| panic!("{name}:{error}"))))
        .collect()
}

#[test]
fn every_built_in_type_is_sound_and_exact() {
    let mut wrong = String::new();
    for (name, spec) in parsed() {
        for checked in check(&spec) {
            assert_eq!(checked.name, name);
            assert!(checked.cases > 0 && checked.covered > 0, "{name} says something");
            for problem in &checked.problems {
                wrong += &format!("{name}: {problem}\n");
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

#[test]
fn conditions_of_built_in_types_miss_little() {
    for (name, spec) in parsed() {
        for checked in check(&spec) {
            let missed = checked.commuting - checked.covered;
            let allowed = match name {
                "union_find" => 62,
                "register" => 86,
                _ => 0,
            };
            assert!(missed <= allowed, "{name} misses {missed}: {:?}", checked.uncovered);
        }
    }
}

/// Every condition that differs from `expr` in one place: a part of an `or` or `and` left out, a comparison flipped, a
/// negation left out.
fn mutations(expr: &Expr) -> Vec<Expr> {
    let mut all = Vec::new();
    match expr {
        Expr::Not(inner) => {
            all.push((**inner).clone());
            all.extend(mutations(inner).into_iter().map(|inner| Expr::Not(Box::new(inner))));
        }
        Expr::Binary(operator, left, right) => {
            if matches!(operator, Binary::And | Binary::Or) {
                all.extend([(**left).clone(), (**right).clone()]);
            }
            let flipped = match operator {
                Binary::Equal => Some(Binary::Unequal),
                Binary::Unequal => Some(Binary::Equal),
                Binary::Less => Some(Binary::GreaterEqual),
                Binary::GreaterEqual => Some(Binary::Less),
                Binary::Greater => Some(Binary::LessEqual),
                Binary::LessEqual => Some(Binary::Greater),
                _ => None,
            };
            all.extend(flipped.map(|flipped| Expr::Binary(flipped, left.clone(), right.clone())));
            let with = |left: Expr, right: Expr| Expr::Binary(*operator, Box::new(left), Box::new(right));
            all.extend(mutations(left).into_iter().map(|left| with(left, (**right).clone())));
            all.extend(mutations(right).into_iter().map(|right| with((**left).clone(), right)));
        }
        _ => {}
    }
    all
}

#[test]
fn every_mutation_of_a_built_in_condition_is_refused() {
    let mut tried = 0;
    let mut accepted = String::new();
    for (name, spec) in parsed() {
        for (place, commute) in spec.types[0].commutes.iter().enumerate() {
            for mutated in mutations(&commute.condition) {
                let mut other = spec.clone();
                other.types[0].commutes[place].condition = mutated.clone();
                tried += 1;
                if check(&other).iter().all(|checked| checked.problems.is_empty()) {
                    accepted += &format!("{name}.rwspec:{}: {mutated:?} was accepted\n", commute.line);
                }
            }
        }
    }
    assert!(accepted.is_empty(), "{accepted}");
    assert!(tried > 150, "only {tried} mutations");
}

#[test]
fn a_line_that_says_too_much_is_refused() {
    // Each condition of each type set to `true`, unless it is.
    let always = Expr::Const(reweave_spec::Value::Bool(true));
    for (name, spec) in parsed() {
        for (place, commute) in spec.types[0].commutes.iter().enumerate() {
            if commute.condition != always {
                let mut other = spec.clone();
                other.types[0].commutes[place].condition = always.clone();
                let refused = check(&other).iter().any(|checked| !checked.problems.is_empty());
                assert!(refused, "{name}.rwspec:{}: `true` was accepted", commute.line);
            }
        }
    }
}

/// What commutes whatever is returned is what the conditions say of every result.
#[test]
fn calls_that_commute_unseen_do_so_for_every_result() {
    let numbers: Vec<Value> = (0..3).map(Value::Int).collect();
    let results =
        [Value::Nil, Value::Bool(true), Value::Bool(false), Value::Int(0), Value::Int(1), Value::Int(7)];
    let (mut certain, mut pairs) = (0, 0);
    for (name, _) in BUILTIN {
        for of in &builtin(name).expect("it is there").types {
            let calls: Vec<(usize, Vec<Value>)> = (0..of.methods.len())
                .flat_map(|method| {
                    let arguments = vec![&numbers; of.methods[method].parameters.len()];
                    product(&arguments).into_iter().map(move |values| (method, values))
                })
                .collect();
            for (left, first) in &calls {
                for (right, second) in &calls {
                    pairs += 1;
                    if !of.commute_unseen((*left, first), (*right, second)) {
                        continue;
                    }
                    certain += 1;
                    let completed = |method: usize, arguments: &[Value]| -> Vec<Vec<Value>> {
                        match of.methods[method].result {
                            Some(_) => results
                                .iter()
                                .map(|result| [arguments, std::slice::from_ref(result)].concat())
                                .collect(),
                            None => vec![arguments.to_vec()],
                        }
                    };
                    for one in completed(*left, first) {
                        for two in completed(*right, second) {
                            assert!(of.commute((*left, &one), (*right, &two)), "{name} {one:?} {two:?}");
                        }
                    }
                }
            }
        }
    }
    assert!(certain > 100 && certain < pairs, "{certain} of {pairs}");
}

fn product(lists: &[&Vec<Value>]) -> Vec<Vec<Value>> {
    lists.iter().fold(vec![Vec::new()], |all, list| {
        all.iter()
            .flat_map(|start| {
                list.iter().map(move |value| [&start[..], std::slice::from_ref(value)].concat())
            })
            .collect()
    })
}
