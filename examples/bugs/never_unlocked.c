// A thread ends with the lock in its hands; whoever comes later waits for ever.
// bug: deadlock dead-holder global lock
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int value, limit;

static void *reads(void *unused) {
    pthread_mutex_lock(&lock);
    value++;
    pthread_mutex_unlock(&lock);
    return unused;
}

static void *fails(void *unused) {
    pthread_mutex_lock(&lock);
    if (limit == 0) {
#ifdef FIXED
        pthread_mutex_unlock(&lock);
#endif
#ifdef HALF
        if (value < 0)
            pthread_mutex_unlock(&lock);
#endif
        return unused; // An error: out of here.
    }
    value--;
    pthread_mutex_unlock(&lock);
    return unused;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, NULL, reads, NULL);
    pthread_create(&b, NULL, fails, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
