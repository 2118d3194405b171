// After Tomcat 46384: two variables that belong together; the fix locks the writer of both, and one of the two reads.
// With -DFIX=0 no lock, 1 the insufficient fix, 2 a sufficient one.
#include <pthread.h>
#include <stdlib.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int members = 1, views = 1, torn;

static void *change(void *unused) {
#if FIX
    pthread_mutex_lock(&lock);
#endif
    members = 2;
    views = 2;
#if FIX
    pthread_mutex_unlock(&lock);
#endif
    return unused;
}

static void *send(void *unused) {
#if FIX == 2
    pthread_mutex_lock(&lock);
#endif
    int seen = members;
#if FIX == 1
    pthread_mutex_lock(&lock);
#endif
    if (views != seen)
        torn = 1;
#if FIX
    pthread_mutex_unlock(&lock);
#endif
    return unused;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, NULL, change, NULL);
    pthread_create(&b, NULL, send, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    (void)lock;
    return torn;
}
