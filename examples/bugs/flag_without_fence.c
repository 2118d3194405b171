// A flag says that the data is there, and nothing orders the two.
// bug: race race global ready
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <stdatomic.h>

static int data;
#ifdef FIXED
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
    data = 42;
    ready = 1;
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
