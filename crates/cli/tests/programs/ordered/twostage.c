// Two values that belong together, each under a lock of its own.
#include <assert.h>
#include <pthread.h>

static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER;
static int first, second;

static void *writer(void *unused) {
#ifdef FIXED
    pthread_mutex_lock(&b);
    second = 2;
    pthread_mutex_unlock(&b);
    pthread_mutex_lock(&a);
    first = 1;
    pthread_mutex_unlock(&a);
#else
    pthread_mutex_lock(&a);
    first = 1;
    pthread_mutex_unlock(&a);
    pthread_mutex_lock(&b);
    second = 2;
    pthread_mutex_unlock(&b);
#endif
    return unused;
}

static void *reader(void *unused) {
    pthread_mutex_lock(&a);
    int one = first;
    pthread_mutex_unlock(&a);
    if (one == 0)
        return unused;
    pthread_mutex_lock(&b);
    int two = second;
    pthread_mutex_unlock(&b);
    assert(two == one + 1);
    return unused;
}

int main(void) {
    pthread_t threads[2];
    pthread_create(&threads[0], 0, writer, 0);
    pthread_create(&threads[1], 0, reader, 0);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], 0);
    return 0;
}
