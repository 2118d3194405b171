//! What calls of the built-in types do to each other, written once more: by hand, from the documentation.
//!
//! Nothing here reads a specification. [`standing`] has the conditions as code, and [`Object`] the models, for tests that execute what
//! a schedule would really do.

mod model;

pub use model::{Object, Outcome, TYPES, random_call, text};

/// A call's text, taken apart.
struct Parts<'t> {
    of: &'t str,
    object: &'t str,
    method: &'t str,
    arguments: Vec<&'t str>,
    result: Option<&'t str>,
}

fn parts(text: &str) -> Parts<'_> {
    let (head, rest) = text.split_once('(').unwrap_or((text, ")"));
    let (inside, after) = rest.split_once(')').unwrap_or((rest, ""));
    let (name, method) = head.rsplit_once('.').unwrap_or(("", head));
    let (of, object) = name.split_once(' ').unwrap_or(("", name));
    let arguments = inside.split(',').map(str::trim).filter(|each| !each.is_empty()).collect();
    Parts { of, object, method, arguments, result: after.strip_prefix('=') }
}

/// The object of a call, without its type.
pub(crate) fn object_of(text: &str) -> &str {
    parts(text).object
}

/// How two calls on one object, both with the type in their text, stand to each other; the earlier one comes first.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Standing {
    /// They commute.
    Commute,
    /// They do not, and the second may go ahead.
    Ordered,
    /// They do not.
    Conflict,
}

/// How two calls on one object stand to each other.
pub fn standing(earlier: &str, later: &str) -> Standing {
    let (a, b) = (parts(earlier), parts(later));
    if a.of != b.of || !fits(&a) || !fits(&b) {
        return Standing::Conflict;
    }
    let commute = pair(&a, &b).or_else(|| pair(&b, &a)).unwrap_or(false);
    match commute {
        true => Standing::Commute,
        false if ordered(&a, &b) => Standing::Ordered,
        false => Standing::Conflict,
    }
}

/// Whether a call returns nothing, by its type.
pub fn is_void(text: &str) -> bool {
    let call = parts(text);
    fits(&call) && call.result.is_none_or(|result| result == "()")
}

/// Whether a call has the arguments and the result that its method has.
fn fits(call: &Parts<'_>) -> bool {
    let Some((arguments, result)) = signature(call.of, call.method) else { return false };
    let given = call.result.is_some_and(|result| result != "()");
    call.arguments.len() == arguments && given == result
}

/// How many arguments a method has, and whether it has a result.
fn signature(of: &str, method: &str) -> Option<(usize, bool)> {
    Some(match (of, method) {
        ("register", "read") | ("counter", "get") | ("refcount", "get" | "dec") => (0, true),
        ("register", "write") | ("counter", "add" | "set") => (1, false),
        ("register", "swap") | ("counter", "fetch_add") => (1, true),
        ("register", "cas") => (2, true),
        ("counter", "inc" | "dec") | ("refcount", "inc") => (0, false),
        ("set", "add" | "remove" | "contains") => (1, true),
        ("set" | "map", "size") => (0, true),
        ("set" | "map", "clear") => (0, false),
        ("map", "put") => (2, true),
        ("map", "get" | "remove" | "contains") => (1, true),
        ("queue", "enq") | ("stack", "push") | ("channel", "send") | ("file", "write") => (1, false),
        ("queue", "deq" | "take" | "peek" | "len") | ("stack", "pop" | "top" | "len") => (0, true),
        ("channel", "try_send") => (1, true),
        ("channel", "recv" | "try_recv" | "len") => (0, true),
        ("channel" | "file" | "descriptor" | "socket" | "directory", "close") => (0, false),
        ("file" | "descriptor" | "directory" | "semaphore", "use") => (0, false),
        ("union_find", "union" | "same") => (2, true),
        ("union_find", "find") => (1, true),
        ("file", "read" | "tell") | ("descriptor", "read" | "write") => (0, true),
        ("file", "flush") | ("descriptor", "sync") | ("socket", "shutdown") => (0, false),
        ("socket", "send" | "recv") => (0, true),
        ("mutex" | "condition", "use") | ("barrier", "arrive") => (0, false),
        ("mutex" | "condition" | "barrier" | "semaphore", "destroy") => (0, false),
        ("semaphore", "post" | "wait") => (0, false),
        ("semaphore", "try_wait" | "value") => (0, true),
        ("once", "call" | "is_done") | ("context", "err") => (0, true),
        ("context", "cancel" | "done") | ("wait_group", "done" | "wait") => (0, false),
        ("wait_group", "add") => (1, false),
        _ => return None,
    })
}

