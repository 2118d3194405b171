// Ways to synchronise that programs use, each correct: K says which. A counter or a block is what they guard.
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
static int counted;

#if K == 1 // a ticket lock
static atomic_uint next, serving;
static void lock(void) { unsigned mine = atomic_fetch_add(&next, 1); while (atomic_load(&serving) != mine) sched_yield(); }
static void unlock(void) { atomic_fetch_add(&serving, 1); }
#elif K == 2 // a lock of compare-exchange, tried first
static atomic_int taken;
static void lock(void) { int free = 0; while (atomic_load(&taken) || !atomic_compare_exchange_weak(&taken, &free, 1)) { free = 0; sched_yield(); } }
static void unlock(void) { atomic_store(&taken, 0); }
#elif K == 3 // Peterson's lock for two
static atomic_int wants[2], turn, numbers;
static __thread int me = -1;
static void lock(void) {
    if (me < 0) me = atomic_fetch_add(&numbers, 1);
    atomic_store(&wants[me], 1);
    atomic_store(&turn, 1 - me);
    while (atomic_load(&wants[1 - me]) && atomic_load(&turn) == 1 - me) sched_yield();
}
static void unlock(void) { atomic_store(&wants[me], 0); }
#elif K == 4 // a semaphore as a lock
static sem_t free_;
__attribute__((constructor)) static void make(void) { sem_init(&free_, 0, 1); }
static void lock(void) { sem_wait(&free_); }
static void unlock(void) { sem_post(&free_); }
#elif K == 5 // a monitor: a flag under a mutex, with a condition variable
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int taken;
static void lock(void) { pthread_mutex_lock(&mutex); while (taken) pthread_cond_wait(&changed, &mutex); taken = 1; pthread_mutex_unlock(&mutex); }
static void unlock(void) { pthread_mutex_lock(&mutex); taken = 0; pthread_cond_signal(&changed); pthread_mutex_unlock(&mutex); }
#elif K == 6 // a mutex that is only ever tried
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static void lock(void) { while (pthread_mutex_trylock(&mutex)) sched_yield(); }
static void unlock(void) { pthread_mutex_unlock(&mutex); }
#elif K == 7 // the lock of a stream
static void lock(void) { flockfile(stdin); }
static void unlock(void) { funlockfile(stdin); }
#elif K == 8 // a token in a pipe
#include <unistd.h>
static int ends[2];
__attribute__((constructor)) static void make(void) { if (pipe(ends) || write(ends[1], "x", 1) != 1) abort(); }
static void lock(void) { char token; if (read(ends[0], &token, 1) != 1) abort(); }
static void unlock(void) { if (write(ends[1], "x", 1) != 1) abort(); }
#elif K == 9 // a futex
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>
static atomic_int word;
static void lock(void) {
    int found = 0;
    if (atomic_compare_exchange_strong(&word, &found, 1)) return;
    while (atomic_exchange(&word, 2)) syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 2, NULL, NULL, 0);
}
static void unlock(void) { if (atomic_exchange(&word, 0) == 2) syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0); }
#elif K == 10 // a descriptor of events that counts like a semaphore
#include <stdint.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <unistd.h>
static int file;
__attribute__((constructor)) static void make(void) { file = (int)syscall(SYS_eventfd2, 1, EFD_SEMAPHORE); }
static void lock(void) { uint64_t one; if (syscall(SYS_read, file, &one, 8) != 8) abort(); }
static void unlock(void) { uint64_t one = 1; if (syscall(SYS_write, file, &one, 8) != 8) abort(); }
#elif K == 11 // a lock for readers and writers
static pthread_rwlock_t shared = PTHREAD_RWLOCK_INITIALIZER;
static void lock(void) { pthread_rwlock_wrlock(&shared); }
static void unlock(void) { pthread_rwlock_unlock(&shared); }
#endif

#if K <= 11
static void *work(void *unused) {
    for (int i = 0; i < 3; i++) {
        lock();
        counted++;
        unlock();
    }
    return unused;
}
#elif K == 12 // a block that is counted by its users: the last one frees it
static atomic_int users = 2;
static int *block;
__attribute__((constructor)) static void make(void) { block = malloc(sizeof *block); *block = 3; }
static void *work(void *unused) {
    static atomic_int sum;
    atomic_fetch_add(&sum, *block);
    if (atomic_fetch_sub(&users, 1) == 1) { free(block); counted = atomic_load(&sum); }
    return unused;
}
#elif K == 13 // a pointer that is replaced under a lock, and never used without
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int *block;
__attribute__((constructor)) static void make(void) { block = malloc(sizeof *block); *block = 0; }
static void *work(void *unused) {
    for (int i = 0; i < 3; i++) {
        pthread_mutex_lock(&mutex);
        int *old = block, value = *old + 1;
        free(old);
        block = malloc(sizeof *block);
        counted = *block = value;
        pthread_mutex_unlock(&mutex);
    }
    return unused;
}
#else // a queue of two, with full and empty awaited
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t filled = PTHREAD_COND_INITIALIZER, emptied = PTHREAD_COND_INITIALIZER;
static int *queue[2], length;
static atomic_int role;
static void *work(void *unused) {
    if (atomic_fetch_add(&role, 1) == 0) {
        for (int i = 0; i < 6; i++) {
            int *made = malloc(sizeof *made);
            *made = 1;
            pthread_mutex_lock(&mutex);
            while (length == 2) pthread_cond_wait(&emptied, &mutex);
            queue[length++] = made;
            pthread_cond_signal(&filled);
            pthread_mutex_unlock(&mutex);
        }
    } else {
        for (int i = 0; i < 6; i++) {
            pthread_mutex_lock(&mutex);
            while (length == 0) pthread_cond_wait(&filled, &mutex);
            int *got = queue[--length];
            pthread_cond_signal(&emptied);
            pthread_mutex_unlock(&mutex);
            counted += *got;
            free(got);
        }
    }
    return unused;
}
#endif

int main(void) {
    pthread_t threads[2];
    for (int i = 0; i < 2; i++) pthread_create(&threads[i], NULL, work, NULL);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
    printf("%d\n", counted);
    return counted != 6;
}
