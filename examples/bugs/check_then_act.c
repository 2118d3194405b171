// A seat is looked for and taken in two critical sections; in between the sale may be closed.
// bug: atomicity RWW global seats
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static int seats = 3, closed, sold_after_closing;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
#ifdef HALF
static pthread_mutex_t whole = PTHREAD_MUTEX_INITIALIZER; // Not the lock of the other thread.
#endif

static void *sell(void *unused) {
#ifdef HALF
    pthread_mutex_lock(&whole);
#endif
    pthread_mutex_lock(&lock);
    int free_seats = seats;
#ifndef FIXED
    pthread_mutex_unlock(&lock);
    pthread_mutex_lock(&lock);
#endif
    if (free_seats > 0) {
        seats = free_seats - 1;
        sold_after_closing = closed;
    }
    pthread_mutex_unlock(&lock);
#ifdef HALF
    pthread_mutex_unlock(&whole);
#endif
    return unused;
}

static void *close_sale(void *unused) {
    pthread_mutex_lock(&lock);
    seats = 0;
    closed = 1;
    pthread_mutex_unlock(&lock);
    return unused;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, NULL, sell, NULL);
    pthread_create(&b, NULL, close_sale, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return sold_after_closing;
}
