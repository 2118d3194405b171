//! Libraries and functions that are known: tables, reviewed by hand.
//!
//! A function is *harmless* when it hands nothing over from one thread to another: what it does depends on its arguments
//! and on memory that is recorded, or it is one that the recorder stands before.

use reweave_wire::outside::State;

/// How the names of libraries begin that come with the compiler and the system. What their functions do is recorded by the
/// functions of this library that stand before them, or named where it is state outside of memory.
const SYSTEM: [&[u8]; 20] = [
    b"ld-linux",
    b"ld-musl",
    b"libanl.",
    b"libasan.",
    b"libatomic.",
    b"libBrokenLocale.",
    b"libc++",
    b"libc.",
    b"libcrypt.",
    b"libdl.",
    b"libgcc_s.",
    b"libm.",
    b"libmvec.",
    b"libnss_",
    b"libpthread.",
    b"libresolv.",
    b"librt.",
    b"libstdc++.",
    b"libthread_db.",
    b"linux-vdso",
];

/// Whether the file of a library, with its folder, comes with the compiler or the system.
pub(crate) fn is_system(path: &[u8]) -> bool {
    let name = path.rsplit(|&byte| byte == b'/').next().unwrap_or_default();
    SYSTEM.iter().any(|start| name.starts_with(start))
}

/// How the names of the libraries begin whose functions are reviewed one by one: they are recorded, pure, or on no list.
const REVIEWED: [&[u8]; 8] =
    [b"libanl.", b"libc.", b"libcrypt.", b"libdl.", b"libnss_", b"libpthread.", b"libresolv.", b"librt."];

/// Whether a function of this library that is neither recorded nor pure counts as one on no list.
pub(crate) fn is_reviewed(path: &[u8]) -> bool {
    let name = path.rsplit(|&byte| byte == b'/').next().unwrap_or_default();
    REVIEWED.iter().any(|start| name.starts_with(start))
}

/// Functions of libc that are not recorded and need not be, by name or by how it begins (with `*`): what they give depends on
/// their arguments, on what never changes, or on their own thread. They read no memory that threads share, or do so in functions of the
/// program that they call, or their result is of no use to a program that goes on.
const PURE: &[&[&[u8]]] = &[
    // Numbers and characters.
    &[
        b"abs", b"labs", b"llabs", b"imaxabs", b"div", b"ldiv", b"lldiv", b"imaxdiv", b"ffs", b"ffsl",
        b"ffsll",
    ],
    &[b"htonl", b"htons", b"ntohl", b"ntohs", b"copysign*", b"finite*", b"frexp*", b"ldexp*", b"modf*"],
    &[
        b"scalbn*",
        b"isinf*",
        b"isnan*",
        b"__isinf*",
        b"__isnan*",
        b"__finite*",
        b"__signbit*",
        b"__fpclassify*",
    ],
    &[b"isalnum*", b"isalpha*", b"isascii", b"isblank*", b"iscntrl*", b"isctype", b"isdigit*", b"isgraph*"],
    &[b"islower*", b"isprint*", b"ispunct*", b"isspace*", b"isupper*", b"isxdigit*", b"toascii"],
    &[
        b"tolower*",
        b"toupper*",
        b"iswalnum_l",
        b"iswalpha_l",
        b"iswblank_l",
        b"iswcntrl_l",
        b"iswctype_l",
        b"iswdigit_l",
        b"iswgraph_l",
        b"iswlower_l",
        b"iswprint_l",
        b"iswpunct_l",
        b"iswspace_l",
        b"iswupper_l",
        b"iswxdigit_l",
        b"towlower_l",
        b"towupper_l",
        b"towctrans_l",
    ],
    &[
        b"__ctype_b_loc",
        b"__ctype_tolower_loc",
        b"__ctype_toupper_loc",
        b"__ctype_init",
        b"difftime",
        b"dysize",
        b"gnu_dev_*",
        b"arc4random",
        b"arc4random_uniform",
    ],
    // Jumps, ends, and what compilers add.
    &[b"setjmp", b"_setjmp", b"sigsetjmp", b"__sigsetjmp", b"exit", b"quick_exit", b"exec*", b"fexecve"],
    &[b"__assert*", b"__stack_chk_fail", b"__chk_fail", b"__fortify_fail", b"atexit", b"at_quick_exit"],
    &[
        b"__cxa_*",
        b"__libc_*",
        b"__gmon_start__",
        b"__register_atfork",
        b"pthread_atfork",
        b"_ITM_*",
        b"err",
        b"errx",
    ],
    &[
        b"verr",
        b"verrx",
        b"__explicit_bzero_chk",
        b"__fdelt_*",
        b"_dl_*",
        b"__tls_get_addr",
        b"__errno_location",
    ],
    &[b"__h_errno_location", b"bsearch"],
    // What a thread has for itself.
    &[
        b"pthread_self",
        b"pthread_equal",
        b"pthread_getspecific",
        b"pthread_setspecific",
        b"pthread_testcancel",
    ],
    &[b"tss_get", b"tss_set", b"thrd_current", b"thrd_equal", b"gettid"],
    &[b"mtx_init", b"_Unwind_*", b"__pthread_*", b"_pthread_*"],
    // What is the same for the whole run, and descriptors of things that were opened.
    &[b"getpid", b"getpagesize", b"getauxval", b"get_nprocs*", b"get_phys_pages"],
    &[b"sched_getcpu", b"sched_get_priority_*", b"gnu_get_libc_*", b"fileno*", b"dirfd"],
    &[b"strerror_l", b"strerrordesc_np", b"strerrorname_np", b"sigabbrev_np"],
    &[b"sigdescr_np", b"hstrerror", b"dlerror"],
];

