// A thread is started before what it needs is there.
// bug: order use-before-initialisation global table
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static int *table;
static int looked_up;
#ifdef HALF
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
#endif

static void *work(void *unused) {
    looked_up = table ? table[3] : -1;
    return unused;
}

int main(void) {
    pthread_t thread;
    int *mine = calloc(8, sizeof *mine);
    mine[3] = 33;
#ifdef FIXED
    table = mine;
    pthread_create(&thread, NULL, work, NULL);
#else
    pthread_create(&thread, NULL, work, NULL);
#ifdef HALF
    pthread_mutex_lock(&lock); // Alone with it: the other side does not take it.
#endif
    table = mine;
#ifdef HALF
    pthread_mutex_unlock(&lock);
#endif
#endif
    pthread_join(thread, NULL);
    return looked_up == 33 ? 0 : 1;
}
