// Threads that mostly enter and leave functions, more of them than the recorder has room for at once.
#include <pthread.h>
#include <stdio.h>

static int shared;

__attribute__((noinline)) static int leaf(int x) {
    if (x == -1) shared++;
    __asm__ volatile("");
    return x + 1;
}

static void *work(void *unused) {
    for (int i = 0; i < 60000; i++) {
        leaf(i);
        if (i % 16 == 0) shared++;
    }
    return NULL;
}

int main(void) {
    pthread_t t[3];
    for (int i = 0; i < 3; i++) pthread_create(&t[i], NULL, work, NULL);
    for (int i = 0; i < 3; i++) pthread_join(t[i], NULL);
    puts("ok");
    return 0;
}
