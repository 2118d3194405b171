//! The maker of views: what they need of a trace, gathered once for all of its findings.

use std::collections::BTreeMap;
use std::rc::Rc;

use reweave_detect::{Kind, Pattern};
use reweave_trace::{
    EventId, Kind as EventKind, Links, Model, Op, ProgramOrder, Space, ThreadId, Trace, VarId,
};
use reweave_witness::{CheckedWitness, Checker, Machine};

use super::board;
use super::keep::Kept;
use super::names::{Site, Target, TargetKind};
use super::{Created, Excerpt, Held, Role, Thread, View, words};
use crate::event;
use crate::scene::Scene;

/// How many steps the machine takes for all views of a trace together; views beyond that have no states.
const STEPS: u64 = 30_000_000;

/// How many findings of a trace have both orders in their view.
const BOARDS: usize = 200;

/// How many lines of source stand before and after a site.
const AROUND: u32 = 2;

/// A finding that is to be shown.
#[derive(Clone, Copy, Debug)]
pub struct Subject<'a> {
    /// Its kind.
    pub kind: Kind,
    /// Its pattern.
    pub pattern: Pattern,
    /// Its events.
    pub events: &'a [EventId],
    /// Its schedule.
    pub checked: &'a CheckedWitness,
}

/// The texts of source files.
pub trait SourceText {
    /// The text of a file that a site names, and whether it has changed since the recording; none where it cannot be
    /// read.
    fn text(&self, file: &str) -> Option<(Rc<str>, bool)>;
}

/// Makes the views of a trace.
pub struct Maker<'t> {
    pub(super) scene: Scene<'t>,
    pub(super) links: Links,
    pub(super) order: ProgramOrder,
    pub(super) births: BTreeMap<VarId, EventId>,
    pub(super) joins: BTreeMap<ThreadId, EventId>,
    /// The positions that have no event.
    pub(super) skips: Vec<u32>,
    sources: Option<&'t dyn SourceText>,
}

impl<'t> Maker<'t> {
    /// What views of findings with these events need. One pass over the trace, or a few.
    pub fn new(trace: &'t Trace, events: impl IntoIterator<Item = EventId>) -> Maker<'t> {
        let mut maker = Maker {
            scene: Scene::new(trace, events),
            links: Links::new(trace),
            order: ProgramOrder::new(trace),
            births: BTreeMap::new(),
            joins: BTreeMap::new(),
            skips: trace.ids().filter(|&id| trace.kind(id) == EventKind::Skip).map(|id| id.0).collect(),
            sources: None,
        };
        for (id, event) in trace.events() {
            match event.op {
                Op::Alloc(object) => _ = maker.births.insert(object, id),
                Op::Join(thread) => _ = maker.joins.insert(thread, id),
                _ => {}
            }
        }
        maker
    }

    /// The same, with excerpts of the source.
    pub fn with_sources(self, sources: &'t dyn SourceText) -> Maker<'t> {
        Maker { sources: Some(sources), ..self }
    }

    /// The trace.
    pub fn trace(&self) -> &'t Trace {
        self.scene.trace
    }

    /// The surroundings of the events.
    pub fn scene(&self) -> &Scene<'t> {
        &self.scene
    }

