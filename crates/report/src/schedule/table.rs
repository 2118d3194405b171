//! Lines laid out in columns.
//!
//! Every line has one cell, so a cell may reach over the columns to its right; what would leave the page is cut.

use anstyle::{AnsiColor, Style};
use reweave_trace::{EventId, ThreadId, Trace};

use super::Options;
use super::rows::{Row, count};
use crate::event;

const TITLE: Style = Style::new().bold();
const MARKED: Style = AnsiColor::Red.on_default().bold();
const FAINT: Style = Style::new().dimmed();

/// The narrowest page and column that make sense.
const MIN_WIDTH: usize = 40;
const MIN_COLUMN: usize = 12;

/// The space between columns.
const GAP: usize = 2;

pub(super) fn draw(trace: &Trace, rows: &[Row], options: Options) -> String {
    let table = Table::new(trace, rows, options);
    let mut text = String::new();
    table.header(&mut text);
    for row in rows {
        table.row(row, &mut text);
    }
    text
}

struct Table<'t> {
    trace: &'t Trace,
    options: Options,
    /// How much room the event ids take.
    digits: usize,
    columns: Vec<Column>,
}

struct Column {
    /// None stands for all that have no column of their own.
    thread: Option<ThreadId>,
    start: usize,
    width: usize,
}

/// What is in a cell; the site is the first to be cut.
struct Cell {
    what: String,
    site: String,
}

impl<'t> Table<'t> {
    fn new(trace: &'t Trace, rows: &[Row], options: Options) -> Table<'t> {
        let options = Options { width: options.width.max(MIN_WIDTH), ..options };
        let largest = rows.iter().filter_map(event_of).map(|event| event.0).max().unwrap_or(0);
        let digits = largest.to_string().len().max(3);
        let mut table = Table { trace, options, digits, columns: Vec::new() };
        let room = options.width - table.gutter();
        let most = ((room + GAP) / (MIN_COLUMN + GAP)).max(2);
        let threads = by_weight(trace, rows);
        let (shown, others) = match threads.len() > most {
            true => threads.split_at(most - 1),
            false => (&threads[..], &[][..]),
        };
        let mut shown = shown.to_vec();
        shown.sort_unstable();
        let own = shown.into_iter().map(Some).chain((!others.is_empty()).then_some(None));
        table.columns = own.map(|thread| Column { thread, start: 0, width: 0 }).collect();
        table.measure(rows, room);
        table
    }

    /// Where columns start: mark, id and two spaces are left of them.
    fn gutter(&self) -> usize {
        2 + self.digits + 2
    }

    /// Gives each column the width of its cells; where that is too much, the widest give way.
    fn measure(&mut self, rows: &[Row], room: usize) {
        for place in 0..self.columns.len() {
            self.columns[place].width = length(&self.title(&self.columns[place]));
        }
        for row in rows {
            if let Some((place, cell)) = self.cell(row) {
                let width = self.columns[place].width.max(cell.length());
                self.columns[place].width = width;
            }
        }
        let room = room.saturating_sub(GAP * self.columns.len().saturating_sub(1));
        let total = |cap: usize| self.columns.iter().map(|column| column.width.min(cap)).sum::<usize>();
        let cap = (1..=room).rev().find(|&cap| total(cap) <= room).unwrap_or(1);
        let mut start = self.gutter();
        for column in &mut self.columns {
            column.width = column.width.min(cap);
            column.start = start;
            start += column.width + GAP;
        }
    }

    fn title(&self, column: &Column) -> String {
        match column.thread {
            Some(thread) => event::clean(self.trace.thread_name(thread)).into_owned(),
            None => "others".to_owned(),
        }
    }

    fn header(&self, text: &mut String) {
        let line = |cell: &dyn Fn(&Column) -> String| {
            let mut line = String::new();
            for column in &self.columns {
                line += &" ".repeat(column.start - length(&line));
                line += &cell(column);
            }
            line
        };
        if !self.columns.is_empty() {
            self.push(text, TITLE, &line(&|column| cut(&self.title(column), column.width)));
            self.push(text, FAINT, &line(&|column| "─".repeat(column.width)));
        }
    }

    fn row(&self, row: &Row, text: &mut String) {
        match row {
            Row::Note(note) => self.push(text, FAINT, &format!("  {}", cut(note, self.options.width - 2))),
            Row::Moment(title) => self.push(text, MARKED, &format!("▶ {title}")),
            Row::Step { event, marked } => {
                let (mark, style) = if *marked { ("▶", MARKED) } else { (" ", Style::new()) };
                self.line(text, style, row, &format!("{mark} {:>1$}  ", event.0, self.digits));
            }
            Row::Gap { .. } | Row::Remark { .. } => self.line(text, FAINT, row, ""),
        }
    }

    fn line(&self, text: &mut String, style: Style, row: &Row, gutter: &str) {
        let Some((place, cell)) = self.cell(row) else { return };
        let (start, width) = (self.columns[place].start, self.options.width);
        // A remark is not to be cut: it moves to the left instead.
        let start = match row {
            Row::Remark { .. } => start.min(width.saturating_sub(cell.length()).max(self.gutter())),
            _ => start,
        };
        let indent = " ".repeat(start - length(gutter));
        self.push(text, style, &format!("{gutter}{indent}{}", cell.fit(width - start)));
    }

    /// The cell of a row, and the place of its column.
    fn cell(&self, row: &Row) -> Option<(usize, Cell)> {
        let thread = thread_of(self.trace, row)?;
        let own = self.columns.iter().position(|column| column.thread == Some(thread));
        let place = own.or_else(|| self.columns.len().checked_sub(1))?;
        let mut cell = match row {
            Row::Step { event, .. } => Cell {
                what: event::operation(self.trace, self.trace.op(*event)),
                site: event::clean(self.trace.site_name(self.trace.site(*event))).into_owned(),
            },
            Row::Gap { events, .. } => {
                Cell { what: format!("… {}", count(*events, "event")), site: String::new() }
            }
            Row::Remark { text, .. } => Cell { what: text.clone(), site: String::new() },
            Row::Note(_) | Row::Moment(_) => return None,
        };
        if own.is_none() {
            cell.what = format!("{} {}", event::clean(self.trace.thread_name(thread)), cell.what);
        }
        Some((place, cell))
    }

    fn push(&self, text: &mut String, style: Style, line: &str) {
        let line = line.trim_end();
        if self.options.color && style != Style::new() {
            *text += &format!("{style}{line}{style:#}\n");
        } else {
            *text += &format!("{line}\n");
        }
    }
}

impl Cell {
    fn length(&self) -> usize {
        let site = length(&self.site);
        length(&self.what) + if site == 0 { 0 } else { GAP + site }
    }

