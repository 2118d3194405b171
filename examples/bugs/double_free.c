// Two threads close the same file: both may find it open.
// bug: race race global is_open
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static int is_open = 1;
static char *buffer;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *close_it(void *unused) {
#ifdef FIXED
    pthread_mutex_lock(&lock);
#endif
    if (is_open) {
#ifdef HALF
        pthread_mutex_lock(&lock); // Both may have looked by now.
#endif
        is_open = 0;
        free(buffer);
#ifdef HALF
        pthread_mutex_unlock(&lock);
#endif
    }
#ifdef FIXED
    pthread_mutex_unlock(&lock);
#endif
    return unused;
}

int main(void) {
    pthread_t a, b;
    buffer = malloc(64);
    pthread_create(&a, NULL, close_it, NULL);
    pthread_create(&b, NULL, close_it, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    (void)lock;
    return 0;
}
