//! Names for the things of a recording.

use std::rc::Rc;

use hashbrown::HashMap;
use reweave_trace::{Builder, ContextId, Kind, SiteId};
use reweave_wire::Life;
use reweave_wire::outside::State;
use reweave_wire::ring::{NEW, OF};

use crate::borders::{ASSEMBLY, Borders};
use crate::given::Region;
use crate::lives::Thing;
use crate::memory::{Memory, Object};
use crate::modules::Modules;
use crate::raw::StandIn;
use crate::variables::Variables;
use crate::word::Part;
use crate::{Error, raw};

/// How the recorder numbers channels that are not sockets.
const BY_DESCRIPTOR: u64 = 1 << 4;
const PIPES: u64 = 1 << 32;

/// Stands for calls that were too deep to be kept.
const TOO_DEEP: &str = "(calls that were not recorded)";

/// Finds, and remembers, what things are called.
pub(crate) struct Namer {
    pub(crate) modules: Rc<Modules>,
    /// The names that were given out, and their ids.
    pub(crate) builder: Builder,
    sites: HashMap<u64, u32>,
    /// Which places are in Rust's standard library.
    library: HashMap<u64, bool>,
    /// Which places are in functions of Rust that tell nothing.
    unseen: HashMap<u64, bool>,
    /// Per call, the sites of it and of what it was inlined into, from the outside in; told apart by whether it is a
    /// thread's first.
    call_sites: HashMap<(u64, bool), Vec<SiteId>>,
    variables: Variables,
    objects: HashMap<u32, String>,
    /// How many objects have the same description.
    alike: HashMap<String, u32>,
    locks: HashMap<(u32, u64, u32), u32>,
    conditions: HashMap<(u32, u64, u32), u32>,
    stand_ins: HashMap<(u32, u64, StandIn), u32>,
    given: HashMap<Region, u32>,
    /// How often there was another object of calls at an address.
    generations: HashMap<(u32, u64), u32>,
}

impl Namer {
    pub(crate) fn new(modules: Rc<Modules>) -> Namer {
        Namer {
            modules,
            builder: Builder::new(),
            sites: HashMap::new(),
            library: HashMap::new(),
            unseen: HashMap::new(),
            call_sites: HashMap::new(),
            variables: Variables::new(),
            objects: HashMap::new(),
            alike: HashMap::new(),
            locks: HashMap::new(),
            conditions: HashMap::new(),
            stand_ins: HashMap::new(),
            given: HashMap::new(),
            generations: HashMap::new(),
        }
    }

    /// Whether a place is in a function of Rust that tells nothing.
    pub(crate) fn is_unseen(&mut self, code: u64) -> bool {
        let modules = &self.modules;
        code != 0 && *self.unseen.entry(code).or_insert_with(|| modules.is_unseen(code))
    }

    /// Whether a place is in Rust's standard library.
    pub(crate) fn is_library(&mut self, code: u64) -> bool {
        if code == 0 {
            return false;
        }
        let modules = &self.modules;
        *self.library.entry(code).or_insert_with(|| modules.place(code).is_library())
    }

    pub(crate) fn site(&mut self, code: u64) -> Result<u32, Error> {
        if let Some(&id) = self.sites.get(&code) {
            return Ok(id);
        }
        let place = if code == 0 { None } else { Some(self.modules.place(code)) };
        let text = place.as_ref().map_or_else(|| "?".to_owned(), |place| place.text(code));
        let id = self.builder.site(&clean(&text))?.0;
        if let Some(stable) = place.and_then(|place| place.stable()) {
            self.builder.stable_site(SiteId(id), &clean(&stable))?;
        }
        self.sites.insert(code, id);
        Ok(id)
    }

    /// The context that the call returning to `code` leads to from another one. A thread's `first` call is often made by
    /// libc.
    pub(crate) fn context(&mut self, around: ContextId, code: u64, first: bool) -> Result<ContextId, Error> {
        if !self.call_sites.contains_key(&(code, first)) {
            let texts = if code == 0 {
                vec![TOO_DEEP.to_owned()]
            } else {
                self.modules.place(code).calls(code, first)
            };
            let sites: Result<Vec<SiteId>, _> =
                texts.iter().rev().map(|text| self.builder.site(&clean(text))).collect();
            self.call_sites.insert((code, first), sites?);
        }
        let mut context = around;
        for &site in self.call_sites.get(&(code, first)).map(Vec::as_slice).unwrap_or_default() {
            context = self.builder.context(context, site)?;
        }
        Ok(context)
    }

    /// The variable at `at`, which is part of an object.
    #[inline]
    pub(crate) fn variable(&mut self, memory: &Memory, at: u64) -> Result<u32, Error> {
        let object = memory.object_at(at);
        match self.variables.first(object, at) {
            Some(first) => Ok(first + memory.variables_before(at)),
            None => self.new_variable(memory, object, at),
        }
    }

