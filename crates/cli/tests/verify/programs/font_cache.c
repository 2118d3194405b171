// After FOP-1594: the cache of fonts is locked with a lock that every user makes for itself; two variables, count and last.
// With -DFIX=0 no lock, 1 the insufficient fix, 2 a sufficient one.
#include <pthread.h>
#include <stdlib.h>

static pthread_mutex_t shared = PTHREAD_MUTEX_INITIALIZER;
static int count, last, torn;

static pthread_mutex_t *lock_of(pthread_mutex_t *own) {
#if FIX == 1
    pthread_mutex_lock(own);
    return own;
#elif FIX == 2
    pthread_mutex_lock(&shared);
    (void)own;
    return &shared;
#else
    return own;
#endif
}

static void unlock(pthread_mutex_t *lock) {
#if FIX
    pthread_mutex_unlock(lock);
#else
    (void)lock;
#endif
}

static void *add(void *unused) {
    pthread_mutex_t own = PTHREAD_MUTEX_INITIALIZER;
    pthread_mutex_t *lock = lock_of(&own);
    count = 1;
    last = 1;
    unlock(lock);
    return unused;
}

static void *use(void *unused) {
    pthread_mutex_t own = PTHREAD_MUTEX_INITIALIZER;
    pthread_mutex_t *lock = lock_of(&own);
    int seen = count;
    if (seen != last)
        torn = 1;
    unlock(lock);
    return unused;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, NULL, add, NULL);
    pthread_create(&b, NULL, use, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    (void)shared;
    return torn;
}
