// Each thread has the lock, but not the same one.
// bug: race race global balance
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER, other = PTHREAD_MUTEX_INITIALIZER;
static int balance = 10;

static void *withdraw(void *unused) {
    pthread_mutex_lock(&lock);
    balance -= 3;
    pthread_mutex_unlock(&lock);
    return unused;
}

static void *deposit(void *unused) {
#ifdef FIXED
    pthread_mutex_t *mine = &lock;
#else
    pthread_mutex_t *mine = &other;
#endif
#ifdef HALF
    pthread_mutex_lock(&lock); // Right for the look, and not kept for the rest.
    int now = balance;
    pthread_mutex_unlock(&lock);
    pthread_mutex_lock(mine);
    balance = now + 5;
#else
    pthread_mutex_lock(mine);
    balance += 5;
#endif
    pthread_mutex_unlock(mine);
    return unused;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, NULL, withdraw, NULL);
    pthread_create(&b, NULL, deposit, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    (void)other;
    return balance == 12 ? 0 : 1;
}
