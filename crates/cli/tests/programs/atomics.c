// Atomic accesses of every width and kind.
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>

static _Atomic uint8_t a; static _Atomic uint16_t b; static _Atomic uint32_t c; static _Atomic uint64_t d;
static _Atomic int turn; static atomic_flag flag = ATOMIC_FLAG_INIT;
static int guarded;

#define ALL(x) do { \
    atomic_fetch_add(&x, 3); atomic_fetch_sub_explicit(&x, 1, memory_order_relaxed); \
    atomic_fetch_or(&x, 0); atomic_fetch_and(&x, ~0); atomic_fetch_xor_explicit(&x, 128, memory_order_acq_rel); \
    atomic_fetch_xor(&x, 128); } while (0)

static void *work(void *unused) {
    for (int i = 0; i < 25; i++) {
        ALL(a); ALL(b); ALL(c); ALL(d);
        uint32_t seen = atomic_load_explicit(&c, memory_order_acquire);
        while (!atomic_compare_exchange_weak(&c, &seen, seen + 1)) { }
        while (atomic_flag_test_and_set(&flag)) { }
        guarded++;
        atomic_flag_clear(&flag);
        atomic_thread_fence(memory_order_seq_cst);
    }
    return unused;
}

static void *ping(void *me) {
    for (int i = 0; i < 10; i++) {
        while (atomic_load(&turn) != (int)(intptr_t)me) { }
        atomic_store_explicit(&turn, !(int)(intptr_t)me, memory_order_release);
    }
    return NULL;
}

int main(void) {
    pthread_t t[4];
    pthread_create(&t[0], NULL, work, NULL);
    pthread_create(&t[1], NULL, work, NULL);
    pthread_create(&t[2], NULL, ping, (void *)0);
    pthread_create(&t[3], NULL, ping, (void *)1);
    for (int i = 0; i < 4; i++) pthread_join(t[i], NULL);
    int ok = a == 100 && b == 100 && c == 150 && d == 100 && guarded == 50 && atomic_exchange(&d, 7) == 100 && d == 7;
    puts(ok ? "ok" : "wrong");
    return !ok;
}
