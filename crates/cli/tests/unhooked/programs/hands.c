// Blocks, and a variable with each, are handed over through a library without hooks. No race, no use after free.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
void handover_put(void *item);
void *handover_take(void);
void *handover_spin(void);
void handover_each(void (*call)(void *item), int count);

struct buffer {
    int size;
    char bytes[32];
};
static int rounds, total;

static void *produce(void *unused) {
    for (int i = 0; i < 4; i++) {
        struct buffer *buffer = malloc(sizeof *buffer);
        buffer->size = i;
        for (int k = 0; k < i; k++)
            buffer->bytes[k] = k;
        rounds = i;
        handover_put(buffer);
    }
    return unused;
}

static void use(void *item) {
    struct buffer *buffer = item;
    for (int k = 0; k < buffer->size; k++)
        total += buffer->bytes[k];
    if (buffer->size == 3)
        total += rounds;
    free(buffer);
}

static void *consume(void *unused) {
#if HOW == 3 // the library calls back
    handover_each(use, 4);
#else
    for (int i = 0; i < 4; i++) {
#if HOW == 1
        use(handover_take());
#elif HOW == 2
        use(handover_spin());
#else // by its address
        void *(*volatile take)(void) = handover_take;
        use(take());
#endif
    }
#endif
    return unused;
}

int main(void) {
    pthread_t first, second;
    pthread_create(&first, 0, produce, 0);
    pthread_create(&second, 0, consume, 0);
    pthread_join(first, 0);
    pthread_join(second, 0);
    printf("%d\n", total);
    return 0;
}
