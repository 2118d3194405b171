// Mutexes of every kind and every way to take them.
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <time.h>

static pthread_mutex_t normal = PTHREAD_MUTEX_INITIALIZER, nests, checks;
static int counter, tries, late;
static pthread_barrier_t start;

static struct timespec soon(clockid_t clock) {
    struct timespec t;
    clock_gettime(clock, &t);
    t.tv_nsec += 20000000;
    if (t.tv_nsec >= 1000000000) { t.tv_nsec -= 1000000000; t.tv_sec++; }
    return t;
}

static void *work(void *unused) {
    for (int i = 0; i < 30; i++) {
        if (i % 3 == 0 && pthread_mutex_trylock(&normal) != 0) { __atomic_fetch_add(&tries, 1, 5); continue; }
        if (i % 3 != 0) pthread_mutex_lock(&normal);
        counter++;
        pthread_mutex_unlock(&normal);
        pthread_mutex_lock(&nests);
        pthread_mutex_lock(&nests);
        counter += 0;
        pthread_mutex_unlock(&nests);
        pthread_mutex_unlock(&nests);
    }
    return unused;
}

static void *holder(void *unused) {
    pthread_mutex_lock(&normal);
    pthread_barrier_wait(&start);
    pthread_barrier_wait(&start);
    pthread_mutex_unlock(&normal);
    return unused;
}

int main(void) {
    pthread_mutexattr_t kind;
    pthread_mutexattr_init(&kind);
    pthread_mutexattr_settype(&kind, PTHREAD_MUTEX_RECURSIVE);
    pthread_mutex_init(&nests, &kind);
    pthread_mutexattr_settype(&kind, PTHREAD_MUTEX_ERRORCHECK);
    pthread_mutex_init(&checks, &kind);
    pthread_barrier_init(&start, NULL, 2);
    int ok = pthread_mutex_unlock(&checks) == EPERM;
    ok &= pthread_mutex_lock(&checks) == 0 && pthread_mutex_lock(&checks) == EDEADLK;
    ok &= pthread_mutex_unlock(&checks) == 0;
    pthread_t t[3];
    for (int i = 0; i < 3; i++) pthread_create(&t[i], NULL, work, NULL);
    for (int i = 0; i < 3; i++) pthread_join(t[i], NULL);
    ok &= counter + tries == 90;
    pthread_create(&t[0], NULL, holder, NULL);
    pthread_barrier_wait(&start);
    struct timespec time = soon(CLOCK_REALTIME);
    late += pthread_mutex_timedlock(&normal, &time) == ETIMEDOUT;
    time = soon(CLOCK_MONOTONIC);
    late += pthread_mutex_clocklock(&normal, CLOCK_MONOTONIC, &time) == ETIMEDOUT;
    pthread_barrier_wait(&start);
    time = soon(CLOCK_REALTIME);
    time.tv_sec += 10;
    ok &= pthread_mutex_timedlock(&normal, &time) == 0 && pthread_mutex_unlock(&normal) == 0;
    pthread_join(t[0], NULL);
    ok &= late == 2;
    puts(ok ? "ok" : "wrong");
    return !ok;
}
