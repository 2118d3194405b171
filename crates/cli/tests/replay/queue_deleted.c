// Consumers take blocks from a queue, a writer puts out what they made. The main thread waits for the writer alone and deletes the queue, whose mutex and
// condition variables the consumers still use on their way out. The shape is that of a known bug of pbzip2 0.9.4.

#include <pthread.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { BLOCKS = 4, CONSUMERS = 2, ROOM = 2 };

struct queue {
    int items[ROOM], head, count;
    pthread_mutex_t *lock;
    pthread_cond_t *not_full, *not_empty;
};

static pthread_mutex_t output = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t made = PTHREAD_COND_INITIALIZER;
static int blocks_made, all_done;

static struct queue *queue_new(void)
{
    struct queue *queue = calloc(1, sizeof *queue);
    queue->lock = malloc(sizeof *queue->lock);
    pthread_mutex_init(queue->lock, NULL);
    queue->not_full = malloc(sizeof *queue->not_full);
    pthread_cond_init(queue->not_full, NULL);
    queue->not_empty = malloc(sizeof *queue->not_empty);
    pthread_cond_init(queue->not_empty, NULL);
    return queue;
}

static void queue_delete(struct queue *queue)
{
    pthread_mutex_destroy(queue->lock);
    free(queue->lock);
    pthread_cond_destroy(queue->not_full);
    free(queue->not_full);
    pthread_cond_destroy(queue->not_empty);
    free(queue->not_empty);
    free(queue);
}

static int is_all_done(void)
{
    pthread_mutex_lock(&output);
    int done = all_done;
    pthread_mutex_unlock(&output);
    return done;
}

static void *consume(void *given)
{
    struct queue *queue = given;
    for (;;) {
        pthread_mutex_lock(queue->lock);
        while (queue->count == 0) {
            if (is_all_done()) {
                pthread_mutex_unlock(queue->lock);
                return NULL;
            }
            struct timespec end;
            clock_gettime(CLOCK_REALTIME, &end);
            end.tv_sec += 1;
            pthread_cond_timedwait(queue->not_empty, queue->lock, &end);
        }
        queue->head = (queue->head + 1) % ROOM;
        queue->count--;
        pthread_mutex_unlock(queue->lock);
        pthread_cond_signal(queue->not_full);
        pthread_mutex_lock(&output);
        blocks_made++;
        pthread_cond_signal(&made);
        pthread_mutex_unlock(&output);
    }
}

static void *write_out(void *unused)
{
    pthread_mutex_lock(&output);
    while (blocks_made < BLOCKS)
        pthread_cond_wait(&made, &output);
    pthread_mutex_unlock(&output);
    return unused;
}

static void produce(struct queue *queue)
{
    for (int block = 0; block < BLOCKS; block++) {
        usleep(1000); // The next block is read.
        pthread_mutex_lock(queue->lock);
        while (queue->count == ROOM)
            pthread_cond_wait(queue->not_full, queue->lock);
        queue->items[(queue->head + queue->count) % ROOM] = block;
        queue->count++;
        pthread_mutex_unlock(queue->lock);
        pthread_cond_signal(queue->not_empty);
    }
    usleep(1000);
    pthread_mutex_lock(&output);
    all_done = 1;
    pthread_mutex_unlock(&output);
    pthread_cond_broadcast(queue->not_empty);
}

int main(void)
{
    pthread_t consumers[CONSUMERS], writer;
    struct queue *queue = queue_new();
    for (int i = 0; i < CONSUMERS; i++)
        pthread_create(&consumers[i], NULL, consume, queue);
    pthread_create(&writer, NULL, write_out, NULL);
    produce(queue);
    pthread_join(writer, NULL);
    sleep(2); // They are gone by now, as a rule.
#ifdef FIXED
    for (int i = 0; i < CONSUMERS; i++)
        pthread_join(consumers[i], NULL);
#endif
    queue_delete(queue);
#ifndef FIXED
    for (int i = 0; i < CONSUMERS; i++)
        pthread_join(consumers[i], NULL);
#endif
    return 0;
}
