//! What all programs in C have in common.

pub(super) const PRELUDE: &str = r#"#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

typedef struct { int ends[2]; } channel;
typedef struct {
    sem_t semaphore;
    pthread_mutex_t mutex;
    pthread_cond_t condition;
    channel pipe;
    atomic_int flag;
    int given, value, *block;
} hand_over;
typedef struct {
    sem_t semaphore;
    pthread_mutex_t mutex;
    pthread_cond_t condition;
    channel pipe;
    int count, first, items[16];
} feed;

static long start;
static atomic_int total[4], sum;

static long now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1000000000 + time.tv_nsec;
}
static struct timespec later(void) {
    struct timespec time;
    clock_gettime(CLOCK_REALTIME, &time);
    time.tv_nsec += 100000;
    if (time.tv_nsec >= 1000000000) { time.tv_sec++; time.tv_nsec -= 1000000000; }
    return time;
}
static int *block(int value) {
    int *made = malloc(sizeof *made);
    *made = value;
    return made;
}

static void make_mutex(pthread_mutex_t *mutex, int type, int robust) {
    pthread_mutexattr_t how;
    pthread_mutexattr_init(&how);
    pthread_mutexattr_settype(&how, type);
    if (robust) pthread_mutexattr_setrobust(&how, PTHREAD_MUTEX_ROBUST);
    pthread_mutex_init(mutex, &how);
    pthread_mutexattr_destroy(&how);
}
static int acquire(int error, pthread_mutex_t *mutex) {
    if (error == EOWNERDEAD) { pthread_mutex_consistent(mutex); error = 0; }
    return error == 0;
}
static int timedlock(pthread_mutex_t *mutex) { struct timespec until = later(); return pthread_mutex_timedlock(mutex, &until); }
static int timedwrlock(pthread_rwlock_t *lock) { struct timespec until = later(); return pthread_rwlock_timedwrlock(lock, &until); }
static int timedwait(sem_t *semaphore) { struct timespec until = later(); return sem_timedwait(semaphore, &until); }
static int enter(atomic_int *lock) { int zero = 0; return atomic_compare_exchange_strong(lock, &zero, 1); }

static void make_channel(channel *made) { if (pipe(made->ends)) _exit(8); }
static void put(channel *to, char byte) { if (write(to->ends[1], &byte, 1) != 1) _exit(8); }
static int get(channel *from) { char byte; if (read(from->ends[0], &byte, 1) != 1) _exit(8); return byte; }

static void make_semaphore(hand_over *made) { made->value = 0; made->block = 0; sem_init(&made->semaphore, 0, 0); }
static void make_condition(hand_over *made) { made->given = made->value = 0; made->block = 0; make_mutex(&made->mutex, PTHREAD_MUTEX_NORMAL, 0); pthread_cond_init(&made->condition, 0); }
static void make_pipe(hand_over *made) { made->value = 0; made->block = 0; make_channel(&made->pipe); }
static void make_flag(hand_over *made) { made->value = 0; made->block = 0; atomic_store(&made->flag, 0); }
static void give_semaphore(hand_over *to) { sem_post(&to->semaphore); }
static void give_condition(hand_over *to) {
    pthread_mutex_lock(&to->mutex);
    to->given = 1;
    pthread_cond_signal(&to->condition);
    pthread_mutex_unlock(&to->mutex);
}
static void give_pipe(hand_over *to) { put(&to->pipe, 5); }
static void give_flag(hand_over *to) { atomic_store(&to->flag, 1); }
static int take_semaphore(hand_over *from) { return sem_wait(&from->semaphore) == 0; }
static int look_semaphore(hand_over *from) { return sem_trywait(&from->semaphore) == 0; }
static int timed_semaphore(hand_over *from) { return timedwait(&from->semaphore) == 0; }
static int take_condition(hand_over *from) {
    pthread_mutex_lock(&from->mutex);
    while (!from->given) pthread_cond_wait(&from->condition, &from->mutex);
    pthread_mutex_unlock(&from->mutex);
    return 1;
}
static int timed_condition(hand_over *from) {
    struct timespec until = later();
    int error = 0, given;
    pthread_mutex_lock(&from->mutex);
    while (!from->given && !error) error = pthread_cond_timedwait(&from->condition, &from->mutex, &until);
    given = from->given;
    pthread_mutex_unlock(&from->mutex);
    return given;
}
static int take_pipe(hand_over *from) { return get(&from->pipe) == 5; }
static int look_flag(hand_over *from) { return atomic_load(&from->flag); }

