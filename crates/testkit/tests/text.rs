//! Literals and text: what is written down is what is built.

use reweave_testkit::{from_tokens, parse, parse_raw, show, trace};

const EVERYTHING: &str = "\
#! capabilities: branches
main|begin|1
main|fork(worker)|2
main|alloc(p)|3
main|w(p.f)|4|5
worker|r(p.f)|5|5
worker|ar(x)|6|-1
worker|aw(x)|7|yes
worker|au(x)|8|yes>2
worker|br|9
main|acq(l)|10
worker|busy(l)|11
main|rel(l)|12
worker|tryacq(l)|13
worker|rel(l)|14
worker|wait(c)|15
main|notify(c)|16
main|notifyall(c)|17
main|racq(l)|18
main|rrel(l)|19
main|enter(u)|20
main|call(s.add(1)=true)|21
main|exit(u)|22
worker|end|23
main|join(worker)|24
main|free(p)|25
";

#[test]
fn literals_cover_every_operation() {
    let literal = trace! {
        capabilities: branches;
        main: begin; main: fork(worker); main: alloc(p); main: w(p.f) = 5;
        worker: r(p.f) = 5; worker: ar(x) = -1; worker: aw(x) = yes; worker: au(x) = yes > 2; worker: br;
        main: acq(l); worker: busy(l); main: rel(l); worker: tryacq(l); worker: rel(l);
        worker: wait(c); main: notify(c); main: notifyall(c); main: racq(l); main: rrel(l);
        main: enter(u); main: call("s.add(1)=true"); main: exit(u);
        worker: end; main: join(worker); main: free(p);
    };
    assert_eq!(show(&literal), EVERYTHING);
    assert_eq!(show(&parse(EVERYTHING).unwrap()), EVERYTHING);
}

#[test]
fn sites_values_and_skips_survive() {
    let text = "T1|w(x)\nT1|skip|a b\nT1|w(x)||7\nT1|au(x)|q.c:3|>2\nT1|au(x)|q.c:3|2>\n";
    assert_eq!(show(&parse(text).unwrap()), text);
    let literal = trace! { T1: w(x) = 1 @ "q.c:3"; T2: w("a b") @ here; };
    assert_eq!(show(&literal), "T1|w(x)|q.c:3|1\nT2|w(a b)|here\n");
}

#[test]
fn mistakes_are_told_with_their_line() {
    for (text, message) in [
        ("# fine\nT1", "line 2: an event needs a thread and an operation"),
        ("T1|fly(x)", "line 1: there is no operation `fly`"),
        ("T1|w", "line 1: `w`: wrong use of a target"),
        ("T1|w()", "line 1: `w()`: wrong use of a target"),
        ("T1|br(x)", "line 1: `br(x)`: wrong use of a target"),
        ("T1|w(x", "line 1: a parenthesis is not closed"),
        ("T1|w(x)|1|2|3", "line 1: too many fields"),
        ("T1|au(x)|1|2", "line 1: an update's value is `old>new`"),
        ("#! capabilities: wings", "line 1: there is no capability `wings`"),
    ] {
        assert_eq!(parse_raw(text).unwrap_err(), message);
    }
    assert!(parse("T1|rel(l)").is_err() && parse_raw("T1|rel(l)").is_ok());
    assert!(from_tokens("T1: call(\"x)").is_err() && from_tokens("T1: rel(l)").is_err());
}
