//! The programs.

use std::rc::Rc;

use anyhow::{Context, Result};
use reweave_explore::{Data, Init, ObjectId, Op, Script, Scripted, Specified, Steps, Watch};
use reweave_spec::Value;

type Work = Box<dyn Fn(u32, &mut Script<'_>) -> Steps>;
type Last = Box<dyn Fn(&mut Script<'_>) -> Steps>;

/// A number that a search should not exceed, or meet, and where it is from.
pub(super) type Goal = Option<(u64, &'static str)>;

/// A program with its goals.
pub(super) struct Case {
    pub(super) name: String,
    pub(super) objects: Rc<Specified>,
    made: Vec<Init>,
    workers: u32,
    work: Work,
    last: Option<Last>,
    /// How many of the workers are not like the others; none if all differ.
    but: Option<u32>,
    joined: bool,
    pub(super) runs: Goal,
    pub(super) executions: Goal,
}

impl Case {
    fn new(name: impl Into<String>, made: Vec<Init>, workers: u32, work: Work) -> Case {
        Case {
            name: name.into(),
            objects: Rc::default(),
            made,
            workers,
            work,
            last: None,
            but: None,
            joined: true,
            runs: None,
            executions: None,
        }
    }

    fn runs(mut self, most: u64, whose: &'static str) -> Case {
        self.runs = Some((most, whose));
        self
    }

    fn executions(mut self, exactly: u64, whose: &'static str) -> Case {
        self.executions = Some((exactly, whose));
        self
    }

    fn alike(mut self, but: u32) -> Case {
        self.but = Some(but);
        self
    }

    fn detached(mut self) -> Case {
        self.joined = false;
        self
    }

    fn then(mut self, last: Last) -> Case {
        self.last = Some(last);
        self
    }

    /// The program; only one of the engines knows of threads that are alike.
    pub(super) fn program(&self, alike: bool) -> Scripted<'_> {
        let mut program = Scripted::new(self.made.iter().copied(), self.workers, &*self.work);
        if let Some(last) = &self.last {
            program = program.then(&**last);
        }
        if let Some(but) = self.but.filter(|_| alike) {
            program = program.same(but);
        }
        if self.joined { program } else { program.detached() }
    }
}

/// One object of a built-in type.
struct Object {
    objects: Rc<Specified>,
    class: u32,
    init: Init,
}

fn object(name: &str) -> Result<Object> {
    let objects = Rc::new(Specified::default());
    let mut spec = reweave_spec::builtin(name).context("a built-in type")?;
    let (class, state) = objects.add(spec.types.remove(0));
    Ok(Object { objects, class, init: Init::Object { class, state } })
}

impl Object {
    fn call(&self, method: &str, arguments: &[u32]) -> Result<u64> {
        let values: Vec<Value> = arguments.iter().map(|&value| Value::Int(i64::from(value))).collect();
        Ok(self.objects.number(self.class, method, &values)?)
    }

    /// A program in which each worker makes some calls.
    fn calls(self, name: String, calls: Vec<Vec<u64>>) -> Case {
        let workers = calls.len() as u32;
        let work = move |index: u32, script: &mut Script<'_>| -> Steps {
            for &call in &calls[index as usize] {
                script.call(0, call)?;
            }
            Ok(())
        };
        let mut case = Case::new(name, vec![self.init], workers, Box::new(work));
        case.objects = self.objects;
        case
    }
}

/// All programs.
pub(super) fn all() -> Result<Vec<Case>> {
    let mut cases = counters()?;
    cases.extend(structures()?);
    cases.push(readers(8).runs(9, "").executions(256, "classes"));
    cases.push(readers(13).runs(14, "").executions(8_192, "classes"));
    cases.push(philosophers().runs(1, "").executions(7, "classes"));
    cases.push(szymanski().runs(1_999, "").executions(22_945, "GenMC, nidhugg"));
    cases.push(ring(1).runs(811, "NCMC, of 8: 812"));
    cases.push(ring(2).runs(811, "NCMC, of 8: 812"));
    Ok(cases)
}

fn counters() -> Result<Vec<Case>> {
    let mut cases = Vec::new();
    for count in [5, 20] {
        let counter = object("counter")?;
        let inc = counter.call("inc", &[])?;
        let case = counter.calls(format!("{count} × inc"), vec![vec![inc]; count]);
        cases.push(case.runs(1, "NCMC: 1").executions(1, "NCMC: 1"));
    }
    for (count, classes) in [(3, 6), (4, 24), (5, 120)] {
        let alike = mutex_counter(count).alike(0);
        cases.push(Case { name: format!("{}, alike", alike.name), ..alike }.runs(u64::from(count), ""));
        cases.push(mutex_counter(count).runs(u64::from(count * count), "").executions(classes, "GenMC"));
        let counter = object("counter")?;
        let (inc, get) = (counter.call("inc", &[])?, counter.call("get", &[])?);
        let objects = Rc::clone(&counter.objects);
        let looks = move |script: &mut Script<'_>| -> Steps {
            let seen = script.call(0, get)?;
            script.check(objects.result(get, seen) == Some(Value::Int(i64::from(count))), 0)
        };
        let case = counter.calls(format!("the same with counter, {count}"), vec![vec![inc]; count as usize]);
        cases.push(case.then(Box::new(looks)).runs(1, "NCMC: 1").executions(1, "NCMC: 1"));
    }
    let counter = object("counter")?;
    let (inc, get) = (counter.call("inc", &[])?, counter.call("get", &[])?);
    let mut calls = vec![vec![inc]; 51];
    calls[0] = vec![get];
    cases.push(counter.calls("fkp2013(50)".to_owned(), calls).alike(1).detached().runs(51, "NCMC: 52"));
    let counter = object("counter")?;
    let inc = counter.call("inc", &[])?;
    let case = counter.calls("pthread-demo-datarace(20)".to_owned(), vec![vec![inc; 20]; 2]);
    cases.push(case.runs(1, "NCMC: 1").executions(1, "NCMC: 1"));
    Ok(cases)
}

