// One barrier where two are needed: a slot may be written again before it was read.
// bug: race race global slot+4
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static int slot[2], sum[2];

static void *give(void *number) {
    slot[(long)number] = 1;
    return NULL;
}

static void *add(void *number) {
    sum[(long)number] = slot[0] + slot[1];
    return NULL;
}

static void *clear(void *number) {
    slot[(long)number] = 5;
    return NULL;
}

#ifdef FIXED
// Each phase is over before the next one begins.
static void phase(void *(*step)(void *)) {
    pthread_t threads[2];
    for (long i = 0; i < 2; i++) pthread_create(&threads[i], NULL, step, (void *)i);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
}

int main(void) {
    phase(give);
    phase(add);
    phase(clear);
#else
static pthread_barrier_t barrier;

static void *work(void *number) {
    give(number);
    pthread_barrier_wait(&barrier);
#ifdef HALF
    pthread_barrier_wait(&barrier); // One too few after the sums.
#endif
    add(number);
    clear(number);
    return NULL;
}

int main(void) {
    pthread_t a, b;
    pthread_barrier_init(&barrier, NULL, 2);
    pthread_create(&a, NULL, work, (void *)0);
    pthread_create(&b, NULL, work, (void *)1);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
#endif
    // Who reads late may find a 5; two of them are too many.
    return sum[0] <= 7 && sum[1] <= 7 ? 0 : 1;
}
