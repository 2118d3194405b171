//! Tests of the STD text reader and writer.

use reweave_trace::{Builder, Event, EventValues, Op, Value};

use crate::testing::{check as check_format, from_std, to_std};
use crate::{Format, TraceWriter};

fn check(input: &str, expected: &str) {
    check_format(Format::Std, input.as_bytes(), expected);
}

#[test]
fn every_operation_comes_back_as_it_was() {
    let text = "\
#! capabilities: branches
main|begin|0
main|fork(T2)|main.c:3
T2|begin|
T2|r(x)|a site, with spaces
T2|w(x)|1
T2|ar(x[3].y)|2
T2|aw(x)|3
T2|au(x)|4
T2|acq(l)|5
main|busy(l)|6
T2|rel(l)|7
T2|tryacq(l)|8
T2|rel(l)|9
T2|racq(l)|10
T2|rrel(l)|11
T2|wait(c)|12
main|notify(c)|13
main|notifyall(c)|14
T2|br|15
T2|alloc(p)|16
T2|w(p.next)|17
T2|free(p)|18
T2|call(s.add(1)=true)|19
T2|call(s.put(f(1),(2))=())|20
T2|enter(u)|21
T2|exit(u)|22
T2|req|23
T2|end|24
main|join(T2)|25
";
    check(text, text);
}

#[test]
fn values_come_back_as_they_were() {
    let text = "\
#! capabilities: values
T1|w(x)|1|5
T1|r(x)|2|5
T1|au(x)|3|5>0x10
T1|ar(x)|4|0x10
T1|aw(x)|5|18446744073709551615
T2|r(x)|6|18446744073709551615
T1|w(y)|7|null
T2|r(y)|8|null
T2|r(z)|9|-1
";
    check(text, text);
    check("T|w(x)|1|5\nT|w(x)|2\nT|r(y)||7\n", "T|w(x)|1|5\nT|w(x)|2\nT|r(y)||7\n");
    check(
        "T|au(x)|1|>1\nT|au(x)|2|1>\nT|au(x)|3|>\nT|au(x)|4\n",
        "T|au(x)|1|>1\nT|au(x)|2|1>\nT|au(x)|3\nT|au(x)|4\n",
    );
}

#[test]
fn dialects_are_understood() {
    for (input, expected) in [
        ("", ""),
        ("\n\n", ""),
        ("T|rd(x)|1\nT|wr(x)|2", "T|r(x)|1\nT|w(x)|2\n"),
        ("T|request(l)|1\nT|req(l)|2\nT|req|3\n", "T|req|1\nT|req|2\nT|req|3\n"),
        ("T|branch|1\nT|br()|2\nT|BRANCH( )|3\n", "T|br|1\nT|br|2\nT|br|3\n"),
        ("T|notifyAll(c)|1\nT|broadcast(c)|2\n", "T|notifyall(c)|1\nT|notifyall(c)|2\n"),
        ("T|begin()|1\r\nT|end()|2\r\n", "T|begin|1\nT|end|2\n"),
        ("T|acq l|1\nT|rel l|2\nT|R(X)|3\n", "T|acq(l)|1\nT|rel(l)|2\nT|r(X)|3\n"),
        (" T | r( x ) | s \n\tT|w( x)|\r\r\n", "T|r(x)| s \nT|w(x)|\n"),
        ("T|r(x)\nT|w(x)|\nT|w(x)||\n", "T|r(x)|\nT|w(x)|\nT|w(x)|\n"),
        ("# c\n#! unknown: thing\n  # c|d\n\nT|r(x)|1\n#\n \nT|r(x)|2", "T|r(x)|1\nT|r(x)|2\n"),
        ("#!capabilities:values\n#! capabilities: branches\n", "#! capabilities: branches values\n"),
        ("T|r(f(x)[g()])|1\n", "T|r(f(x)[g()])|1\n"),
        ("Ü|r(ß)|ü\n", "Ü|r(ß)|ü\n"),
    ] {
        check(input, expected);
    }
}

#[test]
fn the_end_of_a_run_survives() {
    let text = "#! ended status 3\n#! ended seed 4\n#! ended program a b\n#! ended waits T a lock\n#! ended unlisted f\nT|w(x)|1\n";
    let (ended, event) = text.split_at(text.find("T|w").unwrap());
    let (start, lines) = (format!("{event}{ended}"), text);
    check(lines, &start);
    check(&start, &start);
    check(
        "#! ended colour 3\n",
        "t:1: expected status, seed, policy, program, waits or unlisted, and what it says",
    );
}

