// The queue's owner destroys its mutex when the queue is empty; the consumer that emptied it still has to unlock, or looks once more.
// bug: order call-order lock
// fix: wait for the consumer before the end.

#include <pthread.h>
#include <stdlib.h>

static pthread_t consumer;
static pthread_mutex_t lock;
static int items = 1;

static void *consume(void *unused)
{
    for (int round = 0; round < 2; round++) {
        if (pthread_mutex_lock(&lock))
            exit(1);
        items = 0;
        pthread_mutex_unlock(&lock);
    }
    return unused;
}

static void *stop(void *unused)
{
#ifdef FIXED
    pthread_join(consumer, NULL);
#endif
#ifdef HALF
    pthread_mutex_lock(&lock); // Nobody has it now; somebody may want it later.
    pthread_mutex_unlock(&lock);
#endif
    pthread_mutex_destroy(&lock);
    return unused;
}

int main(void)
{
    pthread_t owner;
    pthread_mutex_init(&lock, NULL);
    pthread_create(&consumer, NULL, consume, NULL);
    pthread_create(&owner, NULL, stop, NULL);
    pthread_join(owner, NULL);
#ifndef FIXED
    pthread_join(consumer, NULL);
#endif
    return 0;
}
