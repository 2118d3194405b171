// Memory that is protected, mapped elsewhere and given back, faults that are mended, and the environment of a child.
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

static int faults, seen;
static volatile int *volatile page;

static void mend(int signal, siginfo_t *info, void *context) {
    faults++;
    mprotect((void *)page, 4096, PROT_READ | PROT_WRITE);
}

static void *look(void *unused) {
    seen = faults + page[3];
    return unused;
}

static int child_has_its_environment(void) {
    pid_t child = fork();
    if (child == 0) {
        char *arguments[] = {"sh", "-c", "test \"$GIVEN\" = yes", NULL}, *environment[] = {"GIVEN=yes", NULL};
        execve("/bin/sh", arguments, environment);
        _exit(9);
    }
    int status = -1;
    return waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

int main(void) {
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_sigaction = mend;
    action.sa_flags = SA_SIGINFO;
    sigaction(SIGSEGV, &action, NULL);
    page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    int sum = 0;
    for (int round = 0; round < 100; round++) {
        // Of a page that may be read, only a write is a fault.
        mprotect((void *)page, 4096, round % 2 ? PROT_NONE : PROT_READ);
        if (round % 4 < 2) sum += page[3];
        else page[3] = round;
    }
    int ok = faults == 75 && page[3] == 99;
    page = mremap((void *)page, 4096, 1 << 20, MREMAP_MAYMOVE);
    ok &= (void *)page != MAP_FAILED && page[3] == 99;
    page[(1 << 18) - 1] = 1;
    pthread_t thread;
    pthread_create(&thread, NULL, look, NULL);
    pthread_join(thread, NULL);
    ok &= seen == 75 + 99 && child_has_its_environment();
    ok &= munmap((void *)page, 1 << 20) == 0;
    puts(ok ? "ok" : "wrong");
    return 0;
}
