// Handlers that write and read the same words as the code that they interrupt.
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>

static long word, other;
static struct { int low, high; } pair;
static int seen_low, bytes[4];
static sigjmp_buf out;
static volatile int ticks, jumps;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void handler(int signal) {
    ticks++;
    seen_low += pair.low;
    pair.high++;
    word += 3;
    if (signal == SIGUSR1) siglongjmp(out, 1);
}

static void *works(void *unused) {
    for (int i = 0; i < 300; i++) {
        pthread_mutex_lock(&lock);
        pair.low += 2;
        word += 5;
        other = word;
        pthread_mutex_unlock(&lock);
    }
    return unused;
}

int main(void) {
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = handler;
    sigaction(SIGALRM, &action, NULL);
    sigaction(SIGUSR1, &action, NULL);
    struct itimerval timer = {{0, 150}, {0, 150}};
    setitimer(ITIMER_REAL, &timer, NULL);
    pthread_t t[2];
    for (int i = 0; i < 2; i++) pthread_create(&t[i], NULL, works, NULL);
    for (long i = 0; i < 30000 || ticks < 20; i++) {
        pair.low = i;
        word = i;
        bytes[i & 3] = word;
        other += bytes[1];
    }
    for (int i = 0; i < 20; i++) {
        if (sigsetjmp(out, 1) == 0) {
            other = i;
            raise(SIGUSR1);
        } else {
            jumps++;
        }
        bytes[2] = other;
    }
    memset(&timer, 0, sizeof timer);
    setitimer(ITIMER_REAL, &timer, NULL);
    for (int i = 0; i < 2; i++) pthread_join(t[i], NULL);
    puts(jumps == 20 ? "ok" : "wrong");
    return 0;
}
