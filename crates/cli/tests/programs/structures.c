/* Structures of several sizes are sorted, swapped and handed on: compilers announce the write and the read of each move before
   they do it, and put other work in between. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

struct node { uint32_t count; uint16_t parent; uint8_t byte, bits; };
struct range { const char *start; uint64_t size; };
struct big { uint64_t words[5]; };

enum { NODES = 24 };
static struct node nodes[NODES];
static struct range ranges[NODES], last;
static struct big bigs[NODES];
static unsigned char from[256], to[256];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static const char text[] = "a text that ranges point to";

__attribute__((noinline)) static void sort(struct node *nodes, int size) {
    for (int i = 1; i < size; i++) {
        struct node const key = nodes[i];
        int j = i - 1;
        while (j >= 0 && nodes[j].count < key.count) {
            nodes[j + 1] = nodes[j];
            j--;
        }
        nodes[j + 1] = key;
    }
}

__attribute__((noinline)) static void swap(struct node *a, struct node *b) {
    struct node const kept = *a;
    *a = *b;
    *b = kept;
}

/* As many values live at once as there are registers, so that some are kept in memory. */
__attribute__((noinline)) static uint64_t hand_on(struct range *to, struct range *from, struct big *bigs, int index) {
    uint64_t a = from->size, b = to->size, c = bigs[index].words[0], d = bigs[index].words[1], e = a ^ d, f = b + c;
    to[index] = *from;
    uint64_t *seen = &bigs[index].words[2];
    bigs[index + 1] = bigs[index];
    *seen = e + f;
    to[index + 1] = to[index];
    return a + b * 3 + c * 5 + d * 7 + e * 11 + f * 13 + *seen;
}

/* Sixteen bytes at a time, as compressors copy. */
__attribute__((noinline)) static void copy(unsigned char *to, const unsigned char *from, int length) {
    unsigned char *const end = to + length;
    do {
        memcpy(to, from, 16);
        to += 16;
        from += 16;
    } while (to < end);
}

static int wrong;

static void *work(void *argument) {
    unsigned const me = (unsigned)(uintptr_t)argument;
    for (unsigned round = 0; round < 4; round++) {
        pthread_mutex_lock(&lock);
        for (unsigned i = 0; i < NODES; i++)
            nodes[i] = (struct node){(i * 7 + round * 5 + me) % 13, (uint16_t)i, (uint8_t)i, (uint8_t)me};
        sort(nodes, NODES);
        swap(&nodes[round], &nodes[NODES - 1 - round]);
        swap(&nodes[round], &nodes[NODES - 1 - round]);
        last = (struct range){text + round, me + round};
        for (int i = 0; i + 1 < NODES; i++) hand_on(ranges, &last, bigs, i);
        for (unsigned i = 0; i < sizeof from; i++) from[i] = (unsigned char)(i * me + round);
        copy(to + me, from + 3, 200);
        pthread_mutex_unlock(&lock);
        pthread_mutex_lock(&lock);
        for (unsigned i = 1; i < NODES; i++) wrong |= nodes[i - 1].count < nodes[i].count;
        for (unsigned i = 1; i < NODES; i++)
            wrong |= ranges[i].start != ranges[i - 1].start || ranges[i].size != ranges[i - 1].size;
        pthread_mutex_unlock(&lock);
    }
    return 0;
}

int main(void) {
    pthread_t threads[2];
    for (uintptr_t i = 0; i < 2; i++) pthread_create(&threads[i], 0, work, (void *)(i + 1));
    for (int i = 0; i < 2; i++) pthread_join(threads[i], 0);
    puts(wrong ? "wrong" : "ok");
    return 0;
}