    /// The views of some findings, in their order.
    pub fn views(&self, subjects: &[Subject<'_>]) -> Vec<View> {
        let kept: Vec<Kept> = subjects.iter().map(|subject| Kept::new(self, subject)).collect();
        let mut views: Vec<Option<View>> = vec![None; subjects.len()];
        let mut left = STEPS;
        let mut models: Vec<Model> = subjects.iter().map(|subject| subject.checked.model()).collect();
        models.sort_by_key(|model| model.name());
        models.dedup();
        for model in models {
            let of_model = |&place: &usize| subjects[place].checked.model() == model;
            let mut places: Vec<usize> = (0..subjects.len().min(BOARDS)).filter(of_model).collect();
            places.sort_by_key(|&place| kept[place].near);
            let mut walk = Walk::new(self, model);
            for place in places {
                let (subject, kept) = (&subjects[place], &kept[place]);
                let machine = walk.to(kept.near, &mut left);
                views[place] = Some(self.view(subject, kept, Some((machine, &mut left))));
            }
        }
        let rest = views.into_iter().zip(subjects.iter().zip(&kept));
        rest.map(|(view, (subject, kept))| view.unwrap_or_else(|| self.view(subject, kept, None))).collect()
    }

    fn view(
        &self,
        subject: &Subject<'_>,
        kept: &Kept,
        machine: Option<(Option<Machine<'t>>, &mut u64)>,
    ) -> View {
        let mut lists = Lists::new(self, &kept.threads);
        let scene = &self.scene;
        let mut roles = Vec::new();
        for (place, &id) in subject.events.iter().enumerate() {
            let held = scene.held(id).iter().map(|hold| Held {
                lock: lists.target_of(TargetKind::Lock, self.trace().lock_name(hold.lock)),
                since: hold.acquire.0,
                site: lists.site(hold.acquire),
                shared: hold.shared,
            });
            let held = held.collect();
            let thread = lists.thread(self.trace().thread(id));
            roles.push(Role { event: id.0, thread, text: words::part(scene.trace, subject, place), held });
        }
        let made =
            machine.map(|(machine, left)| board::board(self, subject, kept, &mut lists, machine, left));
        let (board, shown) = made.map_or((None, lists.sites.len()), |(board, shown)| (Some(board), shown));
        let sources = self.excerpts(subject, lists.sites.get(..shown).unwrap_or_default());
        View {
            title: words::headline(scene.trace, subject),
            summary: words::summary(scene.trace, subject),
            roles,
            wrong: words::wrong(scene.trace, subject),
            next: words::advice(subject.kind, subject.pattern).to_owned(),
            board,
            sources,
            threads: lists.threads,
            targets: lists.targets,
            sites: lists.sites,
        }
    }

    /// The lines around sites of the view.
    fn excerpts(&self, subject: &Subject<'_>, sites: &[Site]) -> Vec<Excerpt> {
        let Some(sources) = self.sources else { return Vec::new() };
        let mut wanted: BTreeMap<String, Vec<u32>> = BTreeMap::new();
        let own = subject.events.iter().map(|&id| Site::new(self.trace().site_name(self.trace().site(id))));
        for site in own.chain(sites.iter().cloned()) {
            if let (Some(file), Some(line)) = (site.file, site.line) {
                wanted.entry(file).or_default().push(line);
            }
        }
        let mut excerpts = Vec::new();
        for (file, mut lines) in wanted {
            let Some((text, newer)) = sources.text(&file) else { continue };
            lines.sort_unstable();
            let all: Vec<&str> = text.lines().collect();
            for part in lines.chunk_by(|a, b| b - a <= 2 * AROUND + 1) {
                let first = part[0].saturating_sub(AROUND).max(1);
                let last = (part[part.len() - 1] + AROUND).min(u32::try_from(all.len()).unwrap_or(u32::MAX));
                let shown = all.get(first as usize - 1..last as usize).unwrap_or_default();
                if !shown.is_empty() {
                    let lines = shown.iter().map(|line| line.chars().take(200).collect()).collect();
                    excerpts.push(Excerpt { file: file.clone(), first, lines, newer });
                }
            }
        }
        excerpts
    }
}

/// The machine on its way through the observed run, in one model.
struct Walk<'m, 't> {
    maker: &'m Maker<'t>,
    machine: Option<Machine<'m>>,
    at: u32,
}

impl<'m, 't> Walk<'m, 't>
where
    'm: 't,
{
    fn new(maker: &'m Maker<'t>, model: Model) -> Walk<'m, 't> {
        let checker = Checker::new(maker.trace(), &maker.links, &maker.order);
        Walk { maker, machine: checker.machine(model).ok(), at: 0 }
    }

    /// The machine after so many positions; none where it does not get there.
    fn to(&mut self, position: u32, left: &mut u64) -> Option<Machine<'m>> {
        let steps = u64::from(position.saturating_sub(self.at));
        if steps > *left {
            return None;
        }
        *left -= steps;
        let machine = self.machine.as_mut()?;
        for id in (self.at..position).map(EventId) {
            if self.maker.trace().kind(id) != EventKind::Skip && machine.step(id).is_err() {
                self.machine = None;
                return None;
            }
        }
        self.at = self.at.max(position);
        self.machine.clone()
    }
}

/// The threads, targets and sites that a view names.
pub(super) struct Lists<'m, 't> {
    maker: &'m Maker<'t>,
    involved: &'m [ThreadId],
    ids: BTreeMap<ThreadId, u32>,
    known: BTreeMap<(&'static str, String), u32>,
    pub(super) threads: Vec<Thread>,
    pub(super) targets: Vec<Target>,
    pub(super) sites: Vec<Site>,
}

impl<'m, 't> Lists<'m, 't> {
    fn new(maker: &'m Maker<'t>, involved: &'m [ThreadId]) -> Lists<'m, 't> {
        let mut lists = Lists {
            maker,
            involved,
            ids: BTreeMap::new(),
            known: BTreeMap::new(),
            threads: Vec::new(),
            targets: Vec::new(),
            sites: Vec::new(),
        };
        for &thread in involved {
            lists.thread(thread);
        }
        lists
    }

    pub(super) fn thread(&mut self, id: ThreadId) -> u32 {
        if let Some(&place) = self.ids.get(&id) {
            return place;
        }
        let trace = self.maker.trace();
        let created = self.maker.links.fork(id).map(|fork| Created {
            event: fork.0,
            by: trace.thread_name(trace.thread(fork)).to_owned(),
            site: self.site(fork),
        });
        let first = self.maker.order.of(id).first();
        let start = first.and_then(|&first| Site::new(trace.site_name(trace.site(first))).function);
        let place = self.threads.len() as u32;
        self.ids.insert(id, place);
        let involved = self.involved.contains(&id);
        self.threads.push(Thread { name: trace.thread_name(id).to_owned(), start, involved, created });
        place
    }

    /// What an operation is on.
    pub(super) fn target(&mut self, op: Op) -> Option<u32> {
        let name = self.maker.trace().target_name(op)?;
        let kind = match op.kind().space()? {
            Space::Variable => TargetKind::Variable,
            Space::Lock => TargetKind::Lock,
            Space::Condition => TargetKind::Condition,
            Space::Thread => TargetKind::Thread,
            _ => TargetKind::Other,
        };
        Some(self.target_of(kind, name))
    }

    pub(super) fn target_of(&mut self, kind: TargetKind, name: &str) -> u32 {
        let space = match kind {
            TargetKind::Variable => "variable",
            TargetKind::Lock => "lock",
            TargetKind::Condition => "condition",
            TargetKind::Thread => "thread",
            TargetKind::Other => "other",
        };
        let next = self.targets.len() as u32;
        let place = *self.known.entry((space, name.to_owned())).or_insert(next);
        if place == next {
            self.targets.push(Target::new(name, kind));
        }
        place
    }

    /// The site of an event.
    pub(super) fn site(&mut self, id: EventId) -> u32 {
        let trace = self.maker.trace();
        let text = event::op(trace, id).map_or("", |_| trace.site_name(trace.site(id)));
        let next = self.sites.len() as u32;
        let place = *self.known.entry(("site", text.to_owned())).or_insert(next);
        if place == next {
            self.sites.push(Site::new(text));
        }
        place
    }
}
