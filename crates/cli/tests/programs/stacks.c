// Races whose stacks are known: through calls, after a jump out of calls, in a signal handler, deep in a recursion, in code
// that a library calls back.
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>

#define APART __attribute__((noinline))

static int by_calls, after_jump, in_handler, after_handler, deep, called_back, after_exit;
static jmp_buf back;

static APART void touch(int *what) { ++*what; }
static APART void inner(int *what) { touch(what); touch(what); }
static APART void outer(int *what) { inner(what); }

static APART void jumps(int depth) {
    if (depth > 0) {
        jumps(depth - 1);
        after_exit += depth;
    }
    longjmp(back, 1);
}

static APART void jumped(void) {
    if (setjmp(back) == 0) jumps(5);
    touch(&after_jump);
}

static void handler(int signal) {
    (void)signal;
    touch(&in_handler);
}

static APART void interrupted(void) {
    raise(SIGUSR1);
    touch(&after_handler);
}

static APART int recurses(int depth) {
    if (depth == 0) {
        touch(&deep);
        return 0;
    }
    return recurses(depth - 1) + 1;
}

static int compare(const void *a, const void *b) {
    touch(&called_back);
    return *(const int *)a - *(const int *)b;
}

static APART void sorts(void) {
    int few[2] = {2, 1};
    qsort(few, 2, sizeof few[0], compare);
}

static void *worker(void *unused) {
    outer(&by_calls);
    jumped();
    interrupted();
    recurses(20000);
    sorts();
    return unused;
}

int main(void) {
    pthread_t thread;
    signal(SIGUSR1, handler);
    pthread_create(&thread, NULL, worker, NULL);
    // A line each: findings are told apart by their sites.
    by_calls++;
    after_jump++;
    in_handler++;
    after_handler++;
    deep++;
    called_back++;
    pthread_join(thread, NULL);
    return 0;
}
