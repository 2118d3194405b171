// One of each construct of C that becomes something of its own in a table.
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct pair { int first; long second; };
struct large { int parts[40]; };
typedef int vector __attribute__((vector_size(16)));

int shared;
volatile int device;
_Atomic int counter;
_Atomic uint64_t wide;
static __thread int mine;
static const int table[4] = {1, 2, 4, 8};
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
int (*callback)(int, ...);

static inline __attribute__((always_inline)) int inlined(int *at) { return *at + 1; }
int take(struct large copy);

int loops(const char *text, int length) {
    int sum = 0;
    for (int i = 0; i < length; i++) {
        switch (text[i]) {
        case 'a': sum += inlined(&shared); break;
        case 'b': shared = i; break;
        case '\n': sum ^= 3; break;
        case -5: sum = device; break;
        default: sum--;
        }
    }
    return sum;
}

int variadic(int count, ...) {
    va_list list;
    va_start(list, count);
    int sum = 0;
    while (count-- > 0)
        sum += va_arg(list, int);
    va_end(list);
    return sum;
}

int computed(int way) {
    static void *const labels[] = {&&one, &&two, &&three};
    goto *labels[way % 3];
one:
    shared = 1;
two:
    shared += 2;
three:
    return shared;
}

long atomics(int value) {
    atomic_fetch_add_explicit(&counter, value, memory_order_relaxed);
    atomic_fetch_sub(&counter, 1);
    atomic_fetch_or_explicit(&wide, 7, memory_order_acq_rel);
    atomic_exchange_explicit(&counter, 9, memory_order_release);
    int expected = 4;
    atomic_compare_exchange_strong(&counter, &expected, value);
    atomic_compare_exchange_weak_explicit(&counter, &expected, value, memory_order_acquire, memory_order_relaxed);
    atomic_thread_fence(memory_order_seq_cst);
    atomic_signal_fence(memory_order_acquire);
    atomic_store_explicit(&counter, 1, memory_order_release);
    return atomic_load_explicit(&wide, memory_order_acquire) + expected;
}

vector lanes(vector a, vector b, int *from) {
    vector loaded = *(vector *)from;
    vector mixed = __builtin_shufflevector(a, b, 0, 5, 2, 7);
    mixed[shared & 3] = mine++;
    return mixed * loaded + (vector){table[shared & 3], 1, 2, 3};
}

int memory(struct large *into, const struct large *from, size_t length, int byte) {
    struct large local = *from;
    memmove(into, from, length);
    memset(into->parts, byte, length / 2);
    char *block = malloc(length);
    memcpy(block, &local, sizeof local < length ? sizeof local : length);
    int first = block[length / 3];
    free(block);
    return take(local) + first;
}

double floats(double a, float b) { return a < b ? a * 2 : a != a ? -b : a / 3.5; }

__int128 huge(__int128 a, unsigned shift) { return (a << shift) + ((__int128)0x123456789abcdefULL << 64); }

unsigned assembly(unsigned value) {
    __asm__ volatile("rol $3, %0" : "+r"(value) : : "cc");
    return value;
}

struct pair pairs(struct pair given, int swap) {
    if (swap && given.first > 3 || given.second == 7)
        return (struct pair){(int)given.second, callback(1, 2, 3.0)};
    return given;
}

void *thread(void *argument) {
    pthread_mutex_lock(&lock);
    shared += *(int *)argument;
    pthread_mutex_unlock(&lock);
    return argument;
}
