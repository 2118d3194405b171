// A consumer that compares what it takes with what was put there in its own round, not in the round of the item.
#include <assert.h>
#include <pthread.h>

enum { SIZE = 4 };
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int items[SIZE], head, tail, stored[SIZE], full;

static void *producer(void *unused) {
    for (int i = 0; i < SIZE; i++) {
        pthread_mutex_lock(&m);
        if (!full) {
            stored[i] = i + 1;
            items[tail++ % SIZE] = i + 1;
            full = 1;
        }
        pthread_mutex_unlock(&m);
    }
    return unused;
}

static void *consumer(void *unused) {
    for (int i = 0; i < SIZE; i++) {
        pthread_mutex_lock(&m);
        if (full) {
            int item = items[head++ % SIZE];
#ifdef FIXED
            assert(item == stored[item - 1]);
#else
            assert(item == stored[i]);
#endif
            full = 0;
        }
        pthread_mutex_unlock(&m);
    }
    return unused;
}

int main(void) {
    pthread_t threads[2];
    pthread_create(&threads[0], 0, producer, 0);
    pthread_create(&threads[1], 0, consumer, 0);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], 0);
    return 0;
}
