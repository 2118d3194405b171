//! The programs.

use std::rc::Rc;

use anyhow::{Context, Result};
use reweave_explore::{Data, Init, ObjectId, Op, Script, Scripted, Specified, Steps, Watch};
use reweave_spec::{Type, Value};

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
    /// What the search comes to: `proved`, or the first failure.
    pub(super) ends: &'static str,
    /// For a program whose search is known not to end: after how many states it is stopped.
    pub(super) states: Option<u64>,
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
            ends: "proved",
            states: None,
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
    let mut spec = reweave_spec::builtin(name).context("a built-in type")?;
    Ok(object_of(spec.types.remove(0)))
}

/// The same of any type.
fn object_of(of: Type) -> Object {
    let objects = Rc::new(Specified::default());
    let (class, state) = objects.add(of);
    Object { objects, class, init: Init::Object { class, state } }
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

/// A search that is known not to end in any time that we have is stopped after so many states.
const OPEN: u64 = 300_000;

/// All programs.
pub(super) fn all() -> Result<Vec<Case>> {
    let mut cases = counters()?;
    cases.extend(structures()?);
    cases.push(readers(8).runs(9, "").executions(256, "classes"));
    cases.push(readers(13).runs(14, "").executions(8_192, "classes"));
    let philosophers = Case { ends: "Deadlock", ..philosophers() };
    cases.push(philosophers.runs(1, "").executions(7, "classes"));
    cases.push(szymanski().runs(1_999, "").executions(22_945, "GenMC, nidhugg"));
    cases.push(ring(1).runs(811, "NCMC, of 8: 812"));
    cases.push(ring(2).runs(811, "NCMC, of 8: 812"));
    cases.push(Case { states: Some(OPEN), ..ring(8).runs(811, "NCMC: 812") });
    cases.push(driver(10)?.runs(22, "NCMC: 23"));
    cases.push(Case { states: Some(OPEN), ..driver_with_lock(10).runs(22, "NCMC: 23") });
    cases.push(steal(4).runs(692, "NCMC: 693"));
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

pub(super) fn readers(count: u32) -> Case {
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

/// What the driver does at once. It begins with one that is pending, so it is over at one less than none.
const DRIVER: &str = "type driver sync internal
  state pending: int
  state stopping: bool
  state over: bool
  method enter() = ok { ok := not stopping; if ok { pending := pending + 1 } }
  method leave() { pending := pending - 1; if pending + 1 == 0 { over := true } }
  method stop() { stopping := true }
  method is_over() = r { r := over }
  commute enter enter, leave leave, leave stop, stop stop, stop is_over, is_over is_over iff true
";

/// The driver that is stopped while `adders` threads use it (Qadeer and Wu 2004). Its atomic blocks are calls: each is one step.
fn driver(adders: u32) -> Result<Case> {
    const STOPPED: u32 = 1;
    let mut of = object_of(reweave_spec::read_checked(DRIVER)?.types.remove(0));
    let [enter, leave, stop, is_over] =
        ["enter", "leave", "stop", "is_over"].map(|method| of.call(method, &[]));
    let (enter, leave, stop, is_over) = (enter?, leave?, stop?, is_over?);
    let objects = Rc::clone(&of.objects);
    let work = move |index: u32, script: &mut Script<'_>| -> Steps {
        let is_true = |script: &mut Script<'_>, call: u64| -> Result<bool, Op> {
            let seen = script.call(0, call)?;
            Ok(objects.result(call, seen) == Some(Value::Bool(true)))
        };
        if index == 0 {
            script.call(0, stop)?;
            script.call(0, leave)?;
            // It would wait for the event; without it, this execution is not of interest.
            if is_true(script, is_over)? {
                script.write(STOPPED, 1)?;
            }
            return Ok(());
        }
        if is_true(script, enter)? {
            let stopped = script.read(STOPPED)?;
            script.check(stopped == 0, 1)?;
            script.call(0, leave)?;
        }
        Ok(())
    };
    let made = vec![of.init, Init::Cell(0)];
    let mut case = Case::new(format!("qw2004_variant({adders})"), made, adders + 1, Box::new(work));
    case.objects = std::mem::take(&mut of.objects);
    Ok(case.alike(1).detached())
}

/// The same with its atomic blocks as sections of a lock.
fn driver_with_lock(adders: u32) -> Case {
    const ATOMIC: u32 = 0;
    const STOPPING: u32 = 1;
    const PENDING: u32 = 2;
    const EVENT: u32 = 3;
    const STOPPED: u32 = 4;
    let leave = |script: &mut Script<'_>| -> Steps {
        script.lock(ATOMIC)?;
        let pending = script.read(PENDING)? - 1;
        script.write(PENDING, pending)?;
        if pending == 0 {
            script.write(EVENT, 1)?;
        }
        script.unlock(ATOMIC)?;
        Ok(())
    };
    let work = move |index: u32, script: &mut Script<'_>| -> Steps {
        if index == 0 {
            script.write(STOPPING, 1)?;
            leave(script)?;
            // It would wait for the event; without it, this execution is not of interest.
            if script.read(EVENT)? == 1 {
                script.write(STOPPED, 1)?;
            }
            return Ok(());
        }
        script.lock(ATOMIC)?;
        let stopping = script.read(STOPPING)? == 1;
        if !stopping {
            let pending = script.read(PENDING)?;
            script.write(PENDING, pending + 1)?;
        }
        script.unlock(ATOMIC)?;
        if stopping {
            return Ok(());
        }
        let stopped = script.read(STOPPED)?;
        script.check(stopped == 0, 1)?;
        leave(script)
    };
    let mut made = vec![Init::Lock(Data::Value(0))];
    made.extend([0, 1, 0, 0].map(Init::Cell));
    Case::new(format!("qw2004_variant({adders}), with a lock"), made, adders + 1, Box::new(work))
        .alike(1)
        .detached()
}

