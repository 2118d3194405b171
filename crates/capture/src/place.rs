//! Places in the source and names of functions, as people read them.

/// A place in the source: the function, and those that it was inlined into, from the inside out.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub(crate) struct Place {
    pub(crate) frames: Vec<Frame>,
}

/// A function and where in it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Frame {
    pub(crate) function: Option<String>,
    pub(crate) line: Option<String>,
    /// The line that the function begins with; 0 where that is not known.
    pub(crate) declared: u32,
}

impl Frame {
    fn text(&self) -> String {
        match (&self.function, &self.line) {
            (Some(function), Some(line)) => format!("{function} {line}"),
            (Some(known), None) | (None, Some(known)) => known.clone(),
            (None, None) => String::new(),
        }
    }
}

/// Functions of ours that a Rust program calls.
const OURS: [&str; 8] = [
    "reweave::told",
    "reweave::sync",
    "reweave::thread",
    "<reweave::told",
    "<reweave::sync",
    "<reweave::thread",
    "reweave_twin.",
    "reweave_look.",
];

impl Frame {
    /// Whether it is of Rust's standard library, or of what stands for it: what matters is who called that.
    fn is_library(&self) -> bool {
        let starts = |starts: &[&str]| {
            self.function.as_ref().is_some_and(|name| starts.iter().any(|start| name.starts_with(start)))
        };
        match &self.line {
            Some(line) if line.starts_with("/rustc/") => true,
            None if starts(&["std::", "<std::", "alloc::", "<alloc::", "core::", "<core::", "__rust_"]) => {
                true
            }
            _ => starts(&OURS),
        }
    }
}

/// How many of the functions around an inlined one are told.
const MAX_INLINED: usize = 3;

impl Place {
    /// Whether all of it is library.
    pub(crate) fn is_library(&self) -> bool {
        !self.frames.is_empty() && self.frames.iter().all(Frame::is_library)
    }

    /// The frames from the innermost on that is not library.
    fn own(&self) -> &[Frame] {
        let first = self.frames.iter().position(|frame| !frame.is_library()).unwrap_or(0);
        self.frames.get(first..).unwrap_or_default()
    }

    /// `function file:line`, as far as it is known, with what it was inlined into.
    pub(crate) fn text(&self, code: u64) -> String {
        let Some(first) = self.own().first() else { return format!("{code:#x}") };
        let mut text = first.function.clone().unwrap_or_default();
        for frame in self.own().iter().skip(1).take(MAX_INLINED) {
            if let Frame { function: Some(function), line: Some(line), .. } = frame {
                text = format!("{text} (in {function} {line})");
            }
        }
        match &first.line {
            Some(line) if text.is_empty() => line.clone(),
            Some(line) => format!("{text} {line}"),
            None => text,
        }
    }

    /// The function, the name of its file and how far from its first line this is: what does not change with what else
    /// is in the file, with what the function is inlined into, or with where it was built.
    pub(crate) fn stable(&self) -> Option<String> {
        let Frame { function: Some(function), line: Some(line), declared: declared @ 1.. } =
            self.own().first()?
        else {
            return None;
        };
        let (path, line) = line.rsplit_once(':')?;
        let offset = line.parse::<i64>().ok()? - i64::from(*declared);
        let file = path.rsplit('/').next().unwrap_or(path);
        Some(format!("{function} {file}{offset:+}"))
    }

    /// A call and what it was inlined into, from the inside out, each as `function file:line`; nothing for calls that the
    /// recorder makes, for those within Rust's standard library, and for a thread's first call where it is the C library's.
    pub(crate) fn calls(&self, code: u64, first: bool) -> Vec<String> {
        let ours = self
            .frames
            .iter()
            .filter_map(|frame| frame.function.as_ref())
            .any(|name| name.starts_with("reweave_runtime::") || name.starts_with("<reweave_runtime::"));
        if ours || first && self.frames.first().is_none_or(|frame| frame.line.is_none()) {
            return Vec::new();
        }
        if self.frames.is_empty() {
            return vec![self.text(code)];
        }
        let shown = self.frames.iter().filter(|frame| !frame.is_library());
        shown.map(Frame::text).filter(|text| !text.is_empty()).collect()
    }

