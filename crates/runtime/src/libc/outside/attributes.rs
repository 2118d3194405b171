//! Attributes, sets and the like: structures of the program's that only libc looks into.
//!
//! A line is how many words of four bytes they have at which argument, and the functions that they
//! are given to.

use crate::libc::outside::texts::{given, given_bytes, given_words, text, words};

/// The words of `pthread_attr_t`, which a thread is made with.
const THREAD: u32 = 14;
/// The words of `posix_spawnattr_t`.
const CHILD: u32 = 84;
/// The words of `posix_spawn_file_actions_t`.
const FILES: u32 = 20;
/// The words of `sigset_t`.
const SIGNALS: u32 = 32;
/// The words of `struct termios`.
const TERMINAL: u32 = 15;

table! { "reweave_outside";
    [given_words(1, THREAD)] pthread_attr_init pthread_attr_destroy pthread_attr_setdetachstate pthread_attr_setguardsize
        pthread_attr_setinheritsched pthread_attr_setschedpolicy pthread_attr_setscope pthread_attr_setstack
        pthread_attr_setstackaddr pthread_attr_setstacksize;
    [given_words(1, THREAD), given_words(2, 1)] pthread_attr_getdetachstate pthread_attr_getinheritsched
        pthread_attr_getschedparam pthread_attr_getschedpolicy pthread_attr_getscope;
    [given_words(1, THREAD), given_words(2, 2)] pthread_attr_getguardsize pthread_attr_getstackaddr pthread_attr_getstacksize;
    [given_words(1, THREAD), given_words(2, 2), given_words(3, 2)] pthread_attr_getstack;
    [given_words(1, THREAD), given_bytes(3, 2)] pthread_attr_getaffinity_np pthread_attr_setaffinity_np;
    [given_words(1, THREAD), given_words(2, SIGNALS)] pthread_attr_getsigmask_np pthread_attr_setsigmask_np;
    [given_words(1, THREAD), words(2, 1)] pthread_attr_setschedparam;
    [given_words(2, THREAD)] pthread_getattr_np;
    [given_words(1, 1)] pthread_mutexattr_init pthread_mutexattr_destroy pthread_mutexattr_setprioceiling
        pthread_mutexattr_setprotocol pthread_mutexattr_setpshared pthread_mutexattr_setrobust
        pthread_mutexattr_settype pthread_condattr_init pthread_condattr_destroy
        pthread_condattr_setclock pthread_condattr_setpshared pthread_barrierattr_init pthread_barrierattr_destroy
        pthread_barrierattr_setpshared;
    [given_words(1, 1), given_words(2, 1)] pthread_mutexattr_getprioceiling pthread_mutexattr_getprotocol
        pthread_mutexattr_getpshared pthread_mutexattr_getrobust pthread_mutexattr_gettype
        pthread_condattr_getclock pthread_condattr_getpshared pthread_barrierattr_getpshared;
    [given_words(1, 2)] pthread_rwlockattr_init pthread_rwlockattr_destroy pthread_rwlockattr_setkind_np
        pthread_rwlockattr_setpshared;
    [given_words(1, 2), given_words(2, 1)] pthread_rwlockattr_getkind_np pthread_rwlockattr_getpshared;

    [given_words(1, CHILD)] posix_spawnattr_init posix_spawnattr_destroy posix_spawnattr_setflags posix_spawnattr_setpgroup
        posix_spawnattr_setschedpolicy;
    [given_words(1, CHILD), given_words(2, 1)] posix_spawnattr_getflags posix_spawnattr_getpgroup
        posix_spawnattr_getschedparam posix_spawnattr_getschedpolicy;
    [given_words(1, CHILD), words(2, 1)] posix_spawnattr_setschedparam;
    [given_words(1, CHILD), given_words(2, SIGNALS)] posix_spawnattr_getsigdefault posix_spawnattr_getsigmask;
    [given_words(1, CHILD), words(2, SIGNALS)] posix_spawnattr_setsigdefault posix_spawnattr_setsigmask;
    [given_words(1, FILES)] posix_spawn_file_actions_init posix_spawn_file_actions_destroy posix_spawn_file_actions_addclose
        posix_spawn_file_actions_addclosefrom_np posix_spawn_file_actions_adddup2 posix_spawn_file_actions_addfchdir_np;
    [given_words(1, FILES), text(2)] posix_spawn_file_actions_addchdir_np;
    [given_words(1, FILES), text(3)] posix_spawn_file_actions_addopen;

    [given_words(1, SIGNALS)] sigaddset sigdelset sigemptyset sigfillset sigisemptyset sigismember;
    [given_words(1, SIGNALS), words(2, SIGNALS), words(3, SIGNALS)] sigandset sigorset;
    [given_words(1, TERMINAL)] cfgetispeed cfgetospeed cfmakeraw cfsetispeed cfsetospeed cfsetspeed;
    [given_bytes(2, 1)] __sched_cpucount;
    [given_words(1, 2)] mbsinit;
    [given_words(1, 14), given_words(2, 4)] __cmsg_nxthdr;

    // Blocks that are given back with what they lead to: `free` is recorded, what is read before is
    // not.
    [given(1)] freeaddrinfo freeifaddrs if_freenameindex;
    [given_words(1, 18)] globfree globfree64;
    [given_words(1, 16)] regfree;
    [given_words(1, 6)] wordfree;

    // The elements are read by a function of the program's.
    [words(3, 2)] lfind;
    [words(1, 6), given_words(2, 6)] sigaltstack;

    // Results of a fixed size, from what never changes.
    [given_words(2, 4)] clock_getres;
    [given_bytes(2, 3)] confstr strerror_r __xpg_strerror_r;
    [given_words(1, 1), given_words(2, 1)] getcpu;
    [given_bytes(1, 2)] arc4random_buf;
    [given_bytes(1, 2), text(3)] strfromd strfromf strfroml strfromf32 strfromf64 strfromf32x strfromf64x strfromf128;
}
