//! The figures for people: aligned columns.

use std::io::{self, Write};
use std::path::Path;

use reweave_capture::ModuleFile;
use reweave_format::Loaded;
use reweave_trace::{Kind, Model, Trace};

use super::measure::{Class, Stats};
use crate::commands::stated;
use crate::console::{Console, STRONG};
use crate::plural::{count, grouped};
use crate::words;

/// A line: what, how many, and more about it.
pub(super) struct Row {
    label: String,
    number: String,
    note: String,
}

pub(super) fn row(label: impl Into<String>, number: u64, note: impl Into<String>) -> Row {
    Row { label: label.into(), number: grouped(number), note: note.into() }
}

/// Prints the figures of one trace.
pub(super) fn print(
    out: &mut impl Write,
    path: &Path,
    loaded: &Loaded,
    stats: &Stats,
    modules: &[ModuleFile],
    console: &Console,
) -> io::Result<()> {
    let name = console.styled(STRONG, path.display());
    writeln!(
        out,
        "{name}: {}, {}{}",
        loaded.format,
        count(loaded.bytes, "byte"),
        per_event(loaded.bytes, stats)
    )?;
    let mut rows = rows(&loaded.trace, stats);
    rows.extend(streams(loaded, stats));
    print_rows(out, &rows)?;
    let sound = Model::ALL.into_iter().filter(|&model| is_sound(&loaded.trace, model)).map(Model::name);
    let capabilities = loaded.trace.capabilities();
    writeln!(out, "capabilities: {}", stated(capabilities))?;
    let sound: Vec<&str> = sound.collect();
    writeln!(out, "sound models: {}; auto takes {}", sound.join(", "), Model::auto(loaded.trace.carried()))?;
    for module in modules {
        writeln!(out, "module: {}, build {}", module.name, module.build)?;
    }
    Ok(())
}

/// Prints lines as columns.
pub(super) fn print_rows(out: &mut impl Write, rows: &[Row]) -> io::Result<()> {
    let width =
        |column: fn(&Row) -> &str| rows.iter().map(|row| column(row).chars().count()).max().unwrap_or(0);
    let (labels, numbers) = (width(|row| &row.label), width(|row| &row.number));
    for Row { label, number, note } in rows {
        let line = format!("{label:labels$}  {number:>numbers$}  {note}");
        writeln!(out, "{}", line.trim_end())?;
    }
    Ok(())
}

/// Whether findings in `model` are real on this trace.
pub(super) fn is_sound(trace: &Trace, model: Model) -> bool {
    model != Model::Sync && trace.carried().include(model.needs())
}

fn rows(trace: &Trace, stats: &Stats) -> Vec<Row> {
    let mut rows = vec![row("events", stats.events, "")];
    kinds(&mut rows, stats);
    threads(&mut rows, stats);
    locks(&mut rows, trace, stats);
    variables(&mut rows, stats);
    if stats.objects.count > 0 {
        rows.push(row("objects", stats.objects.count, format!("{} freed", grouped(stats.objects.freed))));
    }
    let conditions = &stats.conditions;
    if conditions.count > 0 {
        rows.push(row("condition variables", conditions.count, ""));
        let note = format!("{} woken, {} not", grouped(conditions.woken), grouped(conditions.not_woken));
        rows.push(row("  waits", conditions.woken + conditions.not_woken, note));
    }
    rows.push(row("sites", trace.names().sites.len() as u64, ""));
    rows.push(row("events with a value", stats.with_value, ""));
    rows
}

/// What the bytes of the file go into.
fn streams(loaded: &Loaded, stats: &Stats) -> impl Iterator<Item = Row> {
    let heading = (!loaded.streams.is_empty()).then(|| row("bytes", loaded.bytes, ""));
    let events = stats.events.max(1) as f64;
    let each = loaded.streams.iter().filter(|(_, bytes)| *bytes > 0).map(move |&(stream, bytes)| {
        row(format!("  {stream}"), bytes, format!("{:.2} an event", bytes as f64 / events))
    });
    heading.into_iter().chain(each)
}

fn kinds(rows: &mut Vec<Row>, stats: &Stats) {
    for &kind in Kind::ALL {
        let number = stats.kinds[kind as usize];
        if number == 0 {
            continue;
        }
        let share = if kind == Kind::Skip { String::new() } else { percent(number, stats.events) };
        rows.push(row(format!("  {}", words::plural(kind)), number, share));
    }
}

fn threads(rows: &mut Vec<Row>, stats: &Stats) {
    let threads = &stats.threads;
    let note = format!("{} forked, {} joined", grouped(threads.forked), grouped(threads.joined));
    rows.push(row("threads", threads.running, note));
    let [fewest, median, most] = threads.events;
    rows.push(row("  events each: median", median, format!("{} to {}", grouped(fewest), grouped(most))));
}

fn locks(rows: &mut Vec<Row>, trace: &Trace, stats: &Stats) {
    let locks = &stats.locks;
    rows.push(row("locks", locks.used, format!("{} used by several threads", grouped(locks.contended))));
    if locks.used == 0 {
        return;
    }
    rows.push(row(
        "  acquires",
        locks.acquires,
        format!("{} of a lock that another thread had last", grouped(locks.handovers)),
    ));
    let open = format!("{} still open at the end", grouped(locks.open));
    rows.push(row("  critical sections", locks.sections, open));
    rows.push(row("  held at once, at most", locks.deepest, ""));
    for used in &locks.most_used {
        let name = shortened(trace.lock_name(reweave_trace::LockId::from_index(used.lock)));
        rows.push(row(
            format!("  acquires of {name}"),
            used.acquires,
            format!("by {}", count(used.threads, "thread")),
        ));
    }
}

fn variables(rows: &mut Vec<Row>, stats: &Stats) {
    let classes = &stats.variables;
    let all = [classes.shared, classes.read_only, classes.thread_local];
    let accesses: u64 = all.iter().map(|class| class.accesses).sum();
    rows.push(row("variables", all.iter().map(|class| class.variables).sum(), count_accesses(accesses)));
    let mut class = |label: &str, class: Class| {
        let note = format!("{}, {}", count_accesses(class.accesses), percent(class.accesses, accesses));
        rows.push(row(label, class.variables, if class.accesses == 0 { String::new() } else { note }));
    };
    class("  shared and written", classes.shared);
    class("  shared, only read", classes.read_only);
    class("  of one thread", classes.thread_local);
}

fn count_accesses(accesses: u64) -> String {
    if accesses == 1 { "1 access".to_owned() } else { format!("{} accesses", grouped(accesses)) }
}

fn percent(part: u64, whole: u64) -> String {
    format!("{:.1} %", if whole == 0 { 0.0 } else { part as f64 * 100.0 / whole as f64 })
}

fn per_event(bytes: u64, stats: &Stats) -> String {
    if stats.events == 0 {
        return String::new();
    }
    format!(", {:.1} bytes an event", bytes as f64 / stats.events as f64)
}

/// Names come from files and may be of any length; a column should not.
fn shortened(name: &str) -> String {
    const MOST: usize = 40;
    if name.chars().count() <= MOST {
        name.to_owned()
    } else {
        name.chars().take(MOST).chain(['…']).collect()
    }
}
