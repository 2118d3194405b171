//! Objects with a specification: each call is one step, and calls that commute are run in one order.

use std::fmt::Debug;

use reweave_explore::{Init, ObjectId, Op, tag};
use reweave_spec::{Type, Value};

use super::host::{self, Host};
use super::spin;

/// An object whose type has a specification.
///
/// In an exploration each call is one step of the specification's model: no other thread comes in between, and calls that commute by
/// the specification are run in one order. What the closure returns is compared with what the model says. Elsewhere a
/// call is the closure.
///
/// ```
/// use reweave::sync::{Arc, Mutex};
/// use reweave::{Object, thread};
///
/// reweave::explore(|| {
///     let set = Arc::new(Object::new("set", Mutex::new(std::collections::BTreeSet::new())));
///     let other = Arc::clone(&set);
///     let thread = thread::spawn(move || other.call("add", &[&1], |set| set.lock().unwrap().insert(1)));
///     set.call("add", &[&2], |set| set.lock().unwrap().insert(2));
///     thread.join().unwrap();
///     assert_eq!(set.call("size", &[], |set| set.lock().unwrap().len()), 2);
/// });
/// ```
#[derive(Debug)]
pub struct Object<T> {
    inside: T,
    id: Option<(ObjectId, u32)>,
}

impl<T> Object<T> {
    /// An object in its first state. The type is a built-in one (`reweave spec show`), or one of
    /// [`Builder::spec`](super::Builder::spec).
    ///
    /// # Panics
    ///
    /// In an exploration, if there is no such type.
    pub fn new(of: &str, inside: T) -> Object<T> {
        let id = host::host(|host| {
            let (class, state) = host.class(of);
            let object = host::object("object", Init::Object { class, state })?;
            Some((object, class))
        });
        Object { inside, id: id.flatten() }
    }

    /// Calls a method of the specification; the closure does it.
    ///
    /// # Panics
    ///
    /// In an exploration, if the type has no such method, or if its model says that the call fails.
    #[track_caller]
    pub fn call<R: Debug>(&self, method: &str, arguments: &[&dyn Debug], run: impl FnOnce(&T) -> R) -> R {
        if !host::explored() {
            return run(&self.inside);
        }
        let Some((object, class)) = self.id else {
            panic!("made outside of the explored closure: make it inside, so that every run has a new one")
        };
        let call = host::host(|host| number(host, class, method, arguments)).unwrap_or_default();
        spin::stop();
        let outcome = host::step(Op::Call { object, call });
        let text = || host::host(|host| host.specified.show(call)).unwrap_or_default();
        if outcome.tag & tag::CHOSEN != 0 {
            panic!("the model of the specification cannot do {}", text());
        }
        assert!(outcome.tag & tag::FAILED == 0, "{} fails by its specification", text());
        let result = host::scoped(|| run(&self.inside));
        host::host(|host| {
            let said = host.specified.result(call, outcome);
            let returned = format!("{result:?}");
            let wrong = match &said {
                Some(said) => Value::read(&returned).as_ref() != Some(said),
                None => returned != "()",
            };
            if wrong && !host.abandoned() {
                let said = said.map_or("nothing".to_owned(), |said| said.to_string());
                host.trouble(format!(
                    "{} returned {returned}, and by its specification it returns {said}",
                    host.specified.show(call)
                ));
            }
        });
        result
    }
}

fn number(host: &Host, class: u32, method: &str, arguments: &[&dyn Debug]) -> u64 {
    let values: Vec<Value> = arguments
        .iter()
        .map(|argument| {
            let text = format!("{argument:?}");
            Value::read(&text).unwrap_or_else(|| panic!("`{text}` is no value that a specification knows"))
        })
        .collect();
    match host.specified.number(class, method, &values) {
        Ok(call) => call,
        Err(error) => panic!("{error}"),
    }
}

impl Host {
    /// There can be no answer.
    pub(crate) fn trouble(&self, text: String) {
        self.trouble.borrow_mut().get_or_insert(text);
    }

    pub(crate) fn troubled(&self) -> Option<String> {
        self.trouble.borrow().clone().or_else(|| self.watched.used())
    }

    /// Whether there is no need to go on.
    pub(crate) fn is_over(&self) -> bool {
        self.told_apart.get() || self.trouble.borrow().is_some() || self.watched.used().is_some()
    }

    /// The calling thread tells who it is: it is not like another.
    pub(crate) fn tells(&self) {
        if !self.apart && self.same.borrow().contains(&self.current()) {
            self.told_apart.set(true);
        }
    }

    pub(crate) fn told_apart(&self) -> bool {
        self.told_apart.get()
    }

    /// Takes note that an object is touched: inside of calls on objects with specifications, or outside.
    pub(crate) fn touches(&self, object: ObjectId) {
        if self.specified.is_empty() {
            return;
        }
        let mut touched = self.touched.borrow_mut();
        let here = usize::from(self.scoped.get());
        touched[here].insert(object);
        if touched[1 - here].contains(&object) {
            let name = self.names.borrow().show_object(object);
            self.trouble(format!(
                "{name} is touched inside of a call on an object with a specification, and outside of such calls: they are \
                 not single steps"
            ));
        }
    }

    /// The class of a type, and the first state of its objects.
    fn class(&self, of: &str) -> (u32, u64) {
        let own = self.types.iter().find(|known| known.name == of).cloned();
        let found: Option<Type> =
            own.or_else(|| reweave_spec::builtin(of)?.types.into_iter().find(|known| known.name == of));
        match found {
            Some(found) => self.specified.add(found),
            None => panic!("there is no type `{of}`: `reweave spec show` lists those that are built in"),
        }
    }
}
