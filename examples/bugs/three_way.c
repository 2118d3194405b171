// Three philosophers, each with the left fork first.
// bug: deadlock cycle global fork_
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static pthread_mutex_t fork_[3] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER};

static void *dine(void *number) {
    long left = (long)number, right = (left + 1) % 3;
#ifdef HALF
    right = left; // Each with the right fork first.
    left = (left + 1) % 3;
#endif
#ifdef FIXED
    if (left > right) {
        long other = left;
        left = right;
        right = other;
    }
#endif
    pthread_mutex_lock(&fork_[left]);
    pthread_mutex_lock(&fork_[right]);
    pthread_mutex_unlock(&fork_[right]);
    pthread_mutex_unlock(&fork_[left]);
    return NULL;
}

int main(void) {
    pthread_t thread[3];
    for (long i = 0; i < 3; i++) pthread_create(&thread[i], NULL, dine, (void *)i);
    for (int i = 0; i < 3; i++) pthread_join(thread[i], NULL);
    return 0;
}
