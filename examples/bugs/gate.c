// A gate makes two locks in two orders safe, but one thread leaves it too early.
// bug: deadlock cycle global b, global a
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER;

static void *forth(void *unused) {
    pthread_mutex_lock(&gate);
    pthread_mutex_lock(&a);
    pthread_mutex_lock(&b);
    pthread_mutex_unlock(&b);
    pthread_mutex_unlock(&a);
    pthread_mutex_unlock(&gate);
    return unused;
}

static void *back(void *unused) {
    pthread_mutex_lock(&gate);
    pthread_mutex_lock(&b);
#ifndef FIXED
    pthread_mutex_unlock(&gate);
#endif
#ifdef HALF
    pthread_mutex_lock(&gate); // With b in its hands.
#endif
    pthread_mutex_lock(&a);
    pthread_mutex_unlock(&a);
    pthread_mutex_unlock(&b);
#if defined FIXED || defined HALF
    pthread_mutex_unlock(&gate);
#endif
    return unused;
}

int main(void) {
    pthread_t first, second;
    pthread_create(&first, NULL, forth, NULL);
    pthread_create(&second, NULL, back, NULL);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    return 0;
}
