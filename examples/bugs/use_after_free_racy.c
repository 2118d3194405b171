// A message is freed while another thread may still read it.
// bug: uaf use-after-free heap block of 4 bytes
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static int *message;
static int seen;
#ifdef HALF
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
#endif

static void *reader(void *unused) {
#ifdef HALF
    pthread_mutex_lock(&lock); // It may be gone when the lock is free.
#endif
    seen = *message;
#ifdef HALF
    pthread_mutex_unlock(&lock);
#endif
    return unused;
}

int main(void) {
    pthread_t thread;
    message = malloc(sizeof *message);
    *message = 7;
    pthread_create(&thread, NULL, reader, NULL);
#ifdef FIXED
    pthread_join(thread, NULL);
    free(message);
#else
    usleep(1000); // Time enough to read it.
#ifdef HALF
    pthread_mutex_lock(&lock);
#endif
    free(message);
#ifdef HALF
    pthread_mutex_unlock(&lock);
#endif
    pthread_join(thread, NULL);
#endif
    return seen == 7 ? 0 : 1;
}
