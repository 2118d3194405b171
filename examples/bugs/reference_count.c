// References are counted without atomics: both threads, or none, may see the last one go.
// bug: race race global references
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <stdatomic.h>

struct shared { int value; };
static struct shared *shared;
#if defined FIXED || defined HALF
static atomic_int references = 2;
#else
static int references = 2;
#endif
static int frees;

static void *drop(void *unused) {
#ifdef HALF
    references--; // Atomic, and so is the look at it; another thread may come in between.
    if (references == 0) {
#else
    if (--references == 0) {
#endif
        free(shared);
        frees++;
    }
    return unused;
}

int main(void) {
    pthread_t a, b;
    shared = malloc(sizeof *shared);
    pthread_create(&a, NULL, drop, NULL);
    pthread_create(&b, NULL, drop, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return frees == 1 ? 0 : 1;
}
