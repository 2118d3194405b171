// Condition variables: a bounded queue, a wait that times out on either clock, a broadcast.
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <time.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t full = PTHREAD_COND_INITIALIZER, empty = PTHREAD_COND_INITIALIZER, even, go = PTHREAD_COND_INITIALIZER;
static int queue[3], count, sum, started;

static void *producer(void *unused) {
    for (int i = 1; i <= 20; i++) {
        pthread_mutex_lock(&lock);
        while (count == 3) pthread_cond_wait(&empty, &lock);
        queue[count++] = i;
        pthread_cond_signal(&full);
        pthread_mutex_unlock(&lock);
    }
    return unused;
}

static void *consumer(void *unused) {
    for (int i = 1; i <= 20; i++) {
        pthread_mutex_lock(&lock);
        while (count == 0) pthread_cond_wait(&full, &lock);
        sum += queue[--count];
        pthread_cond_signal(&empty);
        pthread_mutex_unlock(&lock);
    }
    return unused;
}

static void *waiter(void *unused) {
    pthread_mutex_lock(&lock);
    while (!started) pthread_cond_wait(&go, &lock);
    pthread_mutex_unlock(&lock);
    return unused;
}

static struct timespec soon(clockid_t clock) {
    struct timespec t;
    clock_gettime(clock, &t);
    t.tv_nsec += 10000000;
    if (t.tv_nsec >= 1000000000) { t.tv_nsec -= 1000000000; t.tv_sec++; }
    return t;
}

int main(void) {
    pthread_t t[6];
    pthread_condattr_t clock;
    pthread_condattr_init(&clock);
    pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
    pthread_cond_init(&even, &clock);
    pthread_create(&t[0], NULL, producer, NULL);
    pthread_create(&t[1], NULL, consumer, NULL);
    for (int i = 2; i < 6; i++) pthread_create(&t[i], NULL, waiter, NULL);
    pthread_mutex_lock(&lock);
    struct timespec a = soon(CLOCK_REALTIME), b = soon(CLOCK_MONOTONIC), c = soon(CLOCK_MONOTONIC);
    pthread_cond_t never = PTHREAD_COND_INITIALIZER;
    int ok = pthread_cond_timedwait(&never, &lock, &a) == ETIMEDOUT;
    ok &= pthread_cond_timedwait(&even, &lock, &b) == ETIMEDOUT;
    ok &= pthread_cond_clockwait(&never, &lock, CLOCK_MONOTONIC, &c) == ETIMEDOUT;
    started = 1;
    pthread_cond_broadcast(&go);
    pthread_mutex_unlock(&lock);
    for (int i = 0; i < 6; i++) pthread_join(t[i], NULL);
    ok &= sum == 210;
    puts(ok ? "ok" : "wrong");
    return !ok;
}
