// Threads that are asked to end while they wait, each in another way.
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t never = PTHREAD_COND_INITIALIZER;
static sem_t none;
static int nothing[2], cleaned, waiting;

static void clean(void *unused) { cleaned++; pthread_mutex_unlock(&lock); }
static void clean_too(void *unused) { pthread_mutex_lock(&lock); cleaned++; pthread_mutex_unlock(&lock); }

static void *waits(void *unused) {
    pthread_mutex_lock(&lock);
    pthread_cleanup_push(clean, NULL);
    waiting++;
    for (;;) pthread_cond_wait(&never, &lock);
    pthread_cleanup_pop(0);
}

static void *takes(void *unused) {
    pthread_cleanup_push(clean_too, NULL);
    sem_wait(&none);
    pthread_cleanup_pop(0);
    return unused;
}

static void *sleeps(void *unused) {
    pthread_cleanup_push(clean_too, NULL);
    sleep(100);
    pthread_cleanup_pop(0);
    return unused;
}

static void *reads(void *unused) {
    char byte;
    pthread_cleanup_push(clean_too, NULL);
    if (read(nothing[0], &byte, 1) != 0) puts("read");
    pthread_cleanup_pop(0);
    return unused;
}

int main(void) {
    void *(*all[4])(void *) = {waits, takes, sleeps, reads}, *result;
    pthread_t t[4];
    int ok = pipe(nothing) == 0 && sem_init(&none, 0, 0) == 0;
    for (int i = 0; i < 4; i++) pthread_create(&t[i], NULL, all[i], NULL);
    for (int seen = 0; !seen;) {
        pthread_mutex_lock(&lock);
        seen = waiting;
        pthread_mutex_unlock(&lock);
    }
    usleep(1000);
    for (int i = 0; i < 4; i++) {
        ok &= pthread_cancel(t[i]) == 0;
        pthread_join(t[i], &result);
        ok &= result == PTHREAD_CANCELED;
    }
    ok &= cleaned == 4;
    puts(ok ? "ok" : "wrong");
    return !ok;
}