    /// ` from function at file:line`: the innermost function that is not a header's of the system.
    pub(crate) fn origin(&self) -> String {
        let own = |frame: &&Frame| {
            !frame.is_library() && frame.line.as_ref().is_some_and(|line| !line.starts_with("/usr/"))
        };
        match self.frames.iter().find(own).or(self.frames.first()) {
            Some(Frame { function: Some(function), line: Some(line), .. }) => {
                format!(" from {function} at {line}")
            }
            Some(Frame { function: Some(known), .. } | Frame { line: Some(known), .. }) => {
                format!(" from {known}")
            }
            _ => String::new(),
        }
    }
}

/// A variable's name. What a compiler adds to tell the parts of a variable that it took apart (`.0`, `.1`) stays.
pub(crate) fn variable_name(symbol: &str) -> String {
    match symbol.split_once('.') {
        Some((stem, part)) if stem.starts_with("_Z") => format!("{}.{part}", demangled(stem)),
        _ => demangled(symbol),
    }
}

/// A symbol's name as its author wrote it. C's names are taken as they are: some look like C++'s names of types.
pub(crate) fn demangled(name: &str) -> String {
    if name.starts_with("_Z") || name.starts_with("_R") {
        return short(&addr2line::demangle_auto(name.into(), None));
    }
    name.to_owned()
}

/// A function without the types of its arguments: sites are read by people.
pub(crate) fn short(name: &str) -> String {
    let name = name.split(" [clone").next().unwrap_or(name);
    let mut depth = 0;
    for (at, byte) in name.bytes().enumerate() {
        match byte {
            b'<' => depth += 1,
            b'>' if !name[..at].ends_with('-') => depth -= 1,
            b'(' if depth == 0
                && at > 0
                && !name[at..].starts_with("(anonymous")
                && !name[..at].ends_with("operator") =>
            {
                let rest = &name[at..];
                let lambda = rest.contains("::{lambda") || rest.contains(")::");
                return if lambda { name.to_owned() } else { name[..at].to_owned() };
            }
            _ => {}
        }
    }
    name.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_functions_lose_their_arguments_only() {
        for (long, expected) in [
            ("main", "main"),
            ("Queue::push(int)", "Queue::push"),
            ("std::vector<int (*)(char)>::size() const", "std::vector<int (*)(char)>::size"),
            ("run()::{lambda()#1}::operator()() const", "run()::{lambda()#1}::operator()() const"),
        ] {
            assert_eq!(short(long), expected);
        }
    }

    #[test]
    fn a_stable_name_is_of_the_innermost_function_and_the_line_within_it() {
        let frame = |function: &str, line: &str, declared| Frame {
            function: Some(function.to_owned()),
            line: Some(line.to_owned()).filter(|line| !line.is_empty()),
            declared,
        };
        let (push, main) = (frame("push", "/a b/q.c:12", 9), frame("main", "/a b/main.c:40", 30));
        let library = frame("core::ptr::read", "/rustc/0123/library/core/src/ptr/mod.rs:7", 5);
        for (frames, stable) in [
            (vec![push.clone()], Some("push q.c+3")),
            (vec![push.clone(), main.clone()], Some("push q.c+3")),
            (vec![library, main], Some("main main.c+10")),
            (vec![frame("push", "q.c:8", 9)], Some("push q.c-1")),
            (vec![frame("push", "q.c:8", 0)], None),
            (vec![frame("push [libq.so]", "", 9)], None),
            (vec![], None),
        ] {
            assert_eq!(Place { frames }.stable().as_deref(), stable);
        }
    }

    #[test]
    fn parts_of_a_variable_have_names_of_their_own() {
        assert_eq!(variable_name("_ZL10statistics.1"), "statistics.1");
        assert_eq!(variable_name("_ZL10statistics"), "statistics");
        assert_eq!(variable_name("counter.0"), "counter.0");
    }
}
