// Correct programs, one for each way in which a recorder can take a step for less than it is: KIND says which. What a thread
// may do depends on what the step came to, and that is what keeps the others out.
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int *block, used, shared;
static void use(void) { used = *block; }
static void drop(void) { free(block); }

#if KIND == 1 // a compare-exchange that fails in the recorded run and would not elsewhere
static atomic_int word, passed;
static int told;
static void one(void) {
    atomic_store(&word, 7);
    while (!atomic_load(&passed)) sched_yield();
    atomic_store(&word, 0);
}
static void two(void) {
    pthread_mutex_lock(&lock);
    told = 1;
    int expected = 0;
    atomic_compare_exchange_strong(&word, &expected, 1);
    pthread_mutex_unlock(&lock);
    shared = 2;
    atomic_store(&passed, 1);
}
static void three(void) {
    pthread_mutex_lock(&lock);
    int after = told && atomic_load(&word) == 0;
    pthread_mutex_unlock(&lock);
    if (after) shared = 1;
}
#elif KIND == 2 // a semaphore that is tried
static sem_t semaphore;
static int wins;
static void one(void) {
    if (sem_trywait(&semaphore) == 0) {
        wins++;
        sem_post(&semaphore);
    }
}
#define two one
#elif KIND == 3 // a division that only one who may go on gets through
static int told, divisor = 1;
static void one(void) {
    pthread_mutex_lock(&lock);
    told = divisor = 3;
    pthread_mutex_unlock(&lock);
    shared = 2;
    pthread_mutex_lock(&lock);
    told = 4;
    pthread_mutex_unlock(&lock);
}
static void two(void) {
    pthread_mutex_lock(&lock);
    int sees = told;
    pthread_mutex_unlock(&lock);
    if (100 / (sees == 4 ? divisor : 50) > 30) shared = 1;
}
#elif KIND == 4 // a place for one thing, and who waits for which
static pthread_cond_t empty = PTHREAD_COND_INITIALIZER, full = PTHREAD_COND_INITIALIZER;
static int count;
static void one(void) {
    for (int round = 0; round < 3; round++) {
        pthread_mutex_lock(&lock);
        while (count > 0) pthread_cond_wait(&empty, &lock);
        count++;
        pthread_mutex_unlock(&lock);
        pthread_cond_signal(&full);
    }
}
static void two(void) {
    for (int round = 0; round < 3; round++) {
        pthread_mutex_lock(&lock);
        while (count == 0) pthread_cond_wait(&full, &lock);
        count--;
        pthread_mutex_unlock(&lock);
        pthread_cond_signal(&empty);
    }
}
#elif KIND == 5 // a box that is polled
static int full, box;
static void one(void) {
    for (int round = 0; round < 5; round++) {
        pthread_mutex_lock(&lock);
        if (!full) box = round, full = 1;
        pthread_mutex_unlock(&lock);
    }
}
static void two(void) {
    for (int round = 0; round < 5; round++) {
        pthread_mutex_lock(&lock);
        if (full) shared += box, full = 0;
        pthread_mutex_unlock(&lock);
    }
}
#elif KIND == 6 || KIND == 7 || KIND == 8 // whoever takes the first byte of a file, stream or pipe uses, the other one frees
static int ends[2];
static FILE *stream;
static int taken(void) {
    char byte = 0;
    if (stream) return getc(stream);
    return read(ends[0], &byte, 1) == 1 ? byte : 0;
}
static void one(void) {
    pthread_mutex_lock(&lock);
    if (taken() == 'A') use();
    else drop();
    pthread_mutex_unlock(&lock);
}
#define two one
#elif KIND == 9 // a lock that is an instruction
static volatile int turn;
static void one(void) {
    shared = 1;
    __asm__ volatile("lock incl %0" : "+m"(turn)::"memory");
}
static void two(void) {
    while (!turn) sched_yield();
    shared = 2;
}
#elif KIND == 10 // a pointer that is another one, though its number may be the same
static void one(void) {
    pthread_mutex_lock(&lock);
    use();
    pthread_mutex_unlock(&lock);
}
static void two(void) {
    pthread_mutex_lock(&lock);
    int *old = block;
    block = 0;
    free(old);
    block = malloc(sizeof *block);
    *block = 5;
    pthread_mutex_unlock(&lock);
}
#elif KIND == 11 // a time until which one may, and from which on another one may
static long until;
static long now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1000000000 + time.tv_nsec;
}
static void one(void) {
    pthread_mutex_lock(&lock);
    if (now() < until) use();
    pthread_mutex_unlock(&lock);
}
static void two(void) {
    nanosleep(&(struct timespec){0, 1000000}, 0);
    pthread_mutex_lock(&lock);
    if (now() >= until) drop();
    pthread_mutex_unlock(&lock);
}
#elif KIND == 12 // threads that end by themselves
static void one(void) {
    pthread_mutex_lock(&lock);
    shared++;
    pthread_mutex_unlock(&lock);
    pthread_exit(0);
}
#define two one
#elif KIND == 13 // what is sent says what has happened: two locks in both orders, one after the other
static pthread_mutex_t other = PTHREAD_MUTEX_INITIALIZER;
static int ends[2], done;
static void nested(pthread_mutex_t *a, pthread_mutex_t *b) {
    pthread_mutex_lock(a);
    pthread_mutex_lock(b);
    shared++;
    pthread_mutex_unlock(b);
    pthread_mutex_unlock(a);
}
static pthread_mutex_t guard = PTHREAD_MUTEX_INITIALIZER;
static void one(void) {
    nested(&other, &lock);
    pthread_mutex_lock(&guard);
    done = 1;
    pthread_mutex_unlock(&guard);
}
static void two(void) {
    pthread_mutex_lock(&guard);
    int says = done;
    pthread_mutex_unlock(&guard);
    if (write(ends[1], &says, sizeof says) < 0) abort();
}
static void three(void) {
    int says = 0;
    if (read(ends[0], &says, sizeof says) < 0) abort();
    if (says) nested(&lock, &other);
}
#elif KIND == 14 // a file that is written otherwise than through its mapping
static char *mapping;
static int file;
static void one(void) {
    pthread_mutex_lock(&lock);
    use();
    if (pwrite(file, "1", 1, 0) != 1) abort();
    pthread_mutex_unlock(&lock);
}
static void two(void) {
    pthread_mutex_lock(&lock);
    if (mapping[0] == '1') drop();
    pthread_mutex_unlock(&lock);
}
#elif KIND == 15 // a descriptor that leads elsewhere, though its number is the same
static int file;
static void one(void) {
    pthread_mutex_lock(&lock);
    use();
    close(file);
    file = open("b", O_RDONLY);
    pthread_mutex_unlock(&lock);
}
static void two(void) {
    char byte = 0;
    pthread_mutex_lock(&lock);
    if (read(file, &byte, 1) == 1 && byte == 'b') drop();
    pthread_mutex_unlock(&lock);
}
static void make(const char *name) {
    int made = creat(name, 0600);
    if (write(made, name, 1) != 1) abort();
    close(made);
}
#endif

