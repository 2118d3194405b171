// Attempts in vain, looks at the clock, and memory that the kernel writes.
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <sys/sysinfo.h>
#include <time.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t shared = PTHREAD_RWLOCK_INITIALIZER, exclusive = PTHREAD_RWLOCK_INITIALIZER;
static sem_t empty, go;
static atomic_int word;
static struct sysinfo machine;

static struct timespec soon(void) {
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    if ((t.tv_nsec += 1000) >= 1000000000) { t.tv_nsec -= 1000000000; t.tv_sec++; }
    return t;
}

static void *tries(void *failed) {
    struct timespec until = soon(), while_ = {0, 1000};
    int zero = 0, *wrong = failed;
    *wrong += atomic_compare_exchange_strong(&word, &zero, 2);
    *wrong += sem_trywait(&empty) == 0;
    *wrong += sem_timedwait(&empty, &until) == 0;
    *wrong += pthread_mutex_trylock(&lock) != EBUSY;
    *wrong += pthread_mutex_timedlock(&lock, &until) != ETIMEDOUT;
    *wrong += pthread_rwlock_trywrlock(&shared) != EBUSY;
    *wrong += pthread_rwlock_tryrdlock(&exclusive) != EBUSY;
    nanosleep(&while_, NULL);
    *wrong += machine.totalram == 0;
    sem_wait(&go);
    return NULL;
}

int main(void) {
    pthread_t thread;
    int failed = 0, early;
    sem_init(&empty, 0, 0);
    sem_init(&go, 0, 0);
    atomic_store(&word, 1);
    machine.totalram = 0;
    syscall(SYS_sysinfo, &machine);
    pthread_mutex_lock(&lock);
    pthread_rwlock_rdlock(&shared);
    pthread_rwlock_wrlock(&exclusive);
    pthread_create(&thread, NULL, tries, &failed);
    early = pthread_tryjoin_np(thread, NULL) != EBUSY;
    sem_post(&go);
    pthread_join(thread, NULL);
    pthread_rwlock_unlock(&exclusive);
    pthread_rwlock_unlock(&shared);
    pthread_mutex_unlock(&lock);
    printf("%d\n", failed + early);
    return 0;
}
