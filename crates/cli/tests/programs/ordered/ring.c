// A token goes round three threads, which count on coming in turn.
#include <assert.h>
#include <pthread.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int x[3] = {1, 2, 1}, done[3];

static void *check(void *unused) {
    pthread_mutex_lock(&m);
#ifdef FIXED
    if (done[0] == 1 && done[1] == 2 && done[2] == 3)
#else
    if (done[0] && done[1] && done[2])
#endif
        assert(x[0] == x[1] && x[1] == x[2]);
    pthread_mutex_unlock(&m);
    return unused;
}

// Called with the lock.
static int turn(void) {
    static int turns;
    return ++turns;
}

static void *step(void *which) {
    long i = (long)which;
    pthread_mutex_lock(&m);
    x[i] = i == 0 ? (x[2] + 1) % 4 : x[i - 1];
    done[i] = turn();
    pthread_mutex_unlock(&m);
    return 0;
}

int main(void) {
    pthread_t threads[4];
    pthread_create(&threads[3], 0, check, 0);
    for (long i = 0; i < 3; i++)
        pthread_create(&threads[i], 0, step, (void *)i);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], 0);
    return 0;
}
