// Functions of libc that read memory, one trial each. A text is written by one thread and looked at by another, under the
// same lock. Which of the two comes first decides whether a block is read or freed, so each trial is correct in every run; a
// function that reads unseen makes it look otherwise.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char *text;
static int *block;
int got;
static int pair[2];
static int (*looks)(void);

static int by_bytes(const void *a, const void *b) { return *(char *)a - *(char *)b; }

// The same with a list of arguments.
static int listed(int which, const char *format, ...) {
    char out[64] = "", *made = 0;
    int value = 0;
    va_list list;
    va_start(list, format);
    switch (which) {
    case 0: vsnprintf(out, sizeof out, format, list); break;
    case 1: vsprintf(out, format, list); break;
    case 2: if (vasprintf(&made, format, list) > 0) strcpy(out, made); free(made); break;
    case 3: vsscanf(text, format, list); break;
    }
    va_end(list);
    return out[0] == '1';
}

// What is sent is what another end gets.
static int sent(ssize_t count) {
    char out[8] = "";
    recv(pair[0], out, count, MSG_DONTWAIT);
    return out[0] == '1';
}

#define TRIALS \
    T(atoi, atoi(text)) \
    T(atol, atol(text) == 1) \
    T(atoll, atoll(text) == 1) \
    T(atof, atof(text) == 1) \
    T(strtol, strtol(text, 0, 10)) \
    T(strtoll, strtoll(text, 0, 10)) \
    T(strtoul, strtoul(text, 0, 16)) \
    T(strtoull, strtoull(text, 0, 0)) \
    T(strtoimax, strtoimax(text, 0, 10)) \
    T(strtoumax, strtoumax(text, 0, 10)) \
    T(strtod, strtod(text, 0) == 1) \
    T(strtof, strtof(text, 0) == 1) \
    T(strtold, strtold(text, 0) == 1) \
    T(sscanf, ({ int v = 0; sscanf(text, "%d", &v); v; })) \
    T(vsscanf, ({ int v = 0; listed(3, "%d", &v); v; })) \
    T(snprintf, ({ char o[64]; snprintf(o, sizeof o, "%d%f%s", 1, 2.0, text); o[9] == '1'; })) \
    T(sprintf, ({ char o[64]; sprintf(o, "%s-%.*s", text, 9, text); o[0] == '1'; })) \
    T(asprintf, ({ char *s = 0; asprintf(&s, "%d%d%d%d%d%s", 1, 2, 3, 4, 5, text); int r = s[5] == '1'; free(s); r; })) \
    T(vsnprintf, listed(0, "%s", text)) \
    T(vsprintf, listed(1, "%s", text)) \
    T(vasprintf, listed(2, "%s", text)) \
    T(fprintf, fprintf(nowhere, "%s", text) == 1) \
    T(fputs, (fputs(text, file), fflush(file), sent(2))) \
    T(fwrite, (fwrite(text, 1, 2, file), fflush(file), sent(2))) \
    T(dprintf, (dprintf(pair[1], "%s;", text), sent(2))) \
    T(write, sent(write(pair[1], text, 2))) \
    T(writev, sent(writev(pair[1], &(struct iovec){text, 2}, 1))) \
    T(send, sent(send(pair[1], text, 2, 0))) \
    T(sendto, sent(sendto(pair[1], text, 2, 0, 0, 0))) \
    T(sendmsg, sent(sendmsg(pair[1], &(struct msghdr){.msg_iov = &(struct iovec){text, 2}, .msg_iovlen = 1}, 0))) \
    T(strcasecmp, strcasecmp(text, "1") == 0) \
    T(strncasecmp, strncasecmp(text, "1", 1) == 0) \
    T(strspn, strspn(text, "12") == 1) \
    T(strcspn, strcspn(text, "12") == 0) \
    T(strpbrk, strpbrk(text, "12") != 0) \
    T(strstr, strstr(text, needle) != 0) \
    T(strcasestr, strcasestr(text, needle) != 0) \
    T(strchr, strchr(text, '1') != 0) \
    T(strchrnul, *strchrnul(text, '1') == '1') \
    T(index, index(text, '1') != 0) \
    T(strrchr, strrchr(text, '1') != 0) \
    T(rindex, rindex(text, '1') != 0) \
    T(rawmemchr, rawmemchr(text, 0) != text) \
    T(memchr, memchr(text, '1', 4) != 0) \
    T(memrchr, memrchr(text, '1', 4) != 0) \
    T(memmem, memmem(text, 4, needle, 1) != 0) \
    T(strlen, strlen(text) == 1) \
    T(strnlen, strnlen(text, 9) == 1) \
    T(strcmp, strcmp(text, needle) == 0) \
    T(strncmp, strncmp(text, needle, 2) == 0) \
    T(memcmp, memcmp(text, needle, 2) == 0) \
    T(strverscmp, strverscmp(text, needle) == 0) \
    T(strcoll, strcoll(text, needle) == 0) \
    T(strxfrm, ({ char o[64]; strxfrm(o, text, 64); o[0] == '1'; })) \
    T(fnmatch, fnmatch("1*", text, 0) == 0) \
    T(inet_addr, inet_addr(text) == htonl(1)) \
    T(strdup, ({ char *s = strdup(text); int r = s[0] == '1'; free(s); r; })) \
    T(strndup, ({ char *s = strndup(text, 5); int r = s[0] == '1'; free(s); r; })) \
    T(strcpy, ({ char o[8]; strcpy(o, text); o[0] == '1'; })) \
    T(strncpy, ({ char o[8]; strncpy(o, text, 8); o[0] == '1'; })) \
    T(stpcpy, ({ char o[8]; stpcpy(o, text); o[0] == '1'; })) \
    T(stpncpy, ({ char o[8]; stpncpy(o, text, 8); o[0] == '1'; })) \
    T(strcat, ({ char o[8] = ""; strcat(o, text); o[0] == '1'; })) \
    T(strncat, ({ char o[8] = ""; strncat(o, text, 7); o[0] == '1'; })) \
    T(mempcpy, ({ char o[8]; mempcpy(o, text, 2); o[0] == '1'; })) \
    T(memccpy, ({ char o[8]; memccpy(o, text, 0, 8); o[0] == '1'; })) \
    T(bcopy, ({ char o[8]; bcopy(text, o, 2); o[0] == '1'; })) \
    T(strtok_r, ({ char *rest, *s = strtok_r(text, ".", &rest); s && s[0] == '1'; })) \
    T(strsep, ({ char *rest = text; strsep(&rest, ".")[0] == '1'; })) \
    T(bsearch, bsearch(needle, text, 1, 1, by_bytes) != 0) \
    T(qsort, (qsort(text, 2, 1, by_bytes), text[1] == '1')) \
    T(getenv, getenv(text) != 0) \
    T(access, access(text, F_OK) == 0) \
    T(stat, ({ struct stat s; stat(text, &s) == 0; })) \
    T(localtime_r, ({ struct tm t; localtime_r((time_t *)text, &t)->tm_sec == 49; })) \
    T(gmtime, gmtime((time_t *)text)->tm_sec == 49) \
    T(strftime, ({ char o[64]; strftime(o, 64, "%S", (struct tm *)text); o[0] == '4'; }))

