// A shared library that a program loads while it runs.
#include <pthread.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
int in_library;
void add(int n) {
    pthread_mutex_lock(&lock);
    in_library += n;
    pthread_mutex_unlock(&lock);
}
