//! The room of a page: what it takes of a document, so that it opens at once however long the
//! document is.
//!
//! The worst findings come first. Those that have room are there as a whole, with pictures that
//! are cut where one alone is too large; those behind them with what a list needs, and the rest as
//! a number. Answers have limits of their own.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::answer::{Answer, Circle};
use crate::json::TraceShape;
use crate::json::predict::{Document, Finding, Replay, TraceResult};
use crate::view::{Harm, Level, Row, Severity, View};

/// The most bytes of findings that are there as a whole; those beyond that are listed without a
/// picture.
const MOST: usize = 5_000_000;
/// The most bytes of one view.
const MOST_OF_ONE: usize = 64_000;
/// The most bytes of findings of which only the entry is there, and of what is said of traces.
const LISTED: usize = 1_500_000;
/// The most letters of a name in such an entry.
const NAME: usize = 300;
/// The most sites in such an entry.
const SITES: usize = 4;
/// The most bytes of an answer's texts.
const ANSWER: usize = 1_000_000;
/// The most bytes of the pictures of an answer.
const PICTURES: usize = 4 * MOST_OF_ONE;

/// What the page has of a document.
pub(super) struct Findings<'d> {
    pub(super) results: Vec<Part<'d>>,
    /// How many findings have no picture.
    pub(super) left_out: u64,
    /// How many are not even listed.
    pub(super) not_listed: u64,
}

/// What the page has of one trace.
#[derive(Serialize)]
pub(super) struct Part<'d> {
    trace: &'d TraceShape,
    model: &'d str,
    findings: Vec<Entry<'d>>,
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    program: &'d [String],
}

/// A finding in a page.
#[derive(Serialize)]
#[serde(untagged)]
enum Entry<'d> {
    Whole(Box<Finding>),
    Listed(Listed<'d>),
}

impl Entry<'_> {
    fn has_board(&self) -> bool {
        match self {
            Entry::Whole(finding) => finding.view.as_ref().is_some_and(|view| view.board.is_some()),
            Entry::Listed(_) => false,
        }
    }
}

/// What a list needs of a finding.
#[derive(Serialize)]
struct Listed<'d> {
    kind: &'static str,
    pattern: &'d str,
    fingerprint: &'d str,
    events: [u32; 0],
    sites: Vec<String>,
    target: String,
    severity: Severity,
    #[serde(skip_serializing_if = "Option::is_none")]
    replay: Option<Replay>,
}

/// The findings of a document, as far as there is room for them.
pub(super) fn findings(document: &Document) -> Findings<'_> {
    let all: Vec<(usize, usize, &Finding)> = document
        .results
        .iter()
        .enumerate()
        .flat_map(|(result, one)| one.findings.iter().enumerate().map(move |(at, one)| (result, at, one)))
        .collect();
    let mut order: Vec<usize> = (0..all.len()).collect();
    order.sort_by_key(|&place| rank(all[place].2));
    let (mut whole, mut listed) = (MOST, LISTED);
    let mut page = Findings { results: Vec::new(), left_out: 0, not_listed: 0 };
    let mut parts: BTreeMap<usize, (Part<'_>, BTreeMap<usize, Entry<'_>>)> = BTreeMap::new();
    for place in order {
        let (result, at, finding) = all[place];
        if !parts.contains_key(&result)
            && let Some(head) = take(head(&document.results[result]), &mut listed)
        {
            parts.insert(result, (head, BTreeMap::new()));
        }
        let Some((_, entries)) = parts.get_mut(&result) else {
            page.not_listed += 1;
            continue;
        };
        let (entry, has_board) = match take(Entry::Whole(Box::new(fitting_finding(finding))), &mut whole) {
            Some(entry) => {
                let has_board = entry.has_board();
                (Some(entry), has_board)
            }
            None => (take(Entry::Listed(short(finding)), &mut listed), false),
        };
        match entry {
            Some(entry) => {
                page.left_out += u64::from(!has_board);
                entries.insert(at, entry);
            }
            None => page.not_listed += 1,
        }
    }
    if let ([only], true) = (&document.results[..], parts.is_empty()) {
        page.results.extend(take(head(only), &mut listed));
    }
    page.results.extend(parts.into_values().map(|(mut part, entries)| {
        part.findings.extend(entries.into_values());
        part
    }));
    page
}

/// What did harm comes first, then errors.
fn rank(finding: &Finding) -> u8 {
    let severity = finding.severity();
    match (severity.harm, severity.level) {
        (Some(harm), _) if harm != Harm::None => 0,
        (_, Level::Error) => 1,
        (_, Level::Warning) => 2,
    }
}

fn head(result: &TraceResult) -> Part<'_> {
    Part { trace: &result.trace, model: &result.model, findings: Vec::new(), program: &result.program }
}

