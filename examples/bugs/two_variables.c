// Two numbers that belong together are read in two critical sections.
// bug: atomicity RxWxWyRy global width, global height
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
#ifdef HALF
static pthread_mutex_t whole = PTHREAD_MUTEX_INITIALIZER; // Not the lock of the other thread.
#endif
static int width = 1, height = 1, torn;

static void *resize(void *unused) {
    pthread_mutex_lock(&lock);
    width = 2;
    height = 2;
    pthread_mutex_unlock(&lock);
    return unused;
}

static void *draw(void *unused) {
#ifdef HALF
    pthread_mutex_lock(&whole);
#endif
    pthread_mutex_lock(&lock);
    int w = width;
#ifndef FIXED
    pthread_mutex_unlock(&lock);
    pthread_mutex_lock(&lock);
#endif
    int h = height;
    pthread_mutex_unlock(&lock);
    torn = w != h;
#ifdef HALF
    pthread_mutex_unlock(&whole);
#endif
    return unused;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, NULL, draw, NULL);
    pthread_create(&b, NULL, resize, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return torn;
}
