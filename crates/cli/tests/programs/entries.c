// A call of each function of libc that depends on state outside of memory. Two threads, one after
// the other, make each of them. What a call gives is printed, so that a recorded run can be
// compared with one that is not. Each call is in a function of its own, by whose name its events
// are found.
#define _GNU_SOURCE
#include <argp.h>
#include <arpa/inet.h>
#include <ctype.h>
#include <dirent.h>
#include <dlfcn.h>
#include <err.h>
#include <errno.h>
#include <error.h>
#include <execinfo.h>
#include <fcntl.h>
#include <fmtmsg.h>
#include <fts.h>
#include <ftw.h>
#include <getopt.h>
#include <glob.h>
#include <grp.h>
#include <iconv.h>
#include <ifaddrs.h>
#include <langinfo.h>
#include <libgen.h>
#include <libintl.h>
#include <link.h>
#include <locale.h>
#include <mcheck.h>
#include <mntent.h>
#include <monetary.h>
#include <mqueue.h>
#include <net/if.h>
#include <netdb.h>
#include <netinet/ether.h>
#include <nl_types.h>
#include <obstack.h>
#include <printf.h>
#include <pthread.h>
#include <pty.h>
#include <pwd.h>
#include <regex.h>
#include <resolv.h>
#include <sched.h>
#include <search.h>
#include <semaphore.h>
#include <shadow.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/fanotify.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/msg.h>
#include <sys/prctl.h>
#include <sys/personality.h>
#include <sys/quota.h>
#include <sys/reboot.h>
#include <sys/resource.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/swap.h>
#include <sys/sysinfo.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <sys/times.h>
#include <sys/timex.h>
#include <sys/uio.h>
#include <sys/utsname.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <syslog.h>
#include <termios.h>
#include <time.h>
#include <ucontext.h>
#include <ulimit.h>
#include <unistd.h>
#include <utime.h>
#include <utmp.h>
#include <utmpx.h>
#include <wchar.h>
#include <wctype.h>
#include <wordexp.h>

#undef basename
char *basename(const char *);
// What headers do not declare, or only under other names.
char *__realpath_chk(const char *, char *, size_t);
ssize_t __readlink_chk(const char *, char *, size_t, size_t);
ssize_t __readlinkat_chk(int, const char *, char *, size_t, size_t);
ssize_t __pread_chk(int, void *, size_t, off_t, size_t);
ssize_t __pread64_chk(int, void *, size_t, off_t, size_t);
ssize_t __pread64(int, void *, size_t, off_t);
ssize_t __pwrite64(int, const void *, size_t, off_t);
off_t __lseek(int, off_t, int);
int __dprintf_chk(int, int, const char *, ...);
int __vdprintf_chk(int, int, const char *, va_list);
int __fprintf_chk(FILE *, int, const char *, ...);
int __vfprintf_chk(FILE *, int, const char *, va_list);
int __printf_chk(int, const char *, ...);
int __vprintf_chk(int, const char *, va_list);
char *__getcwd_chk(char *, size_t, size_t);
void __syslog_chk(int, int, const char *, ...);
int __xstat(int, const char *, struct stat *), __xstat64(int, const char *, struct stat64 *);
int __lxstat(int, const char *, struct stat *), __lxstat64(int, const char *, struct stat64 *);
int __fxstat(int, int, struct stat *), __fxstat64(int, int, struct stat64 *);
int __fxstatat(int, int, const char *, struct stat *, int), __fxstatat64(int, int, const char *, struct stat64 *, int);
int acct(const char *), capget(void *, void *), capset(void *, void *), pivot_root(const char *, const char *);
int scandirat64(int, const char *, struct dirent64 ***, int (*)(const struct dirent64 *),
                int (*)(const struct dirent64 **, const struct dirent64 **));
__sighandler_t __sysv_signal(int, __sighandler_t);

static int fd, sock, tty, ends[2];
static FILE *stream, *nowhere, *made;
static DIR *dir, *both;
static char text[4096], text2[4096], seeded[64];
static wchar_t wide[64];
static struct stat about;
static struct stat64 about64;
static struct statfs fs;
static struct statfs64 fs64;
static struct statvfs vfs;
static struct statvfs64 vfs64;
static struct tm tm;
static time_t second;
static struct termios terminal;
static struct rlimit limit;
static struct rlimit64 limit64;
static struct itimerval interval;
static struct itimerspec spec;
static timer_t timer;
static sigset_t set;
static struct spwd shadow, *shadows;
static struct passwd user, *users;
static struct group group, *groups;
static struct hostent host, *hosts;
static struct servent service, *services;
static struct protoent protocol, *protocols;
static struct sockaddr_in address = {.sin_family = AF_INET};
static socklen_t size;
static struct addrinfo *infos;
static struct dirent *entry, **entries;
static struct dirent64 *entry64, **entries64;
static void *at;
static int number, wrong;
static unsigned ids[64];
static struct sched_param param;
static cpu_set_t cores;
static pthread_attr_t attributes;
static locale_t place;
static iconv_t conversion;
static glob_t found;
static glob64_t found64;
static FTS *walk;
static fpos_t position;
static fpos64_t position64;
static struct random_data numbers;
static unsigned short seeds[7];
static regex_t pattern;
static struct obstack stack_of;
static mqd_t queue;
static sem_t *semaphore;
static ucontext_t context;
static pid_t child;
static void *page;
static struct timex clock_state;
static struct ifaddrs *interfaces;
static struct if_nameindex *names;
static struct iovec piece = {text, 2};
static struct sigevent no_event = {.sigev_notify = SIGEV_NONE};
static struct file_handle *handle;

static void nothing(int number) { (void)number; }
static int visit(const char *name, const struct stat *about, int kind) { return name && about && kind < 0; }
static int visit64(const char *name, const struct stat64 *about, int kind) { return name && about && kind < 0; }
static int walked(const char *n, const struct stat *a, int k, struct FTW *f) { return n && a && f && k < 0; }
static int walked64(const char *n, const struct stat64 *a, int k, struct FTW *f) { return n && a && f && k < 0; }
static int library(struct dl_phdr_info *info, size_t size, void *data) { return !info && size && data; }
static int printed(FILE *out, const struct printf_info *info, const void *const *arguments) { return !out && info && arguments; }
static int sized(const struct printf_info *info, size_t n, int *types, int *sizes) { return info && n && types && sizes && 0; }
static void value(void *memory, va_list *list) { (void)memory, (void)list; }
static int modified(const struct printf_info *info, size_t n, int *types) { return info && n && types && 0; }
static void at_exit(int status, void *data) { (void)status, (void)data; }
static void *chunk(size_t size) { return malloc(size); }
#define obstack_chunk_alloc chunk
#define obstack_chunk_free free

