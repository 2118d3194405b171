// Who comes first makes the table; two may come first.
// bug: race race global table
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static int *table;
static int made;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void make(void) {
    table = calloc(4, sizeof *table);
    made++;
}

static void *use(void *unused) {
#ifdef FIXED
    pthread_mutex_lock(&lock);
#endif
    if (!table) {
#ifdef HALF
        pthread_mutex_lock(&lock); // Both may have looked by now.
#endif
        make();
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
    pthread_create(&a, NULL, use, NULL);
    pthread_create(&b, NULL, use, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    (void)lock;
    return made == 1 ? 0 : 1;
}
