// Atomic accesses of 128 bits: their halves always change together.
#include <pthread.h>
#include <stdio.h>

typedef unsigned __int128 wide;
wide __tsan_atomic128_fetch_add(volatile wide *, wide, int);
wide __tsan_atomic128_load(const volatile wide *, int);
void __tsan_atomic128_store(volatile wide *, wide, int);
int __tsan_atomic128_compare_exchange_strong(volatile wide *, wide *, wide, int, int);
wide __tsan_atomic128_compare_exchange_val(volatile wide *, wide, wide, int, int);

static wide value __attribute__((aligned(16)));
static const wide step = ((wide)1 << 64) | 1;

static void *work(void *unused) {
    for (int i = 0; i < 50; i++) {
        __tsan_atomic128_fetch_add(&value, step, 5);
        wide seen = __tsan_atomic128_load(&value, 5);
        while (!__tsan_atomic128_compare_exchange_strong(&value, &seen, seen + step, 5, 5)) { }
        if ((unsigned long)(seen >> 64) != (unsigned long)seen) puts("torn");
    }
    return unused;
}

int main(void) {
    pthread_t t[2];
    for (int i = 0; i < 2; i++) pthread_create(&t[i], NULL, work, NULL);
    for (int i = 0; i < 2; i++) pthread_join(t[i], NULL);
    int ok = value == 200 * step && __tsan_atomic128_compare_exchange_val(&value, 200 * step, 3, 5, 5) == 200 * step;
    __tsan_atomic128_store(&value, value + 1, 5);
    ok &= value == 4;
    puts(ok ? "ok" : "wrong");
    return !ok;
}
