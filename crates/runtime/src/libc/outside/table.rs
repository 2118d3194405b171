//! The functions of libc that depend on state outside of memory, and on which.
//!
//! A line is what a function uses, and the functions of which that is true. `looks` is for those that certainly change nothing,
//! also when they fail; whoever is not sure writes `changes`. `printed` is for output to a stream, `ends` for what closes one. A number after the state is the
//! argument that tells which one of several it is, counted from 1.
//!
//! What is not here, nor stood before elsewhere, computes on its arguments and on the memory behind them alone. Functions that nobody
//! has looked at closely change `Outside`, which orders all of them; `reweave record` names those that two threads called.

use reweave_wire::outside::State::{self, *};

use crate::libc::outside::How::{Changes, Ends, Looks, Prints};
use crate::libc::outside::texts::{bytes, format, format_list, items, text, words};
use crate::libc::outside::use_of;

pub(crate) const fn looks(state: State) -> u32 {
    use_of(Looks, state, 0)
}

pub(crate) const fn looks_at(state: State, argument: u32) -> u32 {
    use_of(Looks, state, argument)
}

pub(crate) const fn changes(state: State) -> u32 {
    use_of(Changes, state, 0)
}

pub(crate) const fn changes_at(state: State, argument: u32) -> u32 {
    use_of(Changes, state, argument)
}

const fn ends(state: State, argument: u32) -> u32 {
    use_of(Ends, state, argument)
}

const fn printed(argument: u32) -> u32 {
    use_of(Prints, Stream, argument)
}

/// The numbers of arguments that stand for the standard streams.
const OUTPUT: u32 = 8;
const ERROR: u32 = 9;

/// Added to the number of an argument that is the name of a file.
pub(crate) const NAMED: u32 = crate::libc::outside::NAMED;

