//! Functions of libc that the runtime stands before: it records what they do, so a call of one is no call into the unknown.

/// Those that touch memory on the program's behalf, with the number of their arguments. Each has a twin in the runtime that takes
/// the site as one more argument.
pub(crate) const MEMORY: &[(&str, usize)] = &[
    ("memcpy", 3),
    ("memmove", 3),
    ("memset", 3),
    ("memcmp", 3),
    ("bcmp", 3),
    ("strlen", 1),
    ("strcpy", 2),
    ("stpcpy", 2),
    ("strcat", 2),
    ("strncpy", 3),
    ("strcmp", 2),
    ("strncmp", 3),
    ("memchr", 3),
    ("strchr", 2),
];

/// Those whose events depend on their arguments alone. What is not here counts as a branch, so the list need not be complete.
const TOLD: &[&str] = &[
    "malloc",
    "calloc",
    "free",
    "_Znwm",
    "_Znam",
    "_ZdlPv",
    "_ZdlPvm",
    "_ZdaPv",
    "_ZdaPvm",
    "pthread_mutex_lock",
    "pthread_mutex_unlock",
    "pthread_mutex_trylock",
    "pthread_mutex_init",
    "pthread_mutex_destroy",
    "pthread_rwlock_rdlock",
    "pthread_rwlock_wrlock",
    "pthread_rwlock_tryrdlock",
    "pthread_rwlock_trywrlock",
    "pthread_rwlock_unlock",
    "pthread_spin_lock",
    "pthread_spin_trylock",
    "pthread_spin_unlock",
    "pthread_cond_wait",
    "pthread_cond_signal",
    "pthread_cond_broadcast",
    "pthread_self",
    "pthread_create",
    "pthread_join",
];

/// Whether a call of this function depends on nothing but its arguments, and is told of.
pub(crate) fn is_told(name: &str) -> bool {
    TOLD.contains(&name)
}

/// How many arguments a function has that touches memory on the program's behalf.
pub(crate) fn memory_arguments(name: &str) -> Option<usize> {
    MEMORY.iter().find(|(known, _)| *known == name).map(|&(_, count)| count)
}