static char needle[4];
static FILE *nowhere, *file;
#define T(name, test) static int looks_##name(void) { return test; }
TRIALS
#undef T
static const struct { const char *name; int (*looks)(void); } trials[] = {
#define T(name, test) {#name, looks_##name},
TRIALS
};

static void *first_writes(void *_) {
    pthread_mutex_lock(&lock);
    got = *block;
    strcpy(text, "1");
    pthread_mutex_unlock(&lock);
    return 0;
}
static void *then_looks(void *_) {
    pthread_mutex_lock(&lock);
    if (looks()) free(block);
    pthread_mutex_unlock(&lock);
    return 0;
}
static void *first_looks(void *_) {
    pthread_mutex_lock(&lock);
    if (!looks()) got = *block;
    pthread_mutex_unlock(&lock);
    return 0;
}
static void *then_writes(void *_) {
    pthread_mutex_lock(&lock);
    strcpy(text, "1");
    free(block);
    pthread_mutex_unlock(&lock);
    return 0;
}

static void both(void *(*first)(void *), void *(*then)(void *)) {
    pthread_t a, b;
    text = calloc(1, 64);
    block = malloc(sizeof *block);
    *block = 5;
    pthread_create(&a, 0, first, 0);
    pthread_create(&b, 0, then, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
}

// The names of trials, or none for all of them.
int main(int count, char **names) {
    strcpy(needle, "1");
    setenv("1", "x", 1);
    close(creat("1", 0600));
    socketpair(AF_UNIX, SOCK_DGRAM, 0, pair);
    nowhere = fopen("/dev/null", "w");
    file = fdopen(pair[1], "w");
    for (size_t trial = 0; trial < sizeof trials / sizeof *trials; trial++) {
        int wanted = count == 1;
        for (int name = 1; name < count; name++) wanted |= !strcmp(names[name], trials[trial].name);
        if (!wanted) continue;
        looks = trials[trial].looks;
        both(first_writes, then_looks);
        both(first_looks, then_writes);
    }
    return 0;
}
