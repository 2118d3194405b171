// Two threads that take two locks in different orders, and meet.
#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t both;

static void *left(void *unused) {
    pthread_mutex_lock(&a);
    pthread_barrier_wait(&both);
    pthread_mutex_lock(&b);
    return unused;
}

static void *right(void *unused) {
    pthread_mutex_lock(&b);
    pthread_barrier_wait(&both);
    pthread_mutex_lock(&a);
    return unused;
}

int main(void) {
    pthread_t t[2];
    pthread_barrier_init(&both, NULL, 2);
    pthread_create(&t[0], NULL, left, NULL);
    pthread_create(&t[1], NULL, right, NULL);
    for (int i = 0; i < 2; i++) pthread_join(t[i], NULL);
    puts("not reached");
    return 0;
}
