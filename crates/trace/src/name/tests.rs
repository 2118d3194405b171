//! Names, compared with a list of them.

use super::*;

#[test]
fn names_are_numbered_in_order_of_first_appearance() {
    let mut table = Table::default();
    let ids: Vec<u32> = ["b", "a", "", "b", "", "c"].iter().map(|name| table.intern(name).unwrap()).collect();
    assert_eq!(ids, [0, 1, 2, 0, 2, 3]);
    assert_eq!(table.iter().collect::<Vec<_>>(), ["b", "a", "", "c"]);
    assert_eq!(table.find("c"), Some(3));
    assert_eq!(table.find("d"), None);
}

#[test]
fn numbers_are_names_like_any_other() {
    // Dense, sparse, and sparse ones that become dense; not canonical; too long to be a number; not a number.
    let mut names: Vec<String> = ["00", "01", "+1", "", "1x", "9999999999999999999", "18446744073709551616"]
        .map(String::from)
        .to_vec();
    names.extend([u64::MAX, 1 << 40, 700, 300, 130, 65, 0].map(|number| number.to_string()));
    names.extend((0..1000_u64).map(|number| number.to_string()));
    names.extend((0..1000_u64).map(|number| (number * 12_345_678_901).to_string()));
    let (mut table, mut naive) = (Table::default(), Vec::<&str>::new());
    for (i, name) in names.iter().chain(&names).enumerate() {
        let expected = naive.iter().position(|known| known == name);
        assert_eq!(table.find(name), expected.map(|id| id as u32));
        let id = match name.parse::<u64>() {
            Ok(number) if number.to_string() == *name && i % 2 == 0 => table.intern_number(number),
            _ => table.intern(name),
        };
        assert_eq!(id.unwrap() as usize, expected.unwrap_or(naive.len()));
        if expected.is_none() {
            naive.push(name);
        }
        // Asking for names now and then must not change what comes later.
        if i % 7 == 0 {
            let asked = i * 31 % naive.len();
            assert_eq!(table.get(asked as u32), naive[asked]);
        }
    }
    assert!(table.iter().eq(naive));
}

#[test]
fn numbers_together_are_numbers_one_by_one() {
    let spread = |number: u64| number.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (number % 40);
    let numbers: Vec<u64> = (0..500).map(spread).chain(0..300).chain((100..700).map(spread)).collect();
    let (mut one_by_one, mut together, mut absorbed) = (Table::default(), Table::default(), Table::default());
    together.expect(400);
    let mut ids = Vec::new();
    for numbers in numbers.chunks(77) {
        let expected: Vec<u32> = numbers.iter().map(|&n| one_by_one.intern_number(n).unwrap()).collect();
        let mut seen = Vec::new();
        together.intern_numbers(numbers, |ids| seen.extend(ids)).unwrap();
        assert_eq!(seen, expected);
        // A text between them, in both tables.
        let text = format!("x{}", numbers[0]);
        assert_eq!(one_by_one.intern(&text).unwrap(), together.intern(&text).unwrap());
        absorbed.absorb(&one_by_one, &mut ids).unwrap();
    }
    assert!(together.iter().eq(one_by_one.iter()) && absorbed.iter().eq(one_by_one.iter()));
    assert!(ids.into_iter().eq(0..one_by_one.len() as u32));
    let mut texts = 0;
    for id in 0..together.len() as u32 {
        match together.clone().kept(id) {
            Name::Number(number) => assert_eq!(number.to_string(), together.get(id)),
            Name::Text(text) => {
                texts += usize::from(text.starts_with('x'));
                assert_eq!(text, together.get(id));
            }
        }
    }
    assert_eq!(texts, numbers.chunks(77).len());
}

