//! The functions of libc that depend on state outside of memory, and on which.
//!
//! A line is what a function uses, and the functions of which that is true. `looks` is for those that certainly change nothing,
//! also when they fail; whoever is not sure writes `changes`. `printed` is for output to a stream, `ends` for what closes one. A number after the state is the
//! argument that tells which one of several it is, counted from 1.
//!
//! What is not here, nor stood before elsewhere, computes on its arguments and on the memory behind them alone. Functions that nobody
//! has looked at closely change `Outside`, which orders all of them; `reweave record` names those
//! that were called.

use reweave_wire::outside::State::{self, *};

use crate::libc::outside::How::{Changes, Ends, Looks, Prints};
use crate::libc::outside::texts::{
    bytes, bytes_at, format, format_list, given, given_at, given_bytes, given_pieces, given_sized,
    given_text, given_words, items, pieces, text, text_at, text_to, wide, wide_format, wide_format_list,
    words,
};
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
    [changes(Random)] rand srand random srandom drand48 lrand48 mrand48 srand48;
    [changes(Random), given_bytes(2, 3)] initstate;
    [changes(Random), given(1)] setstate;
    [changes(Random), given_words(1, 2)] erand48 nrand48 jrand48;
    [changes(Random), words(1, 2)] seed48;
    [changes(Random), words(1, 4)] lcong48;

    // What is kept between two calls, or shared by all of them.
    [changes(Hidden), given_text(1), text(2)] strtok;
    [changes(Hidden), given(2), text(3)] getopt;
    [changes(Hidden), given(2), text(3), words(4, 8), given_words(5, 1)] getopt_long getopt_long_only;
    [changes(Hidden), text_at(1), given_words(1, 2), given(2), given_words(3, 2)] getsubopt;
    [changes(Hidden)] l64a hcreate hdestroy ttyname ptsname inet_ntoa gai_strerror strsignal strerror;
    [changes(Hidden), given_words(3, 1), given_words(4, 1)] ecvt fcvt qecvt qfcvt;
    [changes(Hidden), text(1)] hsearch ether_aton re_comp re_exec;
    [changes(Hidden), given(1)] ctermid cuserid;
    [changes(Hidden), words(1, 2)] ether_ntoa;
    [changes(Hidden), text_to(1, 2)] mblen;
    [changes(Hidden), given_words(1, 1), text_to(2, 3)] mbtowc;
    [changes(Hidden), given_words(1, 4)] wctomb;
    [changes(Hidden), text(1)] basename dirname a64l;
    [changes(Hidden), looks(TimeZone), words(1, 14)] asctime;
    [looks(Locale)] localeconv nl_langinfo __ctype_get_mb_cur_max btowc wctob wcwidth iswalnum iswalpha iswblank iswcntrl iswctype iswdigit
        iswgraph iswlower iswprint iswpunct iswspace iswupper iswxdigit towlower towupper towctrans;
    [looks(Locale), text(1)] wctype wctrans;
    [looks(Locale), wide(1, 0), wide(2, 0)] wcscoll;
    [looks(Locale), given_sized(1, 3, 4), wide(2, 0)] wcsxfrm;
    [looks(Locale), given_sized(1, 2, 4), wide(3, 0), words(4, 14)] wcsftime;
    [looks(Locale), given_bytes(1, 2), text(3)] strfmon;
    [looks(Locale), text(1), text(2)] strcoll strcoll_l;
    [looks(Locale), text(1), text(2), given_words(3, 14)] strptime;
    [looks(Locale), text(2), given_bytes(1, 3)] strxfrm;
    [changes(Locale), text(2)] setlocale newlocale;
    [changes(Locale)] uselocale freelocale duplocale catclose iconv_close;
    [changes(Locale), text(1)] textdomain gettext catopen;
    [changes(Locale), text(1), text(2)] bindtextdomain bind_textdomain_codeset dgettext dcgettext ngettext iconv_open;
    [changes(Locale), text(1), text(2), text(3)] dngettext dcngettext;
    [changes(Locale), text(4)] catgets;
    [changes(Locale), bytes_at(2, 3), given_at(4, 5), given_words(2, 2), given_words(3, 2), given_words(4, 2), given_words(5, 2)] iconv;
    [changes(TimeZone), looks(Environment), words(1, 2)] localtime gmtime ctime;
    [changes(TimeZone), looks(Environment)] tzset;
    [changes(TimeZone), looks(Environment), text(1)] getdate;
    [changes(TimeZone), looks(Environment), words(1, 14)] mktime timelocal;
    [looks(TimeZone), words(1, 14)] timegm;

    // Descriptors.
    [looks(Descriptors)] getdtablesize;
    [changes(Descriptors), given_words(1, 1), given_words(2, 1), given(3), words(4, 15), words(5, 2)] openpty;
    [changes(Descriptors), changes(Names)] tmpfile tmpfile64;
    [changes(Descriptors), changes(Names), text(1)] shm_unlink;
    [changes(Descriptors), changes(Names), text(1), text(2)] fopen fopen64;
    [changes(Descriptors), changes_at(Stream, 3), changes(Names), text(1), text(2)] freopen freopen64;
    [ends(Stream, 1), changes(Descriptors)] fclose;
    [changes_at(File, 1), text(2)] fdopen;
    [changes(Descriptors), looks(Names), text(1)] opendir;
    [ends(Directory, 1), changes(Descriptors)] closedir;

    // Names.
    [looks(Names), looks(WorkingDirectory), text(1)] access euidaccess eaccess canonicalize_file_name pathconf ftok;
    [looks(Names), looks(WorkingDirectory), text(1), given_bytes(2, 3)] readlink __readlink_chk listxattr llistxattr;
    [looks(Names), looks(WorkingDirectory), text(1), given(2)] realpath __realpath_chk;
    [looks(Names), looks(WorkingDirectory), text(1), given_words(4, 18)] glob glob64;
    [looks(Names), looks(WorkingDirectory), text(1), given_words(2, 30)] statfs statfs64;
    [looks(Names), looks(WorkingDirectory), text(1), given_words(2, 28)] statvfs statvfs64;
    [looks(Names), looks(WorkingDirectory), text(1), text(2), given_bytes(3, 4)] getxattr lgetxattr;
    [looks(Names), looks(WorkingDirectory), text(1), given_words(2, 2)] scandir scandir64;
    [looks(Names), looks(WorkingDirectory), text(2)] faccessat;
    [looks(Names), looks(WorkingDirectory), text(2), given_bytes(3, 4)] readlinkat __readlinkat_chk;
    [looks(Names), looks(WorkingDirectory), text(2), given_words(3, 2)] scandirat scandirat64;
    [changes(Names), looks(WorkingDirectory), looks(Umask), text(1)] mkdir mkfifo mknod;
    [changes(Names), looks(WorkingDirectory), looks(Umask), text(2)] mkdirat mkfifoat mknodat;
    [changes(Names), looks(WorkingDirectory), text(1)] unlink remove rmdir lchown mkdtemp mktemp nftw nftw64 ftw ftw64;
    [changes(Names), looks(WorkingDirectory), text(1), words(2, 8)] lutimes;
    [changes(Names), looks(WorkingDirectory), text(1), text(2), bytes(3, 4)] setxattr lsetxattr;
    [changes(Names), looks(WorkingDirectory), text(1), text(2)] removexattr lremovexattr;
    [changes(Names), looks(WorkingDirectory), text(1), text(2)] rename link symlink;
    [changes(Names), looks(WorkingDirectory), text(2)] unlinkat fchmodat fchownat;
    [changes(Names), looks(WorkingDirectory), text(2), words(3, 8)] utimensat futimesat;
    [changes(Names), looks(WorkingDirectory), text(2), text(4)] renameat renameat2 linkat;
    [changes(Names), looks(WorkingDirectory), text(1), text(3)] symlinkat;
    [changes(Names), looks(WorkingDirectory), given(1)] tmpnam tmpnam_r fts_open;
    [changes(Names), looks(WorkingDirectory), text(1), text(2)] tempnam;
    [changes(Names), looks(WorkingDirectory)] fts_read fts_close;
    [looks(Names), looks(WorkingDirectory), looks_at(File, NAMED + 1), text(1), given_words(2, 36)] stat stat64 lstat lstat64;
    [looks(Names), looks(WorkingDirectory), looks_at(File, NAMED + 2), text(2), given_words(3, 36)] fstatat fstatat64 __xstat __xstat64 __lxstat
        __lxstat64;
    [looks(Names), looks(WorkingDirectory), looks_at(File, NAMED + 2), text(2), given_words(5, 64)] statx;
    [looks(Names), looks(WorkingDirectory), looks_at(File, NAMED + 3), text(3), given_words(4, 36)] __fxstatat __fxstatat64;
    [changes(Names), looks(WorkingDirectory), changes_at(File, NAMED + 1), text(1)] truncate truncate64 chmod chown;
    [changes(Names), looks(WorkingDirectory), changes_at(File, NAMED + 1), text(1), words(2, 4)] utime;
    [changes(Names), looks(WorkingDirectory), changes_at(File, NAMED + 1), text(1), words(2, 8)] utimes;

    // Open files.
    [looks_at(File, 1), given_words(2, 36)] fstat fstat64;
    [looks_at(File, 1), given_bytes(2, 3)] pread pread64 __pread_chk __pread64_chk __pread64 flistxattr;
    [looks_at(File, 1), given_pieces(2, 3)] preadv preadv64;
    [looks_at(File, 1)] fpathconf isatty sockatmark;
    [looks_at(File, 1), text(2), given_bytes(3, 4)] fgetxattr;
    [looks_at(File, 1), given_words(2, 30)] fstatfs fstatfs64;
    [looks_at(File, 1), given_words(2, 28)] fstatvfs fstatvfs64;
    [looks_at(File, 1), given(4), given_words(5, 1)] getsockopt;
    [looks_at(File, 1), given(2), given_words(3, 1)] getsockname getpeername;
    [looks_at(File, 1), given_words(2, 15)] tcgetattr;
    [looks_at(File, 1), given_words(2, 8)] timerfd_gettime;
    [looks_at(File, 2), given_words(3, 36)] __fxstat __fxstat64;
    [changes_at(File, 1), bytes(2, 3)] pwrite pwrite64 __pwrite64;
    [changes_at(File, 1), format(2)] dprintf;
    [changes_at(File, 1), format(3)] __dprintf_chk;
    [changes_at(File, 1), format_list(2, 3)] vdprintf;
    [changes_at(File, 1), format_list(3, 4)] __vdprintf_chk;
    [changes_at(File, 1), pieces(2, 3)] pwritev pwritev64 pwritev2 pwritev64v2;
    [changes_at(File, 1)] lseek __lseek lseek64 ftruncate ftruncate64 fallocate fallocate64 posix_fallocate posix_fallocate64 fchmod fchown fdatasync
        listen shutdown inotify_rm_watch tcflush tcflow tcdrain tcsendbreak grantpt unlockpt sync_file_range;
    [changes_at(File, 1), given(3)] ioctl;
    [changes_at(File, 1), words(2, 8)] futimens futimes;
    [changes_at(File, 1), text(2), bytes(3, 4)] fsetxattr;
    [changes_at(File, 1), text(2)] fremovexattr inotify_add_watch;
    [changes_at(File, 1), bytes(2, 3)] bind;
    [changes_at(File, 1), bytes(4, 5)] setsockopt;
    [changes_at(File, 1), words(3, 8), given_words(4, 8)] timerfd_settime;
    [changes_at(File, 1), words(3, 15)] tcsetattr;
    [changes_at(File, 1), given_bytes(2, 3)] getdents64;
    [changes(Names), changes(Outside)] sync syncfs;

    // Streams.
    [looks_at(Stream, 1)] feof ferror feof_unlocked ferror_unlocked ftell ftello ftello64;
    [looks_at(Stream, 1), given_words(2, 4)] fgetpos fgetpos64;
    [changes_at(Stream, 1)] fseek fseeko fseeko64 rewind clearerr clearerr_unlocked fwide pclose;
    [changes_at(Stream, 1), words(2, 4)] fsetpos fsetpos64;
    [changes_at(Stream, 2)] ungetc ungetwc;
    [printed(1)] fflush fflush_unlocked setbuf setbuffer setlinebuf setvbuf;
    [printed(1), wide_format(2)] fwprintf;
    [printed(1), wide_format_list(2, 3)] vfwprintf;
    [printed(1), format(2)] fprintf;
    [printed(1), format(3)] __fprintf_chk;
    [printed(1), format_list(2, 3)] vfprintf;
    [printed(1), format_list(3, 4)] __vfprintf_chk;
    [printed(OUTPUT), format(1)] printf;
    [printed(OUTPUT), format(2)] __printf_chk;
    [printed(OUTPUT), format_list(1, 2)] vprintf;
    [printed(OUTPUT), format_list(2, 3)] __vprintf_chk;
    [printed(2), text(1)] fputs fputs_unlocked;
    [printed(2)] fputc putc putw fputwc putwc fputc_unlocked putc_unlocked fputwc_unlocked putwc_unlocked;
    [printed(2), wide(1, 0)] fputws fputws_unlocked;
    [printed(4), items(1, 2, 3)] fwrite fwrite_unlocked;
    [printed(OUTPUT), text(1)] puts;
    [printed(OUTPUT)] putchar putchar_unlocked putwchar putwchar_unlocked;
    [printed(OUTPUT), wide_format(1)] wprintf;
    [printed(OUTPUT), wide_format_list(1, 2)] vwprintf;
    [printed(ERROR), text(1)] perror;
    [printed(ERROR), format(1)] warn warnx;
    [printed(ERROR), text(2)] psignal;
    [printed(ERROR), words(1, 32), text(2)] psiginfo;
    [printed(ERROR), format_list(1, 2)] vwarn vwarnx;

    // Directories that are read.
    [looks_at(Directory, 1)] telldir;
    [changes_at(Directory, 1), looks(Names)] readdir readdir64 rewinddir seekdir;
    [changes_at(Directory, 1), looks(Names), given_words(2, 70), given_words(3, 2)] readdir_r readdir64_r;

    // Signals and timers. `sigaltstack` is not here: the stack is its own thread's, and every thread of Rust sets one.
    [looks(Signals), given_words(1, 32)] sigpending;
    [changes(Signals), words(2, 32), given_words(3, 32)] sigprocmask pthread_sigmask;
    [changes(Signals)] sigset sighold sigrelse sigignore siginterrupt sigblock sigsetmask sigpause __sysv_signal sysv_signal ssignal;
    [changes(Signals), changes(Children)] killpg sigqueue pthread_sigqueue tgkill gsignal;
    [looks(Timers), given_words(2, 8)] getitimer timer_gettime;
    [looks(Timers)] timer_getoverrun;
    [changes(Timers), words(2, 8), given_words(3, 8)] setitimer;
    [changes(Timers)] alarm ualarm timer_delete;
    [changes(Timers), words(3, 8), given_words(4, 8)] timer_settime;

    // Children. What they do is not seen, so whoever starts or ends one changes whatever it may.
    [changes(Children), changes(Descriptors), changes(Outside), text(1), text(2)] popen;
    [changes(Children), changes(Descriptors), changes(Outside), given_words(1, 1), text(2), given_words(3, 20), given_words(4, 84), given(5), given(6)]
        posix_spawn posix_spawnp;

    // The process.
    [looks(WorkingDirectory), given_bytes(1, 2)] getcwd __getcwd_chk;
    [looks(WorkingDirectory)] get_current_dir_name;
    [looks(WorkingDirectory), given(1)] getwd;
    [changes(WorkingDirectory), text(1)] chdir chroot;
    [changes(WorkingDirectory)] fchdir;
    [changes(Umask)] umask;
    [looks(Process), given_words(2, 4)] getrlimit getrlimit64;
    [looks(Process)] getpriority getuid geteuid getgid getegid getpgid getpgrp getsid getppid sched_getscheduler pthread_getconcurrency;
    [looks(Process), given_words(1, 1), given_words(2, 1), given_words(3, 1)] getresuid getresgid;
    [looks(Process), given_sized(2, 1, 4)] getgroups;
    [looks(Process), given_words(2, 36)] getrusage;
    [looks(Process), given_bytes(3, 2)] sched_getaffinity pthread_getaffinity_np;
    [looks(Process), given_words(2, 1)] sched_getparam;
    [looks(Process), given_words(2, 1), given_words(3, 1)] pthread_getschedparam;
    [looks(Process), given_bytes(2, 3)] pthread_getname_np;
    [looks(Process), given_bytes(1, 2)] gethostname getdomainname;
    [looks(Process), given_words(1, 98)] uname;
    [looks(Process), given_words(1, 28)] sysinfo;
    [looks(Process), given_sized(1, 2, 8)] getloadavg;
    [looks(Process), given_words(1, 8)] times;
    [looks(Process), given_words(1, 14)] pthread_getattr_default_np;
    [changes(Process), words(2, 4)] setrlimit setrlimit64;
    [changes(Process), words(3, 4), given_words(4, 4)] prlimit prlimit64;
    [changes(Process)] setpriority nice setuid seteuid setgid setegid setreuid setregid setresuid setresgid setfsuid setfsgid setpgid setpgrp setsid
        pthread_setschedprio personality pthread_setconcurrency ulimit;
    [changes(Process), given_sized(2, 1, 4)] setgroups;
    [changes(Process), text(1)] initgroups;
    [changes(Process), bytes(3, 2)] sched_setaffinity pthread_setaffinity_np;
    [changes(Process), words(3, 1)] sched_setscheduler pthread_setschedparam;
    [changes(Process), words(2, 1)] sched_setparam;
    [changes(Process), text(2)] pthread_setname_np;
    [changes(Process), bytes(1, 2)] sethostname setdomainname;
    [changes(Process), given(2)] prctl;
    [changes(Process), words(1, 14)] pthread_setattr_default_np;
    [changes(Mappings)] brk sbrk mlock mlock2 munlock mlockall munlockall madvise posix_madvise msync remap_file_pages pkey_alloc
        pkey_free pkey_mprotect;
    [changes(Mappings), given(3)] mincore;
    [changes(Libraries)] dlclose dl_iterate_phdr;
    [changes(Libraries), given_words(2, 8)] dladdr;
    [changes(Libraries), given_words(2, 8), given_words(3, 2)] dladdr1;
    [changes(Libraries), given(3)] dlinfo;
    [changes(Libraries), text(2)] dlmopen;

    // Queues between processes, and threads.
    [changes(Ipc)] msgget semget shmget mq_close sem_close;
    [changes(Ipc), given_words(3, 30)] msgctl;
    [changes(Ipc), given(4)] semctl;
    [changes(Ipc), given_words(3, 28)] shmctl;
    [changes(Ipc), text(1)] mq_open mq_unlink sem_open sem_unlink;
    [changes(Ipc), given_words(2, 16)] mq_getattr;
    [changes(Ipc), words(2, 16), given_words(3, 16)] mq_setattr;

    // Databases.
    [changes(Databases), text(1)] getpwnam getgrnam gethostbyname gethostbyname2;
    [changes(Databases), text(1), given_words(2, 12), given_bytes(3, 4), given_words(5, 2)] getpwnam_r;
    [changes(Databases), text(1), given_words(2, 8), given_bytes(3, 4), given_words(5, 2)] getgrnam_r;
    [changes(Databases), text(1), given_words(2, 8), given_bytes(3, 4), given_words(5, 2), given_words(6, 1)] gethostbyname_r;
    [changes(Databases), text(1), given_words(3, 8), given_bytes(4, 5), given_words(6, 2)] gethostbyname2_r;
    [changes(Databases), text(1), text(2), words(3, 12), given_words(4, 2)] getaddrinfo;
    [changes(Databases), text(1), text(2)] getservbyname;
    [changes(Databases), text(1), text(2), given_words(3, 8), given_bytes(4, 5), given_words(6, 2)] getservbyname_r;
    [changes(Databases)] getpwuid getpwent setpwent endpwent getgrgid getgrent setgrent endgrent gethostent sethostent endhostent getnetbyaddr
        getnetent getprotobynumber getprotoent getservent setservent endservent if_nameindex getlogin endmntent getutent setutent endutent getutxent
        setutxent endutxent __res_init endnetgrent;
    [changes(Databases), given_words(2, 12), given_bytes(3, 4), given_words(5, 2)] getpwuid_r;
    [changes(Databases), given_words(1, 12), given_bytes(2, 3), given_words(4, 2)] getpwent_r;
    [changes(Databases), given_words(2, 8), given_bytes(3, 4), given_words(5, 2)] getgrgid_r;
    [changes(Databases), given_words(1, 8), given_bytes(2, 3), given_words(4, 2)] getgrent_r;
    [changes(Databases), text(1), given(3), given_words(4, 1)] getgrouplist;
    [changes(Databases), bytes(1, 2)] gethostbyaddr;
    [changes(Databases), bytes(1, 2), given_words(4, 8), given_bytes(5, 6)] gethostbyaddr_r;
    [changes(Databases), text(1)] getnetbyname getprotobyname if_nametoindex getspnam utmpname setnetgrent;
    [changes(Databases), text(2)] getservbyport;
    [changes(Databases), text(2), given_words(3, 8), given_bytes(4, 5), given_words(6, 2)] getservbyport_r;
    [changes(Databases), text(1), given_words(2, 6), given_bytes(3, 4), given_words(5, 2)] getprotobyname_r;
    [changes(Databases), given_words(2, 6), given_bytes(3, 4), given_words(5, 2)] getprotobynumber_r;
    [changes(Databases), bytes(1, 2), given_bytes(3, 4), given_bytes(5, 6)] getnameinfo;
    [changes(Databases), given_words(1, 2)] getifaddrs;
    [changes(Databases), given_words(2, 4)] if_indextoname;
    [changes(Databases), given_bytes(1, 2)] getlogin_r;
    [changes(Databases), text(1), given_words(2, 18), given_bytes(3, 4), given_words(5, 2)] getspnam_r;
    [changes(Databases), text(1), text(2)] setmntent;
    [changes(Databases), words(2, 10)] addmntent;
    [changes(Databases), words(1, 96)] getutid getutline pututline getutxid getutxline pututxline;
    [changes(Databases), text(1), given_bytes(4, 5)] res_query res_search;
    [changes(Databases), text(1), text(2), text(3), text(4)] innetgr;
    [changes(Databases), given_words(1, 2), given_words(2, 2), given_words(3, 2)] getnetgrent;

    // The terminal and the log.
    [changes(Terminal), format(2)] syslog;
    [changes(Terminal), format(3)] __syslog_chk;
    [changes(Terminal), text(1)] openlog getpass;
    [changes(Terminal)] closelog setlogmask tcgetpgrp tcsetpgrp tcgetsid login_tty vhangup;
    [changes(Terminal), format_list(2, 3)] vsyslog;
    [changes(Terminal), given_words(1, 1), given(2), words(3, 15), words(4, 2)] forkpty;

    // Nobody has looked at these closely.
    [changes(Outside), text(2), given_words(1, 16)] regcomp;
    [changes(Outside), text(2), given_words(1, 16), given_sized(4, 3, 8)] regexec;
    [changes(Outside), text(1), given(2)] wordexp;
    [changes(Outside), given(1), given(3), given_words(5, 1), given(6)] argp_parse;
    [changes(Outside), words(1, 14), given_text(4)] argp_help;
    [changes(Outside), words(1, 24)] argp_usage;
    [changes(Outside), words(1, 24), text(2)] argp_error;
    [changes(Outside), words(1, 24), text(4)] argp_failure;
    [changes(Outside), text(1)] acct umount umount2 swapon swapoff;
    [changes(Outside), words(1, 4), given_words(2, 4)] adjtime;
    [changes(Outside), given_words(1, 52)] adjtimex ntp_adjtime;
    [changes(Outside), words(2, 4)] clock_settime;
    [changes(Outside), words(1, 4), words(2, 2)] settimeofday;
    [changes(Outside), given_words(2, 52)] clock_adjtime;
    [changes(Outside), given_words(1, 18)] ntp_gettime;
    [changes(Outside), given(1), given(2)] capget capset;
    [changes(Outside), text(1), text(2), text(3), given(5)] mount;
    [changes(Outside), text(1), text(2)] pivot_root;
    [changes(Outside), text(2)] quotactl fopencookie addseverity;
    [changes(Outside)] reboot unshare setns register_printf_function register_printf_specifier register_printf_type mcheck mtrace muntrace on_exit;
    [changes(Outside), text(5)] fanotify_mark;
    [changes(Outside), text(2), given(3), given_words(4, 1)] name_to_handle_at;
    [changes(Outside), given(2)] open_by_handle_at;
    [changes(Outside), given_pieces(2, 3)] process_vm_readv;
    [changes(Outside), pieces(2, 3)] process_vm_writev;
    [changes(Outside), given(3), given(4)] ptrace;
    [changes(Outside), given_words(1, 2), given_words(2, 2)] open_memstream open_wmemstream;
    [changes(Outside), given_bytes(1, 2), text(3)] fmemopen;
    [changes(Outside), given(1), format(2)] obstack_printf;
    [changes(Outside), given(1), format_list(2, 3)] obstack_vprintf;
    [changes(Outside), wide(1, 0)] register_printf_modifier;
    [changes(Outside), given_sized(1, 2, 8)] backtrace;
    [changes(Outside), given_sized(1, 2, 8)] backtrace_symbols backtrace_symbols_fd;
    [changes(Outside), format(3)] error;
    [changes(Outside), text(3), format(5)] error_at_line;
    [changes(Outside), text(2), text(4), text(5), text(6)] fmtmsg;
    [changes(Outside), given_words(1, 2), text(3), text(4), text(5), given_words(6, 1)] rcmd rexec;
    [changes(Outside), text(1), text(3), text(4)] ruserok;
    [changes(Outside), text(3), text(4)] iruserok;
    [changes(Outside), given_words(1, 1)] rresvport;
    [changes(Outside), given_words(2, 4)] bindresvport;
    [changes(Outside), given_words(2, 2), given_words(4, 16)] getaddrinfo_a;
    [changes(Outside), given(1), words(3, 4)] gai_suspend;
    [changes(Outside), given_words(1, 14)] gai_error gai_cancel;
    [changes(Outside), given_words(1, 242)] getcontext makecontext;
    [changes(Outside), words(1, 242)] setcontext;
    [changes(Outside), given_words(1, 242), words(2, 242)] swapcontext;
    [changes(Outside), given_words(1, 4), given_words(2, 4)] sigstack;
    [changes(Outside), given_words(1, 64)] sigreturn;
}

#[cfg(test)]
mod tests;
