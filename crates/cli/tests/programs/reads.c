// Functions of libc that look into structures of the program's, or at state that has no variable of
// its own, and functions that are on no list: one trial each. One thread posts something and another
// one checks it, under the same lock. Which of the two comes first decides whether a block is read or
// freed, so each trial is correct in every run; a function that looks unseen makes it look otherwise.
#define _GNU_SOURCE
#include <argz.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <iconv.h>
#include <locale.h>
#include <netinet/ether.h>
#include <pthread.h>
#include <regex.h>
#include <sched.h>
#include <search.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/shm.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>
#include <wchar.h>
#include <wctype.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int *block;
int got;

static sigset_t set;
static cpu_set_t cores;
static struct termios terminal;
static posix_spawnattr_t child;
static pthread_attr_t attributes;
static pthread_mutexattr_t mutexes;
static pthread_condattr_t conditions;
static pthread_rwlockattr_t readers;
static mbstate_t state;
static regex_t pattern;
static struct stat about;
static struct utsname names;
static struct rlimit limit;
static struct ether_addr address;
static char buffer[64], *volatile text = buffer;
static wchar_t wide[16];
static char *mapped, *first, *second;
static int file;

static void limits(int number) {
    struct rlimit new = {number, 4096};
    setrlimit(RLIMIT_NOFILE, &new);
}
static int converted(void) {
    char out[8] = "", *in = text, *to = out;
    size_t left = 1, room = 8;
    iconv_t of = iconv_open("UTF-16LE", "UTF-8");
    iconv(of, &in, &left, &to, &room);
    iconv_close(of);
    return out[0] == '1';
}
static int option(void) {
    char *const known[] = {"1", 0};
    char *rest = text, *value;
    return getsubopt(&rest, known, &value) == 0;
}

#define TEXT strcpy(buffer, "0")
#define ONE strcpy(buffer, "1")

// What is there before, what is posted, and whether that is seen.
#define TRIALS \
    T(sigismember, sigemptyset(&set), sigaddset(&set, SIGUSR1), sigismember(&set, SIGUSR1) == 1) \
    T(sigisemptyset, sigemptyset(&set), sigaddset(&set, SIGUSR1), !sigisemptyset(&set)) \
    T(cpu_count, CPU_ZERO(&cores), CPU_SET(3, &cores), CPU_COUNT(&cores) == 1) \
    T(cfgetispeed, cfsetispeed(&terminal, B0), cfsetispeed(&terminal, B9600), cfgetispeed(&terminal) == B9600) \
    T(detachstate, pthread_attr_init(&attributes), pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED), \
      ({ int s = 0; pthread_attr_getdetachstate(&attributes, &s); s == PTHREAD_CREATE_DETACHED; })) \
    T(stacksize, pthread_attr_init(&attributes), pthread_attr_setstacksize(&attributes, 1 << 20), \
      ({ size_t n = 0; pthread_attr_getstacksize(&attributes, &n); n == 1 << 20; })) \
    T(mutexattr, pthread_mutexattr_init(&mutexes), pthread_mutexattr_settype(&mutexes, PTHREAD_MUTEX_RECURSIVE), \
      ({ int t = 0; pthread_mutexattr_gettype(&mutexes, &t); t == PTHREAD_MUTEX_RECURSIVE; })) \
    T(condattr, pthread_condattr_init(&conditions), pthread_condattr_setclock(&conditions, CLOCK_MONOTONIC), \
      ({ clockid_t c = 0; pthread_condattr_getclock(&conditions, &c); c == CLOCK_MONOTONIC; })) \
    T(rwlockattr, pthread_rwlockattr_init(&readers), pthread_rwlockattr_setpshared(&readers, 1), \
      ({ int s = 0; pthread_rwlockattr_getpshared(&readers, &s); s == 1; })) \
    T(spawnattr, posix_spawnattr_init(&child), posix_spawnattr_setflags(&child, POSIX_SPAWN_SETSID), \
      ({ short f = 0; posix_spawnattr_getflags(&child, &f); f == POSIX_SPAWN_SETSID; })) \
    T(mbsinit, memset(&state, 0, sizeof state), state.__count = 1, !mbsinit(&state)) \
    T(fstat, memset(&about, 0, sizeof about), fstat(file, &about), about.st_mode != 0) \
    T(uname, memset(&names, 0, sizeof names), uname(&names), names.sysname[0] == 'L') \
    T(getrlimit, memset(&limit, 0, sizeof limit), getrlimit(RLIMIT_NOFILE, &limit), limit.rlim_cur != 0) \
    T(ether_aton_r, memset(&address, 0, sizeof address), ether_aton_r("00:00:00:00:00:11", &address), \
      address.ether_addr_octet[5] == 0x11) \
    T(ether_aton, TEXT, strcpy(buffer, "00:11:22:33:44:55"), ether_aton(text) != 0) \
    T(sysconf, limits(256), limits(100), sysconf(_SC_OPEN_MAX) == 100) \
    T(mb_cur_max, setlocale(LC_ALL, "C"), setlocale(LC_ALL, "C.UTF-8"), MB_CUR_MAX == 6) \
    T(iswalpha, setlocale(LC_ALL, "C"), setlocale(LC_ALL, "C.UTF-8"), iswalpha(0xe4) != 0) \
    T(mblen, buffer[0] = 0, ONE, mblen(text, 4) == 1) \
    T(mbtowc, TEXT, ONE, ({ wchar_t w = 0; mbtowc(&w, text, 4); w == L'1'; })) \
    T(mbrtowc, TEXT, ONE, ({ wchar_t w = 0; mbstate_t s = {0}; mbrtowc(&w, text, 4, &s); w == L'1'; })) \
    T(rpmatch, TEXT, strcpy(buffer, "yes"), rpmatch(text) == 1) \
    T(wcscoll, wcscpy(wide, L"0"), wcscpy(wide, L"1"), wcscoll(wide, L"1") == 0) \
    T(wcsxfrm, wcscpy(wide, L"0"), wcscpy(wide, L"1"), ({ wchar_t o[8] = L""; wcsxfrm(o, wide, 8); o[0] == L'1'; })) \
    T(hsearch, TEXT, ONE, hsearch((ENTRY){text, 0}, FIND) != 0) \
    T(getsubopt, TEXT, ONE, option()) \
    T(iconv, TEXT, ONE, converted()) \
    T(regexec, TEXT, ONE, ({ regmatch_t m; regexec(&pattern, text, 1, &m, 0) == 0; })) \
    T(swab, TEXT, ONE, ({ char o[8] = ""; swab(text, o, 2); o[1] == '1'; })) \
    T(numbered, TEXT, ONE, ({ char o[32]; snprintf(o, 32, "%2$d%1$s", text, 7); o[1] == '1'; })) \
    T(swprintf, TEXT, ONE, ({ wchar_t o[32]; swprintf(o, 32, L"%s", text); o[0] == L'1'; })) \
    T(argz_count, memset(buffer, 0, 8), ONE, argz_count(text, 2) == 1) \
    T(memfrob, TEXT, memfrob(buffer, 1), text[0] == ('0' ^ 42)) \
    T(both_sides, memset(buffer, 0, 8), memfrob(buffer, 1), argz_count(text, 2) == 1) \
    T(heap, mapped = calloc(1, 64), strcpy(mapped + 16, "1"), argz_count(mapped + 16, 2) == 1) \
    T(written_file, second[0] = 0, pwrite(file, "1", 1, 0), second[0] == '1') \
    T(read_file, second[0] = 0, second[0] = '1', ({ char o = 0; pread(file, &o, 1, 0); o == '1'; })) \
    T(segment, first[0] = 0, first[0] = 1, mapped_again[0] == 1) \
    T(dlsym, 0, dlopen(library, RTLD_NOW | RTLD_GLOBAL), dlsym(RTLD_DEFAULT, symbol) != 0)

