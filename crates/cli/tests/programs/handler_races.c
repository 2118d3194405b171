// A handler interrupts the writing of one half of a word, and writes the other half; so does another thread, without a lock.
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>

static struct { int low, high; } pair __attribute__((aligned(8)));
static volatile int ticks;
static int odd;

static void handler(int signal) {
    (void)signal;
    ticks++;
    pair.high++;
}

static void *writes(void *unused) {
    pair.high = 7;
    return unused;
}

int main(void) {
    sigset_t alarm;
    sigemptyset(&alarm);
    sigaddset(&alarm, SIGALRM);
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = handler;
    sigaction(SIGALRM, &action, NULL);
    // The handler is the main thread's alone.
    pthread_t thread;
    pthread_sigmask(SIG_BLOCK, &alarm, NULL);
    pthread_create(&thread, NULL, writes, NULL);
    pthread_sigmask(SIG_UNBLOCK, &alarm, NULL);
    struct itimerval timer = {{0, 200}, {0, 200}};
    setitimer(ITIMER_REAL, &timer, NULL);
    for (int i = 0; i < 2000 || ticks < 10; i++) {
        pair.low = i;
        odd += pair.low & 1;
    }
    memset(&timer, 0, sizeof timer);
    setitimer(ITIMER_REAL, &timer, NULL);
    pthread_join(thread, NULL);
    puts("ok");
    return 0;
}
