// Many threads and one lock, one semaphore and one reader/writer lock: who cannot have it is not to run for it. How often
// threads were switched is compared with what they did.
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

enum { THREADS = 100, ROUNDS = 20, MOST = 30 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static sem_t semaphore;
static const char *how;
static long count;

static void *works(void *unused) {
    for (int i = 0; i < ROUNDS; i++) {
        if (*how == 'm') pthread_mutex_lock(&mutex);
        if (*how == 's') sem_wait(&semaphore);
        if (*how == 'r') pthread_rwlock_wrlock(&rwlock);
        count++;
        if (*how == 'm') pthread_mutex_unlock(&mutex);
        if (*how == 's') sem_post(&semaphore);
        if (*how == 'r') pthread_rwlock_unlock(&rwlock);
    }
    return unused;
}

int main(int argc, char **argv) {
    how = argc > 1 ? argv[1] : "mutex";
    sem_init(&semaphore, 0, 1);
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++) pthread_create(&threads[i], NULL, works, NULL);
    for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    long most = (long)MOST * THREADS * ROUNDS;
    if (count != THREADS * ROUNDS || usage.ru_nvcsw > most) {
        printf("%ld times, %ld switches, at most %ld\n", count, usage.ru_nvcsw, most);
        return 1;
    }
    puts("ok");
    return 0;
}