/// Threads that lock a mutex and count.
fn mutex_counter(count: u32) -> Case {
    let work = |_: u32, script: &mut Script<'_>| -> Steps {
        script.lock(0)?;
        let seen = script.read(1)?;
        script.write(1, seen + 1)?;
        script.unlock(0)?;
        Ok(())
    };
    let looks = move |script: &mut Script<'_>| -> Steps {
        let seen = script.read(1)?;
        script.check(seen == u64::from(count), 0)
    };
    let made = vec![Init::Lock(Data::Value(0)), Init::Cell(0)];
    Case::new(format!("mutex counter({count})"), made, count, Box::new(work)).then(Box::new(looks))
}

/// Sets, tables and disjoint sets: threads that only look, and threads of both kinds.
fn structures() -> Result<Vec<Case>> {
    let mut cases = Vec::new();
    for (place, count) in [4u32, 5, 6, 7].into_iter().enumerate() {
        let most = u64::from(count) + 1;
        for (name, look, change, least) in [
            ("set", "contains", "add", "size"),
            ("map", "get", "put", "size"),
            ("union_find", "find", "union", "find"),
        ] {
            let of = object(name)?;
            let looks: Result<Vec<Vec<u64>>> =
                (0..count).map(|key| Ok(vec![of.call(look, &[key])?])).collect();
            let looks = looks?;
            cases.push(
                of.calls(format!("{name} seekers({count})"), looks).runs(1, "NCMC: 1; n").executions(1, ""),
            );
            let of = object(name)?;
            let changing = |key: u32| match name {
                "set" => of.call(change, &[key]),
                "map" => of.call(change, &[key, key + 10]),
                _ => of.call(change, &[key, key + 1]),
            };
            let mut calls: Vec<Vec<u64>> =
                (0..count).map(|key| Ok(vec![changing(key)?])).collect::<Result<_>>()?;
            if name == "union_find" {
                for (key, calls) in calls.iter_mut().enumerate() {
                    calls.push(of.call(least, &[key as u32])?);
                }
                let goal = [26, 42, 218, 2_228][place];
                cases.push(of.calls(format!("{name} mixed({count})"), calls).runs(goal, "NCMC: the same"));
                continue;
            }
            calls.push(vec![of.call(least, &[])?]);
            cases.push(
                of.calls(format!("{name} mixed({count})"), calls)
                    .runs(most, "NCMC: n + 1")
                    .executions(1 << count, "classes"),
            );
            if name == "map" {
                let of = object(name)?;
                let both = |key: u32| {
                    Ok(vec![of.call("put", &[key, key + 10])?, of.call("get", &[(key + 1) % count])?])
                };
                let calls: Vec<Vec<u64>> = (0..count).map(both).collect::<Result<_>>()?;
                let goal = [25, 85, 940, 940][place];
                cases.push(of.calls(format!("hashtable mixed({count})"), calls).runs(goal, "NCMC: the same"));
            }
        }
    }
    Ok(cases)
}

