// After SLING-2812: the pool is locked, but each caller locks its own handle's lock, not the pool's.
// With -DFIX=0 no lock, 1 the insufficient fix, 2 a sufficient one.
#include <pthread.h>
#include <stdlib.h>

struct handle {
    pthread_mutex_t lock;
    int connected;
};

static struct handle first = {PTHREAD_MUTEX_INITIALIZER, 0}, second = {PTHREAD_MUTEX_INITIALIZER, 0};
static pthread_mutex_t pool_lock = PTHREAD_MUTEX_INITIALIZER;
static int free_connections = 1;

static void take(struct handle *handle) {
#if FIX == 1
    pthread_mutex_lock(&handle->lock);
#elif FIX == 2
    pthread_mutex_lock(&pool_lock);
#endif
    if (free_connections > 0) {
        free_connections = 0;
        handle->connected = 1;
    }
#if FIX == 1
    pthread_mutex_unlock(&handle->lock);
#elif FIX == 2
    pthread_mutex_unlock(&pool_lock);
#endif
}

static void *client(void *handle) {
    take(handle);
    return NULL;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, NULL, client, &first);
    pthread_create(&b, NULL, client, &second);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    (void)pool_lock;
    return first.connected + second.connected > 1;
}
