// Two threads, a function that is inlined, a branch on shared memory, an address from shared memory, an atomic, a copy.
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

int shared, flag;
int numbers[8];
char from[32] = "what is copied from thread to thre", to[32];
_Atomic long counter;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static inline __attribute__((always_inline)) int bump(int *at, int by) {
    int old = *at;
    *at = old + by;
    return old;
}

static void *worker(void *argument) {
    int by = *(int *)argument;
    bump(&shared, by);
    pthread_mutex_lock(&lock);
    if (flag > 2)
        numbers[flag & 7] = by;
    else
        flag = 3;
    memcpy(to, from, sizeof to);
    from[0] += to[1];
    pthread_mutex_unlock(&lock);
    atomic_fetch_add(&counter, by);
    return 0;
}

int main(void) {
    pthread_t threads[2];
    int by[2] = {1, 2};
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], 0, worker, &by[i]);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], 0);
    return numbers[3] == 9;
}
