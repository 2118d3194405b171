// A worker says that it is done, and then that it is really gone, on two semaphores. The main thread waits for the first and destroys both.
// bug: order call-order gone
// fix: wait for the second as well.

#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>

static sem_t done, gone;

static void *work(void *unused)
{
    sem_post(&done);
    if (sem_post(&gone))
        exit(1);
    return unused;
}

int main(void)
{
    pthread_t worker;
    sem_init(&done, 0, 0);
    sem_init(&gone, 0, 0);
    pthread_create(&worker, NULL, work, NULL);
    sem_wait(&done);
#ifdef FIXED
    sem_wait(&gone);
#endif
#ifdef HALF
    sem_destroy(&done); // As they were made; it is the other one that is still needed.
    sem_destroy(&gone);
#else
    sem_destroy(&gone);
    sem_destroy(&done);
#endif
    pthread_join(worker, NULL);
    return 0;
}
