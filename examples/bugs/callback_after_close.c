// The pointer is copied under the lock and used without it, after the owner has freed it.
// bug: uaf use-after-free heap block of 4 bytes
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

struct listener { int events; };
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct listener *listener;

static void *dispatch(void *unused) {
    pthread_mutex_lock(&lock);
    struct listener *now = listener;
#ifndef FIXED
    pthread_mutex_unlock(&lock);
#endif
#ifdef HALF
    pthread_mutex_lock(&lock); // The lock is there again, the listener may be gone.
#endif
    if (now)
        now->events = 3;
#if defined FIXED || defined HALF
    pthread_mutex_unlock(&lock);
#endif
    return unused;
}

static void *close_it(void *unused) {
    pthread_mutex_lock(&lock);
    struct listener *mine = listener;
    listener = NULL;
    pthread_mutex_unlock(&lock);
    free(mine);
    return unused;
}

int main(void) {
    pthread_t a, b;
    listener = calloc(1, sizeof *listener);
    pthread_create(&a, NULL, dispatch, NULL);
    pthread_create(&b, NULL, close_it, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
