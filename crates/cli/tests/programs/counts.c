// Two threads that count to forty thousand.
#include <pthread.h>
#include <stdio.h>

static long counted;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *counts(void *unused) {
    for (int i = 0; i < 20000; i++) {
        pthread_mutex_lock(&lock);
        counted++;
        pthread_mutex_unlock(&lock);
    }
    return unused;
}

int main(void) {
    pthread_t threads[2];
    for (int i = 0; i < 2; i++) pthread_create(&threads[i], NULL, counts, NULL);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
    puts(counted == 40000 ? "ok" : "bad");
    return 0;
}
