// A program that forbids itself a call of the system that the recorder needs: it fails with an error, traps, or kills.
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static int shared;

static void *add(void *unused) {
    __atomic_fetch_add(&shared, 1, __ATOMIC_SEQ_CST);
    return unused;
}

int main(int count, char **arguments) {
    unsigned answer = SECCOMP_RET_ERRNO | 1;
    int number = count > 2 ? atoi(arguments[2]) : SYS_sched_setaffinity;
    if (count > 1 && strcmp(arguments[1], "trap") == 0) answer = SECCOMP_RET_TRAP;
    if (count > 1 && strcmp(arguments[1], "kill") == 0) answer = SECCOMP_RET_KILL_PROCESS;
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)number, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, answer),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog filter = {sizeof code / sizeof *code, code};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter)) return 9;
    if (count > 3) {
        // Another program in the same sandbox.
        execv(arguments[3], arguments + 3);
        return 8;
    }
    pthread_t threads[2];
    for (int i = 0; i < 2; i++) pthread_create(&threads[i], NULL, add, NULL);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
    printf("%d\n", shared);
    return 0;
}
