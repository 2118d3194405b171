// A counter that only a lock on a file guards: HOW says of which kind. Each thread has the file open by itself.
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <unistd.h>
static int counted;
static char name[] = "/tmp/reweave-lock-XXXXXX", taken[64];
static void lock(int file, int on) {
#if HOW == 1
    if (flock(file, on ? LOCK_EX : LOCK_UN)) abort();
#elif HOW == 2
    struct flock whole = {.l_type = on ? F_WRLCK : F_UNLCK, .l_whence = SEEK_SET};
    if (fcntl(file, F_OFD_SETLKW, &whole)) abort();
#elif HOW == 3
    (void)file;
    if (!on) {
        unlink(taken);
        return;
    }
    int made;
    while ((made = open(taken, O_CREAT | O_EXCL | O_RDWR, 0600)) < 0) sched_yield();
    close(made);
#else // locks of `lockf` are the process's: they exclude no thread, so a mutex does; they only come in between
    static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    if (on) pthread_mutex_lock(&mutex);
    if (lockf(file, on ? F_LOCK : F_ULOCK, 0)) abort();
    if (!on) pthread_mutex_unlock(&mutex);
#endif
}
static void *work(void *unused) {
    int file = open(name, O_RDWR);
    for (int i = 0; i < 3; i++) {
        lock(file, 1);
        counted++;
        sched_yield();
        counted++;
        lock(file, 0);
    }
    close(file);
    return unused;
}
int main(void) {
    pthread_t threads[2];
    close(mkstemp(name));
    snprintf(taken, sizeof taken, "%s.taken", name);
    for (int i = 0; i < 2; i++) pthread_create(&threads[i], NULL, work, NULL);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
    unlink(name);
    printf("%d\n", counted);
    return 0;
}
