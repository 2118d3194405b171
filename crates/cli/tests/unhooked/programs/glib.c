// Blocks go through queues of GLib, which has no hooks, and back. Its declarations are here, so that its library is enough.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
typedef struct Queue Queue;
Queue *g_async_queue_new(void);
void g_async_queue_push(Queue *queue, void *item);
void *g_async_queue_pop(Queue *queue);

static Queue *there, *back;
static int total, last;

static void *produce(void *unused) {
    for (int i = 1; i < 5; i++) {
        int *pair = malloc(2 * sizeof *pair);
        pair[0] = i;
        pair[1] = 2 * i;
        last = i;
        g_async_queue_push(there, pair);
        free(g_async_queue_pop(back));
    }
    return unused;
}

static void *consume(void *unused) {
    for (int i = 1; i < 5; i++) {
        int *pair = g_async_queue_pop(there);
        total += pair[0] + pair[1] + last;
        pair[0] = 7;
        g_async_queue_push(back, pair);
    }
    return unused;
}

int main(void) {
    pthread_t first, second;
    there = g_async_queue_new();
    back = g_async_queue_new();
    pthread_create(&first, 0, produce, 0);
    pthread_create(&second, 0, consume, 0);
    pthread_join(first, 0);
    pthread_join(second, 0);
    printf("%d\n", total);
    return 0;
}
