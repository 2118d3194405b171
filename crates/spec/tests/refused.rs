//! Specifications that look right and are not, and texts that are no specifications.

use reweave_spec::{BUILTIN, Problem, Spec, check};

fn text(name: &str) -> &'static str {
    BUILTIN.iter().find(|(known, _)| *known == name).expect("a built-in type").1
}

fn problems(text: &str) -> Vec<Problem> {
    let spec = Spec::parse(text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    check(&spec).into_iter().flat_map(|checked| checked.problems).collect()
}

/// The text of a built-in type with lines more.
fn with(name: &str, lines: &str) -> String {
    format!("{}{lines}\n", text(name))
}

#[test]
fn close_and_write_do_not_commute() {
    let found = problems(&with("file", "  commute close write if true"));
    let [Problem::Unsound(example)] = &found[..] else { panic!("{found:?}") };
    assert_eq!(example.state, "closed = false, data = [], at = 0", "the smallest state");
    assert_eq!(example.calls, ["write(1)", "close()"]);
    assert_eq!(example.second, "done, fails");
}

#[test]
fn two_takers_of_equal_elements_do_not_commute() {
    let queue = "type q sync internal\n state q: seq\n method enq(x) { q := push(q, x) }\n method deq() = r { r := first(q); q := rest(q) }\n commute deq deq if r1 == r2\n";
    let found = problems(queue);
    let [Problem::Unsound(example)] = &found[..] else { panic!("{found:?}") };
    assert_eq!(example.state, "q = [1]", "each alone takes it: {example}");
}

#[test]
fn a_capacity_is_reached_however_large() {
    let ring = "type ring sync internal\n state q: seq\n method try_send(x) = ok { ok := len(q) < 8; if ok { q := push(q, x) } }\n method recv() = r { r := first(q); q := rest(q) }\n commute try_send recv if r2 != nil and r2 != x1\n";
    assert!(matches!(&problems(ring)[..], [Problem::Unsound(_)]), "full, and one element less");
}

#[test]
fn modes_that_are_easy_to_get_wrong() {
    // All values at once, as if it were the size: a put over an existing key changes them.
    let values = with(
        "map",
        "  method values() = r { r := m }\n  commute get values, contains values, size values, values values if true\n  touch values: S",
    );
    assert!(matches!(&problems(&values)[..], [Problem::Points { .. }, ..]));
    // The last reference is not just one less.
    let count = with("refcount", "  touch inc: IX\n  touch dec: IX\n  touch get: S");
    assert!(problems(&count).iter().any(|problem| matches!(problem, Problem::Points { .. })));
    // Head and tail alone: what is put in may be what is taken out.
    let ends = with("queue", "  touch enq: X of tail\n  touch deq: X of head");
    assert!(problems(&ends).iter().any(|problem| matches!(problem, Problem::Points { .. })));
    // Keys without intention.
    let keys = text("set").replace("IX, X at v", "X at v").replace("IS, S at v", "S at v");
    assert!(problems(&keys).iter().any(|problem| matches!(problem, Problem::Points { .. })));
}

#[test]
fn an_order_that_does_not_matter_is_refused() {
    let flush = with("file", "  order write before flush fails \"write after flush\"");
    assert!(matches!(&problems(&flush)[..], [Problem::Order { calls: Some(_), .. }]));
    let blocked = with("semaphore", "  order post before wait loses \"a token\"");
    assert!(
        matches!(&problems(&blocked)[..], [Problem::Order { calls: Some(_), .. }]),
        "wait may not come first"
    );
    let count = with("counter", "  order inc before dec loses \"nothing\"");
    assert!(matches!(&problems(&count)[..], [Problem::Order { calls: None, .. }]));
}

#[test]
fn a_condition_that_depends_on_which_call_is_the_first_is_refused() {
    let set = text("set").replace("v1 != v2 or not new1 and not new2", "v1 != v2 or not new1");
    assert!(problems(&set).iter().any(|problem| matches!(problem, Problem::Asymmetric { .. })));
}

#[test]
fn mistakes_have_a_position_and_a_hint() {
    let error = |text: &str| Spec::parse(text).expect_err("a mistake").to_string();
    let head = "type t sync internal\n state n: int\n method get() = r { r := n }\n";
    assert_eq!(error("tipe x"), "1:1: expected `type` or `bind`, found `tipe` (did you mean `type`?)");
    assert_eq!(error("type t sync maybe"), "1:13: expected `internal` or `external`, found `maybe`");
    assert_eq!(
        error(&format!("{head} commute get gett if true")),
        "4:14: `t` has no method `gett` (did you mean `get`?)"
    );
    assert_eq!(
        error(&format!("{head} commute get get if r1 = r2")),
        "4:24: expected an operator, found `=` (equality is `==`)"
    );
    assert_eq!(
        error(&format!("{head} commute get get if r3 == r2")),
        "4:21: `r3` is not known here (did you mean `r1`?)"
    );
    assert_eq!(
        error("type t sync internal\n method f() { x = 1 }"),
        "2:17: expected `:=`, found `=` (a variable is set with `:=`)"
    );
    assert_eq!(error("type t sync internal\n state n: int in 0..99"), "2:18: a domain has 1 to 16 values");
    assert_eq!(error("bind \"a"), "1:6: this quoted text has no end (it has to end in the same line)");
    assert_eq!(
        error("type t sync internal method f() { r := lenn(1) }"),
        "1:40: there is no function `lenn` (did you mean `len`?)"
    );
    assert!(
        error(&format!("type t sync internal method f() {{ r := {}1 }}", "(".repeat(9_999)))
            .contains("nests too deeply")
    );
}

#[test]
fn a_model_that_mixes_kinds_is_refused() {
    let mixed = "type t sync internal\n state s: set\n method f() = r { r := s + 1 }";
    assert!(matches!(&problems(mixed)[..], [Problem::Fault { line: 3, .. }]));
}

#[test]
fn cut_and_garbled_texts_never_panic() {
    for (_, text) in BUILTIN {
        for cut in (0..text.len()).filter(|&cut| text.is_char_boundary(cut)) {
            let _ = Spec::parse(&text[..cut]);
            let _ = Spec::parse(&text[cut..]);
            let garbled = format!("{}\u{7f}({}", &text[..cut], &text[cut..]);
            let _ = Spec::parse(&garbled);
        }
    }
}