table! { "reweave_outside";
    // The environment.
    [looks(Environment), text(1)] getenv secure_getenv;
    [changes(Environment), text(1), text(2)] setenv;
    [changes(Environment), text(1)] putenv unsetenv;
    [changes(Environment)] clearenv;

    // Random numbers that are made one after another. Those that keep their state in memory of the caller are not here.
    [changes(Random)] rand srand random srandom initstate setstate drand48 erand48 lrand48 nrand48 mrand48 jrand48
        srand48 seed48 lcong48;

    // What is kept between two calls, or shared by all of them.
    [changes(Hidden)] strtok getopt getopt_long getopt_long_only getsubopt l64a ecvt fcvt qecvt qfcvt hcreate hsearch hdestroy
        ttyname ctermid cuserid ptsname inet_ntoa ether_ntoa ether_aton gai_strerror strsignal
        re_comp re_exec mblen mbtowc wctomb strerror;
    [changes(Hidden), text(1)] basename dirname a64l;
    [changes(Hidden), looks(TimeZone), words(1, 14)] asctime;
    [looks(Locale)] localeconv nl_langinfo wcscoll wcsxfrm wcsftime strfmon;
    [looks(Locale), text(1), text(2)] strcoll strcoll_l strptime;
    [looks(Locale), text(2)] strxfrm;
    [changes(Locale)] setlocale newlocale uselocale freelocale duplocale textdomain bindtextdomain bind_textdomain_codeset
        gettext dgettext dcgettext ngettext dngettext dcngettext catopen catgets catclose iconv_open iconv_close iconv;
    [changes(TimeZone), looks(Environment), words(1, 2)] localtime gmtime ctime;
    [changes(TimeZone), looks(Environment)] tzset getdate;
    [changes(TimeZone), looks(Environment), words(1, 14)] mktime timelocal;
    [looks(TimeZone), words(1, 14)] timegm;

    // Descriptors.
    [looks(Descriptors)] getdtablesize;
    [changes(Descriptors)] memfd_create timerfd_create signalfd inotify_init inotify_init1 fanotify_init
        getpt posix_openpt openpty;
    [changes(Descriptors), changes(Names)] mkstemp mkostemp mkstemps mkostemps mkstemp64 mkostemp64 mkstemps64 mkostemps64
        tmpfile tmpfile64;
    [changes(Descriptors), changes(Names), text(1)] shm_open shm_unlink;
    [changes(Descriptors), changes(Names), text(1), text(2)] fopen fopen64;
    [changes(Descriptors), changes_at(Stream, 3), changes(Names)] freopen freopen64;
    [ends(Stream, 1), changes(Descriptors)] fclose;
    [changes_at(File, 1)] fdopen;
    [changes(Descriptors), looks(Names), text(1)] opendir;
    [ends(Directory, 1), changes(Descriptors)] closedir;

    // Names.
    [looks(Names), looks(WorkingDirectory), text(1)] access euidaccess eaccess readlink __readlink_chk realpath __realpath_chk canonicalize_file_name glob
        glob64 statfs statfs64 statvfs statvfs64 pathconf getxattr lgetxattr listxattr llistxattr scandir scandir64 ftok;
    [looks(Names), looks(WorkingDirectory), text(2)] faccessat readlinkat __readlinkat_chk scandirat scandirat64;
    [changes(Names), looks(WorkingDirectory), looks(Umask), text(1)] mkdir mkfifo mknod;
    [changes(Names), looks(WorkingDirectory), looks(Umask), text(2)] mkdirat mkfifoat mknodat;
    [changes(Names), looks(WorkingDirectory), text(1)] unlink remove rmdir lchown lutimes setxattr lsetxattr removexattr
        lremovexattr mkdtemp mktemp nftw nftw64 ftw ftw64;
    [changes(Names), looks(WorkingDirectory), text(1), text(2)] rename link symlink;
    [changes(Names), looks(WorkingDirectory), text(2)] unlinkat fchmodat fchownat utimensat futimesat;
    [changes(Names), looks(WorkingDirectory), text(2), text(4)] renameat renameat2 linkat;
    [changes(Names), looks(WorkingDirectory), text(1), text(3)] symlinkat;
    [changes(Names), looks(WorkingDirectory)] tmpnam tmpnam_r tempnam fts_open fts_read fts_close;
    [looks(Names), looks(WorkingDirectory), looks_at(File, NAMED + 1), text(1)] stat stat64 lstat lstat64;
    [looks(Names), looks(WorkingDirectory), looks_at(File, NAMED + 2), text(2)] fstatat fstatat64 statx __xstat __xstat64 __lxstat
        __lxstat64;
    [looks(Names), looks(WorkingDirectory), looks_at(File, NAMED + 3), text(3)] __fxstatat __fxstatat64;
    [changes(Names), looks(WorkingDirectory), changes_at(File, NAMED + 1), text(1)] truncate truncate64 chmod chown utime utimes;

    // Open files.
    [looks_at(File, 1)] fstat fstat64 pread pread64 __pread_chk __pread64_chk preadv preadv64 __pread64 fpathconf fgetxattr flistxattr fstatfs fstatfs64 fstatvfs
        fstatvfs64 isatty getsockopt getsockname getpeername sockatmark tcgetattr timerfd_gettime;
    [looks_at(File, 2)] __fxstat __fxstat64;
    [changes_at(File, 1), bytes(2, 3)] pwrite pwrite64 __pwrite64;
    [changes_at(File, 1), format(2)] dprintf;
    [changes_at(File, 1), format(3)] __dprintf_chk;
    [changes_at(File, 1), format_list(2, 3)] vdprintf;
    [changes_at(File, 1), format_list(3, 4)] __vdprintf_chk;
    [changes_at(File, 1)] pwritev pwritev64 pwritev2 pwritev64v2 lseek __lseek lseek64 ftruncate ftruncate64 fallocate fallocate64
        posix_fallocate posix_fallocate64 ioctl fchmod fchown futimens futimes fsetxattr fremovexattr fdatasync listen bind shutdown
        setsockopt timerfd_settime inotify_add_watch inotify_rm_watch tcsetattr tcflush tcflow tcdrain
        tcsendbreak grantpt unlockpt sync_file_range getdents64;
    [changes(Names), changes(Outside)] sync syncfs;

    // Streams.
    [looks_at(Stream, 1)] feof ferror feof_unlocked ferror_unlocked ftell ftello ftello64 fgetpos fgetpos64;
    [changes_at(Stream, 1)] fseek fseeko fseeko64 fsetpos fsetpos64 rewind clearerr clearerr_unlocked
        fwide pclose;
    [changes_at(Stream, 2)] ungetc ungetwc;
    [printed(1)] fflush fflush_unlocked setbuf setbuffer setlinebuf setvbuf fwprintf vfwprintf;
    [printed(1), format(2)] fprintf;
    [printed(1), format(3)] __fprintf_chk;
    [printed(1), format_list(2, 3)] vfprintf;
    [printed(1), format_list(3, 4)] __vfprintf_chk;
    [printed(OUTPUT), format(1)] printf;
    [printed(OUTPUT), format(2)] __printf_chk;
    [printed(OUTPUT), format_list(1, 2)] vprintf;
    [printed(OUTPUT), format_list(2, 3)] __vprintf_chk;
    [printed(2), text(1)] fputs fputs_unlocked;
    [printed(2)] fputc putc putw fputwc putwc fputws fputc_unlocked putc_unlocked fputwc_unlocked
        putwc_unlocked fputws_unlocked;
    [printed(4), items(1, 2, 3)] fwrite fwrite_unlocked;
    [printed(OUTPUT), text(1)] puts;
    [printed(OUTPUT)] putchar putchar_unlocked putwchar putwchar_unlocked wprintf vwprintf;
    [printed(ERROR), text(1)] perror;
    [printed(ERROR), format(1)] warn warnx;
    [printed(ERROR)] psignal psiginfo vwarn vwarnx;

    // Directories that are read.
    [looks_at(Directory, 1)] telldir;
    [changes_at(Directory, 1), looks(Names)] readdir readdir64 readdir_r readdir64_r rewinddir seekdir;

    // Signals and timers. `sigaltstack` is not here: the stack is its own thread's, and every thread of Rust sets one.
    [looks(Signals)] sigpending;
    [changes(Signals)] sigprocmask pthread_sigmask sigset sighold sigrelse sigignore siginterrupt sigblock sigsetmask
        sigpause __sysv_signal sysv_signal ssignal;
    [changes(Signals), changes(Children)] killpg sigqueue pthread_sigqueue tgkill gsignal;
    [looks(Timers)] getitimer timer_gettime timer_getoverrun;
    [changes(Timers)] setitimer alarm ualarm timer_settime timer_delete;

    // Children. What they do is not seen, so whoever starts or ends one changes whatever it may.
    [changes(Children), changes(Descriptors), changes(Outside)] popen posix_spawn posix_spawnp;

    // The process.
    [looks(WorkingDirectory)] getcwd __getcwd_chk get_current_dir_name getwd;
    [changes(WorkingDirectory), text(1)] chdir chroot;
    [changes(WorkingDirectory)] fchdir;
    [changes(Umask)] umask;
    [looks(Process)] getrlimit getrlimit64 getpriority getuid geteuid getgid getegid getresuid getresgid getgroups getpgid getpgrp
        getsid getppid getrusage sched_getaffinity sched_getscheduler sched_getparam pthread_getaffinity_np
        pthread_getschedparam pthread_getname_np gethostname getdomainname uname sysinfo getloadavg times
        pthread_getattr_default_np pthread_getconcurrency;
    [changes(Process)] setrlimit setrlimit64 prlimit prlimit64 setpriority nice setuid seteuid setgid setegid setreuid setregid
        setresuid setresgid setgroups initgroups setfsuid setfsgid setpgid setpgrp setsid sched_setaffinity sched_setscheduler
        sched_setparam pthread_setaffinity_np pthread_setschedparam pthread_setschedprio pthread_setname_np sethostname
        setdomainname prctl personality pthread_setattr_default_np pthread_setconcurrency ulimit;
    [changes(Mappings)] brk sbrk shmat shmdt mlock mlock2 munlock mlockall munlockall madvise posix_madvise msync
        remap_file_pages mincore pkey_alloc pkey_free pkey_mprotect;
    [changes(Libraries)] dlclose dladdr dladdr1 dlinfo dlmopen dl_iterate_phdr;

    // Queues between processes, and threads.
    [changes(Ipc)] msgget msgctl semget semctl shmget shmctl mq_open mq_close mq_unlink mq_getattr mq_setattr
        sem_open sem_close sem_unlink;

    // Databases.
    [changes(Databases), text(1)] getpwnam getgrnam getpwnam_r getgrnam_r gethostbyname gethostbyname2 gethostbyname_r
        gethostbyname2_r;
    [changes(Databases), text(1), text(2)] getaddrinfo getservbyname getservbyname_r;
    [changes(Databases)] getpwuid getpwent setpwent endpwent getgrgid getgrent setgrent endgrent
         getpwuid_r getpwent_r getgrgid_r getgrent_r getgrouplist gethostbyaddr
          gethostbyaddr_r gethostent sethostent endhostent getnetbyname getnetbyaddr getnetent
        getprotobyname getprotobynumber getprotoent getservbyport getservent getservbyport_r
        getprotobyname_r getprotobynumber_r setservent endservent getnameinfo getifaddrs if_nametoindex if_indextoname
        if_nameindex getlogin getlogin_r getspnam getspnam_r setmntent endmntent addmntent getutent
        getutid getutline pututline setutent endutent utmpname getutxent getutxid getutxline pututxline setutxent endutxent
        __res_init res_query res_search innetgr getnetgrent setnetgrent endnetgrent;

    // The terminal and the log.
    [changes(Terminal), format(2)] syslog;
    [changes(Terminal), format(3)] __syslog_chk;
    [changes(Terminal)] openlog closelog setlogmask vsyslog getpass tcgetpgrp tcsetpgrp tcgetsid login_tty forkpty
        vhangup;

    // Nobody has looked at these closely.
    [changes(Outside), text(2)] regcomp regexec;
    [changes(Outside)] wordexp argp_parse argp_help argp_usage
        argp_error argp_failure acct adjtime adjtimex clock_settime settimeofday clock_adjtime ntp_adjtime ntp_gettime
        capget capset mount umount umount2 pivot_root swapon swapoff quotactl reboot unshare setns
        fanotify_mark name_to_handle_at open_by_handle_at process_vm_readv process_vm_writev ptrace
        fopencookie open_memstream open_wmemstream fmemopen obstack_printf obstack_vprintf register_printf_function
        register_printf_modifier register_printf_specifier register_printf_type mcheck mtrace muntrace backtrace
        backtrace_symbols backtrace_symbols_fd error error_at_line fmtmsg addseverity
        rcmd rexec ruserok iruserok rresvport bindresvport getaddrinfo_a gai_suspend gai_error gai_cancel
        getcontext setcontext swapcontext makecontext sigstack sigreturn on_exit;
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;
    use crate::libc::outside::entries::MOST_USES;
    use crate::libc::outside::texts;

    /// The functions of all tables.
    fn all() -> impl Iterator<Item = &'static (&'static str, &'static [u32])> {
        [TABLE, texts::computing::TABLE, texts::called::TABLE].into_iter().flatten().copied().flatten()
    }

    #[test]
    fn every_function_is_there_once_with_uses_that_can_be_told_apart() {
        let mut seen = HashSet::new();
        for (name, uses) in all() {
            assert!(seen.insert(name), "{name} is there twice");
            assert!((1..=MOST_USES).contains(&uses.len()), "{name}");
            let of = |part: &u32| (part >> 8 & 0xFF, part & 0xFF);
            let is_state = |part: &&u32| **part >> 24 == 1;
            let states: HashSet<_> = uses.iter().filter(is_state).map(of).collect();
            let count = uses.iter().filter(is_state).count();
            assert!(states.len() == count, "{name} uses a state in two ways");
            for &part in uses.iter().filter(is_state) {
                let several =
                    [Stream, File, Directory].contains(&State::from_code((part >> 8) as u8).unwrap());
                assert_eq!(several, part & 0xFF != 0, "{name}: one of several needs an argument");
            }
        }
    }

    /// What is told of a function must be told where the program calls it: libc has all of them.
    #[test]
    fn libc_has_every_function() {
        unsafe extern "C" {
            fn dlsym(
                handle: *mut core::ffi::c_void,
                name: *const core::ffi::c_char,
            ) -> *mut core::ffi::c_void;
        }
        let missing: Vec<&str> = all()
            .map(|&(name, _)| name)
            .filter(|name| {
                let text = std::ffi::CString::new(*name).unwrap();
                // SAFETY: the text ends in a zero, and null means the libraries of this program.
                unsafe { dlsym(std::ptr::null_mut(), text.as_ptr()) }.is_null()
            })
            .collect();
        assert_eq!(missing, NEWER_OR_GONE, "functions that this libc does not have");
    }

    /// Functions that some versions of libc lack.
    const NEWER_OR_GONE: &[&str] = &[];
}
