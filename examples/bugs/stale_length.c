// The length is looked up, the lock given back, and the copy made of another length.
// bug: atomicity RWR global length
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
#ifdef HALF
static pthread_mutex_t whole = PTHREAD_MUTEX_INITIALIZER; // Not the lock of the other thread.
#endif
static int length = 4, overflow;

static void *copy(void *unused) {
#ifdef HALF
    pthread_mutex_lock(&whole);
#endif
    pthread_mutex_lock(&lock);
    int room = length;
#ifndef FIXED
    pthread_mutex_unlock(&lock);
    pthread_mutex_lock(&lock);
#endif
    if (length > room)
        overflow = 1;
    pthread_mutex_unlock(&lock);
#ifdef HALF
    pthread_mutex_unlock(&whole);
#endif
    return unused;
}

static void *grow(void *unused) {
    pthread_mutex_lock(&lock);
    length = 8;
    pthread_mutex_unlock(&lock);
    return unused;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, NULL, copy, NULL);
    pthread_create(&b, NULL, grow, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return overflow;
}
