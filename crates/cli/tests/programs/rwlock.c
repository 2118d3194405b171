// Reader/writer locks and spin locks.
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <time.h>

static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_spinlock_t spin;
static int value, reads, busy;

static void *reader(void *unused) {
    for (int i = 0; i < 20; i++) {
        pthread_rwlock_rdlock(&lock);
        pthread_rwlock_rdlock(&lock);
        int seen = value;
        pthread_rwlock_unlock(&lock);
        pthread_rwlock_unlock(&lock);
        if (pthread_rwlock_tryrdlock(&lock) == 0) pthread_rwlock_unlock(&lock);
        else __atomic_fetch_add(&busy, 1, 5);
        pthread_spin_lock(&spin);
        reads += seen >= 0;
        pthread_spin_unlock(&spin);
    }
    return unused;
}

static void *writer(void *unused) {
    struct timespec time;
    clock_gettime(CLOCK_REALTIME, &time);
    time.tv_sec += 30;
    for (int i = 0; i < 20; i++) {
        switch (i % 3) {
        case 0: pthread_rwlock_wrlock(&lock); break;
        case 1: if (pthread_rwlock_timedwrlock(&lock, &time)) return NULL; break;
        case 2: while (pthread_rwlock_trywrlock(&lock)) __atomic_fetch_add(&busy, 1, 5);
        }
        value++;
        pthread_rwlock_unlock(&lock);
        if (pthread_spin_trylock(&spin) == 0) pthread_spin_unlock(&spin);
    }
    return unused;
}

int main(void) {
    pthread_t t[4];
    pthread_spin_init(&spin, PTHREAD_PROCESS_PRIVATE);
    for (int i = 0; i < 4; i++) pthread_create(&t[i], NULL, i % 2 ? reader : writer, NULL);
    for (int i = 0; i < 4; i++) pthread_join(t[i], NULL);
    pthread_spin_destroy(&spin);
    pthread_rwlock_destroy(&lock);
    int ok = value == 40 && reads == 40;
    puts(ok ? "ok" : "wrong");
    return !ok;
}
