// The main thread ends first; another one ends the program.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static int value;
static void *work(void *unused) {
    for (int i = 0; i < 10; i++) value++;
    puts("ok");
    exit(5);
}

int main(void) {
    pthread_t t;
    value = 1;
    pthread_create(&t, NULL, work, NULL);
    pthread_exit(NULL);
}
