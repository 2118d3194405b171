// A thread still prints to a log that another thread has closed, and libc has freed.
// bug: order call-order stream
// fix: wait for the thread before the close.

#include <pthread.h>
#include <stdio.h>

static pthread_t worker;
static FILE *report;

static void *work(void *unused)
{
    fputs("done\n", report);
    return unused;
}

static void *stop(void *unused)
{
#ifdef FIXED
    pthread_join(worker, NULL);
#endif
    fclose(report);
    return unused;
}

int main(void)
{
    pthread_t stopping;
    report = fopen("/dev/null", "w");
    pthread_create(&worker, NULL, work, NULL);
    pthread_create(&stopping, NULL, stop, NULL);
#ifdef HALF
    pthread_join(worker, NULL); // The main thread waits; who closes does not.
#endif
    pthread_join(stopping, NULL);
#if !defined FIXED && !defined HALF
    pthread_join(worker, NULL);
#endif
    return 0;
}