#[test]
fn numbers_with_common_halves_are_told_apart_and_known_again() {
    let mut state = 11_u64;
    let mut below = |limit: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % limit
    };
    // How many of a hundred are likely to be known.
    for known_again in [0, 1, 10, 50, 99] {
        let (mut table, mut known) = (Table::default(), std::collections::HashMap::new());
        let (mut all, mut next, mut new) = (Vec::new(), 0, 0);
        table.expect(20_000);
        for _ in 0..60 {
            let numbers: Vec<u64> = (0..1 + below(700))
                .map(|_| match below(100) {
                    pick if pick < known_again && !all.is_empty() => all[below(all.len() as u64) as usize],
                    // One lower half in ten is that of others; some are too large, and some small.
                    _ => {
                        next += 1;
                        let lower = if below(10) == 0 { below(next + 1) } else { next };
                        match below(40) {
                            0 => below(90),
                            1 => u64::MAX - next,
                            _ => (next / 7) << 32 | lower,
                        }
                    }
                })
                .collect();
            let mut ids = Vec::new();
            table.intern_numbers(&numbers, |some| ids.extend(some)).unwrap();
            for (&number, id) in numbers.iter().zip(ids) {
                let count = known.len() as u32;
                assert_eq!(id, *known.entry(number).or_insert(count));
                new += usize::from(id == count);
                all.push(number);
            }
        }
        assert_eq!((table.len(), new), (known.len(), known.len()));
        for number in &all {
            let (id, name) = (known[number], number.to_string());
            assert_eq!((table.find(&name), table.get(id)), (Some(id), &*name));
        }
    }
}

#[test]
fn a_name_beyond_the_limit_is_refused() {
    let mut table = Table::default();
    assert!(table.intern(&"x".repeat(MAX_NAME_BYTES)).is_ok());
    let error = table.intern(&"y".repeat(MAX_NAME_BYTES + 1)).unwrap_err();
    assert!(matches!(error, Error::NameTooLong { bytes } if bytes == MAX_NAME_BYTES + 1));
}

#[test]
fn runs_of_new_numbers_are_numbers_one_by_one() {
    let mut state = 5_u64;
    let mut below = |limit: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % limit
    };
    let (mut at_once, mut turned_down) = (0, 0);
    for expected in [0, 50, 4000] {
        let (mut table, mut naive) = (Table::default(), Table::default());
        let mut known = std::collections::HashMap::new();
        table.expect(expected);
        for case in 0..2000_u64 {
            let upper = [0, 0, 7, 8, 1 << 20][below(5) as usize] << 32;
            let first = upper + [case * 3, below(3000), below(1 << 32), (1 << 32) - 2][below(4) as usize];
            let count = 1 + below(5) as u32;
            let new = table.intern_new(first, count);
            let numbers = (first..).take(count as usize);
            if let Some(id) = new {
                at_once += 1;
                assert!(numbers.clone().all(|number| !known.contains_key(&number)));
                assert_eq!(id as usize, known.len());
            } else {
                turned_down += 1;
            }
            for number in numbers {
                let next = known.len() as u32;
                let id = *known.entry(number).or_insert(next);
                assert_eq!(table.intern_number(number).unwrap(), id);
                assert_eq!(naive.intern(&number.to_string()).unwrap(), id);
                assert_eq!(table.find(&number.to_string()), Some(id));
            }
            assert_eq!(table.find(&(first + 9000).to_string()), known.get(&(first + 9000)).copied());
            if case % 400 == 7 {
                assert_eq!(table.get(0), naive.get(0));
            }
        }
        assert!(table.iter().eq(naive.iter()));
    }
    assert!(at_once > 500 && turned_down > 500, "{at_once} {turned_down}");
}

#[test]
fn numbers_that_are_no_names_of_numbers_are_not_taken_at_once() {
    let mut table = Table::default();
    assert_eq!(table.intern_new(10_u64.pow(18) - 1, 2), None);
    assert_eq!(table.intern_new(u64::MAX, 2), None);
    assert_eq!(table.intern_new(5, 0), None);
    assert!(table.is_empty());
}
