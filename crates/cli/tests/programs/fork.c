// A child, with threads of its own, and a program that it becomes.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int value;

static void *work(void *unused) {
    pthread_mutex_lock(&lock);
    value++;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
    return unused;
}

static void both(void) {
    pthread_t t[2];
    for (int i = 0; i < 2; i++) pthread_create(&t[i], NULL, work, NULL);
    pthread_mutex_lock(&lock);
    while (value < 2) pthread_cond_wait(&changed, &lock);
    pthread_mutex_unlock(&lock);
    for (int i = 0; i < 2; i++) pthread_join(t[i], NULL);
}

int main(int count, char **arguments) {
    if (count > 1) return 9;
    pid_t child = fork();
    if (child == 0) {
        both();
        _exit(value == 2 ? 4 : 1);
    }
    both();
    int status, ok = value == 2;
    waitpid(child, &status, 0);
    ok &= WIFEXITED(status) && WEXITSTATUS(status) == 4;
    child = fork();
    if (child == 0) {
        execl(arguments[0], arguments[0], "again", NULL);
        _exit(1);
    }
    waitpid(child, &status, 0);
    ok &= WIFEXITED(status) && WEXITSTATUS(status) == 9;
    ok &= WEXITSTATUS(system("exit 3")) == 3;
    puts(ok ? "ok" : "wrong");
    return !ok;
}
