// A program that ends badly, as its argument says, after some work of two threads.
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int counter;
static int *nowhere;

static void *work(void *unused) {
    for (int i = 0; i < 100; i++) {
        pthread_mutex_lock(&lock);
        counter++;
        pthread_mutex_unlock(&lock);
    }
    return unused;
}

int main(int count, char **arguments) {
    pthread_t t[2];
    for (int i = 0; i < 2; i++) pthread_create(&t[i], NULL, work, NULL);
    for (int i = 0; i < 2; i++) pthread_join(t[i], NULL);
    const char *how = count > 1 ? arguments[1] : "";
    if (!strcmp(how, "fault")) *nowhere = 1;
    if (!strcmp(how, "abort")) abort();
    if (!strcmp(how, "kill")) kill(getpid(), SIGKILL);
    if (!strcmp(how, "terminate")) kill(getpid(), SIGTERM);
    if (!strcmp(how, "exit")) _exit(6);
    if (!strcmp(how, "hang")) for (;;) pause();
    if (!strcmp(how, "spin")) for (;;) counter++;
    if (!strcmp(how, "loop")) for (;;) __asm__ volatile("");
    return 0;
}