    /// Names all variables of a word, which then follow each other.
    fn new_variable(&mut self, memory: &Memory, object: u32, at: u64) -> Result<u32, Error> {
        let (mut ids, mut found) = (Vec::new(), None);
        for part in memory.variables(Part { at: at / 8 * 8, length: 8, offset: 0 }) {
            let name = self.address(memory, object, part.at);
            let id = self.builder.target(Kind::Read, &name)?;
            ids.push(id);
            if part.at == at {
                found = Some(id);
            }
        }
        // Two that share their name would not follow each other.
        if let Some(&first) = ids.first()
            && (first..).zip(&ids).all(|(id, &given)| id == given)
        {
            self.variables.set(object, at, first);
        }
        match found {
            Some(id) => Ok(id),
            None => {
                let name = self.address(memory, object, at);
                Ok(self.builder.target(Kind::Read, &name)?)
            }
        }
    }

    /// Whether what happens to an object can be judged. What libraries that tell nothing allocate, free and alone touch is
    /// their own business: how they order it is not seen.
    pub(crate) fn is_known(&self, object: &Object) -> bool {
        let tells = |code: u64| code == 0 || self.modules.tells(code);
        object.touched || tells(object.code) || object.freed_at != 0 && tells(object.freed_at)
    }

    /// The object as a whole.
    pub(crate) fn object(&mut self, memory: &Memory, object: u32) -> Result<u32, Error> {
        let name = self.object_name(memory, object);
        Ok(self.builder.target(Kind::Alloc, &name)?)
    }

    /// What stands for the memory of an object, which another one gets later.
    pub(crate) fn memory_of(&mut self, memory: &Memory, object: u32) -> Result<u32, Error> {
        let name = format!("memory of {}", self.object_name(memory, object));
        Ok(self.builder.target(Kind::Read, &name)?)
    }

    /// What stands for memory that was given away.
    pub(crate) fn given(&mut self, memory: &Memory, (object, at): Region) -> Result<u32, Error> {
        if let Some(&id) = self.given.get(&(object, at)) {
            return Ok(id);
        }
        let name = format!("hidden state of {}", undotted(self.address(memory, object, at)));
        let id = self.builder.target(Kind::Read, &name)?;
        self.given.insert((object, at), id);
        Ok(id)
    }

    fn address(&mut self, memory: &Memory, object: u32, at: u64) -> String {
        match memory.objects.get(object as usize).filter(|_| object != 0) {
            Some(&found) if found.is_stack => {
                format!(
                    "{}-{}",
                    self.object_name(memory, object),
                    (found.at + found.length).saturating_sub(at)
                )
            }
            Some(found) => {
                let offset = at.saturating_sub(found.at);
                format!("{}.{offset}", self.object_name(memory, object))
            }
            None => self.modules.variable(at).map_or_else(|| format!("memory {at:#x}"), |name| clean(&name)),
        }
    }

    fn object_name(&mut self, memory: &Memory, object: u32) -> String {
        if let Some(name) = self.objects.get(&object) {
            return name.clone();
        }
        let Some(&found) = memory.objects.get(object as usize) else { return "memory".to_owned() };
        let name = match (found.is_stack, found.owner) {
            (true, 0) => "stack of main".to_owned(),
            (true, owner) => format!("stack of T{owner}"),
            (false, _) => {
                let origin = self.modules.place(found.code).origin();
                undotted(clean(&format!("heap block of {} bytes{origin}", found.length)))
            }
        };
        let count = self.alike.entry(name.clone()).or_insert(0);
        *count += 1;
        let name = if *count == 1 { name } else { format!("{name} #{count}") };
        self.objects.insert(object, name.clone());
        name
    }

    pub(crate) fn lock(&mut self, memory: &Memory, at: u64, generation: u32) -> Result<u32, Error> {
        let object = memory.object_at(at);
        if let Some(&id) = self.locks.get(&(object, at, generation)) {
            return Ok(id);
        }
        let name = renewed(self.address(memory, object, at), generation);
        let id = self.builder.lock(&name)?.0;
        self.locks.insert((object, at, generation), id);
        Ok(id)
    }

    pub(crate) fn condition(&mut self, memory: &Memory, at: u64, generation: u32) -> Result<u32, Error> {
        let object = memory.object_at(at);
        if let Some(&id) = self.conditions.get(&(object, at, generation)) {
            return Ok(id);
        }
        let name = renewed(self.address(memory, object, at), generation);
        let id = self.builder.condition(&name)?.0;
        self.conditions.insert((object, at, generation), id);
        Ok(id)
    }

    /// A call on the object at `at`, as its text says.
    pub(crate) fn call(&mut self, memory: &Memory, at: u64, text: &str) -> Result<u32, Error> {
        let number = memory.object_at(at);
        // What separates the object from its call must not be in its name.
        let object = self.address(memory, number, at).replace(['(', ')', '=', ','], "_");
        let (of, call) = typed(text);
        let generation = self.generations.entry((number, at)).or_insert(0);
        let before = renewed(object.clone(), *generation);
        let text = if call == NEW {
            *generation += 1;
            // A call on both: all that concerned the one before stays before it, and the new one's own after it.
            format!("{of}{}.new({before})", renewed(object, *generation))
        } else {
            format!("{of}{before}.{call}")
        };
        Ok(self.builder.call(&clean(&text))?.0)
    }

