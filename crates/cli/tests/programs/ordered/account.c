// The check of a balance has the sign of a deposit wrong, which shows only where it comes last.
#include <assert.h>
#include <pthread.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int balance = 10, deposited, withdrawn;

#ifdef FIXED
#define EXPECTED (10 + 5 - 3)
#else
#define EXPECTED (10 - 5 - 3)
#endif

static void *check(void *unused) {
    pthread_mutex_lock(&m);
    if (deposited && withdrawn)
        assert(balance == EXPECTED);
    pthread_mutex_unlock(&m);
    return unused;
}

static void *deposit(void *unused) {
    pthread_mutex_lock(&m);
    balance += 5;
    deposited = 1;
    pthread_mutex_unlock(&m);
    return unused;
}

static void *withdraw(void *unused) {
    pthread_mutex_lock(&m);
    balance -= 3;
    withdrawn = 1;
    pthread_mutex_unlock(&m);
    return unused;
}

int main(void) {
    pthread_t threads[3];
    pthread_create(&threads[0], 0, check, 0);
    pthread_create(&threads[1], 0, deposit, 0);
    pthread_create(&threads[2], 0, withdraw, 0);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], 0);
    return 0;
}
