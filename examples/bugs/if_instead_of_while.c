// Who is woken does not look again: another one may have taken the item. The twin has no condition variable to get wrong.
// bug: atomicity RWR global items
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <semaphore.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t filled = PTHREAD_COND_INITIALIZER;
static sem_t available;
static int items, below_zero;

static void *consume(void *unused) {
#ifdef FIXED
    sem_wait(&available);
    pthread_mutex_lock(&lock);
#else
    pthread_mutex_lock(&lock);
    if (items == 0)
        pthread_cond_wait(&filled, &lock);
#endif
    if (--items < 0)
        below_zero = 1;
    pthread_mutex_unlock(&lock);
    return unused;
}

static void *produce(void *unused) {
    pthread_mutex_lock(&lock);
    items++;
    pthread_cond_signal(&filled);
    pthread_mutex_unlock(&lock);
    sem_post(&available);
    return unused;
}

int main(void) {
    pthread_t a, b, first, second;
    sem_init(&available, 0, 0);
    items = 0;
    pthread_create(&a, NULL, consume, NULL);
    pthread_create(&first, NULL, produce, NULL);
    pthread_create(&second, NULL, produce, NULL);
    pthread_create(&b, NULL, consume, NULL);
    pthread_join(a, NULL);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    pthread_join(b, NULL);
    return below_zero;
}
