//! A schedule as text.
//!
//! ```text
//! reweave schedule 1
//! program shop 8b1f…
//! finding 1a2b… race data race on global sold
//! shows race
//! thread T1 by main at shop+0x13f2#1   # main shop.c:44
//! event a T2 shop+0x12ab#1 @3          # w(global sold), clerk shop.c:28
//! same a b
//! run main to shop+0x1410#2 @12        # fork(T2), main shop.c:45
//! ```
//! `PLACE#N` is the N-th event of the thread at that place, `@N` its N-th event in the program, as far as known. What
//! follows ` # ` is for people only. In version 2, `alike PLACE PLACE …` says that places count as one. A module that places name and that is not the program has a line `module NAME BUILD`.

use std::fmt::Write;

use reweave_capture::{CodePlace, ModuleFile};

use crate::Error;
use crate::schedule::{Named, Schedule, Shape, Thread};

const FIRST: &str = "reweave schedule 1";
/// How a schedule begins in which several places are one.
const SECOND: &str = "reweave schedule 2";
/// Schedules with more lines are refused: no program has so many switches that matter.
const MOST_LINES: usize = 20_000_000;

/// The text of a schedule.
pub fn write(schedule: &Schedule) -> String {
    // What older versions can read is written as they do.
    let mut text = format!("{}\n", if schedule.alike.is_empty() { FIRST } else { SECOND });
    for (number, module) in schedule.modules.iter().enumerate() {
        let word = if number == 0 { "program" } else { "module" };
        let _ = writeln!(text, "{word} {} {}", module.name, module.build);
    }
    let _ =
        writeln!(text, "finding {} {} {}", schedule.fingerprint, schedule.kind, one_line(&schedule.title));
    let _ = writeln!(text, "shows {}", schedule.shape.name());
    for thread in &schedule.threads {
        if let Some((parent, place, nth)) = thread.made {
            let parent = schedule.threads.get(parent).map_or("", |thread| &thread.name);
            let place = place_text(schedule, place);
            commented(
                &mut text,
                &format!("thread {} by {parent} at {place}#{nth}", thread.name),
                &thread.note,
            );
        }
    }
    for set in &schedule.alike {
        let places: Vec<String> = set.iter().map(|&place| place_text(schedule, place)).collect();
        let _ = writeln!(text, "alike {}", places.join(" "));
    }
    let name = |event: usize| label(event);
    for (number, event) in schedule.events.iter().enumerate() {
        commented(&mut text, &format!("event {} {}", name(number), step(schedule, event, "")), &event.note);
    }
    for &(a, b) in &schedule.same {
        let _ = writeln!(text, "same {} {}", name(a), name(b));
    }
    for &(a, b) in &schedule.order {
        let _ = writeln!(text, "order {} {}", name(a), name(b));
    }
    for segment in &schedule.segments {
        commented(&mut text, &format!("run {}", step(schedule, segment, "to ")), &segment.note);
    }
    text
}

/// `a`, `b`, …, `z`, `e26`, ….
fn label(event: usize) -> String {
    match u8::try_from(event) {
        Ok(small @ 0..26) => char::from(b'a' + small).to_string(),
        _ => format!("e{event}"),
    }
}

fn one_line(text: &str) -> String {
    text.replace(['\n', '\r'], " ")
}

fn commented(text: &mut String, line: &str, note: &str) {
    let _ = match note {
        "" => writeln!(text, "{line}"),
        note => writeln!(text, "{line:<44} # {}", one_line(note)),
    };
}

fn place_text(schedule: &Schedule, place: CodePlace) -> String {
    match place.module.and_then(|module| schedule.modules.get(module as usize)) {
        Some(module) => format!("{}+{:#x}", module.name, place.offset),
        None => "?".to_owned(),
    }
}

fn step(schedule: &Schedule, step: &Named, to: &str) -> String {
    let thread = schedule.threads.get(step.thread).map_or("", |thread| &thread.name);
    let place = place_text(schedule, step.place);
    let own = if step.own == 0 { String::new() } else { format!(" @{}", step.own) };
    format!("{thread} {to}{place}#{}{own}", step.occurrence)
}

