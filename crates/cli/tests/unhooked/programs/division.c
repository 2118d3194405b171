// No race on `z`: the division ends the thread unless it reads a divisor that is not 0 after `started` was set, and that is written
// after the other thread's write of `z`.
#include <pthread.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int started, divisor = 1, z;

static void *writes(void *unused) {
    pthread_mutex_lock(&lock);
    started = 1;
    divisor = 0;
    pthread_mutex_unlock(&lock);
    z = 2;
    pthread_mutex_lock(&lock);
    divisor = 1;
    pthread_mutex_unlock(&lock);
    return unused;
}

static void *divides(void *unused) {
    pthread_mutex_lock(&lock);
    if (started == 1) {
        int by = divisor;
        pthread_mutex_unlock(&lock);
        z = 100 / by;
    } else {
        pthread_mutex_unlock(&lock);
    }
    return unused;
}

int main(void) {
    pthread_t first, second;
    pthread_create(&first, 0, writes, 0);
    pthread_create(&second, 0, divides, 0);
    pthread_join(first, 0);
    pthread_join(second, 0);
    return 0;
}
