// Who is signalled before it waits is never woken.
// bug: order lost-wake-up global news
// twin: its kind only
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t news = PTHREAD_COND_INITIALIZER;
static int told;

static void *listen(void *unused) {
    pthread_mutex_lock(&lock);
#ifdef FIXED
    while (!told)
#endif
        pthread_cond_wait(&news, &lock);
    pthread_mutex_unlock(&lock);
    return unused;
}

static void *tell(void *unused) {
    pthread_mutex_lock(&lock);
    told = 1;
    pthread_cond_signal(&news);
    pthread_mutex_unlock(&lock);
    return unused;
}

int main(void) {
    pthread_t listener, teller;
    pthread_create(&listener, NULL, listen, NULL);
    pthread_create(&teller, NULL, tell, NULL);
    pthread_join(listener, NULL);
    pthread_join(teller, NULL);
    return 0;
}
