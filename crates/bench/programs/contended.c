// Threads that all want one lock: as many as the first argument says, each so many times as the second says.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long count;
static int rounds;

static void *works(void *unused) {
    for (int i = 0; i < rounds; i++) {
        pthread_mutex_lock(&lock);
        count++;
        pthread_mutex_unlock(&lock);
    }
    return unused;
}

int main(int argc, char **argv) {
    int threads = argc > 1 ? atoi(argv[1]) : 10;
    rounds = argc > 2 ? atoi(argv[2]) : 100;
    pthread_t *ids = malloc(sizeof *ids * threads);
    for (int i = 0; i < threads; i++) pthread_create(&ids[i], NULL, works, NULL);
    for (int i = 0; i < threads; i++) pthread_join(ids[i], NULL);
    printf("%ld\n", count);
    return count != (long)threads * rounds;
}
