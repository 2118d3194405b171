// Who waits keeps a lock that the other needs before it can signal: both wait for ever.
// bug: deadlock wait-cycle global log_, global filled
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static pthread_mutex_t log_ = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t filled = PTHREAD_COND_INITIALIZER;
static pthread_t reader, writer;

static void *take(void *unused) {
#ifdef FIXED
    // An end is awaited without any lock.
    pthread_join(writer, NULL);
    pthread_mutex_lock(&log_);
    pthread_mutex_unlock(&log_);
#else
#ifdef HALF
    pthread_mutex_lock(&lock); // The other way round: it still waits with the log.
    pthread_mutex_lock(&log_);
#else
    pthread_mutex_lock(&log_);
    pthread_mutex_lock(&lock);
#endif
    pthread_cond_wait(&filled, &lock);
    pthread_mutex_unlock(&lock);
    pthread_mutex_unlock(&log_);
#endif
    return unused;
}

static void *put(void *unused) {
    pthread_mutex_lock(&log_);
    pthread_mutex_unlock(&log_);
    usleep(1000);
    pthread_mutex_lock(&lock);
    pthread_cond_signal(&filled);
    pthread_mutex_unlock(&lock);
    return unused;
}

int main(void) {
    pthread_create(&writer, NULL, put, NULL);
    pthread_create(&reader, NULL, take, NULL);
    pthread_join(reader, NULL);
#ifndef FIXED
    pthread_join(writer, NULL);
#endif
    return 0;
}
