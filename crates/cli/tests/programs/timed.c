// Threads that wait with deadlines of every kind, some of which pass and some of which do not; and clocks.
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <sys/select.h>
#include <sys/time.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER, held = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t rw = PTHREAD_RWLOCK_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER, even;
static sem_t tokens;
static mtx_t plain;
static int order[64], count, wrong, stop, passed[6];

static struct timespec after(clockid_t clock, long nanos) {
    struct timespec time;
    clock_gettime(clock, &time);
    time.tv_nsec += nanos;
    time.tv_sec += time.tv_nsec / 1000000000;
    time.tv_nsec %= 1000000000;
    return time;
}

static long long now(clockid_t clock) {
    struct timespec time = after(clock, 0);
    return time.tv_sec * 1000000000LL + time.tv_nsec;
}

// The machine's own time, past libc.
static long long real(void) {
    struct timespec time;
    long result;
    __asm__ volatile("syscall" : "=a"(result) : "0"(228L), "D"((long)CLOCK_MONOTONIC), "S"(&time) : "rcx", "r11", "memory");
    return time.tv_sec * 1000000000LL + time.tv_nsec;
}

static void note(int what) {
    pthread_mutex_lock(&lock);
    if (count < 64) order[count++] = what;
    pthread_mutex_unlock(&lock);
}

// Two of these ask for times that are microseconds apart.
static void *sleeps(void *number) {
    for (int i = 0; i < 4; i++) {
        long long start = now(CLOCK_MONOTONIC), really = real();
        usleep(2000 + 3 * (int)(long)number);
        if (now(CLOCK_MONOTONIC) - start < 2000000 || real() - really < 2000000) wrong |= 1;
        note((int)(long)number);
    }
    return NULL;
}

static void *waits(void *unused) {
    for (int i = 0; i < 4; i++) {
        pthread_mutex_lock(&lock);
        long long really = real();
        struct timespec until = after(i % 2 ? CLOCK_MONOTONIC : CLOCK_REALTIME, 1000000 + i * 700000);
        int result = i % 2 ? pthread_cond_timedwait(&even, &lock, &until) : pthread_cond_timedwait(&changed, &lock, &until);
        if (result == ETIMEDOUT) passed[0]++;
        if (result == ETIMEDOUT && real() - really < 900000) wrong |= 32;
        pthread_mutex_unlock(&lock);
        note(20);
    }
    return NULL;
}

static void *tries(void *unused) {
    for (int i = 0; i < 4; i++) {
        struct timespec until = after(CLOCK_REALTIME, 900000);
        if (pthread_mutex_timedlock(&held, &until) == 0) pthread_mutex_unlock(&held);
        else passed[1]++;
        until = after(CLOCK_REALTIME, 800000);
        if (pthread_rwlock_timedwrlock(&rw, &until) == 0) pthread_rwlock_unlock(&rw);
        else passed[2]++;
        until = after(CLOCK_REALTIME, 500000);
        if (sem_timedwait(&tokens, &until) != 0) passed[3]++;
        timespec_get(&until, TIME_UTC);
        until.tv_sec++;
        if (mtx_timedlock(&plain, &until) == thrd_success) mtx_unlock(&plain);
        else wrong |= 2;
        note(30);
    }
    return NULL;
}

// Holds what the others try for, posts now and then, and waits by looking at the clock.
static void *holds(void *unused) {
    for (int i = 0; i < 4; i++) {
        pthread_mutex_lock(&held);
        pthread_rwlock_rdlock(&rw);
        for (long long end = now(CLOCK_MONOTONIC) + 600000; now(CLOCK_MONOTONIC) < end;) passed[4]++;
        nanosleep(&(struct timespec){.tv_nsec = 700000}, NULL);
        pthread_rwlock_unlock(&rw);
        pthread_mutex_unlock(&held);
        if (i % 2) sem_post(&tokens);
        if (i % 2) pthread_cond_signal(&changed);
        poll(NULL, 0, 1);
        select(0, NULL, NULL, NULL, &(struct timeval){.tv_usec = 300});
        note(40);
    }
    return NULL;
}

// Computes all the time that the others wait.
static void *computes(void *unused) {
    while (!__atomic_load_n(&stop, __ATOMIC_SEQ_CST)) passed[5]++;
    return NULL;
}

int main(int argc, char **argv) {
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&even, &attributes);
    sem_init(&tokens, 0, 0);
    mtx_init(&plain, mtx_timed);
    void *(*all[6])(void *) = {sleeps, sleeps, waits, tries, holds, computes};
    pthread_t t[6];
    int threads = argc > 1 ? 6 : 5;
    for (long i = 0; i < threads; i++) pthread_create(&t[i], NULL, all[i], (void *)i);
    struct timespec until = after(CLOCK_MONOTONIC, argc > 1 ? 1500000 : 30000000);
    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL);
    if (now(CLOCK_MONOTONIC) < until.tv_sec * 1000000000LL + until.tv_nsec) wrong |= 4;
    __atomic_store_n(&stop, 1, __ATOMIC_SEQ_CST);
    for (int i = 0; i < threads; i++) pthread_join(t[i], NULL);
    struct timeval day;
    gettimeofday(&day, NULL);
    time_t seconds = time(NULL);
    if (seconds - day.tv_sec > 1 || now(CLOCK_REALTIME) / 1000000000 - seconds > 1) wrong |= 8;
    if (count != 20) wrong |= 16;
    for (int i = 0; i < count; i++) fprintf(stderr, "%d ", order[i]);
    fprintf(stderr, "\n%d %d %d %d\n", passed[0], passed[1], passed[2], passed[3]);
    puts(wrong ? "wrong" : "ok");
    return wrong;
}
