// A function that libc calls in a thread of its own, of which nobody is told: it posts when a request of asynchronous output is
// done, and the main thread waits for that alone.
#include <aio.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <unistd.h>
static sem_t posted;
static void done(union sigval value) { sem_post(value.sival_ptr); }
int main(void) {
    int ends[2];
    if (pipe(ends)) return 2;
    sem_init(&posted, 0, 0);
    struct aiocb request = {.aio_fildes = ends[1], .aio_buf = "x", .aio_nbytes = 1};
    request.aio_sigevent = (struct sigevent){.sigev_notify = SIGEV_THREAD, .sigev_notify_function = done, .sigev_value.sival_ptr = &posted};
    if (aio_write(&request)) return 3;
    sem_wait(&posted);
    puts(aio_return(&request) == 1 ? "1" : "wrong");
    return 0;
}
