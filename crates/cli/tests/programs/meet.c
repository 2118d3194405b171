// Semaphores, barriers, one-time initialisation, futexes.
#define _GNU_SOURCE
#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static sem_t slots, ready;
static pthread_barrier_t barrier;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static int made, serial, phase[3], word, data, after;

static void make(void) { made++; }

static void *meets(void *me) {
    int i = *(int *)me;
    for (int round = 0; round < 4; round++) {
        phase[i] = round;
        if (pthread_barrier_wait(&barrier) == PTHREAD_BARRIER_SERIAL_THREAD) __atomic_fetch_add(&serial, 1, 5);
        for (int k = 0; k < 3; k++) if (phase[k] != round) puts("early");
        pthread_barrier_wait(&barrier);
    }
    pthread_once(&once, make);
    return NULL;
}

static void *posts(void *unused) {
    for (int i = 0; i < 10; i++) {
        sem_wait(&slots);
        data++;
        sem_post(&ready);
    }
    return unused;
}

static void *sleeps(void *unused) {
    while (__atomic_load_n(&word, 5) == 0) syscall(SYS_futex, &word, FUTEX_WAIT, 0, NULL, NULL, 0);
    after = data;
    return unused;
}

int main(void) {
    pthread_t t[5];
    int me[3] = {0, 1, 2};
    sem_init(&slots, 0, 2);
    sem_init(&ready, 0, 0);
    pthread_barrier_init(&barrier, NULL, 3);
    int ok = sem_trywait(&ready) == -1 && errno == EAGAIN;
    struct timespec time;
    clock_gettime(CLOCK_REALTIME, &time);
    ok &= sem_timedwait(&ready, &time) == -1 && errno == ETIMEDOUT;
    for (int i = 0; i < 3; i++) pthread_create(&t[i], NULL, meets, &me[i]);
    pthread_create(&t[3], NULL, posts, NULL);
    pthread_create(&t[4], NULL, sleeps, NULL);
    for (int i = 0; i < 10; i++) {
        sem_wait(&ready);
        sem_post(&slots);
    }
    pthread_join(t[3], NULL);
    __atomic_store_n(&word, 1, 5);
    syscall(SYS_futex, &word, FUTEX_WAKE, 1, NULL, NULL, 0);
    for (int i = 0; i < 3; i++) pthread_join(t[i], NULL);
    pthread_join(t[4], NULL);
    ok &= data == 10 && made == 1 && serial == 4 && after == 10;
    puts(ok ? "ok" : "wrong");
    return !ok;
}
