// What a program sees of time: with its threads one at a time, as it passes for them; with "free", as it is.
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static int wrong, stop, ends[2];
static volatile int count;

static long long nanos(struct timespec time) { return time.tv_sec * 1000000000LL + time.tv_nsec; }

static long long now(clockid_t clock) {
    struct timespec time;
    clock_gettime(clock, &time);
    return nanos(time);
}

// The machine's own time, past libc.
static long long real(clockid_t clock) {
    struct timespec time;
    long result;
    __asm__ volatile("syscall" : "=a"(result) : "0"(228L), "D"((long)clock), "S"(&time) : "rcx", "r11", "memory");
    return nanos(time);
}

static void check(int what, int holds) {
    if (holds) return;
    fprintf(stderr, "%d does not hold\n", what);
    wrong = 1;
}

static void *computes(void *unused) {
    while (!__atomic_load_n(&stop, __ATOMIC_RELAXED)) count++;
    return NULL;
}

// A limit of a wait for a descriptor passes for the program and really.
static void limits(void) {
    struct pollfd file = {.fd = ends[0], .events = POLLIN};
    long long start = now(CLOCK_MONOTONIC), really = real(CLOCK_MONOTONIC);
    check(1, poll(&file, 1, 20) == 0);
    check(2, now(CLOCK_MONOTONIC) - start >= 20000000 && real(CLOCK_MONOTONIC) - really >= 20000000);
    struct epoll_event event = {.events = EPOLLIN};
    int set = epoll_create1(0);
    epoll_ctl(set, EPOLL_CTL_ADD, ends[0], &event);
    start = now(CLOCK_REALTIME);
    check(3, epoll_wait(set, &event, 1, 10) == 0 && now(CLOCK_REALTIME) - start >= 10000000);
    fd_set files;
    FD_ZERO(&files);
    FD_SET(ends[0], &files);
    start = now(CLOCK_REALTIME);
    check(4, select(ends[0] + 1, &files, NULL, NULL, &(struct timeval){.tv_usec = 10000}) == 0);
    check(5, now(CLOCK_REALTIME) - start >= 10000000);
    close(set);
}

// Another process answers after a while, which passes for the program as well.
static void answers(void) {
    char byte;
    long long start = now(CLOCK_MONOTONIC);
    pid_t child = fork();
    if (child == 0) {
        usleep(30000);
        _exit(write(ends[1], "x", 1) != 1);
    }
    struct pollfd file = {.fd = ends[0], .events = POLLIN};
    check(6, poll(&file, 1, 20000) == 1 && read(ends[0], &byte, 1) == 1 && byte == 'x');
    check(7, now(CLOCK_MONOTONIC) - start >= 15000000);
    waitpid(child, NULL, 0);
    // Asks again and again, until its time is up.
    long long end = now(CLOCK_MONOTONIC) + 25000000;
    while (now(CLOCK_MONOTONIC) < end) poll(&file, 1, 5);
}

int main(int argc, char **argv) {
    int is_free = argc > 1 && strcmp(argv[1], "free") == 0;
    long long before = real(CLOCK_REALTIME), told = now(CLOCK_REALTIME), after = real(CLOCK_REALTIME);
    if (is_free) check(8, before <= told && told <= after);
    else if (argc > 1) check(9, told / 1000000000 == atoll(argv[1]) && time(NULL) == atoll(argv[1]));
    else check(10, before - told < 1500000000 && told <= after);
    struct timespec direct;
    syscall(SYS_clock_gettime, CLOCK_REALTIME, &direct);
    check(11, nanos(direct) - told < 500000000 && nanos(direct) >= told);
    check(12, pipe(ends) == 0);
    limits();
    answers();
    // One that waits is woken though another never stops; one that looks at the clock sees it go on.
    pthread_t thread;
    pthread_create(&thread, NULL, computes, NULL);
    long long really = real(CLOCK_MONOTONIC);
    usleep(3000);
    check(13, real(CLOCK_MONOTONIC) - really >= 3000000);
    long long end = now(CLOCK_MONOTONIC) + 2000000;
    while (now(CLOCK_MONOTONIC) < end) {}
    time_t second = time(NULL);
    struct timeval day;
    gettimeofday(&day, NULL);
    check(14, day.tv_sec - second <= 1);
    struct timezone zone = {7, 7};
    day.tv_sec = 0;
    gettimeofday(&day, &zone);
    check(15, day.tv_sec >= second && day.tv_sec - second <= 1 && zone.tz_minuteswest != 7);
    __atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
    pthread_join(thread, NULL);
    puts(wrong ? "wrong" : "ok");
    return wrong;
}
