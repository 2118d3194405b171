//! Which functions are known, by their names as the compiler mangles them.

/// What a function does, whose body is in the module.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Known {
    /// Takes a lock, or tries to.
    Lock { hook: &'static str, shared: bool },
    /// Ends a guard.
    Unlock,
    /// Runs an initialisation, unless one ran.
    Initialise,
    /// Looks whether an initialisation ran, somewhere in it.
    Look,
    /// Lets a thread go on.
    Unpark,
    /// Waits for the threads of a scope at its end.
    Scope,
}

const LOCK: &str = "__reweave_std_lock";
const TRY: &str = "__reweave_std_try";

/// Methods of generic types: the type, the method, what it does.
const METHODS: [(&str, &str, Known); 6] = [
    ("std::sync::poison::mutex::Mutex<", "lock", Known::Lock { hook: LOCK, shared: false }),
    ("std::sync::poison::mutex::Mutex<", "try_lock", Known::Lock { hook: TRY, shared: false }),
    ("std::sync::poison::rwlock::RwLock<", "read", Known::Lock { hook: LOCK, shared: true }),
    ("std::sync::poison::rwlock::RwLock<", "try_read", Known::Lock { hook: TRY, shared: true }),
    ("std::sync::poison::rwlock::RwLock<", "write", Known::Lock { hook: LOCK, shared: false }),
    ("std::sync::poison::rwlock::RwLock<", "try_write", Known::Lock { hook: TRY, shared: false }),
];

const GUARDS: [&str; 3] = [
    "<std::sync::poison::mutex::MutexGuard<",
    "<std::sync::poison::rwlock::RwLockReadGuard<",
    "<std::sync::poison::rwlock::RwLockWriteGuard<",
];

/// What a function does, whose symbol is `symbol`.
pub(super) fn body(symbol: &str) -> Option<Known> {
    // Anything else is neither Rust's nor of the standard library.
    if !symbol.starts_with("_R") || !symbol.contains("3std") {
        return None;
    }
    of_path(&demangled(symbol))
}

pub(super) fn demangled(symbol: &str) -> String {
    format!("{:#}", rustc_demangle::demangle(symbol))
}

/// Whether a function reads a word atomically.
pub(super) fn is_atomic_load(symbol: &str) -> bool {
    symbol.starts_with("_R") && demangled(symbol) == "core::sync::atomic::atomic_load::<u32>"
}

fn of_path(path: &str) -> Option<Known> {
    if GUARDS.iter().any(|guard| path.starts_with(guard)) {
        return path.ends_with("> as core::ops::drop::Drop>::drop").then_some(Known::Unlock);
    }
    if path == "<std::thread::thread::Thread>::unpark" {
        return Some(Known::Unpark);
    }
    let generic = |start: &str| path.starts_with(start) && path.ends_with('>');
    if generic("<std::sync::once::Once>::call_once::<")
        || generic("<std::sync::once::Once>::call_once_force::<")
    {
        return Some(Known::Initialise);
    }
    if generic("std::thread::scoped::scope::<") {
        return Some(Known::Scope);
    }
    let looks = [
        "<std::sync::once_lock::OnceLock<",
        "<std::sync::lazy_lock::LazyLock<",
        "<std::sync::once::Once>::is_completed",
    ];
    if looks.iter().any(|start| path.starts_with(start)) {
        return Some(Known::Look);
    }
    let (this, method) = method(path)?;
    METHODS.iter().find(|(of, name, _)| this.starts_with(of) && *name == method).map(|&(.., known)| known)
}

/// `<type>::method`, where the type is not one as a trait sees it.
fn method(path: &str) -> Option<(&str, &str)> {
    let mut depth = 0;
    for (at, letter) in path.char_indices() {
        match letter {
            '<' => depth += 1,
            // The arrow before the result of a function.
            '>' if path[..at].ends_with('-') => {}
            '>' => depth -= 1,
            ' ' if depth == 1 && path[at..].starts_with(" as ") => return None,
            _ => {}
        }
        if depth == 0 {
            return Some((path.get(1..at)?, path.get(at + 1..)?.strip_prefix("::")?));
        }
    }
    None
}

/// What is called instead of a function that was compiled with the standard library.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Twin {
    /// A function of the runtime, which is given the original as its last argument.
    Instead(&'static str),
    /// The original, with these called before and after it.
    Around(Option<&'static str>, Option<&'static str>),
}

/// The twin of a function that is defined elsewhere.
pub(super) fn twin(symbol: &str) -> Option<Twin> {
    if !symbol.starts_with("_R") || !symbol.contains("3std") {
        return None;
    }
    let path = demangled(symbol);
    // What a thread leaves behind is dropped last of all; where its result is nothing, by the standard library itself.
    if path.starts_with("<alloc::sync::Arc<std::thread::lifecycle::Packet<") && path.ends_with("::drop_slow")
    {
        return Some(Twin::Around(Some("__reweave_std_scope_thread_ends"), None));
    }
    Some(match path.as_str() {
        "<std::sys::sync::condvar::futex::Condvar>::wait" => Twin::Instead("__reweave_std_wait"),
        "<std::sys::sync::condvar::futex::Condvar>::wait_timeout" => {
            Twin::Instead("__reweave_std_wait_timeout")
        }
        "<std::sync::poison::condvar::Condvar>::notify_one" => Twin::Instead("__reweave_std_notify_one"),
        "<std::sync::poison::condvar::Condvar>::notify_all" => Twin::Instead("__reweave_std_notify_all"),
        "std::thread::functions::park"
        | "std::thread::functions::park_timeout"
        | "<std::thread::thread::Thread>::park"
        | "<std::thread::thread::Thread>::park_timeout" => Twin::Around(None, Some("__reweave_std_parked")),
        "<std::sync::barrier::Barrier>::wait" => {
            Twin::Around(Some("__reweave_std_arrives"), Some("__reweave_std_leaves"))
        }
        "<std::thread::scoped::ScopeData>::decrement_num_running_threads" => {
            Twin::Around(Some("__reweave_std_scope_thread_ends"), None)
        }
        _ => return None,
    })
}
