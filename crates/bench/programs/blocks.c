// Blocks of numbers that two threads take from a queue, sort and hash, as a parallel compressor would.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { BLOCKS = 16, LENGTH = 20000, THREADS = 2 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t filled = PTHREAD_COND_INITIALIZER;
static unsigned *blocks[BLOCKS];
static unsigned long sums[BLOCKS];
static int made, taken;

static void sort(unsigned *at, long from, long to) {
    while (from < to) {
        unsigned pivot = at[(from + to) / 2];
        long i = from, j = to;
        while (i <= j) {
            while (at[i] < pivot) i++;
            while (at[j] > pivot) j--;
            if (i <= j) { unsigned t = at[i]; at[i++] = at[j]; at[j--] = t; }
        }
        sort(at, from, j);
        from = i;
    }
}

static void *work(void *unused) {
    for (;;) {
        pthread_mutex_lock(&lock);
        while (taken == made && made < BLOCKS) pthread_cond_wait(&filled, &lock);
        int mine = taken < BLOCKS ? taken++ : -1;
        pthread_mutex_unlock(&lock);
        if (mine < 0) return unused;
        unsigned *copy = malloc(LENGTH * sizeof *copy);
        for (int i = 0; i < LENGTH; i++) copy[i] = blocks[mine][i];
        sort(copy, 0, LENGTH - 1);
        for (int i = 0; i < LENGTH; i++) sums[mine] = sums[mine] * 31 + copy[i];
        free(copy);
    }
}

int main(void) {
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++) pthread_create(&threads[i], NULL, work, NULL);
    unsigned random = 1;
    for (int b = 0; b < BLOCKS; b++) {
        unsigned *block = malloc(LENGTH * sizeof *block);
        for (int i = 0; i < LENGTH; i++) block[i] = random = random * 1664525u + 1013904223u;
        pthread_mutex_lock(&lock);
        blocks[made++] = block;
        pthread_cond_broadcast(&filled);
        pthread_mutex_unlock(&lock);
    }
    for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
    unsigned long sum = 0;
    for (int b = 0; b < BLOCKS; b++) { sum ^= sums[b]; free(blocks[b]); }
    printf("%lu\n", sum);
    return 0;
}