static void *first(void *_) { one(); return 0; }
static void *second(void *_) { two(); return 0; }
#if KIND == 1 || KIND == 13
static void *third(void *_) { three(); return 0; }
#endif

int main(void) {
    pthread_t threads[3];
    block = malloc(sizeof *block);
    *block = 5;
#if KIND == 2
    sem_init(&semaphore, 0, 1);
#elif KIND == 6 || KIND == 7
    ends[0] = memfd_create("bytes", 0);
    if (pwrite(ends[0], "AB", 2, 0) != 2) return 2;
    if (KIND == 7) stream = fdopen(ends[0], "r");
#elif KIND == 8
    if (pipe(ends) || write(ends[1], "AB", 2) != 2) return 2;
#elif KIND == 11
    until = now() + 500000;
#elif KIND == 13
    if (pipe(ends)) return 2;
#elif KIND == 14
    file = memfd_create("file", 0);
    if (ftruncate(file, 4096)) return 2;
    mapping = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
#elif KIND == 15
    make("a"), make("b");
    file = open("a", O_RDONLY);
#endif
    pthread_create(&threads[0], 0, first, 0);
    pthread_create(&threads[1], 0, second, 0);
#if KIND == 1 || KIND == 13
    pthread_create(&threads[2], 0, third, 0);
    pthread_join(threads[2], 0);
#endif
    pthread_join(threads[0], 0);
    pthread_join(threads[1], 0);
    puts("ended");
    return 0;
}
