// The result is read when it should be there, without waiting for the thread.
// bug: race race global result
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static int result;
#ifdef HALF
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
#endif

static void *compute(void *unused) {
#ifdef HALF
    pthread_mutex_lock(&lock); // Alone with it: the other side does not take it.
#endif
    result = 6 * 7;
#ifdef HALF
    pthread_mutex_unlock(&lock);
#endif
    return unused;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, compute, NULL);
#ifdef FIXED
    pthread_join(thread, NULL);
    int seen = result;
#else
    usleep(1000); // It cannot take that long.
    int seen = result;
    pthread_join(thread, NULL);
#endif
    return seen == 42 ? 0 : 1;
}
