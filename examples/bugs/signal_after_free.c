// A worker says under the lock of its job that it is done, and signals after that: the owner, who looks now and then, may have freed the job by then.
// bug: uaf use-after-free heap block of
// fix: signal before the lock is given back.

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

struct job {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool done;
};

static void *work(void *given)
{
    struct job *job = given;
    pthread_mutex_lock(&job->lock);
    job->done = true;
#ifdef FIXED
    pthread_cond_signal(&job->changed);
#endif
    pthread_mutex_unlock(&job->lock);
#ifndef FIXED
    pthread_cond_signal(&job->changed);
#endif
    return NULL;
}

static bool is_done(struct job *job)
{
    pthread_mutex_lock(&job->lock);
    bool done = job->done;
    pthread_mutex_unlock(&job->lock);
    return done;
}

int main(void)
{
    pthread_t worker;
    struct job *job = calloc(1, sizeof *job);
    pthread_mutex_init(&job->lock, NULL);
    pthread_cond_init(&job->changed, NULL);
    pthread_create(&worker, NULL, work, job);
    do
        usleep(1000);
    while (!is_done(job));
#ifdef HALF
    is_done(job); // Nobody has the lock now; the worker is still to signal.
#endif
    free(job);
    pthread_join(worker, NULL);
    return 0;
}
