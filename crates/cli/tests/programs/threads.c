// Threads that end in every way, and waiting for them in every way; 200 at once; data of their own.
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static pthread_key_t key;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int cleaned, counter, gone;
static __thread int own;

static void clean(void *unused) { pthread_mutex_lock(&lock); cleaned++; pthread_mutex_unlock(&lock); }
static void unwound(void *unused) { pthread_mutex_lock(&lock); gone++; pthread_mutex_unlock(&lock); }

static void *exits(void *value) {
    pthread_setspecific(key, value);
    pthread_cleanup_push(unwound, NULL);
    pthread_exit(value);
    pthread_cleanup_pop(0);
}

static void *counts(void *unused) {
    for (int i = 0; i < 3; i++) {
        own++;
        pthread_mutex_lock(&lock);
        counter++;
        pthread_mutex_unlock(&lock);
    }
    return (void *)(long)own;
}

int main(void) {
    pthread_t t[200];
    void *result;
    int ok = 1;
    pthread_key_create(&key, clean);
    for (int i = 0; i < 5; i++) pthread_create(&t[i], NULL, exits, &t[i]);
    for (int i = 0; i < 5; i++) { pthread_join(t[i], &result); ok &= result == &t[i]; }
    for (int i = 0; i < 200; i++) ok &= pthread_create(&t[i], NULL, counts, NULL) == 0;
    for (int i = 0; i < 200; i++) {
        struct timespec time;
        clock_gettime(CLOCK_REALTIME, &time);
        time.tv_sec += 60;
        int error = i % 3 == 0 ? pthread_timedjoin_np(t[i], &result, &time) : EBUSY;
        while (error == EBUSY) error = i % 3 == 1 ? pthread_tryjoin_np(t[i], &result) : pthread_join(t[i], &result);
        ok &= error == 0 && result == (void *)3;
    }
    for (int i = 0; i < 3; i++) {
        pthread_create(&t[i], NULL, counts, NULL);
        pthread_detach(t[i]);
    }
    for (int done = 0; !done;) {
        pthread_mutex_lock(&lock);
        done = counter == 609;
        pthread_mutex_unlock(&lock);
    }
    ok &= cleaned == 5 && gone == 5 && own == 0;
    puts(ok ? "ok" : "wrong");
    return !ok;
}
