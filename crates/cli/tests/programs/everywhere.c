// A signal after every single instruction of some accesses, and so of the code that records them.
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static int handled, seen;
static struct {
    char one;
    short two;
    int four;
    long eight;
    long copied;
    int half;
    short quarter;
    struct pair {
        int first, second;
    } from, to;
} shared;

static void handler(int signal) { handled++; }

// The processor traps after every instruction from here to the next call of `stop`. After so many, a signal is sent: it
// arrives when the trap is over. Nothing of this is instrumented, or known to the recorder.
void step(int instructions);
int stop(void);
void trap(void);
void restore(void);
__asm__(".text\n"
        "step: movl %edi, left(%rip)\n"
        "pushfq; orq $0x100, (%rsp); popfq; ret\n"
        "stop: pushfq; andq $~0x100, (%rsp); popfq; movl left(%rip), %eax; ret\n"
        "trap: decl left(%rip); jne 1f\n"
        "movl $39, %eax; syscall; movl %eax, %edi\n" // getpid
        "movl $186, %eax; syscall; movl %eax, %esi\n" // gettid
        "movl $10, %edx; movl $234, %eax; syscall\n" // tgkill
        "1: ret\n"
        "restore: movl $15, %eax; syscall\n"
        ".bss\n"
        ".balign 4\n"
        "left: .zero 4\n"
        ".text\n");

static int sum(void) {
    int own = shared.one + shared.two + shared.four + (int)shared.eight;
    return own + (int)shared.copied + shared.half + shared.quarter + shared.to.first + shared.to.second;
}

static void *look(void *unused) {
    seen = sum();
    return unused;
}

int main(void) {
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = handler;
    sigaction(SIGUSR1, &action, NULL);
    struct { void (*handler)(void); unsigned long flags; void (*restorer)(void); unsigned long mask; } traps = {
        trap, 0x04000000, restore, 1 << (SIGUSR1 - 1)};
    if (syscall(SYS_rt_sigaction, SIGTRAP, &traps, NULL, 8) != 0) return 1;
    int sent = 0, left = 0;
    for (int instructions = 1; left <= 0 && instructions < 5000; instructions++, sent++) {
        step(instructions);
        shared.one++;
        shared.two += shared.one;
        shared.four = shared.two * 3;
        shared.eight += shared.four;
        memcpy(&shared.copied, &shared.eight, sizeof shared.copied);
        memcpy(&shared.half, &shared.four, sizeof shared.half);
        memcpy(&shared.quarter, &shared.two, sizeof shared.quarter);
        shared.from.first = shared.four;
        shared.from.second = shared.half;
        shared.to = shared.from;
        left = stop();
    }
    pthread_t thread;
    pthread_create(&thread, NULL, look, NULL);
    pthread_join(thread, NULL);
    puts(sent > 50 && handled == sent - 1 && seen == sum() ? "ok" : "wrong");
    return 0;
}