#[test]
fn tables_of_dependences_survive() {
    let claimed = "#! capabilities: dependences\n";
    let events = "T|r(x)|1\nT|au(y)|2\nU|r(x)|3\nT|w(z)|4\n";
    let table = "#! feeds 1: 0 1\n#! needs 3: 1\n#! feeds 3: 0 1\n#! end U: 2\n";
    let text = format!("{claimed}{events}{table}");
    check(&text, &text);
    // Anywhere, in any order, the last one of a set counts, and empty ones are none.
    let mixed = format!(
        "{claimed}#! end U : 2\n#! needs 3: 0\n{events}#!feeds 3: 0 1\n#! needs 3: 1\n#! feeds 1: 0  1 \n#! needs 0:\n"
    );
    check(&mixed, &text);
    for (line, message) in [
        ("#! needs 3: 2", "`needs 3` names event 2, which is no earlier read, call or wait of its thread"),
        ("#! needs 1: 1", "`needs 1` names event 1, which is no earlier read, call or wait of its thread"),
        ("#! feeds 3: 9", "`feeds 3` names event 9, which is no earlier read, call or wait of its thread"),
        ("#! needs 4: 0", "`needs 4`: there is no such event"),
        ("#! end V: 0", "`end V` names event 0, which is no earlier read, call or wait of its thread"),
    ] {
        check(
            &format!("{claimed}{events}{line}\n"),
            &format!("t: the table of dependences is wrong: {message}"),
        );
    }
    let unclaimed = "it is there, but the trace does not claim the capability `dependences`";
    check(&format!("{events}{table}"), &format!("t: the table of dependences is wrong: {unclaimed}"));
}

#[test]
fn a_table_with_no_entry_is_a_table_and_no_line_is_none() {
    let text = "#! capabilities: dependences\nT|r(x)|1\nT|w(z)|4\n";
    let told = |text: &str| from_std(text).dependences().is_some();
    let (empty, other) = (format!("{text}#! needs 0:\n"), format!("{text}#! feeds 1:\n#! end T:\n"));
    assert!(told(&empty) && told(&other) && !told(text));
    check(&empty, &empty);
    check(&other, &empty);
    check(text, text);
}

#[test]
fn what_is_wrong_is_told_with_its_line() {
    for (line, message) in [
        ("#! needs 3", "expected `#! needs …: reads`, as in `#! needs 8: 5 3`"),
        ("#! needs x: 3", "expected the position of an event, found `x`"),
        ("#! feeds 3: -1", "expected the position of an event, found `-1`"),
        ("#! end : 1", "expected `#! end THREAD: reads`, found no thread"),
        ("nonsense", "expected `thread|op(target)|site`, found `nonsense`"),
        ("|r(x)|1", "the thread has no name: expected `thread|op(target)|site`"),
        ("T||1", "unknown operation ``: expected one such as `r(x)`, `w(x)` or `acq(l)`"),
        ("T|fly(x)|1", "unknown operation `fly(x)`: expected one such as `r(x)`, `w(x)` or `acq(l)`"),
        ("T|r[x]|1", "unknown operation `r[x]`: expected one such as `r(x)`, `w(x)` or `acq(l)`"),
        ("T|r|1", "`r` has no target: expected `r(name)`"),
        ("T|acq()|1", "`acq` has no target: expected `acq(name)`"),
        ("T|r(x|1", "`r(x` lacks its `)`"),
        ("T|r(x)y|1", "`r(x)y` lacks its `)`"),
        ("T|r(x)y)|1", "the parentheses in `x)y` do not match"),
        ("T|acq(f(x)|1", "the parentheses in `f(x` do not match"),
        ("T(|begin|1", "the parentheses in `T(` do not match"),
        ("T|begin(x)|1", "`begin` takes no target, but has `x`"),
        ("T|acq(l)|1|5", "`acq` takes no value, but has `5`"),
        ("T|alloc(p)|1|5", "`alloc` takes no value, but has `5`"),
        ("T|req|1|5", "`req` takes no value, but has `5`"),
        ("T|r(x)|1|2|3", "too many fields: expected `thread|op(target)|site|value` at most"),
        ("T|au(x)|1|5", "the value of an update is `old>new`, not `5`"),
        ("T|au(x)|1|5>6>7", "the value of an update is `old>new`, not `5>6>7`"),
        (
            "#! capabilities: values",
            "capabilities are claimed after the first event: the claim belongs at the top",
        ),
        (
            "#! capabilities: wings",
            "unknown capability `wings`: expected approximate, branches, dependences or values",
        ),
    ] {
        let input = format!("# first\nT1|r(xy)|12\n\n{line}\nT1|r(xy)|12\n");
        check(&input, &format!("t:4: {message}"));
    }
}

