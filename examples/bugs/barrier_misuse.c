// One barrier where two are needed: a slot may be written again before it was read.
// bug: race race global slot+4
// twin: its kind only
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static pthread_barrier_t barrier;
static int slot[2], sum[2];

static void *work(void *number) {
    long me = (long)number;
    slot[me] = 1;
    pthread_barrier_wait(&barrier);
    sum[me] = slot[0] + slot[1];
#ifdef FIXED
    pthread_barrier_wait(&barrier);
#endif
    slot[me] = 5;
    return NULL;
}

int main(void) {
    pthread_t a, b;
    pthread_barrier_init(&barrier, NULL, 2);
    pthread_create(&a, NULL, work, (void *)0);
    pthread_create(&b, NULL, work, (void *)1);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    // Whoever reads late may find a 5.
    return sum[0] <= 7 && sum[1] <= 7 ? 0 : 1;
}
