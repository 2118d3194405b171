//! Names for the things of a recording.

use std::rc::Rc;

use hashbrown::HashMap;
use reweave_trace::{Builder, Kind};

use crate::memory::Memory;
use crate::modules::Modules;
use crate::raw::StandIn;
use crate::{Error, raw};

/// Finds, and remembers, what things are called.
pub(crate) struct Namer {
    modules: Rc<Modules>,
    /// The names that were given out, and their ids.
    pub(crate) builder: Builder,
    sites: HashMap<u64, u32>,
    variables: HashMap<(u32, u64), u32>,
    objects: HashMap<u32, String>,
    /// How many objects have the same description.
    alike: HashMap<String, u32>,
    locks: HashMap<(u32, u64, u32), u32>,
    conditions: HashMap<(u32, u64, u32), u32>,
    stand_ins: HashMap<(u32, u64, StandIn), u32>,
}

impl Namer {
    pub(crate) fn new(modules: Rc<Modules>) -> Namer {
        Namer {
            modules,
            builder: Builder::new(),
            sites: HashMap::new(),
            variables: HashMap::new(),
            objects: HashMap::new(),
            alike: HashMap::new(),
            locks: HashMap::new(),
            conditions: HashMap::new(),
            stand_ins: HashMap::new(),
        }
    }

    pub(crate) fn site(&mut self, code: u64) -> Result<u32, Error> {
        if let Some(&id) = self.sites.get(&code) {
            return Ok(id);
        }
        let text = if code == 0 { "?".to_owned() } else { self.modules.place(code).text(code) };
        let id = self.builder.site(&clean(&text))?.0;
        self.sites.insert(code, id);
        Ok(id)
    }

    /// The variable at `at`, which is part of an object.
    pub(crate) fn variable(&mut self, memory: &Memory, at: u64) -> Result<u32, Error> {
        let object = memory.object_at(at);
        if let Some(&id) = self.variables.get(&(object, at)) {
            return Ok(id);
        }
        let name = self.address(memory, object, at);
        let id = self.builder.target(Kind::Read, &name)?;
        self.variables.insert((object, at), id);
        Ok(id)
    }

    /// The object as a whole.
    pub(crate) fn object(&mut self, memory: &Memory, object: u32) -> Result<u32, Error> {
        let name = self.object_name(memory, object);
        Ok(self.builder.target(Kind::Alloc, &name)?)
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
        };
        let name = format!("{kind} {}", self.address(memory, object, at));
        let id = self.builder.target(Kind::Read, &name)?;
        self.stand_ins.insert((object, at, what), id);
        Ok(id)
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
