// After DERBY-4723: two sides of a dictionary lock, the writer the old lock, the reader a new one.
// With -DFIX=0 no lock, 1 the insufficient fix, 2 a sufficient one.
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

static pthread_mutex_t writer_lock = PTHREAD_MUTEX_INITIALIZER, reader_lock = PTHREAD_MUTEX_INITIALIZER;
static int table[2] = {7, 7}, *current = table;

static void *drop(void *unused) {
#if FIX
    pthread_mutex_lock(&writer_lock);
#endif
    current = NULL;
    current = table + 1;
#if FIX
    pthread_mutex_unlock(&writer_lock);
#endif
    return unused;
}

static void *look_up(void *unused) {
#if FIX == 1
    pthread_mutex_lock(&reader_lock);
#elif FIX == 2
    pthread_mutex_lock(&writer_lock);
#endif
    int *found = current;
    assert(found != NULL);
#if FIX == 1
    pthread_mutex_unlock(&reader_lock);
#elif FIX == 2
    pthread_mutex_unlock(&writer_lock);
#endif
    return unused;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, NULL, drop, NULL);
    pthread_create(&b, NULL, look_up, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    (void)writer_lock, (void)reader_lock;
    return 0;
}
