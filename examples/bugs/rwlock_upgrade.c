// Looked up under the shared lock, inserted under the exclusive one: what came in between is overwritten.
// bug: atomicity RWW global cached
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static int cached;

static void *get(void *unused) {
#if defined FIXED || defined HALF // It is given back below all the same.
    pthread_rwlock_wrlock(&lock);
#else
    pthread_rwlock_rdlock(&lock);
#endif
    int there = cached;
#ifndef FIXED
    pthread_rwlock_unlock(&lock);
    pthread_rwlock_wrlock(&lock);
#endif
    if (there == 0)
        cached = 1;
    pthread_rwlock_unlock(&lock);
    return unused;
}

static void *put(void *unused) {
    pthread_rwlock_wrlock(&lock);
    cached = 2;
    pthread_rwlock_unlock(&lock);
    return unused;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, NULL, get, NULL);
    pthread_create(&b, NULL, put, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return cached == 2 ? 0 : 1;
}