/// The condition for two calls, where it is written for them in this order.
fn pair(a: &Parts<'_>, b: &Parts<'_>) -> Option<bool> {
    let argument =
        |call: &Parts<'_>, place: usize| call.arguments.get(place).copied().unwrap_or("").to_owned();
    let (x, y) = (argument(a, 0), argument(b, 0));
    let (x2, y2) = (argument(a, 1), argument(b, 1));
    let (r, s) = (a.result.unwrap_or(""), b.result.unwrap_or(""));
    let (no, nothing) = ("false", "nil");
    Some(match (a.of, a.method, b.method) {
        ("register", "read", "read") => true,
        ("register", "write", "write") | ("counter", "set", "set") => x == y,
        ("register", "read", "cas") => s == no || y == y2,
        ("register", "read", "swap") => s == y,
        ("register", "swap", "swap") => r == x && s == y,
        ("register", "swap", "cas") => s == no && x != y && r != y || r == x && y == y2,
        ("register", "cas", "cas") => r == no && s == no,
        ("counter", "inc" | "dec" | "add", "inc" | "dec" | "add") | ("counter", "get", "get") => true,
        ("counter", "add", "get" | "set" | "fetch_add") => x == "0",
        ("counter", "get", "fetch_add") => y == "0",
        ("counter", "fetch_add", "fetch_add") => x == "0" && y == "0",
        ("set", "add", "add") | ("set", "remove", "remove") => x != y || r == no && s == no,
        ("set", "add", "remove") => x != y,
        ("set", "add" | "remove", "contains") => x != y || r == no,
        ("set", "add" | "remove", "size") => r == no,
        ("set", "contains" | "size", "contains" | "size") | ("set" | "map", "clear", "clear") => true,
        ("map", "put", "put") => x != y || x2 == r && y2 == s,
        ("map", "put", "get") => x != y || x2 == r,
        ("map", "put", "remove") => x != y || x2 == r && s == nothing,
        ("map", "put", "contains") => x != y || (x2 == nothing) == (r == nothing),
        ("map", "put", "size") => (x2 == nothing) == (r == nothing),
        ("map", "get", "remove") => x != y || s == nothing,
        ("map", "remove", "remove") => x != y || r == nothing && s == nothing,
        ("map", "remove", "contains") => x != y || r == nothing,
        ("map", "remove", "size") => r == nothing,
        ("map", "get" | "contains" | "size", "get" | "contains" | "size") => true,
        ("queue", "enq", "enq") | ("stack", "push", "push") | ("file", "write", "write") => x == y,
        ("queue", "enq", "peek" | "deq") => s != x && s != nothing,
        ("queue", "enq", "take") => s != x,
        ("queue", "peek" | "len", "peek" | "len") | ("stack", "top" | "len", "top" | "len") => true,
        ("queue", "deq", "peek" | "len") | ("stack", "pop", "top" | "len") => r == nothing,
        ("queue", "deq", "deq") | ("stack", "pop", "pop") => r == nothing && s == nothing,
        ("channel", "len", "len" | "close") | ("channel", "try_recv", "close") => true,
        ("channel", "try_send", "try_send") => r == no && s == no,
        ("channel", "try_send", "len") => r == no,
        ("channel", "recv" | "try_recv", "recv" | "try_recv") => r == nothing && s == nothing,
        ("channel", "recv" | "try_recv", "len") => r == nothing,
        ("channel", "recv", "close") => r != nothing,
        ("union_find", "union", "union") => r == no && s == no || x == x2 || y == y2,
        ("union_find", "union", "find" | "same") => r == no,
        ("union_find", "find" | "same", "find" | "same") => true,
        ("refcount", "inc", "inc") | ("refcount", "get", "get") => true,
        ("file", "flush", "flush" | "tell") | ("file", "write" | "read", "flush") => true,
        ("file", "write" | "tell", "tell") => true,
        ("file", "write", "read") => s != nothing && s != x,
        ("file", "read", "read") => r == nothing && s == nothing,
        ("file", "read", "tell") => r == nothing,
        ("descriptor", "read" | "write" | "sync", "sync") => true,
        ("file", "use" | "write" | "read" | "flush" | "tell", "use") => true,
        ("descriptor" | "directory", "use" | "read" | "write" | "sync", "use") => true,
        ("semaphore", "use" | "post" | "wait" | "try_wait" | "value", "use") => true,
        ("socket", "send", "recv") | ("socket", "recv" | "shutdown", "shutdown") => true,
        ("mutex" | "condition", "use", "use") | ("barrier", "arrive", "arrive") => true,
        ("semaphore", "post", "post") | ("semaphore", "value", "value") => true,
        ("semaphore", "try_wait", "try_wait") => r == no && s == no,
        ("semaphore", "try_wait", "value") => r == no,
        ("once", "call", "call") => r == no && s == no,
        ("once", "call", "is_done") => r == no,
        ("once", "is_done", "is_done") => true,
        ("context", "cancel", "cancel") | ("context", "err" | "done", "err" | "done") => true,
        ("wait_group", "add", "add") | ("wait_group", "wait", "wait") => true,
        _ => return None,
    })
}

/// Whether there is a rule that `a` comes before `b`.
fn ordered(a: &Parts<'_>, b: &Parts<'_>) -> bool {
    matches!(
        (a.of, a.method, b.method),
        ("channel", "send" | "try_send", "close")
            | ("file", "write" | "read" | "flush" | "tell" | "use", "close")
            | ("descriptor" | "directory", "read" | "write" | "sync" | "use", "close")
            | ("socket", "send", "shutdown")
            | ("socket", "send" | "recv" | "shutdown", "close")
            | ("mutex" | "condition", "use", "destroy")
            | ("barrier", "arrive", "destroy")
            | ("semaphore", "post" | "wait" | "try_wait" | "value" | "use", "destroy")
    )
}
