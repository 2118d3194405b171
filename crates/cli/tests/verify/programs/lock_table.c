// After DERBY-3909: one of three users of a table was forgotten (WRW: it sees what is half done).
// With -DFIX=0 no lock, 1 the insufficient fix, 2 a sufficient one.
#include <pthread.h>
#include <stdlib.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
int waiters, seen_half;

static void *wait_for(void *unused) {
#if FIX
    pthread_mutex_lock(&lock);
#endif
    waiters = 1;
    __asm__ volatile("" ::: "memory"); // the compiler keeps both
    waiters = 2;
#if FIX
    pthread_mutex_unlock(&lock);
#endif
    return unused;
}

static void *wake(void *unused) {
#if FIX
    pthread_mutex_lock(&lock);
#endif
    if (waiters == 1)
        seen_half = 1;
#if FIX
    pthread_mutex_unlock(&lock);
#endif
    return unused;
}

static void *inspect(void *unused) {
#if FIX == 2
    pthread_mutex_lock(&lock);
#endif
    if (waiters == 1)
        seen_half = 1;
#if FIX == 2
    pthread_mutex_unlock(&lock);
#endif
    return unused;
}

int main(void) {
    pthread_t a, b, c;
    pthread_create(&a, NULL, wait_for, NULL);
    pthread_create(&b, NULL, wake, NULL);
    pthread_create(&c, NULL, inspect, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    pthread_join(c, NULL);
    (void)lock;
    return seen_half;
}