#[test]
fn what_is_not_text_is_told_with_its_line() {
    for block in [&b"T|r(x)|1\n\nT|w(\xff)|2\nT|w(y)|2\n"[..], b"T|r(x)|1\n\n\xe2\x82", b"\n\n\xff\n"] {
        check_format(Format::Std, block, "t:3: the line is not UTF-8 text");
    }
    check_format(Format::Std, b"\nfoo\n\xff\n", "t:2: expected `thread|op(target)|site`, found `foo`");
}

#[test]
fn long_lines_and_names_are_refused() {
    let long = |length: usize| format!("T|r(x)|1\nT|r(x)|{}\nT|r(x)|2\n", "y".repeat(length));
    let limit = "the line is longer than 1048576 bytes";
    check(&long(1 << 20), &format!("t:2: {limit}"));
    check(&long(2 << 20), &format!("t:2: {limit}"));
    check(&long(1 << 17), "t:2: a name is 131072 bytes long: the limit is 65536");
    check(&"y".repeat((1 << 20) + 1), &format!("t:1: {limit}"));
}

#[test]
fn the_quick_path_takes_nothing_amiss() {
    // Each line once for the careful path to learn its names, then again with filling so that it is quick.
    let filling = "T1|r(x)|1\n".repeat(20);
    for (line, message) in [
        ("T1|r(x|y)|1", "`r(x` lacks its `)`"),
        ("T1|r()|1", "`r` has no target: expected `r(name)`"),
        ("T1|r(x)y|1", "`r(x)y` lacks its `)`"),
        ("T1|r(x)|1|2|3", "too many fields: expected `thread|op(target)|site|value` at most"),
        ("T1|acq(l)|1|5", "`acq` takes no value, but has `5`"),
        ("T1", "expected `thread|op(target)|site`, found `T1`"),
        ("|r(x)|1", "the thread has no name: expected `thread|op(target)|site`"),
    ] {
        check(&format!("{filling}{line}\n{filling}"), &format!("t:21: {message}"));
    }
    for line in [
        "T1|r(x)|",
        "T1|r(x)| 1",
        "T1|r(f(x))|1",
        "#T1|r(x)|1",
        "T1|r(x)|1|7",
        "T1|w(x)|1|",
        "T1|r( x )|1",
        "T1|r(x)|1\r",
    ] {
        let shown = |text: &str| to_std(&from_std(text));
        let expected = shown(&format!("{line}\n"));
        let (before, after) = (shown(&filling), format!("{expected}{filling}"));
        assert_eq!(shown(&format!("{filling}{line}\n{filling}")), before + &after, "{line}");
    }
}

#[test]
fn names_that_text_cannot_hold_are_refused() {
    let bad_thread = ["", "a|b", "a\nb", " a", "a)", "#a", "a\r"];
    let bad_target = ["", "a|b", "a\nb", "a\t", "a)(", "a\r"];
    let bad_site = ["a|b", "a\nb", "a\r"];
    let bad_value = ["", "a|b", "a\nb", "a\r", "a>b"];
    let cases = (bad_thread.iter().map(|name| [*name, "x", "s", "v"]))
        .chain(bad_target.iter().map(|name| ["T", name, "s", "v"]))
        .chain(bad_site.iter().map(|name| ["T", "x", name, "v"]))
        .chain(bad_value.iter().map(|name| ["T", "x", "s", name]));
    for [thread, target, site, value] in cases {
        let mut builder = Builder::new();
        let (thread, site) = (builder.thread(thread).unwrap(), builder.site(site).unwrap());
        let event = Event { thread, op: Op::Update(builder.variable(target).unwrap()), site };
        let id = builder.value(Value::Text(value)).unwrap();
        builder.push(event, EventValues { read: Some(id), written: None }).unwrap();
        let mut out = Vec::new();
        let mut writer = super::Writer::new(&mut out, Default::default());
        let error = writer.event(builder.names(), &event, Some(Value::Text(value)), None).unwrap_err();
        assert!(error.to_string().contains("std cannot hold event 0: "), "{error}");
    }
}

#[test]
fn stable_names_of_sites_survive() {
    let events = "T|w(x)|f (in g, /a b/c.c:9) /a b/c.c:3\nU|r(x)|other\n";
    let names = "#! stable f (in g, /a b/c.c:9) /a b/c.c:3|f c.c+2\n";
    let text = format!("{events}{names}");
    check(&text, &text);
    check(&format!("{names}{events}"), &text);
    check("#! stable other\n", "t:1: expected `#! stable SITE|NAME`, found `other`");
    check("#! stable other|\n", "t:1: expected `#! stable SITE|NAME`, found `other|`");
}
