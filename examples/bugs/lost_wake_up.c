// Who is signalled before it waits is never woken.
// bug: order lost-wake-up global news
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t news = PTHREAD_COND_INITIALIZER;
static pthread_t listener, teller;

static void *listen(void *unused) {
#ifdef FIXED
    // An end, unlike a signal, is not missed by who comes late.
    pthread_join(teller, NULL);
#else
    pthread_mutex_lock(&lock);
    pthread_cond_wait(&news, &lock);
    pthread_mutex_unlock(&lock);
#endif
    return unused;
}

static void *tell(void *unused) {
    pthread_mutex_lock(&lock);
#ifdef HALF
    pthread_cond_broadcast(&news); // All who wait already, and nobody else.
#else
    pthread_cond_signal(&news);
#endif
    pthread_mutex_unlock(&lock);
    return unused;
}

int main(void) {
#ifdef FIXED
    pthread_create(&teller, NULL, tell, NULL);
    pthread_create(&listener, NULL, listen, NULL);
    pthread_join(listener, NULL);
#else
    pthread_create(&listener, NULL, listen, NULL);
    pthread_create(&teller, NULL, tell, NULL);
    pthread_join(listener, NULL);
    pthread_join(teller, NULL);
#endif
    return 0;
}
