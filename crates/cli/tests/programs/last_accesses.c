// Threads that access shared memory after their last synchronisation: one that is joined, one that still runs at the end.
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static int joined[64], late[64];
static volatile int done;

static void *ends(void *unused) {
    for (int i = 0; i < 64; i++) joined[i] = i + 1;
    return unused;
}

static void *stays(void *unused) {
    for (int i = 0; i < 64; i++) late[i] = i + 1;
    done = 1;
    for (;;) pause();
    return unused;
}

static void *runs(void *unused) {
    for (int i = 0; i < 64; i++) late[i] = i + 1;
    done = 1;
    int one = 1;
    // Not a cycle of accesses: nothing of this is told.
    for (;;) __asm__ volatile("pause" : "+r"(one));
    return unused;
}

int main(int argc, char **argv) {
    pthread_t t;
    pthread_create(&t, NULL, ends, NULL);
    pthread_join(t, NULL);
    int sum = 0;
    for (int i = 0; i < 64; i++) sum += joined[i];
    pthread_create(&t, NULL, argc > 1 ? runs : stays, NULL);
    while (!done) usleep(1000);
    for (int i = 0; i < 64; i++) sum += late[i];
    printf("%d\n", sum);
    return 0;
}
