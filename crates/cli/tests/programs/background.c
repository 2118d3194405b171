// A program that goes into the background, by `daemon` or by forking twice, and then has threads.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int counter;

static void *add(void *unused) {
    counter++;
    return unused;
}

int main(int count, char **arguments) {
    if (count > 1 && strcmp(arguments[1], "daemon") == 0) {
        if (daemon(1, 1) != 0) return 1;
    } else {
        if (fork() > 0) exit(0);
        setsid();
        if (fork() > 0) _exit(0);
    }
    pthread_t threads[2];
    for (int i = 0; i < 2; i++) pthread_create(&threads[i], NULL, add, NULL);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
    puts("done");
    return 7;
}
