// A queue of one slot that synchronises by itself, and is compiled without hooks.
#include <stdatomic.h>
#include <sched.h>
static void *slot;
static atomic_int full;
void handover_put(void *item) {
    while (atomic_load(&full))
        sched_yield();
    slot = item;
    atomic_store(&full, 1);
}
void *handover_take(void) {
    while (!atomic_load(&full))
        sched_yield();
    void *item = slot;
    atomic_store(&full, 0);
    return item;
}
// Waits without letting anybody run.
void *handover_spin(void) {
    while (!atomic_load(&full)) {
    }
    return handover_take();
}

void handover_each(void (*call)(void *item), int count) {
    while (count-- > 0)
        call(handover_take());
}
