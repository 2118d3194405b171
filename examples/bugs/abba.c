// Two locks in two orders.
// bug: deadlock cycle global b, global a
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER;
#ifdef HALF
static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER; // Only one of them passes it.
#endif
static int moved;

static void *forth(void *unused) {
    pthread_mutex_lock(&a);
    pthread_mutex_lock(&b);
    moved++;
    pthread_mutex_unlock(&b);
    pthread_mutex_unlock(&a);
    return unused;
}

static void *back(void *unused) {
#ifdef FIXED
    pthread_mutex_lock(&a);
    pthread_mutex_lock(&b);
#else
#ifdef HALF
    pthread_mutex_lock(&gate);
#endif
    pthread_mutex_lock(&b);
    pthread_mutex_lock(&a);
#endif
    moved--;
    pthread_mutex_unlock(&a);
    pthread_mutex_unlock(&b);
#ifdef HALF
    pthread_mutex_unlock(&gate);
#endif
    return unused;
}

int main(void) {
    pthread_t first, second;
    pthread_create(&first, NULL, forth, NULL);
    pthread_create(&second, NULL, back, NULL);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    return moved;
}
