// Each thread may run where it might before, whoever gave it its turn, and so may a child.
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t turned = PTHREAD_COND_INITIALIZER;
static int turn, wrong;
static cpu_set_t at_start, one;

static int may_run_on(const cpu_set_t *expected) {
    cpu_set_t cores;
    return sched_getaffinity(0, sizeof cores, &cores) == 0 && CPU_EQUAL(&cores, expected);
}

// A child, of which nothing is recorded.
static void check_child(const cpu_set_t *expected) {
    int status = 1;
    pid_t child = fork();
    if (child == 0) _exit(!may_run_on(expected));
    if (waitpid(child, &status, 0) != child || status != 0) wrong = 1;
}

// The last thread has one core, as it asked for.
static void *takes_turns(void *argument) {
    int own = *(int *)argument;
    const cpu_set_t *expected = own == 2 ? &one : &at_start;
    if (own == 2) sched_setaffinity(0, sizeof one, &one);
    for (int round = 0; round < 50; round++) {
        pthread_mutex_lock(&lock);
        while (turn != own) pthread_cond_wait(&turned, &lock);
        if (!may_run_on(expected)) wrong = 1;
        if (round == 25) check_child(expected);
        turn = (turn + 1) % 3;
        pthread_cond_broadcast(&turned);
        pthread_mutex_unlock(&lock);
    }
    return NULL;
}

int main(void) {
    pthread_t threads[3];
    int numbers[3] = {0, 1, 2};
    sched_getaffinity(0, sizeof at_start, &at_start);
    for (int core = 0; core < CPU_SETSIZE; core++)
        if (CPU_ISSET(core, &at_start)) {
            CPU_ZERO(&one);
            CPU_SET(core, &one);
        }
    for (int i = 0; i < 3; i++) pthread_create(&threads[i], NULL, takes_turns, &numbers[i]);
    for (int i = 0; i < 3; i++) pthread_join(threads[i], NULL);
    puts(wrong ? "wrong" : "ok");
    return wrong;
}
