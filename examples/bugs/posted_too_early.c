// The semaphore is posted before the item is there.
// bug: race race global item
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <semaphore.h>

static sem_t filled;
static int item, got;

static void *consume(void *unused) {
    sem_wait(&filled);
    got = item;
    return unused;
}

static void *produce(void *unused) {
#ifdef FIXED
    item = 9;
    sem_post(&filled);
#else
    sem_post(&filled);
    item = 9;
#endif
    return unused;
}

int main(void) {
    pthread_t a, b;
    sem_init(&filled, 0, 0);
    pthread_create(&a, NULL, produce, NULL);
    pthread_create(&b, NULL, consume, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return got == 9 ? 0 : 1;
}
