// After DERBY-4124: the cache's entry is removed under the lock, and freed after it: a use in between (two variables).
// With -DFIX=0 no lock, 1 the insufficient fix, 2 a sufficient one.
#include <pthread.h>
#include <stdlib.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int entries = 1, bytes = 10, wrong;

static void *evict(void *unused) {
#if FIX
    pthread_mutex_lock(&lock);
#endif
    entries = 0;
#if FIX == 1
    pthread_mutex_unlock(&lock);
    pthread_mutex_lock(&lock);
#endif
    bytes = 0;
#if FIX
    pthread_mutex_unlock(&lock);
#endif
    return unused;
}

static void *audit(void *unused) {
#if FIX
    pthread_mutex_lock(&lock);
#endif
    int count = entries;
    if (bytes != 10 * count)
        wrong = 1;
#if FIX
    pthread_mutex_unlock(&lock);
#endif
    return unused;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, NULL, evict, NULL);
    pthread_create(&b, NULL, audit, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    (void)lock;
    return wrong;
}
