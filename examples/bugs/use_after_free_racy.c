// A message is freed while another thread may still read it.
// bug: uaf use-after-free heap block of 4 bytes
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static int *message;
static int seen;

static void *reader(void *unused) {
    seen = *message;
    return unused;
}

int main(void) {
    pthread_t thread;
    message = malloc(sizeof *message);
    *message = 7;
    pthread_create(&thread, NULL, reader, NULL);
#ifdef FIXED
    pthread_join(thread, NULL);
    free(message);
#else
    usleep(1000); // Time enough to read it.
    free(message);
    pthread_join(thread, NULL);
#endif
    return seen == 7 ? 0 : 1;
}