// Calls with a list of arguments.
#define L(name, call) \
    __attribute__((noinline)) static long e_##name(const char *format, ...) { \
        va_list list; \
        va_start(list, format); \
        long got = call; \
        va_end(list); \
        return got; \
    }
L(vprintf, vprintf(format, list))
L(__vprintf_chk, __vprintf_chk(1, format, list))
L(vfprintf, vfprintf(nowhere, format, list))
L(__vfprintf_chk, __vfprintf_chk(nowhere, 1, format, list))
L(vdprintf, vdprintf(fd, format, list))
L(__vdprintf_chk, __vdprintf_chk(fd, 1, format, list))
L(vfwprintf, vfwprintf(made, L"%d", list))
L(vwprintf, vwprintf(L"%d", list))
L(vwarn, (vwarn(format, list), 0))
L(vwarnx, (vwarnx(format, list), 0))
L(vsyslog, (vsyslog(LOG_DEBUG, format, list), 0))
L(obstack_vprintf, obstack_vprintf(&stack_of, format, list))

// E: a call. S: the same, with something to be done before. N: one that gives nothing. L: one with
// a list of arguments.
#define ALL \
    E(getenv, getenv("HOME") != 0) E(secure_getenv, secure_getenv("HOME") != 0) E(setenv, setenv("one", "1", 1)) \
    E(putenv, putenv("two=2")) E(unsetenv, unsetenv("one")) \
    E(rand, rand()) N(srand, srand(3)) E(random, random()) N(srandom, srandom(3)) \
    E(initstate, initstate(3, seeded, sizeof seeded) != 0) E(setstate, setstate(seeded) != 0) E(drand48, drand48() * 1000) \
    E(erand48, erand48(seeds) * 1000) E(lrand48, lrand48()) E(nrand48, nrand48(seeds)) E(mrand48, mrand48()) \
    E(jrand48, jrand48(seeds)) N(srand48, srand48(5)) E(seed48, seed48(seeds) != 0) N(lcong48, lcong48(seeds)) \
    E(strtok, strtok(strcpy(text, "a b"), " ") == text) E(getopt, (optind = 1, getopt(2, (char *[]){"a", "-x", 0}, "x"))) \
    E(getopt_long, (optind = 1, getopt_long(2, (char *[]){"a", "-x", 0}, "x", (struct option[]){{0}}, 0))) \
    E(getopt_long_only, (optind = 1, getopt_long_only(2, (char *[]){"a", "-x", 0}, "x", (struct option[]){{0}}, 0))) \
    E(getsubopt, ({ char *rest = strcpy(text, "a,b"), *is; getsubopt(&rest, (char *[]){"a", 0}, &is); })) \
    E(l64a, l64a(77)[0]) E(ecvt, ecvt(1.5, 3, &number, &wrong)[0]) E(fcvt, fcvt(1.5, 3, &number, &wrong)[0]) \
    E(qecvt, qecvt(1.5, 3, &number, &wrong)[0]) E(qfcvt, qfcvt(1.5, 3, &number, &wrong)[0]) \
    E(hcreate, hcreate(8)) E(hsearch, hsearch((ENTRY){"a", 0}, ENTER) != 0) N(hdestroy, hdestroy()) \
    E(ttyname, ttyname(0) != 0) E(ctermid, ctermid(text)[0]) E(cuserid, cuserid(text) != 0) E(ptsname, ptsname(fd) != 0) \
    E(inet_ntoa, inet_ntoa(address.sin_addr)[0]) E(ether_ntoa, ether_ntoa((struct ether_addr *)text) != 0) \
    E(ether_aton, ether_aton("0:1:2:3:4:5") != 0) E(gai_strerror, gai_strerror(EAI_FAMILY)[0]) \
    E(strsignal, strsignal(SIGHUP)[0]) E(re_comp, re_comp("a*") == 0) E(re_exec, re_exec("aa")) \
    E(mblen, mblen("a", 1)) E(mbtowc, mbtowc(wide, "a", 1)) E(wctomb, wctomb(text, L'a')) E(strerror, strerror(ENOENT)[0]) \
    E(basename, basename(strcpy(text, "a/b"))[0]) E(dirname, dirname(strcpy(text, "a/b"))[0]) E(a64l, a64l("abc")) \
    E(asctime, asctime(&tm)[0]) E(localeconv, localeconv()->decimal_point[0]) E(nl_langinfo, nl_langinfo(CODESET)[0]) \
    E(wcscoll, wcscoll(L"a", L"b")) E(wcsxfrm, wcsxfrm(wide, L"a", 8)) E(wcsftime, wcsftime(wide, 32, L"%S", &tm)) \
    E(strfmon, strfmon(text, 64, "%n", 2.0)) E(strcoll, strcoll("a", "b")) E(strptime, strptime("12", "%M", &tm) != 0) \
    E(strxfrm, strxfrm(text, "a", 8)) E(setlocale, setlocale(LC_ALL, "C") != 0) \
    E(newlocale, (place = newlocale(LC_ALL_MASK, "C", 0)) != 0) E(strcoll_l, strcoll_l("a", "b", place)) \
    E(duplocale, duplocale(place) != 0) E(uselocale, uselocale(0) != 0) \
    S(freelocale, place = newlocale(LC_ALL_MASK, "C.UTF-8", 0), (freelocale(place), 0)) \
    E(textdomain, textdomain("a") != 0) E(bindtextdomain, bindtextdomain("a", "/") != 0) \
    E(bind_textdomain_codeset, bind_textdomain_codeset("a", "UTF-8") != 0) E(gettext, gettext("a")[0]) \
    E(dgettext, dgettext("a", "b")[0]) E(dcgettext, dcgettext("a", "b", LC_MESSAGES)[0]) E(ngettext, ngettext("a", "b", 2)[0]) \
    E(dngettext, dngettext("a", "b", "c", 1)[0]) E(dcngettext, dcngettext("a", "b", "c", 2, LC_MESSAGES)[0]) \
    E(catopen, catopen("none", 0) == (nl_catd)-1) E(catgets, catgets((nl_catd)-1, 1, 1, "a")[0]) \
    E(catclose, catclose((nl_catd)-1)) E(iconv_open, (conversion = iconv_open("UTF-8", "UTF-8")) != (iconv_t)-1) \
    E(iconv, iconv(conversion, 0, 0, 0, 0)) E(iconv_close, iconv_close(conversion)) \
    E(localtime, localtime(&second)->tm_year) E(gmtime, gmtime(&second)->tm_year) E(ctime, ctime(&second)[0]) N(tzset, tzset()) \
    E(getdate, getdate("1") != 0) E(mktime, mktime(&tm)) E(timelocal, timelocal(&tm)) E(timegm, timegm(&tm)) \
    E(sysconf, sysconf(_SC_OPEN_MAX) > 0) E(__ctype_get_mb_cur_max, __ctype_get_mb_cur_max()) E(btowc, btowc('a')) \
    E(wctob, wctob(L'a')) E(wcwidth, wcwidth(L'a')) E(towlower, towlower(L'A')) E(towupper, towupper(L'a')) \
    E(wctype, wctype("alpha") != 0) E(wctrans, wctrans("toupper") != 0) E(iswctype, iswctype(L'a', wctype("alpha")) != 0) \
    E(towctrans, towctrans(L'a', wctrans("toupper"))) \
    E(iswalnum, iswalnum(L'a') != 0) E(iswalpha, iswalpha(L'a') != 0) E(iswblank, iswblank(L'a') != 0) E(iswcntrl, iswcntrl(L'a') != 0) \
    E(iswdigit, iswdigit(L'a') != 0) E(iswgraph, iswgraph(L'a') != 0) E(iswlower, iswlower(L'a') != 0) E(iswprint, iswprint(L'a') != 0) \
    E(iswpunct, iswpunct(L'a') != 0) E(iswspace, iswspace(L'a') != 0) E(iswupper, iswupper(L'a') != 0) E(iswxdigit, iswxdigit(L'a') != 0) \
    E(getdtablesize, getdtablesize()) D(memfd_create, memfd_create("a", 0)) D(timerfd_create, timerfd_create(CLOCK_MONOTONIC, 0)) \
    D(signalfd, signalfd(-1, &set, 0)) D(inotify_init, inotify_init()) D(inotify_init1, inotify_init1(0)) \
    D(getpt, getpt()) D(posix_openpt, posix_openpt(O_RDWR | O_NOCTTY)) \
    E(openpty, openpty(&number, &wrong, 0, 0, 0)) \
    D(mkstemp, mkstemp(strcpy(text, "mXXXXXX"))) D(mkostemp, mkostemp(strcpy(text, "mXXXXXX"), 0)) \
    D(mkstemps, mkstemps(strcpy(text, "mXXXXXXa"), 1)) D(mkostemps, mkostemps(strcpy(text, "mXXXXXXa"), 1, 0)) \
    D(mkstemp64, mkstemp64(strcpy(text, "mXXXXXX"))) D(mkostemp64, mkostemp64(strcpy(text, "mXXXXXX"), 0)) \
    D(mkstemps64, mkstemps64(strcpy(text, "mXXXXXXa"), 1)) D(mkostemps64, mkostemps64(strcpy(text, "mXXXXXXa"), 1, 0)) \
    E(tmpfile, tmpfile() != 0) E(tmpfile64, tmpfile64() != 0) D(shm_open, shm_open(shared, O_RDWR | O_CREAT, 0600)) \
    E(shm_unlink, shm_unlink(shared)) E(fopen, (made = fopen("f", "r+")) != 0) \
    E(freopen, (made = freopen("f", "r+", made)) != 0) E(freopen64, (made = freopen64("f", "r+", made)) != 0) \
    E(fclose, fclose(made)) E(fopen64, (made = fopen64("f", "r+")) != 0) \
    S(fdopen, number = dup(fd), (stream = fdopen(number, "r+")) != 0) \
    E(opendir, (dir = opendir(".")) != 0) E(telldir, telldir(both) >= 0) E(readdir, readdir(both) != 0) \
    E(readdir64, readdir64(both) != 0) E(readdir_r, readdir_r(both, (void *)text, &entry)) \
    E(readdir64_r, readdir64_r(both, (void *)text, &entry64)) N(rewinddir, rewinddir(both)) N(seekdir, seekdir(both, 0)) \
    E(closedir, closedir(dir)) \
    E(access, access("f", F_OK)) E(euidaccess, euidaccess("f", F_OK)) E(eaccess, eaccess("f", F_OK)) \
    E(readlink, readlink("l", text, 9)) E(__readlink_chk, __readlink_chk("l", text, 9, 64)) E(realpath, realpath("f", text) != 0) \
    E(__realpath_chk, __realpath_chk("f", text, sizeof text) != 0) E(canonicalize_file_name, canonicalize_file_name("f") != 0) \
    E(glob, glob("f*", 0, 0, &found)) E(glob64, glob64("f*", 0, 0, &found64)) E(statfs, statfs("f", &fs)) \
    E(statfs64, statfs64("f", &fs64)) E(statvfs, statvfs("f", &vfs)) E(statvfs64, statvfs64("f", &vfs64)) \
    E(pathconf, pathconf("f", _PC_NAME_MAX)) E(getxattr, getxattr("f", "user.a", text, 9)) \
    E(lgetxattr, lgetxattr("f", "user.a", text, 9)) E(listxattr, listxattr("f", text, 9)) E(llistxattr, llistxattr("f", text, 9)) \
    E(scandir, scandir(".", &entries, 0, 0) > 0) E(scandir64, scandir64(".", &entries64, 0, 0) > 0) E(ftok, ftok("f", 1) != -1) \
    E(faccessat, faccessat(AT_FDCWD, "f", F_OK, 0)) E(readlinkat, readlinkat(AT_FDCWD, "l", text, 9)) \
    E(__readlinkat_chk, __readlinkat_chk(AT_FDCWD, "l", text, 9, 64)) E(scandirat, scandirat(AT_FDCWD, ".", &entries, 0, 0) > 0) \
    E(scandirat64, scandirat64(AT_FDCWD, ".", &entries64, 0, 0) > 0) \
    E(mkdir, mkdir("d", 0700)) E(rmdir, rmdir("d")) E(mkfifo, mkfifo("p", 0600)) E(unlink, unlink("p")) \
    E(mknod, mknod("p", S_IFIFO | 0600, 0)) E(remove, remove("p")) E(mkdirat, mkdirat(AT_FDCWD, "d", 0700)) \
    E(unlinkat, unlinkat(AT_FDCWD, "d", AT_REMOVEDIR)) E(mkfifoat, mkfifoat(AT_FDCWD, "p", 0600)) \
    E(rename, rename("p", "q")) E(renameat, renameat(AT_FDCWD, "q", AT_FDCWD, "p")) \
    E(renameat2, renameat2(AT_FDCWD, "p", AT_FDCWD, "q", 0)) E(mknodat, mknodat(AT_FDCWD, "p", S_IFIFO | 0600, 0)) \
    S(link, (unlink("p"), unlink("q")), link("f", "p")) E(linkat, linkat(AT_FDCWD, "f", AT_FDCWD, "q", 0)) \
    S(symlink, (unlink("p"), unlink("q")), symlink("f", "p")) E(symlinkat, symlinkat("f", AT_FDCWD, "q")) \
    S(lchown, (unlink("p"), unlink("q")), lchown("l", -1, -1)) E(lutimes, lutimes("l", 0)) \
    E(setxattr, setxattr("f", "bad", "1", 1, 0)) E(lsetxattr, lsetxattr("f", "bad", "1", 1, 0)) \
    E(removexattr, removexattr("f", "bad")) E(lremovexattr, lremovexattr("f", "bad")) \
    E(mkdtemp, mkdtemp(strcpy(text, "mXXXXXX")) != 0) E(mktemp, mktemp(strcpy(text, "mXXXXXX"))[0]) \
    E(nftw, nftw("f", walked, 2, 0)) E(nftw64, nftw64("f", walked64, 2, 0)) E(ftw, ftw("f", visit, 2)) \
    E(ftw64, ftw64("f", visit64, 2)) E(fchmodat, fchmodat(AT_FDCWD, "f", 0600, 0)) E(fchownat, fchownat(AT_FDCWD, "f", -1, -1, 0)) \
    E(utimensat, utimensat(AT_FDCWD, "f", 0, 0)) E(futimesat, futimesat(AT_FDCWD, "f", 0)) \
    E(tmpnam, tmpnam(text) != 0) E(tmpnam_r, tmpnam_r(text) != 0) E(tempnam, tempnam(".", "t") != 0) \
    E(fts_open, (walk = fts_open((char *[]){"f", 0}, FTS_PHYSICAL, 0)) != 0) E(fts_read, fts_read(walk) != 0) \
    E(fts_close, fts_close(walk)) E(stat, stat("f", &about)) E(stat64, stat64("f", &about64)) E(lstat, lstat("f", &about)) \
    E(lstat64, lstat64("f", &about64)) E(fstatat, fstatat(AT_FDCWD, "f", &about, 0)) \
    E(fstatat64, fstatat64(AT_FDCWD, "f", &about64, 0)) E(statx, statx(AT_FDCWD, "f", 0, STATX_SIZE, (void *)text)) \
    E(__xstat, __xstat(1, "f", &about)) E(__xstat64, __xstat64(1, "f", &about64)) E(__lxstat, __lxstat(1, "f", &about)) \
    E(__lxstat64, __lxstat64(1, "f", &about64)) E(__fxstatat, __fxstatat(1, AT_FDCWD, "f", &about, 0)) \
    E(__fxstatat64, __fxstatat64(1, AT_FDCWD, "f", &about64, 0)) E(truncate, truncate("f", 8)) E(truncate64, truncate64("f", 8)) \
    E(chmod, chmod("f", 0600)) E(chown, chown("f", -1, -1)) E(utime, utime("f", 0)) E(utimes, utimes("f", 0)) \
    E(fstat, fstat(fd, &about)) E(fstat64, fstat64(fd, &about64)) E(pread, pread(fd, text, 2, 0)) E(pread64, pread64(fd, text, 2, 0)) \
    E(__pread_chk, __pread_chk(fd, text, 2, 0, 64)) E(__pread64_chk, __pread64_chk(fd, text, 2, 0, 64)) \
    E(preadv, preadv(fd, &piece, 1, 0)) E(preadv64, preadv64(fd, &piece, 1, 0)) E(__pread64, __pread64(fd, text, 2, 0)) \
    E(fpathconf, fpathconf(fd, _PC_NAME_MAX)) E(fgetxattr, fgetxattr(fd, "user.a", text, 9)) E(flistxattr, flistxattr(fd, text, 9)) \
    E(fstatfs, fstatfs(fd, &fs)) E(fstatfs64, fstatfs64(fd, &fs64)) E(fstatvfs, fstatvfs(fd, &vfs)) E(fstatvfs64, fstatvfs64(fd, &vfs64)) \
    E(isatty, isatty(fd)) E(getsockopt, (size = sizeof number, getsockopt(sock, SOL_SOCKET, SO_TYPE, &number, &size))) \
    E(getsockname, (size = sizeof address, getsockname(sock, (void *)&address, &size))) \
    E(getpeername, (size = sizeof address, getpeername(sock, (void *)&address, &size))) E(sockatmark, sockatmark(sock)) \
    E(tcgetattr, tcgetattr(tty, &terminal)) E(timerfd_gettime, timerfd_gettime(fd, &spec)) E(__fxstat, __fxstat(1, fd, &about)) \
    E(__fxstat64, __fxstat64(1, fd, &about64)) E(pwrite, pwrite(fd, "a", 1, 0)) E(pwrite64, pwrite64(fd, "a", 1, 0)) \
    E(__pwrite64, __pwrite64(fd, "a", 1, 0)) E(dprintf, dprintf(fd, "%d", 7)) E(__dprintf_chk, __dprintf_chk(fd, 1, "%d", 7)) \
    V(vdprintf) V(__vdprintf_chk) E(pwritev, pwritev(fd, &piece, 1, 0)) E(pwritev64, pwritev64(fd, &piece, 1, 0)) \
    E(pwritev2, pwritev2(fd, &piece, 1, 0, 0)) E(pwritev64v2, pwritev64v2(fd, &piece, 1, 0, 0)) E(lseek, lseek(fd, 0, SEEK_SET)) \
    E(__lseek, __lseek(fd, 0, SEEK_SET)) E(lseek64, lseek64(fd, 0, SEEK_SET)) E(ftruncate, ftruncate(fd, 8)) \
    E(ftruncate64, ftruncate64(fd, 8)) E(fallocate, fallocate(fd, 0, 0, 8)) E(fallocate64, fallocate64(fd, 0, 0, 8)) \
    E(posix_fallocate, posix_fallocate(fd, 0, 8)) E(posix_fallocate64, posix_fallocate64(fd, 0, 8)) \
    E(ioctl, ioctl(fd, FIONREAD, &number)) E(fchmod, fchmod(fd, 0600)) E(fchown, fchown(fd, -1, -1)) E(futimens, futimens(fd, 0)) \
    E(futimes, futimes(fd, 0)) E(fsetxattr, fsetxattr(fd, "bad", "1", 1, 0)) E(fremovexattr, fremovexattr(fd, "bad")) \
    E(fdatasync, fdatasync(fd)) E(bind, bind(sock, (void *)&(struct sockaddr_in){.sin_family = AF_INET}, sizeof address)) \
    E(listen, listen(sock, 1)) E(shutdown, shutdown(fd, SHUT_RD)) \
    E(setsockopt, setsockopt(sock, SOL_SOCKET, SO_REUSEADDR, &(int){1}, sizeof(int))) \
    E(timerfd_settime, timerfd_settime(fd, 0, &spec, 0)) E(inotify_add_watch, inotify_add_watch(fd, "f", IN_OPEN)) \
    E(inotify_rm_watch, inotify_rm_watch(fd, 1)) E(tcsetattr, tcsetattr(tty, TCSANOW, &terminal)) E(tcflush, tcflush(tty, TCIFLUSH)) \
    E(tcflow, tcflow(tty, TCOON)) E(tcdrain, tcdrain(fd)) E(tcsendbreak, tcsendbreak(fd, 0)) E(grantpt, grantpt(fd)) \
    E(unlockpt, unlockpt(fd)) E(sync_file_range, sync_file_range(fd, 0, 1, 0)) E(getdents64, getdents64(fd, text, 9)) \
    E(syncfs, syncfs(-1)) \
    E(feof, feof(stream)) E(ferror, ferror(stream)) E(feof_unlocked, feof_unlocked(stream)) \
    E(ferror_unlocked, ferror_unlocked(stream)) E(ftell, ftell(stream)) E(ftello, ftello(stream)) E(ftello64, ftello64(stream)) \
    E(fgetpos, fgetpos(stream, &position)) E(fgetpos64, fgetpos64(stream, &position64)) E(fseek, fseek(stream, 0, SEEK_SET)) \
    E(fseeko, fseeko(stream, 0, SEEK_SET)) E(fseeko64, fseeko64(stream, 0, SEEK_SET)) E(fsetpos, fsetpos(stream, &position)) \
    E(fsetpos64, fsetpos64(stream, &position64)) N(rewind, rewind(stream)) N(clearerr, clearerr(stream)) \
    N(clearerr_unlocked, clearerr_unlocked(stream)) E(fwide, fwide(nowhere, 0)) S(pclose, stream_of("true"), pclose(made)) \
    E(ungetc, ungetc('a', stream)) S(ungetwc, made = fopen("f", "r+"), ungetwc(L'a', made)) \
    E(fflush, fflush(nowhere)) E(fflush_unlocked, fflush_unlocked(nowhere)) N(setbuf, setbuf(nowhere, 0)) \
    N(setbuffer, setbuffer(nowhere, 0, 0)) N(setlinebuf, setlinebuf(nowhere)) E(setvbuf, setvbuf(nowhere, 0, _IONBF, 0)) \
    S(fwprintf, made = fopen("g", "w"), fwprintf(made, L"%d", 7)) V(vfwprintf) E(fputwc, fputwc(L'a', made) == L'a') \
    E(putwc, putwc(L'a', made) == L'a') E(fputws, fputws(L"a", made) >= 0) E(fputwc_unlocked, fputwc_unlocked(L'a', made) == L'a') \
    E(putwc_unlocked, putwc_unlocked(L'a', made) == L'a') E(fputws_unlocked, fputws_unlocked(L"a", made) >= 0) \
    E(fprintf, fprintf(nowhere, "%d", 7)) E(__fprintf_chk, __fprintf_chk(nowhere, 1, "%d", 7)) V(vfprintf) V(__vfprintf_chk) \
    E(printf, printf("%d\n", 7)) E(__printf_chk, __printf_chk(1, "%d\n", 7)) V(vprintf) V(__vprintf_chk) E(fputs, fputs("a", nowhere)) \
    E(fputs_unlocked, fputs_unlocked("a", nowhere)) E(fputc, fputc('a', nowhere)) E(putc, (putc)('a', nowhere)) \
    E(putw, putw(1, nowhere)) E(fputc_unlocked, (fputc_unlocked)('a', nowhere)) E(putc_unlocked, (putc_unlocked)('a', nowhere)) \
    E(fwrite, fwrite("a", 1, 1, nowhere)) E(fwrite_unlocked, fwrite_unlocked("a", 1, 1, nowhere)) E(puts, puts("a") >= 0) \
    E(putchar, (putchar)('\n')) E(putchar_unlocked, (putchar_unlocked)('\n')) E(putwchar, putwchar(L'a') == L'a') \
    E(putwchar_unlocked, putwchar_unlocked(L'a') == L'a') E(wprintf, wprintf(L"%d", 7)) V(vwprintf) N(perror, perror("a")) \
    N(warn, warn("%d", 7)) N(warnx, warnx("%d", 7)) V(vwarn) V(vwarnx) N(psignal, psignal(SIGHUP, "a")) \
    N(psiginfo, psiginfo(&(siginfo_t){.si_signo = SIGHUP}, "a")) \
    E(sigpending, sigpending(&set)) E(sigprocmask, sigprocmask(SIG_BLOCK, 0, &set)) E(pthread_sigmask, pthread_sigmask(SIG_BLOCK, 0, &set)) \
    E(sigset, sigset(SIGWINCH, nothing) == SIG_DFL) E(sighold, sighold(SIGWINCH)) E(sigrelse, sigrelse(SIGWINCH)) \
    E(sigignore, sigignore(SIGWINCH)) E(siginterrupt, siginterrupt(SIGWINCH, 1)) E(sigblock, sigblock(0)) E(sigsetmask, sigsetmask(0)) \
    E(__sysv_signal, __sysv_signal(SIGWINCH, SIG_IGN) == SIG_IGN) E(sysv_signal, sysv_signal(SIGWINCH, SIG_IGN) == SIG_IGN) \
    E(ssignal, ssignal(SIGWINCH, SIG_DFL) == SIG_IGN) \
    E(sigqueue, sigqueue(getpid(), 0, (union sigval){0})) E(pthread_sigqueue, pthread_sigqueue(pthread_self(), 0, (union sigval){0})) \
    E(tgkill, tgkill(getpid(), gettid(), 0)) E(gsignal, gsignal(0)) E(killpg, killpg(1 << 30, 0)) \
    S(timer_gettime, timer_create(CLOCK_MONOTONIC, &no_event, &timer), timer_gettime(timer, &spec)) \
    E(timer_getoverrun, timer_getoverrun(timer)) E(timer_settime, timer_settime(timer, 0, &(struct itimerspec){0}, 0)) \
    E(timer_delete, timer_delete(timer)) E(getitimer, getitimer(ITIMER_REAL, &interval)) \
    E(setitimer, setitimer(ITIMER_REAL, &(struct itimerval){0}, 0)) E(alarm, alarm(0)) E(ualarm, ualarm(0, 0)) \
    E(popen, (made = popen("true", "r")) != 0) S(posix_spawn, pclose(made), posix_spawn(&child, "/bin/true", 0, 0, words, environ)) \
    S(posix_spawnp, waitpid(child, 0, 0), posix_spawnp(&child, "true", 0, 0, words, environ)) \
    S(getcwd, waitpid(child, 0, 0), getcwd(text, sizeof text) != 0) E(__getcwd_chk, __getcwd_chk(text, 4000, 4000) != 0) \
    E(get_current_dir_name, get_current_dir_name() != 0) E(getwd, getwd(text) != 0) E(chdir, chdir(".")) E(chroot, chroot("missing")) \
    E(fchdir, fchdir(fd)) E(umask, umask(022)) \
    E(getrlimit, getrlimit(RLIMIT_CPU, &limit)) E(getrlimit64, getrlimit64(RLIMIT_CPU, &limit64)) \
    E(getpriority, getpriority(PRIO_PROCESS, 0) >= -20) E(getuid, getuid()) E(geteuid, geteuid()) E(getgid, getgid()) E(getegid, getegid()) \
    E(getresuid, getresuid(ids, ids, ids)) E(getresgid, getresgid(ids, ids, ids)) E(getgroups, getgroups(64, ids) >= 0) \
    E(getpgid, getpgid(0) > 0) E(getpgrp, getpgrp() > 0) E(getsid, getsid(0) >= 0) E(getppid, getppid() > 0) \
    E(getrusage, getrusage(RUSAGE_SELF, (void *)text)) E(sched_getaffinity, sched_getaffinity(0, sizeof cores, &cores)) \
    E(sched_getscheduler, sched_getscheduler(0)) E(sched_getparam, sched_getparam(0, &param)) \
    E(pthread_getaffinity_np, pthread_getaffinity_np(pthread_self(), sizeof cores, &cores)) \
    E(pthread_getschedparam, pthread_getschedparam(pthread_self(), &number, &param)) \
    E(pthread_getname_np, pthread_getname_np(pthread_self(), text, 64)) E(gethostname, gethostname(text, 64)) \
    E(getdomainname, getdomainname(text2, 64)) E(uname, uname((void *)text2)) E(sysinfo, sysinfo((void *)text2)) \
    E(getloadavg, getloadavg((double *)text2, 1)) E(times, times((void *)text2) != -1) \
    E(pthread_getattr_default_np, pthread_getattr_default_np(&attributes)) E(pthread_getconcurrency, pthread_getconcurrency()) \
    E(setrlimit, setrlimit(RLIMIT_CPU, &limit)) E(setrlimit64, setrlimit64(RLIMIT_CPU, &limit64)) \
    E(prlimit, prlimit(0, RLIMIT_CPU, 0, &limit)) E(prlimit64, prlimit64(0, RLIMIT_CPU, 0, &limit64)) \
    E(setpriority, setpriority(PRIO_PROCESS, 0, getpriority(PRIO_PROCESS, 0))) E(nice, nice(0) >= -20) E(setuid, setuid(getuid())) \
    E(seteuid, seteuid(geteuid())) E(setgid, setgid(getgid())) E(setegid, setegid(getegid())) E(setreuid, setreuid(-1, -1)) \
    E(setregid, setregid(-1, -1)) E(setresuid, setresuid(-1, -1, -1)) E(setresgid, setresgid(-1, -1, -1)) \
    E(setgroups, setgroups(1 << 30, ids)) E(initgroups, initgroups("nobody at all", -1) <= 0) E(setfsuid, setfsuid(-1) >= 0) \
    E(setfsgid, setfsgid(-1) >= 0) E(setpgid, setpgid(0, 1 << 30)) E(setpgrp, setpgrp() <= 0) E(setsid, setsid() != 0) \
    E(sched_setaffinity, sched_setaffinity(0, 0, &cores)) E(sched_setscheduler, sched_setscheduler(0, -1, &param)) \
    E(sched_setparam, sched_setparam(-1, &param)) E(pthread_setaffinity_np, pthread_setaffinity_np(pthread_self(), 0, &cores)) \
    E(pthread_setschedparam, pthread_setschedparam(pthread_self(), -1, &param)) \
    E(pthread_setschedprio, pthread_setschedprio(pthread_self(), 99)) E(pthread_setname_np, pthread_setname_np(pthread_self(), "a")) \
    E(sethostname, sethostname(text, -1)) E(setdomainname, setdomainname(text, -1)) E(prctl, prctl(PR_GET_DUMPABLE, 0, 0, 0, 0)) \
    E(personality, personality(0xffffffff) >= 0) E(pthread_setattr_default_np, pthread_setattr_default_np(&attributes)) \
    E(pthread_setconcurrency, pthread_setconcurrency(0)) E(ulimit, ulimit(UL_GETFSIZE) != 0) \
    E(brk, brk(0)) E(sbrk, sbrk(0) != 0) S(shmat, number = shmget(IPC_PRIVATE, 64, 0600), (at = shmat(number, 0, 0)) != 0) E(shmdt, shmdt(at)) \
    S(mlock, shmctl(number, IPC_RMID, 0), mlock(page, 1)) E(mlock2, mlock2(page, 1, 0)) E(munlock, munlock(page, 1)) E(mlockall, mlockall(0)) \
    E(munlockall, munlockall()) E(madvise, madvise(page, 4096, MADV_NORMAL)) E(posix_madvise, posix_madvise(page, 4096, 0)) \
    E(msync, msync(page, 4096, MS_ASYNC)) E(remap_file_pages, remap_file_pages(page, 0, 1, 0, 0)) \
    E(mincore, mincore(page, 4096, (void *)text)) E(pkey_alloc, pkey_alloc(7, 0)) E(pkey_free, pkey_free(-1)) \
    E(pkey_mprotect, pkey_mprotect(page, 4096, -1, -9)) \
    S(dlclose, at = dlopen("libm.so.6", RTLD_NOW), dlclose(at)) E(dladdr, dladdr(text, (void *)text2) >= 0) \
    E(dladdr1, dladdr1(text, (void *)text2, &at, RTLD_DL_LINKMAP) >= 0) E(dlinfo, dlinfo(RTLD_DEFAULT, -1, &at)) \
    E(dlmopen, dlmopen(LM_ID_BASE, "missing", RTLD_NOW) != 0) E(dl_iterate_phdr, dl_iterate_phdr(library, 0)) \
    S(msgctl, number = msgget(IPC_PRIVATE, 0600), msgctl(number, IPC_RMID, 0)) E(msgget, msgget(1234, 0)) \
    S(semctl, number = semget(IPC_PRIVATE, 1, 0600), semctl(number, 0, IPC_RMID)) E(semget, semget(1234, 1, 0)) \
    S(shmctl, number = shmget(IPC_PRIVATE, 64, 0600), shmctl(number, IPC_RMID, 0)) E(shmget, shmget(1234, 64, 0)) \
    E(mq_open, (queue = mq_open(shared, O_RDWR | O_CREAT, 0600, 0)) >= 0) E(mq_getattr, mq_getattr(queue, (void *)text)) \
    E(mq_setattr, mq_setattr(queue, (void *)text, 0)) E(mq_close, mq_close(queue)) E(mq_unlink, mq_unlink(shared)) \
    E(sem_open, (semaphore = sem_open(shared, O_CREAT, 0600, 1)) != SEM_FAILED) E(sem_close, sem_close(semaphore)) \
    E(sem_unlink, sem_unlink(shared)) \
    E(getpwnam, getpwnam("root") != 0) E(getgrnam, getgrnam("root") != 0) E(getpwnam_r, getpwnam_r("root", &user, text, 4000, &users)) \
    E(getgrnam_r, getgrnam_r("root", &group, text, 4000, &groups)) E(gethostbyname, gethostbyname("127.0.0.1") != 0) \
    E(gethostbyname2, gethostbyname2("127.0.0.1", AF_INET) != 0) \
    E(gethostbyname_r, gethostbyname_r("127.0.0.1", &host, text, 4000, &hosts, &wrong)) \
    E(gethostbyname2_r, gethostbyname2_r("127.0.0.1", AF_INET, &host, text, 4000, &hosts, &wrong)) \
    E(getaddrinfo, getaddrinfo("127.0.0.1", "80", &(struct addrinfo){.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV}, &infos)) \
    E(getservbyname, getservbyname("none such", "tcp") != 0) \
    E(getservbyname_r, getservbyname_r("none such", "tcp", &service, text, 4000, &services) == 0 && services) \
    E(getpwuid, getpwuid(0) != 0) E(getpwent, getpwent() != 0) N(setpwent, setpwent()) N(endpwent, endpwent()) E(getgrgid, getgrgid(0) != 0) \
    E(getgrent, getgrent() != 0) N(setgrent, setgrent()) N(endgrent, endgrent()) E(getpwuid_r, getpwuid_r(0, &user, text, 4000, &users)) \
    E(getpwent_r, getpwent_r(&user, text, 4000, &users)) E(getgrgid_r, getgrgid_r(0, &group, text, 4000, &groups)) \
    E(getgrent_r, getgrent_r(&group, text, 4000, &groups)) E(getgrouplist, (number = 64, getgrouplist("root", 0, ids, &number))) \
    E(gethostent, gethostent() != 0) N(sethostent, sethostent(0)) N(endhostent, endhostent()) E(getnetent, getnetent() != 0) \
    E(getprotobyname, getprotobyname("none such") != 0) E(getprotobynumber, getprotobynumber(999) != 0) E(getprotoent, getprotoent() != 0) \
    E(getservbyport, getservbyport(9999, "tcp") != 0) E(getservent, getservent() != 0) \
    E(getservbyport_r, getservbyport_r(9999, "tcp", &service, text, 4000, &services) == 0 && services) \
    E(getprotobyname_r, getprotobyname_r("none such", &protocol, text, 4000, &protocols) == 0 && protocols) \
    E(getprotobynumber_r, getprotobynumber_r(999, &protocol, text, 4000, &protocols) == 0 && protocols) \
    N(setservent, setservent(0)) N(endservent, endservent()) \
    E(getnameinfo, getnameinfo((void *)&address, sizeof address, text, 64, text2, 64, NI_NUMERICHOST | NI_NUMERICSERV)) \
    E(getifaddrs, getifaddrs(&interfaces)) E(if_nametoindex, if_nametoindex("none such")) E(if_indextoname, if_indextoname(9999, text) != 0) \
    E(if_nameindex, (names = if_nameindex()) != 0) E(getlogin, getlogin() != 0 || 1) E(getlogin_r, getlogin_r(text, 64) != 0 || 1) \
    E(getspnam, getspnam("none such") != 0) E(setmntent, (made = setmntent("/dev/null", "r")) != 0) E(addmntent, addmntent(made, &mount_entry) >= 0) \
    E(endmntent, endmntent(made)) E(getutent, getutent() != 0) E(getutid, getutid(&who) != 0) E(getutline, getutline(&who) != 0) \
    N(setutent, setutent()) N(endutent, endutent()) E(utmpname, utmpname("missing")) E(pututline, pututline(&who) != 0) \
    E(getutxent, getutxent() != 0) E(getutxid, getutxid(&whox) != 0) E(getutxline, getutxline(&whox) != 0) \
    E(pututxline, pututxline(&whox) != 0) N(setutxent, setutxent()) N(endutxent, endutxent()) E(__res_init, res_init()) \
    E(innetgr, innetgr("none such", "a", "b", "c")) E(setnetgrent, setnetgrent("none such")) \
    E(getnetgrent, ({ char *a, *b, *c; getnetgrent(&a, &b, &c); })) N(endnetgrent, endnetgrent()) \
    N(openlog, openlog("a", LOG_NDELAY * 0, LOG_USER)) E(setlogmask, setlogmask(LOG_MASK(LOG_EMERG))) N(syslog, syslog(LOG_DEBUG, "%d", 7)) \
    N(__syslog_chk, __syslog_chk(LOG_DEBUG, 1, "%d", 7)) V(vsyslog) N(closelog, closelog()) E(tcgetpgrp, tcgetpgrp(fd)) \
    E(tcsetpgrp, tcsetpgrp(fd, 1)) E(tcgetsid, tcgetsid(fd)) \
    E(regcomp, regcomp(&pattern, "a*", 0)) E(regexec, regexec(&pattern, "aa", 0, 0, 0)) E(wordexp, ({ wordexp_t w; wordexp("a b", &w, WRDE_NOCMD); })) \
    E(acct, acct("missing") < 0) E(adjtime, adjtime(0, (void *)text)) E(adjtimex, adjtimex(&clock_state) >= 0) E(clock_settime, clock_settime(-1, (void *)text2)) \
    E(settimeofday, settimeofday(&(struct timeval){0, -1}, 0)) E(clock_adjtime, clock_adjtime(CLOCK_REALTIME, &clock_state) >= 0) E(ntp_adjtime, ntp_adjtime(&clock_state) >= 0) \
    E(ntp_gettime, ntp_gettime((void *)text) >= 0) E(capget, capget(0, 0)) E(capset, capset(0, 0)) E(mount, mount(0, 0, 0, 0, 0)) \
    E(umount, umount("missing")) E(umount2, umount2("missing", 0)) E(pivot_root, pivot_root("missing", "missing")) E(swapon, swapon("missing", 0)) \
    E(swapoff, swapoff("missing")) E(quotactl, quotactl(-1, 0, 0, 0) < 0) E(reboot, reboot(0)) E(unshare, unshare(0)) E(setns, setns(-1, 0)) \
    E(fanotify_mark, fanotify_mark(-1, 0, 0, -1, 0)) E(name_to_handle_at, name_to_handle_at(-1, "f", handle, &number, 0) < 0) \
    E(open_by_handle_at, open_by_handle_at(-1, handle, 0) < 0) E(process_vm_readv, process_vm_readv(0, 0, 0, 0, 0, 9)) \
    E(process_vm_writev, process_vm_writev(0, 0, 0, 0, 0, 9)) E(ptrace, ptrace(-1, 0, 0, 0)) \
    E(fopencookie, fopencookie(0, "r", (cookie_io_functions_t){0}) != 0) E(open_memstream, ({ static char *b; static size_t n; open_memstream(&b, &n) != 0; })) \
    E(open_wmemstream, ({ static wchar_t *b; static size_t n; open_wmemstream(&b, &n) != 0; })) E(fmemopen, fmemopen(text, 8, "r") != 0) \
    E(obstack_printf, obstack_printf(&stack_of, "%d", 7)) V(obstack_vprintf) E(register_printf_function, register_printf_function('Y', printed, (void *)sized)) \
    E(register_printf_modifier, register_printf_modifier(L"zz") > 0) E(register_printf_specifier, register_printf_specifier('Y', printed, sized)) \
    E(register_printf_type, register_printf_type(value) > 0) E(mcheck, mcheck(0) <= 0) N(mtrace, mtrace()) N(muntrace, muntrace()) \
    E(backtrace, backtrace((void **)text, 4) > 0) E(backtrace_symbols, backtrace_symbols((void **)text, 1) != 0) \
    N(backtrace_symbols_fd, backtrace_symbols_fd((void **)text, 0, fd)) N(error, error(0, 0, "%d", 7)) N(error_at_line, error_at_line(0, 0, "a", 1, "%d", 7)) \
    E(fmtmsg, fmtmsg(MM_NULLMC, "a:b", MM_INFO, "c", "d", "e")) E(addseverity, addseverity(9, "a")) \
    E(argp_parse, argp_parse(&(struct argp){0}, 1, (char *[]){"a", 0}, ARGP_SILENT, 0, 0)) E(bindresvport, bindresvport(-1, 0)) \
    N(argp_help, argp_help(&(struct argp){0}, nowhere, ARGP_HELP_USAGE, "a")) E(sigstack, sigstack(0, 0)) \
    E(getspnam_r, getspnam_r("none such", &shadow, text, 4000, &shadows) == 0 && shadows) \
    E(getcontext, getcontext(&context)) E(on_exit, on_exit(at_exit, 0)) E(clearenv, clearenv())

