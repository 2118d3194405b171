// The semaphore is posted before the item is there.
// bug: race race global item
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <semaphore.h>

static sem_t filled;
#ifdef HALF
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
#endif
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
#ifdef HALF
    pthread_mutex_lock(&lock); // Alone with it: the other side does not take it.
#endif
    item = 9;
#ifdef HALF
    pthread_mutex_unlock(&lock);
#endif
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
