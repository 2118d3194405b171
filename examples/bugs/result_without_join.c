// The result is read when it should be there, without waiting for the thread.
// bug: race race global result
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static int result;

static void *compute(void *unused) {
    result = 6 * 7;
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
