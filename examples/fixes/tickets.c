// Two counters sell the last ticket. With -DHALF a fix that is not enough, with -DFIXED one that is.
#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int tickets = 1, sold;

static void *counter(void *unused) {
#ifdef FIXED
    pthread_mutex_lock(&lock);
#endif
    int left = tickets;
    if (left > 0) {
#ifdef HALF
        pthread_mutex_lock(&lock);
#endif
        tickets = left - 1;
        sold = sold + 1;
#ifdef HALF
        pthread_mutex_unlock(&lock);
#endif
    }
#ifdef FIXED
    pthread_mutex_unlock(&lock);
#endif
    return unused;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, NULL, counter, NULL);
    pthread_create(&b, NULL, counter, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    (void)lock;
    return sold == 1 ? 0 : 1;
}
