// After DERBY-3308: a flag is tested outside of the lock, and acted on inside (RWR).
// With -DFIX=0 no lock, 1 the insufficient fix, 2 a sufficient one.
#include <pthread.h>
#include <stdlib.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
int open_ = 1, used_after_close;

static void *shut(void *unused) {
#if FIX
    pthread_mutex_lock(&lock);
#endif
    open_ = 0;
#if FIX
    pthread_mutex_unlock(&lock);
#endif
    return unused;
}

static void *work(void *unused) {
#if FIX == 2
    pthread_mutex_lock(&lock);
#endif
    if (open_) {
        __asm__ volatile("" ::: "memory"); // the compiler reads it again
#if FIX == 1
        pthread_mutex_lock(&lock);
#endif
        if (!open_)
            used_after_close = 1;
#if FIX == 1
        pthread_mutex_unlock(&lock);
#endif
    }
#if FIX == 2
    pthread_mutex_unlock(&lock);
#endif
    return unused;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, NULL, shut, NULL);
    pthread_create(&b, NULL, work, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    (void)lock;
    return used_after_close;
}
