// A thread waits for a broadcast that tells of nothing but itself: where it comes first, the wait never ends.
// bug: order lost-wake-up ready
// fix: a flag under the lock says that it has come.

#include <pthread.h>
#include <stdbool.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t ready = PTHREAD_COND_INITIALIZER;
static bool is_ready;

static void *wait_for_it(void *unused)
{
#ifdef HALF
    bool there = is_ready; // Not under the lock: it may come right after.
#endif
    pthread_mutex_lock(&lock);
#ifdef HALF
    if (!there)
#endif
#ifdef FIXED
    while (!is_ready)
#endif
        pthread_cond_wait(&ready, &lock);
    pthread_mutex_unlock(&lock);
    return unused;
}

static void *tell(void *unused)
{
    pthread_mutex_lock(&lock);
    is_ready = true;
    pthread_cond_broadcast(&ready);
    pthread_mutex_unlock(&lock);
    return unused;
}

int main(void)
{
    pthread_t waiter, teller;
    pthread_create(&waiter, NULL, wait_for_it, NULL);
    pthread_create(&teller, NULL, tell, NULL);
    pthread_join(waiter, NULL);
    pthread_join(teller, NULL);
    return 0;
}
