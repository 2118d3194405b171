// Threads that may be cancelled anywhere: while they spin, compute, wait for a lock or a condition; and not while they may not.
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER, other = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t never = PTHREAD_COND_INITIALIZER;
static pthread_barrier_t barrier;
static int cleaned, ready;
static volatile int guarded, spun, sum;

static void clean(void *unlocks) {
    if (unlocks != NULL) pthread_mutex_unlock(unlocks);
    pthread_mutex_lock(&lock);
    cleaned++;
    pthread_mutex_unlock(&lock);
}

static void anywhere(void) {
    int before = -1;
    pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, &before);
    if (before != PTHREAD_CANCEL_DEFERRED) puts("another type");
    __atomic_add_fetch(&ready, 1, __ATOMIC_SEQ_CST);
}

static void *spins(void *unused) {
    pthread_cleanup_push(clean, NULL);
    anywhere();
    for (;;) spun++;
    pthread_cleanup_pop(0);
}

static void *yields(void *unused) {
    pthread_cleanup_push(clean, NULL);
    anywhere();
    for (;;) sched_yield();
    pthread_cleanup_pop(0);
}

// Little of what it does is seen.
static void *computes(void *unused) {
    pthread_cleanup_push(clean, NULL);
    anywhere();
    for (unsigned x = 1;; sum++)
        for (int i = 0; i < 1000; i++) __asm__ volatile("" : "+r"(x));
    pthread_cleanup_pop(0);
}

static void *locks(void *unused) {
    pthread_cleanup_push(clean, NULL);
    anywhere();
    pthread_mutex_lock(&other);
    puts("locked");
    pthread_cleanup_pop(0);
    return NULL;
}

static void *waits(void *unused) {
    pthread_mutex_lock(&lock);
    pthread_cleanup_push(clean, &lock);
    anywhere();
    for (;;) pthread_cond_wait(&never, &lock);
    pthread_cleanup_pop(0);
}

static void *arrives(void *unused) {
    pthread_cleanup_push(clean, NULL);
    anywhere();
    pthread_barrier_wait(&barrier);
    puts("left");
    pthread_cleanup_pop(0);
    return NULL;
}

// Is cancelled where it allows that again, and not before.
static void *refuses(void *unused) {
    int before;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before);
    pthread_cleanup_push(clean, NULL);
    anywhere();
    for (int i = 0; i < 20000; i++) guarded++;
    pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, NULL);
    for (;;) sched_yield();
    pthread_cleanup_pop(0);
}

// Asks itself.
static void *ends(void *unused) {
    pthread_cleanup_push(clean, NULL);
    anywhere();
    pthread_cancel(pthread_self());
    puts("went on");
    pthread_cleanup_pop(0);
    return NULL;
}

int main(void) {
    enum { ALL = 8 };
    void *(*all[ALL])(void *) = {spins, yields, computes, locks, waits, arrives, refuses, ends}, *result;
    pthread_t t[ALL];
    int ok = 1;
    pthread_barrier_init(&barrier, NULL, 2);
    pthread_mutex_lock(&other);
    for (int i = 0; i < ALL; i++) {
        pthread_create(&t[i], NULL, all[i], NULL);
        while (__atomic_load_n(&ready, __ATOMIC_SEQ_CST) <= i) sched_yield();
        // The last one ends itself.
        if (i < ALL - 1) ok &= pthread_cancel(t[i]) == 0;
        if (i % 2) pthread_join(t[i - 1], &result), ok &= result == PTHREAD_CANCELED;
        if (i % 2) pthread_join(t[i], &result), ok &= result == PTHREAD_CANCELED;
    }
    pthread_mutex_unlock(&other);
    ok &= cleaned == ALL && guarded == 20000;
    puts(ok ? "ok" : "wrong");
    return !ok;
}
