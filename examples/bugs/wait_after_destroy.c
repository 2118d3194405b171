// A thread waits for one tick, without a flag that says whether it has come; whoever ticks destroys the condition variable at once, also where the thread does not wait yet.
// bug: order call-order tick
// fix: a flag under the lock: who was awakened does not use the condition variable any more, and who comes late does not wait.

#include <pthread.h>
#include <stdbool.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t tick = PTHREAD_COND_INITIALIZER;
static bool ticked;

static void *wait_for_it(void *unused)
{
    pthread_mutex_lock(&lock);
#ifdef FIXED
    while (!ticked)
#endif
        pthread_cond_wait(&tick, &lock);
    pthread_mutex_unlock(&lock);
    return unused;
}

static void *stop(void *unused)
{
    usleep(1000);
    pthread_mutex_lock(&lock);
    ticked = true;
    pthread_cond_broadcast(&tick);
    pthread_mutex_unlock(&lock);
#ifdef HALF
    pthread_mutex_lock(&lock); // Nobody has it now; the thread may want it later, and then wait.
    pthread_mutex_unlock(&lock);
#endif
    pthread_cond_destroy(&tick);
    return unused;
}

int main(void)
{
    pthread_t waiter, owner;
    pthread_create(&waiter, NULL, wait_for_it, NULL);
    pthread_create(&owner, NULL, stop, NULL);
    pthread_join(waiter, NULL);
    pthread_join(owner, NULL);
    return 0;
}
