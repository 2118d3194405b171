// A program with children: one in its group, one in a session of its own, orphaned, with nothing in its environment. Neither
// heeds signals.
//   family MARK HOW READY
// MARK is what the children are known by; HOW is `exit`, `write`, `wait` or `ignore`; READY is a file that is made when all is set up.
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

static int counter;

static void *add(void *unused) {
    counter++;
    return unused;
}

static void ignore_signals(void) {
    for (int number = 1; number < 16; number++)
        if (number != SIGKILL && number != SIGPIPE && number != SIGALRM && number != SIGABRT && number != SIGFPE &&
            number != SIGILL && number != SIGBUS && number != SIGSEGV && number != SIGTRAP)
            signal(number, SIG_IGN);
}

static void child(char *mark, int leaves) {
    int started[2];
    char byte;
    if (pipe(started) != 0) _exit(1);
    if (fork() == 0) {
        ignore_signals();
        if (leaves) {
            setsid();
            if (fork() != 0) _exit(0);
        }
        // The descriptor is closed when the program has been executed: then its mark can be seen.
        fcntl(started[1], F_SETFD, FD_CLOEXEC);
        char *arguments[] = {"sleep", mark, NULL}, *nothing[] = {NULL};
        execve("/bin/sleep", arguments, nothing);
        _exit(1);
    }
    close(started[1]);
    while (read(started[0], &byte, 1) > 0) {
    }
    close(started[0]);
}

int main(int count, char **arguments) {
    pthread_t a, b;
    pthread_create(&a, NULL, add, NULL);
    pthread_create(&b, NULL, add, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    if (count < 4) return 0;
    child(arguments[1], 0);
    child(arguments[1], 1);
    if (strcmp(arguments[2], "ignore") == 0) ignore_signals();
    close(open(arguments[3], O_CREAT | O_WRONLY, 0600));
    while (strcmp(arguments[2], "write") == 0) {
        if (write(1, "line\n", 5) < 0) return 1;
        usleep(1000);
    }
    while (strcmp(arguments[2], "exit") != 0) pause();
    return 0;
}
