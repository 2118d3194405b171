// A producer sends to a channel that its owner closes. One lock keeps each call whole, but nothing has the last send come before the
// close: the order was luck. Sending on a closed channel ends the program, as it does in Go.
// bug: order call-order jobs
// fix: the owner waits for the producer before it closes.

#include <pthread.h>
#include <reweave.h>
#include <stdbool.h>
#include <stdlib.h>

struct channel {
    pthread_mutex_t lock;
    int items[4];
    int count;
    bool closed;
};

static pthread_t producer;
static struct channel jobs = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void channel_send(struct channel *channel, int item)
{
    pthread_mutex_lock(&channel->lock);
    if (channel->closed)
        exit(1);
    channel->items[channel->count++] = item;
    pthread_mutex_unlock(&channel->lock);
}

static void channel_close(struct channel *channel)
{
    pthread_mutex_lock(&channel->lock);
    channel->closed = true;
    pthread_mutex_unlock(&channel->lock);
}

static void *produce(void *unused)
{
    REWEAVE_OP("channel", &jobs, channel_send(&jobs, 7), "send(%d)=()", 7);
    return unused;
}

static void *stop(void *unused)
{
#ifdef FIXED
    pthread_join(producer, NULL);
#endif
    REWEAVE_OP("channel", &jobs, channel_close(&jobs), "close()=()");
    return unused;
}

int main(void)
{
    pthread_t owner;
    pthread_create(&producer, NULL, produce, NULL);
    pthread_create(&owner, NULL, stop, NULL);
#ifdef HALF
    pthread_join(producer, NULL); // The main thread waits; who closes does not.
#endif
    pthread_join(owner, NULL);
#if !defined FIXED && !defined HALF
    pthread_join(producer, NULL);
#endif
    return 0;
}
