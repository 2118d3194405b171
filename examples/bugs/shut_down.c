// The log is closed while a worker may still write to it.
// bug: race race global log_
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

struct log { int lines; };
static struct log storage, *log_ = &storage;
static int lost;
#ifdef HALF
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
#endif

static void *work(void *unused) {
    struct log *log = log_;
    if (log)
        log->lines++;
    else
        lost = 1;
    return unused;
}

int main(void) {
    pthread_t worker;
    pthread_create(&worker, NULL, work, NULL);
#ifdef FIXED
    pthread_join(worker, NULL);
    log_ = NULL;
#else
    usleep(1000); // The worker is fast.
#ifdef HALF
    pthread_mutex_lock(&lock); // Alone with it: the other side does not take it.
#endif
    log_ = NULL;
#ifdef HALF
    pthread_mutex_unlock(&lock);
#endif
    pthread_join(worker, NULL);
#endif
    return lost;
}