fn readers(count: u32) -> Case {
    let work = |index: u32, script: &mut Script<'_>| -> Steps {
        if index == 0 {
            script.write(0, 1)?;
        } else {
            script.read(0)?;
        }
        Ok(())
    };
    Case::new(format!("readers({count}), alike"), vec![Init::Cell(0)], count + 1, Box::new(work)).alike(1)
}

fn philosophers() -> Case {
    let work = |index: u32, script: &mut Script<'_>| -> Steps {
        let forks = [index, (index + 1) % 3];
        for fork in forks {
            script.lock(fork)?;
        }
        for fork in forks {
            script.unlock(fork)?;
        }
        Ok(())
    };
    Case::new("philosophers(3)", vec![Init::Lock(Data::Value(0)); 3], 3, Box::new(work))
}

/// Whether one of two looks at a cell finds what is wanted.
fn looks(script: &mut Script<'_>, cell: u32, wanted: impl Fn(u64) -> bool) -> Result<bool, Op> {
    for _ in 0..2 {
        if wanted(script.read(cell)?) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Szymanski's mutual exclusion, two rounds with two looks at each wait.
fn szymanski() -> Case {
    let work = |index: u32, script: &mut Script<'_>| -> Steps {
        let (mine, other, shared) = (index, 1 - index, 2);
        for _ in 0..2 {
            script.write(mine, 1)?;
            if !looks(script, other, |flag| flag < 3)? {
                return Ok(());
            }
            script.write(mine, 3)?;
            if script.read(other)? == 1 {
                script.write(mine, 2)?;
                if !looks(script, other, |flag| flag == 4)? {
                    return Ok(());
                }
            }
            script.write(mine, 4)?;
            if !looks(script, other, |flag| flag < 2)? {
                return Ok(());
            }
            let own = u64::from(index) + 1;
            script.write(shared, own)?;
            let seen = script.read(shared)?;
            script.check(seen == own, index)?;
            let mut free = false;
            for _ in 0..2 {
                if script.read(other)? < 2 || script.read(other)? > 3 {
                    free = true;
                    break;
                }
            }
            if !free {
                return Ok(());
            }
            script.write(mine, 0)?;
        }
        Ok(())
    };
    Case::new("szymanski", vec![Init::Cell(0); 3], 2, Box::new(work))
}

/// A ring of four with two writers under a lock, each of which writes so many numbers, and one reader.
fn ring(count: u64) -> Case {
    const READER: u32 = 0;
    const WRITER: u32 = 1;
    const LOCK: u32 = 2;
    let place = |at: u64| 3 + (at % 4) as u32;
    let wait = |script: &mut Script<'_>, seen: [(u32, u64); 2]| {
        let watched = seen.map(|(cell, value)| Watch::Value(ObjectId(cell), value)).to_vec();
        script.step(Op::Await { watched })
    };
    let work = move |index: u32, script: &mut Script<'_>| -> Steps {
        if index > 0 {
            for number in 1..=count {
                script.lock(LOCK)?;
                let at = loop {
                    let (at, reader) = (script.read(WRITER)?, script.read(READER)?);
                    if (at + 1) % 4 != reader {
                        break at;
                    }
                    wait(script, [(WRITER, at), (READER, reader)])?;
                };
                script.write(place(at), number)?;
                script.write(WRITER, (at + 1) % 4)?;
                script.unlock(LOCK)?;
            }
            return Ok(());
        }
        let mut seen = vec![0; count as usize];
        for _ in 0..2 * count {
            let at = loop {
                let (at, writer) = (script.read(READER)?, script.read(WRITER)?);
                if at != writer {
                    break at;
                }
                wait(script, [(READER, at), (WRITER, writer)])?;
            };
            let number = script.read(place(at))?;
            script.write(READER, (at + 1) % 4)?;
            script.check(number > 0 && number <= count, 1)?;
            seen[number as usize - 1] += 1;
            let counted = seen[..number as usize].iter().all(|&times| times > 0 && times <= 2);
            script.check(counted, 2)?;
        }
        Ok(())
    };
    let mut made = vec![Init::Cell(0), Init::Cell(0), Init::Lock(Data::Value(0))];
    made.extend([Init::Cell(0); 4]);
    Case::new(format!("ring_2w1r({count})"), made, 3, Box::new(work)).alike(1)
}