    /// The cell in `width` characters. Of a site the end tells most.
    fn fit(&self, width: usize) -> String {
        let what = length(&self.what);
        match width.checked_sub(what + GAP) {
            _ if self.site.is_empty() => cut(&self.what, width),
            Some(room) if length(&self.site) <= room => format!("{}  {}", self.what, self.site),
            Some(room) if room > 3 => {
                let skipped = length(&self.site) - (room - 1);
                format!("{}  …{}", self.what, self.site.chars().skip(skipped).collect::<String>())
            }
            _ => cut(&self.what, width),
        }
    }
}

fn event_of(row: &Row) -> Option<EventId> {
    if let Row::Step { event, .. } = row { Some(*event) } else { None }
}

fn thread_of(trace: &Trace, row: &Row) -> Option<ThreadId> {
    match row {
        Row::Step { event, .. } => Some(trace.thread(*event)),
        Row::Gap { thread, .. } | Row::Remark { thread, .. } => Some(*thread),
        Row::Note(_) | Row::Moment(_) => None,
    }
}

/// The threads that have a line, those with marked events and then with most lines first.
fn by_weight(trace: &Trace, rows: &[Row]) -> Vec<ThreadId> {
    let mut weights: std::collections::BTreeMap<ThreadId, (bool, usize)> = Default::default();
    for row in rows {
        if let Some(thread) = thread_of(trace, row) {
            let weight = weights.entry(thread).or_default();
            weight.0 |= matches!(row, Row::Step { marked: true, .. });
            weight.1 += 1;
        }
    }
    let mut threads: Vec<ThreadId> = weights.keys().copied().collect();
    threads.sort_by_key(|thread| std::cmp::Reverse(weights.get(thread).copied()));
    threads
}

fn length(text: &str) -> usize {
    text.chars().count()
}

/// The first characters of `text`, with a sign where some are missing.
fn cut(text: &str, width: usize) -> String {
    if length(text) <= width {
        return text.to_owned();
    }
    text.chars().take(width.saturating_sub(1)).chain(['…']).collect()
}