/// Reads the text of a schedule.
pub fn read(text: &str) -> Result<Schedule, Error> {
    let mut reader = Reader { schedule: empty(), shape: None };
    let mut lines = text.lines().enumerate();
    let first = lines.next().map(|(_, line)| line.trim_end());
    if first != Some(FIRST) && first != Some(SECOND) {
        let what = match text.lines().next() {
            Some(line) if line.starts_with("reweave schedule ") => {
                format!("this is `{}`; only versions 1 and 2 are known", line.trim_end())
            }
            _ => format!("a schedule begins with the line `{FIRST}`"),
        };
        return Err(Error::Text { line: 1, what });
    }
    for (number, line) in lines {
        if number > MOST_LINES {
            return Err(Error::Text { line: number, what: "there are too many lines".to_owned() });
        }
        let (line, note) = match line.split_once(" # ") {
            // A title may have the sign in it.
            Some((before, note)) if !line.starts_with("finding ") => (before, note.trim()),
            _ => (line, ""),
        };
        let words: Vec<&str> = line.split_whitespace().collect();
        if words.is_empty() || words[0].starts_with('#') {
            continue;
        }
        reader.line(&words, note).map_err(|what| Error::Text { line: number + 1, what })?;
    }
    let last = text.lines().count();
    let wrong = |what: &str| Error::Text { line: last, what: what.to_owned() };
    reader.schedule.shape = reader.shape.ok_or_else(|| wrong("there is no line `shows …`"))?;
    if reader.schedule.modules.is_empty() {
        return Err(wrong("there is no line `program …`"));
    }
    if reader.schedule.fingerprint.is_empty() {
        return Err(wrong("there is no line `finding …`"));
    }
    if reader.schedule.events.is_empty() {
        return Err(wrong("there is no line `event …`: nothing is to be shown"));
    }
    Ok(reader.schedule)
}

fn empty() -> Schedule {
    Schedule {
        modules: Vec::new(),
        fingerprint: String::new(),
        kind: String::new(),
        title: String::new(),
        shape: Shape::Race,
        threads: vec![Thread { name: "main".to_owned(), made: None, note: String::new() }],
        events: Vec::new(),
        same: Vec::new(),
        order: Vec::new(),
        alike: Vec::new(),
        segments: Vec::new(),
    }
}

struct Reader {
    schedule: Schedule,
    shape: Option<Shape>,
}

impl Reader {
    fn line(&mut self, words: &[&str], note: &str) -> Result<(), String> {
        let schedule = &mut self.schedule;
        match *words {
            ["program", name, build] if schedule.modules.is_empty() => {
                schedule.modules.push(ModuleFile { name: name.to_owned(), build: build.to_owned() });
            }
            ["module", name, build] if !schedule.modules.is_empty() => {
                schedule.modules.push(ModuleFile { name: name.to_owned(), build: build.to_owned() });
            }
            ["finding", fingerprint, kind, ref title @ ..] => {
                schedule.fingerprint = fingerprint.to_owned();
                schedule.kind = kind.to_owned();
                schedule.title = title.join(" ");
            }
            ["shows", shape] => {
                let all = [Shape::Race, Shape::Deadlock, Shape::Sequence, Shape::Sleep, Shape::Late];
                let found = all.into_iter().find(|known| known.name() == shape);
                self.shape = Some(found.ok_or("it shows one of race, deadlock, sequence, sleep and late")?);
            }
            ["thread", name, "by", parent, "at", place] => {
                if schedule.threads.iter().any(|thread| thread.name == name) {
                    return Err(format!("there are two threads `{name}`"));
                }
                let parent = thread(schedule, parent)?;
                let (place, nth) = self.place(place)?;
                let made = Some((parent, place, nth));
                self.schedule.threads.push(Thread { name: name.to_owned(), made, note: note.to_owned() });
            }
            ["alike", ref places @ ..] => {
                let set = places.iter().map(|place| self.bare_place(place)).collect::<Result<_, _>>()?;
                self.schedule.alike.push(set);
            }
            ["event", name, thread, place, ref own @ ..] => {
                if name != label(schedule.events.len()) {
                    return Err(format!("the next event is `{}`", label(schedule.events.len())));
                }
                let event = self.step(thread, place, own, note)?;
                self.schedule.events.push(event);
            }
            [word @ ("same" | "order"), a, b] => {
                let pair = (event(schedule, a)?, event(schedule, b)?);
                if word == "same" { schedule.same.push(pair) } else { schedule.order.push(pair) }
            }
            ["run", thread, "to", place, ref own @ ..] => {
                let segment = self.step(thread, place, own, note)?;
                self.schedule.segments.push(segment);
            }
            [word, ..] => return Err(format!("`{word} …` is not understood here")),
            [] => {}
        }
        Ok(())
    }

    fn step(&self, name: &str, place: &str, own: &[&str], note: &str) -> Result<Named, String> {
        let thread = thread(&self.schedule, name)?;
        let (place, occurrence) = self.place(place)?;
        let own = match own {
            [] => 0,
            [own] => own
                .strip_prefix('@')
                .and_then(|own| own.parse().ok())
                .ok_or_else(|| format!("`{own}` should be a number after @"))?,
            _ => return Err("there are too many words".to_owned()),
        };
        Ok(Named { thread, place, occurrence, own, note: note.to_owned() })
    }

    /// `shop+0x12#3`.
    fn place(&self, text: &str) -> Result<(CodePlace, u64), String> {
        let wrong = || format!("`{text}` is not a place such as shop+0x12ab#1");
        let (place, occurrence) = text.rsplit_once('#').ok_or_else(wrong)?;
        let occurrence: u64 = occurrence.parse().ok().filter(|&number| number > 0).ok_or_else(wrong)?;
        if place == "?" {
            return Ok((CodePlace { module: None, offset: 0 }, occurrence));
        }
        Ok((self.bare_place(place)?, occurrence))
    }

