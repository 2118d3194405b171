// A process that is not recorded takes part: ping-pong through everything that processes can share.
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { ROUNDS = 20 };

struct both {
    pthread_mutex_t lock, slow;
    pthread_rwlock_t rw;
    pthread_cond_t changed, even;
    pthread_barrier_t barrier;
    sem_t ping, pong;
    int turn, sum, taken;
};

static struct both *both;
static int wrong, own;

static struct timespec after(clockid_t clock, long nanos) {
    struct timespec time;
    clock_gettime(clock, &time);
    time.tv_nsec += nanos;
    time.tv_sec += time.tv_nsec / 1000000000;
    time.tv_nsec %= 1000000000;
    return time;
}

static void make(void) {
    both = mmap(NULL, sizeof *both, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    pthread_mutexattr_t mutex;
    pthread_mutexattr_init(&mutex);
    pthread_mutexattr_setpshared(&mutex, PTHREAD_PROCESS_SHARED);
    pthread_mutex_init(&both->lock, &mutex);
    pthread_mutex_init(&both->slow, &mutex);
    pthread_rwlockattr_t rw;
    pthread_rwlockattr_init(&rw);
    pthread_rwlockattr_setpshared(&rw, PTHREAD_PROCESS_SHARED);
    pthread_rwlock_init(&both->rw, &rw);
    pthread_condattr_t condition;
    pthread_condattr_init(&condition);
    pthread_condattr_setpshared(&condition, PTHREAD_PROCESS_SHARED);
    pthread_cond_init(&both->changed, &condition);
    pthread_condattr_setclock(&condition, CLOCK_MONOTONIC);
    pthread_cond_init(&both->even, &condition);
    pthread_barrierattr_t barrier;
    pthread_barrierattr_init(&barrier);
    pthread_barrierattr_setpshared(&barrier, PTHREAD_PROCESS_SHARED);
    pthread_barrier_init(&both->barrier, &barrier, 3);
    sem_init(&both->ping, 1, 0);
    sem_init(&both->pong, 1, 0);
}

static void plays(int me) {
    for (int i = 0; i < ROUNDS; i++) {
        pthread_mutex_lock(&both->lock);
        while (both->turn != me) pthread_cond_wait(&both->changed, &both->lock);
        both->sum++;
        both->turn = !me;
        pthread_cond_broadcast(&both->changed);
        pthread_mutex_unlock(&both->lock);
    }
}

static void child(void) {
    plays(1);
    for (int i = 0; i < ROUNDS; i++) {
        sem_wait(&both->ping);
        sem_post(&both->pong);
    }
    pthread_barrier_wait(&both->barrier);
    pthread_mutex_lock(&both->slow);
    pthread_rwlock_wrlock(&both->rw);
    pthread_barrier_wait(&both->barrier);
    usleep(30000);
    pthread_rwlock_unlock(&both->rw);
    pthread_mutex_unlock(&both->slow);
    _exit(0);
}

// A recorded thread beside, so that there is something to schedule.
static void *works(void *unused) {
    for (int i = 0; i < 200; i++) {
        pthread_mutex_lock(&both->lock);
        own++;
        pthread_mutex_unlock(&both->lock);
    }
    pthread_barrier_wait(&both->barrier);
    pthread_barrier_wait(&both->barrier);
    pthread_mutex_lock(&both->slow);
    own++;
    pthread_mutex_unlock(&both->slow);
    return NULL;
}

int main(void) {
    make();
    pid_t other = fork();
    if (other == 0) child();
    pthread_t thread;
    pthread_create(&thread, NULL, works, NULL);
    plays(0);
    for (int i = 0; i < ROUNDS; i++) {
        sem_post(&both->ping);
        while (sem_wait(&both->pong) != 0) {}
    }
    // Nobody posts or signals any more.
    struct timespec until = after(CLOCK_REALTIME, 5000000);
    if (sem_timedwait(&both->pong, &until) == 0 || errno != ETIMEDOUT) wrong |= 1;
    if (sem_trywait(&both->pong) == 0 || errno != EAGAIN) wrong |= 2;
    pthread_mutex_lock(&both->lock);
    until = after(CLOCK_REALTIME, 5000000);
    if (pthread_cond_timedwait(&both->changed, &both->lock, &until) != ETIMEDOUT) wrong |= 4;
    until = after(CLOCK_MONOTONIC, 5000000);
    if (pthread_cond_timedwait(&both->even, &both->lock, &until) != ETIMEDOUT) wrong |= 8;
    if (both->sum != 2 * ROUNDS) wrong |= 16;
    pthread_mutex_unlock(&both->lock);
    pthread_barrier_wait(&both->barrier);
    pthread_barrier_wait(&both->barrier);
    // The child has both locks now, for a while.
    until = after(CLOCK_REALTIME, 1000000);
    if (pthread_mutex_timedlock(&both->slow, &until) == 0) pthread_mutex_unlock(&both->slow);
    until = after(CLOCK_REALTIME, 1000000);
    if (pthread_rwlock_timedrdlock(&both->rw, &until) == 0) pthread_rwlock_unlock(&both->rw);
    until = after(CLOCK_REALTIME, 900000000);
    if (pthread_rwlock_timedwrlock(&both->rw, &until) != 0) wrong |= 32;
    else pthread_rwlock_unlock(&both->rw);
    pthread_mutex_lock(&both->slow);
    both->taken = 1;
    pthread_mutex_unlock(&both->slow);
    pthread_join(thread, NULL);
    waitpid(other, NULL, 0);
    if (own != 201) wrong |= 64;
    puts(wrong ? "wrong" : "ok");
    return wrong;
}
