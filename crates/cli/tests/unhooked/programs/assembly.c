// Threads that synchronise by inline assembly alone. No race on `x`.
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
static volatile int word;
static int x;

#if HOW == 1 // a flag that a plain read awaits
static void *work(void *unused) {
    x = 1;
    __asm__ volatile("lock incl %0" : "+m"(word) : : "memory");
    return unused;
}
static void other(void) {
    while (!word)
        sched_yield();
    x = 2;
}
#else // a lock
static void lock(void) {
    int taken;
    do {
        taken = 1;
#if HOW == 2
        __asm__ volatile("xchgl %0, %1" : "+r"(taken), "+m"(word) : : "memory");
#else // the operand is in a register, and only the clobber says that memory changes
        __asm__ volatile("xchgl %0, (%1)" : "+r"(taken) : "r"(&word) : "memory");
#endif
    } while (taken);
}
static void unlock(void) {
#if HOW == 2
    __asm__ volatile("movl $0, %0" : "=m"(word) : : "memory");
#else
    __asm__ volatile("movl $0, (%0)" : : "r"(&word) : "memory");
#endif
}
static void *work(void *unused) {
    for (int i = 0; i < 3; i++) {
        lock();
        x++;
        unlock();
    }
    return unused;
}
static void other(void) { work(0); }
#endif

int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, work, 0);
    other();
    pthread_join(thread, 0);
    return x == 0;
}
