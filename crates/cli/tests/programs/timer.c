// An interval timer whose handler writes and posts, beside threads that allocate and lock.
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>

static volatile int ticks;
static int shared;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static sem_t posted;

static void handler(int signal) { ticks++; sem_post(&posted); }

static void *works(void *unused) {
    for (int i = 0; i < 20000; i++) {
        char *block = malloc(100 + i % 900);
        memset(block, i, 50);
        if (i % 16 == 0) {
            pthread_mutex_lock(&lock);
            shared++;
            pthread_mutex_unlock(&lock);
        }
        free(block);
    }
    return unused;
}

int main(void) {
    sem_init(&posted, 0, 0);
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = handler;
    action.sa_flags = SA_RESTART;
    sigaction(SIGALRM, &action, NULL);
    struct itimerval timer = {{0, 60}, {0, 60}};
    setitimer(ITIMER_REAL, &timer, NULL);
    pthread_t t[3];
    for (int i = 0; i < 3; i++) pthread_create(&t[i], NULL, works, NULL);
    for (int i = 0; i < 3; i++) pthread_join(t[i], NULL);
    memset(&timer, 0, sizeof timer);
    setitimer(ITIMER_REAL, &timer, NULL);
    puts(shared == 3750 && ticks > 0 ? "ok" : "wrong");
    return 0;
}