/// A queue whose owner pushes and pops without a lock while two threads steal from it (`workstealqueue_mutex-2`, after THE of Cilk).
fn steal(items: u64) -> Case {
    const LOCK: u32 = 0;
    const HEAD: u32 = 1;
    const TAIL: u32 = 2;
    const MASK: u32 = 3;
    const PLACES: u32 = 4;
    const SIZE: u32 = 16;
    const ITEMS: u32 = PLACES + SIZE;
    let place = |at: u64| PLACES + at as u32;
    let does = |script: &mut Script<'_>, item: u64| -> Steps {
        script.check(item > 0, 1)?;
        let times = script.read(ITEMS + item as u32 - 1)?;
        script.write(ITEMS + item as u32 - 1, times + 1)?;
        Ok(())
    };
    let steals = move |script: &mut Script<'_>| -> Steps {
        script.lock(LOCK)?;
        let head = script.read(HEAD)?;
        script.write(HEAD, head + 1)?;
        let mut found = None;
        if (head as i64) < script.read(TAIL)? as i64 {
            let mask = script.read(MASK)?;
            found = Some(script.read(place(head & mask))?);
        } else {
            script.write(HEAD, head)?;
        }
        script.unlock(LOCK)?;
        found.map_or(Ok(()), |item| does(script, item))
    };
    let pops = move |script: &mut Script<'_>| -> Steps {
        // Indices below 0 are written as the largest numbers.
        let tail = script.read(TAIL)?.wrapping_sub(1);
        script.write(TAIL, tail)?;
        if script.read(HEAD)? as i64 <= tail as i64 {
            let mask = script.read(MASK)?;
            let item = script.read(place(tail & mask))?;
            return does(script, item);
        }
        script.write(TAIL, tail.wrapping_add(1))?;
        script.lock(LOCK)?;
        let tail = script.read(TAIL)?.wrapping_sub(1);
        script.write(TAIL, tail)?;
        let mut found = None;
        if script.read(HEAD)? as i64 <= tail as i64 {
            let mask = script.read(MASK)?;
            found = Some(script.read(place(tail & mask))?);
        } else {
            script.write(TAIL, tail.wrapping_add(1))?;
        }
        if script.read(HEAD)? as i64 > tail as i64 {
            script.write(HEAD, 0)?;
            script.write(TAIL, 0)?;
            found = None;
        }
        script.unlock(LOCK)?;
        found.map_or(Ok(()), |item| does(script, item))
    };
    let pushes = move |script: &mut Script<'_>, item: u64| -> Steps {
        let tail = script.read(TAIL)?;
        let (head, mask) = (script.read(HEAD)?, script.read(MASK)?);
        if tail < head + mask {
            script.write(place(tail & mask), item)?;
            script.write(TAIL, tail + 1)?;
            return Ok(());
        }
        script.lock(LOCK)?;
        let head = script.read(HEAD)?;
        let count = script.read(TAIL)? - head;
        let mut mask = script.read(MASK)?;
        let head = head & mask;
        script.write(HEAD, head)?;
        script.write(TAIL, head + count)?;
        if count >= mask {
            let size = 2 * (mask + 1);
            script.check(size <= u64::from(SIZE), 2)?;
            let mut moved = vec![0; size as usize];
            for index in 0..count {
                moved[index as usize] = script.read(place((head + index) & mask))?;
            }
            for (index, item) in moved.into_iter().enumerate() {
                script.write(place(index as u64), item)?;
            }
            mask = size - 1;
            script.write(MASK, mask)?;
            script.write(HEAD, 0)?;
            script.write(TAIL, count)?;
        }
        script.check(count < mask, 3)?;
        let tail = script.read(TAIL)?;
        script.write(place(tail & mask), item)?;
        script.write(TAIL, tail + 1)?;
        script.unlock(LOCK)?;
        Ok(())
    };
    let work = move |index: u32, script: &mut Script<'_>| -> Steps {
        if index > 0 {
            return steals(script);
        }
        for first in (1..=items).step_by(2) {
            pushes(script, first)?;
            pushes(script, first + 1)?;
            pops(script)?;
        }
        (0..items / 2).try_for_each(|_| pops(script))
    };
    let looks = move |script: &mut Script<'_>| -> Steps {
        for item in 0..items as u32 {
            let times = script.read(ITEMS + item)?;
            script.check(times == 1, 4)?;
        }
        Ok(())
    };
    let mut made = vec![Init::Lock(Data::Value(0)), Init::Cell(0), Init::Cell(0), Init::Cell(1)];
    made.extend([Init::Cell(0)].repeat((SIZE as u64 + items) as usize));
    let case = Case::new(format!("workstealqueue_mutex-2({items})"), made, 3, Box::new(work));
    case.alike(1).then(Box::new(looks))
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
