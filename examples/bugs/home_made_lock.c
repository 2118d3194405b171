// A lock that is tested and then set: both threads may find it free.
// bug: race race global counter
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sched.h>
#include <stdatomic.h>

#ifdef FIXED
static atomic_flag taken = ATOMIC_FLAG_INIT;
#elif defined HALF
static atomic_int taken; // Each step is atomic, the two together are not.
#else
static volatile int taken;
#endif
static int counter;

static void enter(void) {
#ifdef FIXED
    while (atomic_flag_test_and_set(&taken)) sched_yield();
#else
    while (taken) sched_yield();
    taken = 1;
#endif
}

static void leave(void) {
#ifdef FIXED
    atomic_flag_clear(&taken);
#else
    taken = 0;
#endif
}

static void *add(void *unused) {
    enter();
    counter++;
    leave();
    return unused;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, NULL, add, NULL);
    pthread_create(&b, NULL, add, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return counter == 2 ? 0 : 1;
}
