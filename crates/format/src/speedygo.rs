//! The log of SpeedyGo: `thread,op,id,file:line:column,n`.
//!
//! `RD`, `WR`, `ARD`, `AWR`, `LK` and `UK` access the variable, or take and give back the lock, that `id` names. The others
//! synchronise through a signal, which `n` names and not `id`: `SIG`, `SIGNALJOIN`, `SIGNALNOTIFY` and `NT` send, and become an
//! update of the variable `signal-n`; `WT`, `WAITJOIN`, `WAITNOTIFY` and `NTWT` receive, and become an atomic read of it.
//! That is also how threads are forked and joined here. `PREBRANCH` is a branch and `POSTBRANCH` its end, which is
//! skipped. The site `nil` is the empty one. Blank lines and `#` comments are no events.

use reweave_trace::{Builder, Event, EventValues, Kind, Op};

use crate::std_text::intern_target;
use crate::text::{Line, LineError, LineParser, excerpt};

/// Reads one line after another.
#[derive(Default)]
pub(crate) struct Parser {
    signal: String,
}

impl LineParser for Parser {
    fn line(&mut self, line: &str, builder: &mut Builder) -> Result<Line, LineError> {
        let line = line.trim_ascii();
        if line.is_empty() || line.starts_with('#') {
            return Ok(Line::Nothing);
        }
        let mut fields = line.split(',').map(str::trim_ascii);
        let mut next = || fields.next().unwrap_or_default();
        let [thread, word, id, site, number] = std::array::from_fn(|_| next());
        if thread.is_empty() || number.is_empty() || fields.next().is_some() {
            return Err(LineError::new(format!("expected `thread,op,id,site,n`, found {}", excerpt(line))));
        }
        let (kind, signal) = kind(word).ok_or_else(|| {
            let message = "expected one such as RD, WR, LK, UK, SIG or WT";
            LineError::new(format!("unknown operation {}: {message}", excerpt(word)))
        })?;
        let target = if signal {
            self.signal.clear();
            self.signal.push_str("signal-");
            self.signal.push_str(number);
            &self.signal
        } else {
            id
        };
        if target.is_empty() && kind.space().is_some() {
            return Err(LineError::new(format!("`{word}` has no id: expected `thread,{word},id,site,n`")));
        }
        let thread = builder.thread(thread)?;
        let target = intern_target(builder, kind, target)?;
        let site = builder.site(if site == "nil" { "" } else { site })?;
        builder.push(Event { thread, op: Op::new(kind, target), site }, EventValues::NONE)?;
        Ok(Line::Event)
    }
}

/// The kind of an operation, and whether its target is a signal.
fn kind(word: &str) -> Option<(Kind, bool)> {
    Some(match word {
        "RD" => (Kind::Read, false),
        "WR" => (Kind::Write, false),
        "ARD" => (Kind::AtomicRead, false),
        "AWR" => (Kind::AtomicWrite, false),
        "LK" => (Kind::Acquire, false),
        "UK" => (Kind::Release, false),
        "SIG" | "SIGNALJOIN" | "SIGNALNOTIFY" | "NT" => (Kind::Update, true),
        "WT" | "WAITJOIN" | "WAITNOTIFY" | "NTWT" => (Kind::AtomicRead, true),
        "PREBRANCH" => (Kind::Branch, false),
        "POSTBRANCH" => (Kind::Skip, false),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use crate::Format;

    fn check(input: &str, expected: &str) {
        crate::testing::check(Format::SpeedyGo, input.as_bytes(), expected);
    }

    #[test]
    fn a_log_is_read() {
        check(
            "\
1,LK,1,nil,1
1,WR,1,Test.java:1:1,1
1,RD,2,Test.java:2:1,1
1,UK,1,nil,1\r
1,SIG,0,nil,77
2,WT,0,nil,77
2,ARD,5,a.go:1,1
2,AWR,5,a.go:2,1

2,SIGNALJOIN,0,nil,78
1,WAITJOIN,0,nil,78
1,NT,0,nil,9
2,NTWT,0,nil,9
2,PREBRANCH,0,nil,1
2,POSTBRANCH,0,nil,1",
            "\
1|acq(1)|
1|w(1)|Test.java:1:1
1|r(2)|Test.java:2:1
1|rel(1)|
1|au(signal-77)|
2|ar(signal-77)|
2|ar(5)|a.go:1
2|aw(5)|a.go:2
2|au(signal-78)|
1|ar(signal-78)|
1|au(signal-9)|
2|ar(signal-9)|
2|br|
2|req|
",
        );
    }

    #[test]
    fn what_is_wrong_is_told_with_its_line() {
        let form = "expected `thread,op,id,site,n`, found";
        for (line, message) in [
            ("1,RD,2,s", format!("{form} `1,RD,2,s`")),
            ("1,RD,2,s,1,1", format!("{form} `1,RD,2,s,1,1`")),
            (",RD,2,s,1", format!("{form} `,RD,2,s,1`")),
            (
                "1,XX,2,s,1",
                "unknown operation `XX`: expected one such as RD, WR, LK, UK, SIG or WT".to_owned(),
            ),
            ("1,RD,,s,1", "`RD` has no id: expected `thread,RD,id,site,n`".to_owned()),
        ] {
            check(&format!("\n{line}\n"), &format!("t:2: {message}"));
        }
    }
}