static void make_feed_semaphore(feed *made) { made->count = made->first = 0; memset(made->items, 0, sizeof made->items); sem_init(&made->semaphore, 0, 0); make_mutex(&made->mutex, PTHREAD_MUTEX_NORMAL, 0); }
static void make_feed_condition(feed *made) { made->count = made->first = 0; memset(made->items, 0, sizeof made->items); make_mutex(&made->mutex, PTHREAD_MUTEX_NORMAL, 0); pthread_cond_init(&made->condition, 0); }
static void make_feed_pipe(feed *made) { make_channel(&made->pipe); }
static void queue(feed *to, int value) { to->items[(to->first + to->count++) & 15] = value; }
static int dequeue(feed *from) { from->count--; return from->items[from->first++ & 15]; }
static void feed_semaphore(feed *to, int value) {
    pthread_mutex_lock(&to->mutex); queue(to, value); pthread_mutex_unlock(&to->mutex);
    sem_post(&to->semaphore);
}
static int eat_semaphore(feed *from) {
    sem_wait(&from->semaphore);
    pthread_mutex_lock(&from->mutex); int value = dequeue(from); pthread_mutex_unlock(&from->mutex);
    return value;
}
static void feed_condition(feed *to, int value) {
    pthread_mutex_lock(&to->mutex);
    queue(to, value);
    if (value & 1) pthread_cond_broadcast(&to->condition); else pthread_cond_signal(&to->condition);
    pthread_mutex_unlock(&to->mutex);
}
static int eat_condition(feed *from) {
    pthread_mutex_lock(&from->mutex);
    while (!from->count) pthread_cond_wait(&from->condition, &from->mutex);
    int value = dequeue(from);
    pthread_mutex_unlock(&from->mutex);
    return value;
}
static void feed_pipe(feed *to, int value) { put(&to->pipe, value); }
static int eat_pipe(feed *from) { return get(&from->pipe); }

static void *help(void *given) { int *of_parent = given; *of_parent = (*of_parent + 3) & 7; return 0; }
static int helper(int value) {
    int mine = value;
    pthread_t thread;
    pthread_create(&thread, 0, help, &mine);
    pthread_join(thread, 0);
    return mine;
}

static char words[] = "1 2 3 4 5 6 7 8 9", *rest = words;
static int contents, next_mask;
static FILE *stream;
static FILE *file(const char *text) {
    int made = memfd_create("file", 0);
    if (write(made, text, strlen(text)) < 0) _exit(8);
    lseek(made, 0, SEEK_SET);
    return fdopen(made, "r+");
}
static void make_states(void) {
    atomic_store(&sum, 0);
    for (int i = 0; i < 4; i++) atomic_store(&total[i], 0);
    rest = words; next_mask = 0;
    contents = memfd_create("contents", 0);
    if (write(contents, "3141592653589793", 16) < 0) _exit(8);
    lseek(contents, 0, SEEK_SET);
    stream = file("2718281828459045");
}
static int token(void) { char *word = strtok(rest, " "); rest = 0; return word ? *word : 1; }
static int environment(void) {
    const char *value = getenv("CASE");
    int old = value ? *value : 0;
    setenv("CASE", old & 1 ? "2" : "3", 1);
    return old;
}
static int offset(void) { char byte = 0; return read(contents, &byte, 1) == 1 ? byte : 0; }
static int content(void) {
    char byte = 0;
    if (pread(contents, &byte, 1, 9) != 1) _exit(8);
    byte++;
    if (pwrite(contents, &byte, 1, 9) != 1) _exit(8);
    return byte;
}
static int descriptor(void) { int made = open("/dev/null", O_RDONLY); close(made); return made; }
static int mask(void) { return umask(++next_mask & 7); }
"#;