static char *mapped_again;
static const char *library, *symbol;

#define T(name, before, post, test) \
    static void before_##name(void) { before; } \
    static void posts_##name(void) { post; } \
    static int looks_##name(void) { return test; }
TRIALS
#undef T
static const struct { const char *name; void (*before)(void), (*posts)(void); int (*looks)(void); } trials[] = {
#define T(name, before, post, test) {#name, before_##name, posts_##name, looks_##name},
TRIALS
};
static void (*posts)(void);
static int (*looks)(void);

static void *first_posts(void *_) {
    pthread_mutex_lock(&lock);
    got = *block;
    posts();
    pthread_mutex_unlock(&lock);
    return 0;
}
static void *then_looks(void *_) {
    pthread_mutex_lock(&lock);
    if (looks()) free(block);
    else printf("not seen\n");
    pthread_mutex_unlock(&lock);
    return 0;
}
static void *first_looks(void *_) {
    pthread_mutex_lock(&lock);
    if (!looks()) got = *block;
    else printf("seen early\n");
    pthread_mutex_unlock(&lock);
    return 0;
}
static void *then_posts(void *_) {
    pthread_mutex_lock(&lock);
    posts();
    free(block);
    pthread_mutex_unlock(&lock);
    return 0;
}

static void both(void *(*first)(void *), void *(*then)(void *)) {
    pthread_t a, b;
    block = malloc(sizeof *block);
    *block = 5;
    pthread_create(&a, 0, first, 0);
    pthread_create(&b, 0, then, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
}

// The names of trials, or none for all of them.
int main(int count, char **wanted_names) {
    file = memfd_create("file", 0);
    if (ftruncate(file, 4096)) return 2;
    second = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    int segment = shmget(IPC_PRIVATE, 4096, 0600);
    first = shmat(segment, 0, 0), mapped_again = shmat(segment, 0, 0);
    shmctl(segment, IPC_RMID, 0);
    regcomp(&pattern, "1", 0);
    hcreate(8);
    hsearch((ENTRY){"1", 0}, ENTER);
    setlocale(LC_ALL, "C.UTF-8");
    for (size_t trial = 0; trial < sizeof trials / sizeof *trials; trial++) {
        int wanted = count == 1;
        for (int name = 1; name < count; name++) wanted |= !strcmp(wanted_names[name], trials[trial].name);
        if (!wanted) continue;
        posts = trials[trial].posts, looks = trials[trial].looks;
        library = "libm.so.6", symbol = "cosl";
        trials[trial].before();
        both(first_posts, then_looks);
        library = "libthread_db.so.1", symbol = "td_init";
        trials[trial].before();
        both(first_looks, then_posts);
    }
    puts("done");
    return 0;
}
