//! The log of RoadRunner's print tools: `@   Rd(0,@05.f)  shadow  File.java:3:7`.
//!
//! An event is a line that starts with `@` and white space, and has an operation with a thread and a target; the site is
//! the last word, where there is one. `Rd` and `Wr` are plain accesses, and so are `ARd` and `AWr`, which access an array;
//! `VRd` and `VWr` access a volatile field and are atomic. `Start` is a fork, `Enter` and `Exit` bound the activation of
//! a method and become a region. Other lines are what the program and RoadRunner print, and no events. So are other
//! operations, such as `Wait`, which is printed twice, before and after: they are counted and reported.

use reweave_trace::{Builder, Event, EventValues, Kind, Op};

use crate::std_text::intern_target;
use crate::text::{Line, LineError, LineParser, excerpt};

/// Reads one line after another.
#[derive(Default)]
pub(crate) struct Parser;

impl LineParser for Parser {
    fn line(&mut self, line: &str, builder: &mut Builder) -> Result<Line, LineError> {
        let Some(rest) = line.strip_prefix('@').filter(|rest| rest.starts_with([' ', '\t'])) else {
            return Ok(Line::Nothing);
        };
        let rest = rest.trim_ascii();
        let end = rest.bytes().position(|byte| !byte.is_ascii_alphabetic()).unwrap_or(rest.len());
        let (word, rest) = rest.split_at(end);
        let Some(rest) = rest.strip_prefix('(').filter(|_| !word.is_empty()) else {
            return Ok(Line::Nothing);
        };
        let Some(kind) = kind(word) else { return Ok(Line::Unknown) };
        let (event, rest) = rest.split_once([' ', '\t']).unwrap_or((rest, ""));
        let (thread, target) = event
            .strip_suffix(')')
            .and_then(|event| event.split_once(','))
            .filter(|(thread, target)| !thread.is_empty() && !target.is_empty())
            .ok_or_else(|| {
                LineError::new(format!("expected `{word}(thread,target)`, found {}", excerpt(line)))
            })?;
        let thread = builder.thread(thread)?;
        let target = intern_target(builder, kind, target)?;
        let site = builder.site(site(rest))?;
        builder.push(Event { thread, op: Op::new(kind, target), site }, EventValues::NONE)?;
        Ok(Line::Event)
    }
}

fn kind(word: &str) -> Option<Kind> {
    Some(match word {
        "Rd" | "ARd" => Kind::Read,
        "Wr" | "AWr" => Kind::Write,
        "VRd" => Kind::AtomicRead,
        "VWr" => Kind::AtomicWrite,
        "Acquire" => Kind::Acquire,
        "Release" => Kind::Release,
        "Start" => Kind::Fork,
        "Join" => Kind::Join,
        "Enter" => Kind::Enter,
        "Exit" => Kind::Exit,
        _ => return None,
    })
}

/// The last word after an event is its site; a single one is one only if it looks like a position, as it can be
/// the state of the variable's shadow instead.
fn site(rest: &str) -> &str {
    let mut words = rest.split_ascii_whitespace();
    match (words.next(), words.next_back()) {
        (_, Some(last)) if last != "null" => last,
        (Some(only), None) if only.contains(':') => only,
        _ => "",
    }
}

#[cfg(test)]
mod tests {
    use crate::Format;

    fn check(input: &str, expected: &str) {
        crate::testing::check(Format::RoadRunner, input.as_bytes(), expected);
    }

    #[test]
    fn a_log_is_read() {
        check(
            "\
[main: RoadRunner Agent Loaded.]
[main: ]
@  main[tid = 0] started .
@  Enter(0,test/Test.main([Ljava/lang/String;)V) from null
@  Thread-0[tid = 1] started by main[tid = 0].
@   Start(0,1)
hello
@   Acquire(1,@03)
@     AWr(1,@05[13])  Final  Functions.java:116:153\r
@    ARd(1,null.test/Deadlock.value_I)  [READ: 0, 1]  Deadlock.java:50:7
@\tVRd(1,@01.stop_Z)  volatile
@ VWr(1,@01.stop_Z) A.java:3:4
@ Rd(1,@01.x_I)
@ Wr(1,@01.x_I)  shadow  null
@   Release(1,@03)
@  Enter(1,a/B.c()V) from B.java:7:8
@  Exit(1,a/B.c()V)
@  stopped Thread-0[tid = 1]
@   Join(0,1)",
            "\
0|enter(test/Test.main([Ljava/lang/String;)V)|
0|fork(1)|
1|acq(@03)|
1|w(@05[13])|Functions.java:116:153
1|r(null.test/Deadlock.value_I)|Deadlock.java:50:7
1|ar(@01.stop_Z)|
1|aw(@01.stop_Z)|A.java:3:4
1|r(@01.x_I)|
1|w(@01.x_I)|
1|rel(@03)|
1|enter(a/B.c()V)|B.java:7:8
1|exit(a/B.c()V)|
0|join(1)|
",
        );
    }

    #[test]
    fn unknown_operations_are_counted_and_broken_ones_refused() {
        let notice = "2 lines have an operation that is not known and were passed over, the first on line 2";
        check("@ Rd(0,x)\n@ Wait(0,@03)\n@ Wait(0,@03)\n", &format!("0|r(x)|\n{notice}"));
        for line in ["@ Rd(0)", "@ Rd(0,x", "@ Rd(,x)", "@ Rd(0,)"] {
            check(&format!("\n{line}"), &format!("t:2: expected `Rd(thread,target)`, found `{line}`"));
        }
    }
}
