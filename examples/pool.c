// A small server with a pool of connections. A handler takes a connection and gives it back; when the server stops, the pool is
// shut down. Each call locks the pool by itself. Nothing makes the shutdown wait for the handler.

#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include <reweave.h>

struct pool {
    pthread_mutex_t lock;
    int free;
    bool shut;
};

static struct pool pool = {PTHREAD_MUTEX_INITIALIZER, 1, false};

static void pool_take(struct pool *pool)
{
    pthread_mutex_lock(&pool->lock);
    if (pool->shut) {
        fprintf(stderr, "no connection: the pool is shut down\n");
        exit(1);
    }
    pool->free--;
    pthread_mutex_unlock(&pool->lock);
}

static void pool_give(struct pool *pool)
{
    pthread_mutex_lock(&pool->lock);
    pool->free++;
    pthread_mutex_unlock(&pool->lock);
}

static void pool_shut_down(struct pool *pool)
{
    pthread_mutex_lock(&pool->lock);
    pool->shut = true;
    pthread_mutex_unlock(&pool->lock);
}

static void *handle(void *request)
{
    REWEAVE_OP("pool", &pool, pool_take(&pool), "take()=()");
    REWEAVE_OP("pool", &pool, pool_give(&pool), "give()=()");
    return request;
}

static void *stop(void *server)
{
    REWEAVE_OP("pool", &pool, pool_shut_down(&pool), "shut_down()=()");
    return server;
}

int main(void)
{
    pthread_t handler, stopper;
    pthread_create(&handler, NULL, handle, NULL);
    pthread_create(&stopper, NULL, stop, NULL);
    pthread_join(handler, NULL);
    pthread_join(stopper, NULL);
    return 0;
}
