// Something to be disturbed: threads that lock, allocate and write, handlers that write, and work that takes a while.
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int shared, handled;
static char *kept[16];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void handler(int signal) { handled++; }

static void *works(void *unused) {
    for (int i = 0; i < 400; i++) {
        char *block = malloc(100 + i);
        memset(block, i, 100);
        pthread_mutex_lock(&lock);
        shared++;
        char *old = kept[i % 16];
        kept[i % 16] = block;
        pthread_mutex_unlock(&lock);
        free(old);
        if (i % 100 == 0) usleep(1000);
    }
    return unused;
}

int main(void) {
    signal(SIGUSR1, handler);
    signal(SIGALRM, handler);
    pthread_t t[3];
    for (int i = 0; i < 3; i++) pthread_create(&t[i], NULL, works, NULL);
    for (int i = 0; i < 3; i++) pthread_join(t[i], NULL);
    puts(shared == 1200 ? "ok" : "wrong");
    return 0;
}
