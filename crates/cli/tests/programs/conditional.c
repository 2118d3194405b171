// Correct: what is done depends on a compare-exchange that failed, and on a clock that only goes forward.
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static atomic_int state, done;
static int taken, result, *cached, got;
static long deadline;

static long now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000000000 + t.tv_nsec;
}

// The result is written without the lock by who took, and by who saw that it was taken and the state is 0 again: that is so
// only after the other one has written it, for the state is not 0 before `done`.
static void *occupies(void *unused) {
    atomic_store(&state, 5);
    while (!atomic_load(&done)) sched_yield();
    atomic_store(&state, 0);
    return unused;
}

static void *takes(void *unused) {
    int free_ = 0;
    pthread_mutex_lock(&lock);
    taken = 1;
    atomic_compare_exchange_strong(&state, &free_, 1);
    pthread_mutex_unlock(&lock);
    result = 2;
    atomic_store(&done, 1);
    return unused;
}

static void *follows(void *unused) {
    pthread_mutex_lock(&lock);
    int ok = taken && atomic_load(&state) == 0;
    pthread_mutex_unlock(&lock);
    if (ok) result = 1;
    return unused;
}

// The cached number is used before the deadline only, and freed after it only.
static void *uses(void *unused) {
    pthread_mutex_lock(&lock);
    if (now() < deadline) got = *cached;
    pthread_mutex_unlock(&lock);
    return unused;
}

static void *expires(void *unused) {
    struct timespec while_ = {0, 1000000};
    nanosleep(&while_, 0);
    pthread_mutex_lock(&lock);
    if (now() >= deadline) free(cached);
    pthread_mutex_unlock(&lock);
    return unused;
}

int main(void) {
    void *(*work[])(void *) = {occupies, takes, follows, uses, expires};
    pthread_t threads[5];
    atomic_store(&state, 0);
    atomic_store(&done, 0);
    taken = result = 0;
    cached = malloc(sizeof *cached);
    *cached = 5;
    deadline = now() + 500000;
    for (int i = 0; i < 5; i++) pthread_create(&threads[i], 0, work[i], 0);
    for (int i = 0; i < 5; i++) pthread_join(threads[i], 0);
    printf("%d\n", result > 0);
    return 0;
}