/// Whether a function of libc is pure.
pub(crate) fn is_pure(name: &[u8]) -> bool {
    PURE.iter().any(|names| is_among(names, name))
}

fn is_among(names: &[&[u8]], name: &[u8]) -> bool {
    names.iter().any(|known| match known.strip_suffix(b"*") {
        Some(start) => name.starts_with(start),
        None => *known == name,
    })
}

/// Functions of libc that look at one state and change nothing. The recorder itself calls them, so
/// none of ours can stand before them: calls of them are led through stubs, as those of functions
/// that are on no list.
const LOOKING: [(&[u8], State); 2] = [(b"dlsym", State::Libraries), (b"dlvsym", State::Libraries)];

/// The state that a function of libc looks at, where no function of ours stands before it.
pub(crate) fn state(name: &[u8]) -> Option<State> {
    LOOKING.iter().find(|(known, _)| *known == name).map(|&(_, state)| state)
}

/// Functions of other libraries that only compute, by name or by how it begins (with `*`).
const HARMLESS: [&[u8]; 4] = [
    // OpenMP: which thread this is, and how many there are.
    b"omp_get_thread_num",
    b"omp_get_num_threads",
    b"omp_get_wtime",
    b"omp_get_wtick",
];

/// Whether a function of a library without hooks is harmless.
pub(crate) fn is_harmless(name: &[u8]) -> bool {
    is_among(&HARMLESS, name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_files_tell_what_comes_with_the_system() {
        assert!(is_system(b"/lib/x86_64-linux-gnu/libc.so.6") && is_system(b"linux-vdso.so.1"));
        assert!(is_system(b"/lib64/ld-linux-x86-64.so.2") && is_system(b"libstdc++.so.6"));
        assert!(!is_system(b"/usr/lib/libglib-2.0.so.0") && !is_system(b"/home/me/libcurl.so.4"));
        assert!(!is_system(b"/usr/lib/libgomp.so.1") && !is_system(b"") && !is_system(b"libmine.so"));
    }

    #[test]
    fn what_is_harmless_is_known_by_its_whole_name() {
        assert!(is_harmless(b"omp_get_thread_num") && !is_harmless(b"omp_get_thread_number"));
        assert!(!is_harmless(b"GOMP_barrier") && !is_harmless(b""));
    }
}