    /// A use, or the end, of a thing.
    pub(crate) fn life(
        &mut self,
        memory: &Memory,
        (of, at, generation): Thing,
        ends: bool,
    ) -> Result<u32, Error> {
        // A lock or condition variable has the name that it has in its other events.
        let name = match of {
            Life::Descriptor => format!("descriptor {at}"),
            Life::File | Life::Directory => outside(at),
            _ => self.address(memory, memory.object_at(at), at),
        };
        let (of, method) = (of.name(), if ends { of.end() } else { of.used() });
        Ok(self.builder.call(&format!("{of} {}.{method}()=()", renewed(name, generation)))?.0)
    }

    /// What the variable is called that stands for the library at `at`.
    fn library_variable(&self, at: u64) -> String {
        match at {
            0 => ASSEMBLY.to_owned(),
            at => format!("library {}", self.modules.library(at)),
        }
    }

    /// The variable that stands for the library at `at`, and the values of its next update.
    pub(crate) fn library(&mut self, at: u64, borders: &mut Borders) -> Result<(u32, (u64, u64)), Error> {
        let name = clean(&self.library_variable(at));
        let values = borders.count(&name);
        Ok((self.builder.target(Kind::Read, &name)?, values))
    }

    pub(crate) fn stand_in(&mut self, memory: &Memory, at: u64, what: raw::StandIn) -> Result<u32, Error> {
        let object = memory.object_at(at);
        if let Some(&id) = self.stand_ins.get(&(object, at, what)) {
            return Ok(id);
        }
        let kind = match what {
            StandIn::Semaphore => "semaphore",
            StandIn::Barrier => "barrier",
            StandIn::Once => "initialisation",
            StandIn::Futex => "futex",
            StandIn::Channel | StandIn::Descriptor | StandIn::Messages => "channel",
            StandIn::Scope => "scope",
            StandIn::Parking => "thread",
            StandIn::Clock => "clock",
            StandIn::Library => "library",
            StandIn::Assembled | StandIn::Mapped | StandIn::Given => "memory",
            StandIn::Opening => "opening of barrier",
            StandIn::Owner => "owner of",
            StandIn::Outside => "outside",
        };
        let name = match what {
            StandIn::Channel if at == 1 => "sockets".to_owned(),
            StandIn::Channel if at > PIPES => format!("pipe {}", at - PIPES),
            StandIn::Channel => format!("events of descriptor {}", at.saturating_sub(BY_DESCRIPTOR)),
            StandIn::Descriptor => format!("descriptor {at}"),
            StandIn::Clock => "clock".to_owned(),
            StandIn::Parking if at == 0 => "right to go on of any thread".to_owned(),
            StandIn::Parking => format!("right to go on of thread {at}"),
            StandIn::Outside => outside(at),
            StandIn::Scope if at == 0 => "scope of any thread".to_owned(),
            StandIn::Library => self.library_variable(at),
            _ => format!("{kind} {}", self.address(memory, object, at)),
        };
        let id = self.builder.target(Kind::Read, &name)?;
        self.stand_ins.insert((object, at, what), id);
        Ok(id)
    }
}

/// What state outside of the program's memory is called. Each kind counts from 1, and 0 is the only one of its kind.
fn outside(variable: u64) -> String {
    match State::of_variable(variable) {
        Some((state, 0)) => state.text().to_owned(),
        Some((State::Stream, 1)) => "standard input".to_owned(),
        Some((State::Stream, 2)) => "standard output".to_owned(),
        Some((State::Stream, 3)) => "standard error".to_owned(),
        Some((State::Stream, number)) => format!("stream {}", number - 3),
        Some((state, number)) => format!("{} {number}", state.text()),
        None => "outside".to_owned(),
    }
}

/// The type of a call's object, with what separates it, and the call: `#of set add(1)=true`.
fn typed(text: &str) -> (String, &str) {
    match text.strip_prefix(OF).and_then(|rest| rest.split_once(' ')) {
        Some(("", call)) => (String::new(), call),
        Some((of, call)) => (format!("{of} "), call),
        None => (String::new(), text),
    }
}

fn renewed(name: String, generation: u32) -> String {
    if generation == 0 { name } else { format!("{name} #{}", generation + 1) }
}

/// A field is told from its object by a dot, and a name may have only so many.
fn undotted(name: String) -> String {
    if name.matches('.').count() > 8 { name.replace('.', "_") } else { name }
}

/// Without what separates fields in a text trace.
fn clean(name: &str) -> String {
    name.replace(['|', '\n', '\r'], "/")
}
