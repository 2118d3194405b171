// Threads that wait with a lock in their hands that whoever is to wake them needs first. Each is a published case, cut down to its
// locks; all were fixed (FIXED) by giving the lock back before the wait.
#include <pthread.h>
#include <unistd.h>

static pthread_mutex_t outer = PTHREAD_MUTEX_INITIALIZER, inner = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int done, queued;

#if CASE == 1
// Apache, bug 42031: the listener of the event module waits for an idle worker, and holds the lock of the list of connections
// (outer), to which the worker adds its own before it is idle.
static void *waiter(void *unused) {
    pthread_mutex_lock(&outer);
#ifdef FIXED
    pthread_mutex_unlock(&outer);
#endif
    pthread_mutex_lock(&inner);
    while (done == 0) pthread_cond_wait(&changed, &inner);
    done--;
    pthread_mutex_unlock(&inner);
#ifndef FIXED
    pthread_mutex_unlock(&outer);
#endif
    return unused;
}
static void *waker(void *unused) {
    pthread_mutex_lock(&outer);
    queued++;
    pthread_mutex_unlock(&outer);
    usleep(1000);
    pthread_mutex_lock(&inner);
    done++;
    pthread_cond_signal(&changed);
    pthread_mutex_unlock(&inner);
    return unused;
}
#elif CASE == 2
// MySQL, bug 50038: one statement waits until no table is used, and holds a lock (outer) that the one that uses a table takes for reading
// before it gives the table back; it wakes all that wait.
static pthread_rwlock_t shared = PTHREAD_RWLOCK_INITIALIZER;
static int used = 1;
static void *waiter(void *unused) {
    pthread_rwlock_wrlock(&shared);
#ifdef FIXED
    pthread_rwlock_unlock(&shared);
#endif
    pthread_mutex_lock(&inner);
    while (used > 0) pthread_cond_wait(&changed, &inner);
    pthread_mutex_unlock(&inner);
#ifndef FIXED
    pthread_rwlock_unlock(&shared);
#endif
    return unused;
}
static void *waker(void *unused) {
    pthread_rwlock_rdlock(&shared);
    pthread_rwlock_unlock(&shared);
    usleep(1000);
    pthread_mutex_lock(&inner);
    used--;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&inner);
    return unused;
}
#else
// MySQL, bug 68251: who rotates the log holds its lock (outer) and waits until no prepared transaction is left; one that is prepared
// writes to the log before it is done. Both go through functions of their own.
static int prepared = 1;
static void write_log(void) {
    pthread_mutex_lock(&outer);
    queued++;
    pthread_mutex_unlock(&outer);
}
static void await_prepared(void) {
    pthread_mutex_lock(&inner);
    while (prepared > 0) pthread_cond_wait(&changed, &inner);
    pthread_mutex_unlock(&inner);
}
static void *waiter(void *unused) {
#ifdef FIXED
    await_prepared();
#endif
    pthread_mutex_lock(&outer);
#ifndef FIXED
    await_prepared();
#endif
    queued = 0;
    pthread_mutex_unlock(&outer);
    return unused;
}
static void *waker(void *unused) {
    write_log();
    usleep(1000);
    pthread_mutex_lock(&inner);
    if (--prepared == 0) pthread_cond_signal(&changed);
    pthread_mutex_unlock(&inner);
    return unused;
}
#endif

int main(void) {
    pthread_t threads[2];
    pthread_create(&threads[1], NULL, waker, NULL);
    pthread_create(&threads[0], NULL, waiter, NULL);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
    return 0;
}
