// A flag says that the data is there, and nothing orders the two.
// bug: race race global ready
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <stdatomic.h>

static int data;
#if defined FIXED || defined HALF
static atomic_int ready;
#else
static int ready;
#endif
static int wrong;

static void *reader(void *unused) {
    if (ready && data != 42)
        wrong = 1;
    return unused;
}

static void *writer(void *unused) {
#ifdef HALF
    ready = 1; // Atomic, and too early.
    data = 42;
#else
    data = 42;
    ready = 1;
#endif
    return unused;
}

int main(void) {
    pthread_t a, b;
    ready = 0;
    data = 0;
    pthread_create(&a, NULL, writer, NULL);
    pthread_create(&b, NULL, reader, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return wrong;
}
