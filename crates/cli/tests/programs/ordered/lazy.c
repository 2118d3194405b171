// A thread counts on being among the first two of three.
#include <assert.h>
#include <pthread.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int data;

#ifdef FIXED
#define MOST 3
#else
#define MOST 2
#endif

static void *look(void *unused) {
    pthread_mutex_lock(&m);
    assert(data <= MOST);
    pthread_mutex_unlock(&m);
    return unused;
}

static void *one(void *unused) {
    pthread_mutex_lock(&m);
    data += 1;
    pthread_mutex_unlock(&m);
    return unused;
}

static void *two(void *unused) {
    pthread_mutex_lock(&m);
    data += 2;
    pthread_mutex_unlock(&m);
    return unused;
}

int main(void) {
    pthread_t threads[3];
    pthread_create(&threads[0], 0, look, 0);
    pthread_create(&threads[1], 0, one, 0);
    pthread_create(&threads[2], 0, two, 0);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], 0);
    return 0;
}
