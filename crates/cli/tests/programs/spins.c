// Threads that wait by asking again and again: for one that sleeps, for one in a call, for the clock, for each other.
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { ROUNDS = 20000 };

static const char *how;
static int flag, turn, waiting;
static volatile int plain;

static int is(const char *name) { return !strcmp(how, name); }

static void *waits(void *unused) {
    if (is("plain")) while (!plain) { }
    if (is("yields")) while (!__atomic_load_n(&flag, __ATOMIC_ACQUIRE)) sched_yield();
    if (is("stores"))
        while (!__atomic_load_n(&flag, __ATOMIC_ACQUIRE)) __atomic_store_n(&waiting, 1, __ATOMIC_RELEASE);
    if (is("sleeps") || is("calls")) while (!__atomic_load_n(&flag, __ATOMIC_ACQUIRE)) { }
    return unused;
}

// Each asks so many times, and then goes on whatever the answer was.
static void *asks(void *unused) {
    int seen = 0;
    for (int i = 0; i < ROUNDS; i++) seen |= __atomic_load_n(&turn, __ATOMIC_RELAXED);
    __atomic_fetch_add(&flag, 1, __ATOMIC_RELAXED);
    return seen ? unused : NULL;
}

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec + time.tv_nsec / 1e9;
}

static void *until(void *unused) {
    double end = now() + 0.3;
    while (now() < end) { }
    return unused;
}

int main(int argc, char **argv) {
    how = argc > 1 ? argv[1] : "sleeps";
    void *(*work)(void *) = is("asks") ? asks : is("clock") ? until : waits;
    pthread_t threads[2];
    for (int i = 0; i < 2; i++) pthread_create(&threads[i], NULL, work, NULL);
    if (is("calls")) {
        pid_t child = fork();
        if (!child) {
            usleep(300000);
            _exit(0);
        }
        waitpid(child, NULL, 0);
    } else if (!is("asks") && !is("clock")) {
        usleep(300000);
    }
    plain = 1;
    if (!is("asks")) __atomic_store_n(&flag, 1, __ATOMIC_RELEASE);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
    puts(!is("asks") || flag == 2 ? "ok" : "bad");
    return 0;
}