    /// `shop+0x12`.
    fn bare_place(&self, text: &str) -> Result<CodePlace, String> {
        let wrong = || format!("`{text}` is not a place such as shop+0x12ab");
        let (name, offset) = text.rsplit_once("+0x").ok_or_else(wrong)?;
        let offset = u64::from_str_radix(offset, 16).map_err(|_| wrong())?;
        let module = self.schedule.modules.iter().position(|module| module.name == name);
        let module = module.ok_or_else(|| format!("there is no module `{name}`"))?;
        Ok(CodePlace { module: Some(module as u32), offset })
    }
}

fn thread(schedule: &Schedule, name: &str) -> Result<usize, String> {
    let found = schedule.threads.iter().position(|thread| thread.name == name);
    found.ok_or_else(|| format!("there is no thread `{name}` yet"))
}

fn event(schedule: &Schedule, name: &str) -> Result<usize, String> {
    (0..schedule.events.len())
        .find(|&event| label(event) == name)
        .ok_or_else(|| format!("there is no event `{name}`"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> Schedule {
        let place = |module: u32, offset| CodePlace { module: Some(module), offset };
        let step = |thread, place, occurrence, own, note: &str| Named {
            thread,
            place,
            occurrence,
            own,
            note: note.to_owned(),
        };
        Schedule {
            modules: vec![
                ModuleFile { name: "a+b".to_owned(), build: "12ab".to_owned() },
                ModuleFile { name: "libc.so.6".to_owned(), build: "crc01-9".to_owned() },
            ],
            fingerprint: "ff00".to_owned(),
            kind: "race".to_owned(),
            title: "race of x # y".to_owned(),
            shape: Shape::Sequence,
            threads: vec![
                Thread { name: "main".to_owned(), made: None, note: String::new() },
                Thread {
                    name: "T1".to_owned(),
                    made: Some((0, place(0, 16), 2)),
                    note: "main a.c:3".to_owned(),
                },
                Thread { name: "T7".to_owned(), made: Some((1, place(1, 32), 1)), note: String::new() },
            ],
            events: vec![
                step(1, place(0, 99), 4, 17, "w(x), add a.c:5"),
                step(2, CodePlace { module: None, offset: 0 }, 1, 0, ""),
            ],
            same: vec![(0, 1)],
            order: vec![(1, 0)],
            alike: Vec::new(),
            segments: vec![step(0, place(0, 0xABC), 1, 1, "r(x # 1)"), step(2, place(1, 7), 3, 0, "")],
        }
    }

    #[test]
    fn what_is_written_is_read() {
        let text = write(&sample());
        assert_eq!(read(&text).map_err(|error| error.to_string()), Ok(sample()), "{text}");
        // Comments and blank lines are for people.
        let bare: Vec<&str> = text.lines().map(|line| line.split(" # ").next().unwrap_or(line)).collect();
        let bare = read(&format!("{}\n\n# the end\n", bare.join("\n"))).map_err(|error| error.to_string());
        assert_eq!(bare.map(|schedule| schedule.segments.len()), Ok(2));
    }

    #[test]
    fn places_that_are_one_take_the_second_version() {
        let place = |offset| CodePlace { module: Some(0), offset };
        let schedule = Schedule { alike: vec![vec![place(99), place(0x123)]], ..sample() };
        let text = write(&schedule);
        assert!(
            text.starts_with("reweave schedule 2\n") && text.contains("alike a+b+0x63 a+b+0x123\n"),
            "{text}"
        );
        assert_eq!(read(&text).map_err(|error| error.to_string()), Ok(schedule));
        assert!(write(&sample()).starts_with("reweave schedule 1\n"));
    }

    /// Any line cut, doubled or garbled is read or refused, and never more.
    #[test]
    fn garbled_texts_do_not_panic() {
        let text = write(&sample());
        for at in 0..text.len() {
            if text.is_char_boundary(at) {
                let _ = read(&text[..at]);
                let _ = read(&format!("{}{}", &text[..at], &text[at + usize::from(at + 1 < text.len())..]));
                let _ = read(&format!("{}\u{fffd} 99999999999999999999 {}", &text[..at], &text[at..]));
            }
        }
        let lines: Vec<&str> = text.lines().collect();
        for line in 1..lines.len() {
            let mut doubled = lines.clone();
            doubled.insert(line, lines[line]);
            let _ = read(&doubled.join("\n"));
        }
    }

    #[test]
    fn errors_have_their_line() {
        let text = write(&sample()).replace("run main", "run T9");
        assert!(matches!(read(&text), Err(Error::Text { line: 12, what }) if what.contains("T9")));
        let text = write(&sample()).replace("finding", "# finding");
        assert!(matches!(read(&text), Err(Error::Text { what, .. }) if what.contains("`finding …`")));
    }
}
