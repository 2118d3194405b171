// A counter that two threads increment: one of the increments may be lost.
// bug: race race global counter
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static int counter;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *add(void *unused) {
#ifdef FIXED
    pthread_mutex_lock(&lock);
#endif
#ifdef HALF
    int now = counter; // Looked up without the lock.
    pthread_mutex_lock(&lock);
    counter = now + 1;
    pthread_mutex_unlock(&lock);
#else
    counter++;
#endif
#ifdef FIXED
    pthread_mutex_unlock(&lock);
#endif
    return unused;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, NULL, add, NULL);
    pthread_create(&b, NULL, add, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    (void)lock;
    return counter == 2 ? 0 : 1;
}
