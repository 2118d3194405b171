// Signals: to itself, to a thread that waits, to one that sleeps, from a timer; and waiting for them.
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static volatile sig_atomic_t handled, alarms;
static sem_t posted;
static int shared, interrupted;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void handler(int signal) { handled++; sem_post(&posted); }
static void with_info(int signal, siginfo_t *info, void *context) { alarms += info->si_signo == SIGALRM; }

static void *waits(void *unused) {
    struct timespec long_time = {30, 0};
    if (nanosleep(&long_time, &long_time) == -1 && errno == EINTR) interrupted++;
    sem_wait(&posted);
    pthread_mutex_lock(&lock);
    shared++;
    pthread_mutex_unlock(&lock);
    return unused;
}

int main(void) {
    struct sigaction action, before;
    memset(&action, 0, sizeof action);
    action.sa_handler = handler;
    int ok = sigaction(SIGUSR1, &action, &before) == 0 && before.sa_handler == SIG_DFL;
    ok &= sigaction(SIGUSR1, NULL, &before) == 0 && before.sa_handler == handler;
    ok &= signal(SIGTERM, SIG_IGN) == SIG_DFL && signal(SIGTERM, SIG_DFL) == SIG_IGN;
    sem_init(&posted, 0, 0);
    raise(SIGUSR1);
    ok &= handled == 1;
    sem_wait(&posted);
    pthread_t t;
    pthread_create(&t, NULL, waits, NULL);
    usleep(2000);
    pthread_kill(t, SIGUSR1);
    pthread_join(t, NULL);
    ok &= handled == 2 && interrupted == 1 && shared == 1;
    action.sa_sigaction = with_info;
    action.sa_flags = SA_SIGINFO;
    sigaction(SIGALRM, &action, NULL);
    struct itimerval timer = {{0, 500}, {0, 500}};
    setitimer(ITIMER_REAL, &timer, NULL);
    while (alarms < 20) { pthread_mutex_lock(&lock); shared++; pthread_mutex_unlock(&lock); }
    memset(&timer, 0, sizeof timer);
    setitimer(ITIMER_REAL, &timer, NULL);
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR2);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    kill(getpid(), SIGUSR2);
    int got;
    ok &= sigwait(&set, &got) == 0 && got == SIGUSR2;
    puts(ok ? "ok" : "wrong");
    return !ok;
}