/// The bytes that it takes in a page.
fn size(what: &impl Serialize) -> usize {
    serde_json::to_string(what).map_or(usize::MAX, |text| super::in_script(&text).len())
}

/// What there is room for, which it takes.
fn take<T: Serialize>(what: T, room: &mut usize) -> Option<T> {
    *room = room.checked_sub(size(&what) + 1)?;
    Some(what)
}

/// The finding with a view that is not too large.
fn fitting_finding(finding: &Finding) -> Finding {
    let mut finding = finding.clone();
    finding.view = finding.view.and_then(|view| fitting(*view)).map(Box::new);
    finding
}

fn short(finding: &Finding) -> Listed<'_> {
    let mut severity = finding.severity();
    severity.reason = cut(&severity.reason, NAME);
    Listed {
        kind: finding.kind.name(),
        pattern: &finding.pattern,
        fingerprint: &finding.fingerprint,
        events: [],
        sites: finding.sites.iter().take(SITES).map(|site| cut(site, NAME)).collect(),
        target: cut(&finding.target, NAME),
        severity,
        replay: finding.replay,
    }
}

/// The beginning of a text.
fn cut(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// A view without what makes it too large; none where its names alone are.
fn fitting(mut view: View) -> Option<View> {
    let fits = |view: &View| size(view) <= MOST_OF_ONE;
    for take_away in [without_folded, without_sources, without_board] {
        if fits(&view) {
            return Some(view);
        }
        take_away(&mut view);
    }
    Some(view).filter(fits)
}

fn without_folded(view: &mut View) {
    if let Some(board) = &mut view.board {
        board.unfolded.clear();
        for row in board.observed.iter_mut().chain(&mut board.witness) {
            if let Row::Fold(fold) = row {
                fold.events.clear();
            }
        }
    }
}

fn without_sources(view: &mut View) {
    view.sources.clear();
}

fn without_board(view: &mut View) {
    view.board = None;
}

/// An answer whose texts together have a size, each cut where it is too long, with how much more
/// there is.
pub(super) fn answer(answer: &Answer) -> Answer {
    let mut room = Room { left: ANSWER };
    let mut answer = answer.clone();
    room.text(&mut answer.title);
    room.text(&mut answer.summary);
    room.list(&mut answer.compared, |room, one| {
        [&mut one.title, &mut one.before, &mut one.after].into_iter().for_each(|text| room.text(text));
    });
    room.list(&mut answer.reasons, Room::text);
    if let Some(circle) = &mut answer.circle {
        room.circle(circle);
    }
    room.list(&mut answer.facts, |room, one| room.text(&mut one.text));
    room.list(&mut answer.listings, |room, one| room.text(&mut one.text));
    let mut left = PICTURES;
    answer.pictures.retain_mut(|picture| {
        room.text(&mut picture.caption);
        let Some(view) = fitting(picture.view.clone()).filter(|view| view.board.is_some()) else {
            return false;
        };
        picture.view = view;
        let taken = left.checked_sub(size(&picture.view));
        left = taken.unwrap_or(left);
        taken.is_some()
    });
    answer
}

/// What room is left for texts.
struct Room {
    left: usize,
}

impl Room {
    /// A text takes a quarter of what is left at most, so that what comes behind a long one is
    /// seen as well.
    fn text(&mut self, text: &mut String) {
        let most = self.left / 4;
        let count = text.chars().count();
        // A letter has six bytes in JSON at most, where it is a control character or a `<`.
        let bytes = |text: &str| {
            text.bytes().map(|byte| if byte < 0x20 || byte == b'<' { 6 } else { 2 }).sum::<usize>()
        };
        let mut taken: usize = bytes(text);
        if taken > most {
            let kept = most / 6;
            let end = text.char_indices().nth(kept).map_or(text.len(), |(end, _)| end);
            text.truncate(end);
            text.push_str(&format!(" … and {} more characters in the JSON", count.saturating_sub(kept)));
            taken = bytes(text);
        }
        self.left = self.left.saturating_sub(taken);
    }

    /// The items of a list for which there is room.
    fn list<T>(&mut self, list: &mut Vec<T>, text: impl Fn(&mut Room, &mut T)) {
        const ITEM: usize = 200;
        let most = self.left / 4 / ITEM;
        list.truncate(most.min(MOST_ITEMS));
        for one in list {
            self.left = self.left.saturating_sub(ITEM);
            text(self, one);
        }
    }

    fn circle(&mut self, circle: &mut Circle) {
        self.list(&mut circle.steps, |room, step| room.text(&mut step.reason));
        self.list(&mut circle.events, |room, stop| {
            room.text(&mut stop.text);
            room.text(&mut stop.site);
        });
        self.list(&mut circle.threads, Room::text);
    }
}

/// The most items of a list.
const MOST_ITEMS: usize = 400;
