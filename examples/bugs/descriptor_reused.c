// A logger writes to a descriptor that another thread closes, and whose number the next file gets: the line ends up there.
// bug: order call-order descriptor
// fix: wait for the logger before the close.

#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

static pthread_t logging;
static int log_file;

static void *logger(void *unused)
{
    if (write(log_file, "done\n", 5) != 5)
        exit(1);
    return unused;
}

static void *rotate(void *unused)
{
#ifdef FIXED
    pthread_join(logging, NULL);
#endif
    close(log_file);
    close(open("/dev/zero", O_RDWR));
    return unused;
}

int main(void)
{
    pthread_t rotating;
    log_file = open("/dev/null", O_WRONLY);
    pthread_create(&logging, NULL, logger, NULL);
    pthread_create(&rotating, NULL, rotate, NULL);
#ifdef HALF
    pthread_join(logging, NULL); // The main thread waits; who closes does not.
#endif
    pthread_join(rotating, NULL);
#if !defined FIXED && !defined HALF
    pthread_join(logging, NULL);
#endif
    return 0;
}
