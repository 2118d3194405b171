// Timers whose functions run in threads that libc makes: one that expires once, and one that goes on. The functions lock, count
// and post; the last one is told by what the program wrote before it set the timer.
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <time.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static sem_t posted;
static int counted, told, heard;
static void expired(union sigval value) {
    heard += told;
    pthread_mutex_lock(&lock);
    counted += value.sival_int;
    pthread_mutex_unlock(&lock);
    sem_post(&posted);
}
static void ticks(union sigval value) {
    pthread_mutex_lock(&lock);
    counted += value.sival_int;
    pthread_mutex_unlock(&lock);
    sem_post(&posted);
}
static void *work(void *unused) {
    for (int i = 0; i < 3; i++) {
        pthread_mutex_lock(&lock);
        counted++;
        pthread_mutex_unlock(&lock);
    }
    return unused;
}
int main(void) {
    pthread_t thread;
    timer_t once, again;
    sem_init(&posted, 0, 0);
    struct sigevent event = {.sigev_notify = SIGEV_THREAD, .sigev_notify_function = expired, .sigev_value.sival_int = 10};
    timer_create(CLOCK_MONOTONIC, &event, &once);
    event.sigev_notify_function = ticks;
    event.sigev_value.sival_int = 0;
    timer_create(CLOCK_MONOTONIC, &event, &again);
    told = 1;
    struct itimerspec soon = {.it_value = {0, 5000000}}, often = {{0, 3000000}, {0, 1000000}}, never = {{0, 0}, {0, 0}};
    timer_settime(once, 0, &soon, NULL);
    timer_settime(again, 0, &often, NULL);
    pthread_create(&thread, NULL, work, NULL);
    for (int i = 0; i < 4; i++) sem_wait(&posted);
    timer_settime(again, 0, &never, NULL);
    while (1) {
        pthread_mutex_lock(&lock);
        int all = counted;
        pthread_mutex_unlock(&lock);
        if (all >= 10) break;
        sem_wait(&posted);
    }
    pthread_join(thread, NULL);
    timer_delete(again);
    pthread_mutex_lock(&lock);
    printf("%d\n", counted);
    pthread_mutex_unlock(&lock);
    return 0;
}