static const char *shared = "/reweave-entries";
static char *words[] = {"true", 0};
static struct mntent mount_entry = {"a", "b", "c", "d", 0, 0};
static struct utmp who = {.ut_type = USER_PROCESS, .ut_line = "a"};
static struct utmpx whox = {.ut_type = USER_PROCESS, .ut_line = "a"};
long ptrace(int, ...);
static void stream_of(const char *command) { made = popen(command, "r"); }

#define E(name, call) __attribute__((noinline)) static long e_##name(void) { return (long)(call); }
#define S(name, before, call) static void before_##name(void) { before; } E(name, call)
#define N(name, call) __attribute__((noinline)) static long e_##name(void) { call; return 0; }
#define D(name, call) E(name, number = (call))
#define V(name)
ALL
#undef E
#undef S
#undef N
#undef D
#undef V

static void shows(const char *name, long got) {
    static char line[128];
    int length = snprintf(line, sizeof line, "%s %ld %d\n", name, got, got < 0 ? errno : 0);
    fwrite(line, 1, length, stderr);
}

static void *calls(void *_) {
#define E(name, call) errno = 0; shows(#name, e_##name());
#define S(name, before, call) before_##name(); E(name, call)
#define N(name, call) E(name, call)
#define D(name, call) errno = 0; shows(#name, e_##name() >= 0); close(number);
#define V(name) shows(#name, e_##name("%d\n", 7));
    ALL
    return _;
}

int main(void) {
    pthread_t thread;
    fd = open("f", O_RDWR | O_CREAT, 0600);
    if (write(fd, "12345678", 8) != 8 || symlink("f", "l")) return 1;
    sock = socket(AF_INET, SOCK_STREAM, 0);
    tty = fd;
    both = opendir(".");
    nowhere = fopen("/dev/null", "w");
    page = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    handle = calloc(1, 256);
    obstack_init(&stack_of);
    for (int round = 0; round < 2; round++) {
        pthread_create(&thread, 0, calls, 0);
        pthread_join(thread, 0);
    }
    return 0;
}
