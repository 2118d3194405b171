// A pipe that is sent more than it holds: who sends waits until the other thread has taken some.
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>
static int ends[2];
static char sent[200000], got[200000];
static void *take(void *unused) {
    size_t all = 0;
    while (all < sizeof got) {
        ssize_t more = read(ends[0], got + all, sizeof got - all);
        if (more <= 0) break;
        all += (size_t)more;
    }
    return unused;
}
int main(void) {
    pthread_t thread;
    if (pipe(ends)) return 2;
    pthread_create(&thread, NULL, take, NULL);
    sent[199999] = 1;
    ssize_t written = write(ends[1], sent, sizeof sent);
    pthread_join(thread, NULL);
    printf("%zd %d\n", written, got[199999]);
    return 0;
}
