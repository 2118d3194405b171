// Every access has the lock, and still the session is used after its end.
// bug: uaf use-after-free heap block of 8 bytes
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

struct session { int id, open; };
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct session *session;
static int served;

static void *serve(void *unused) {
    pthread_mutex_lock(&lock);
#if defined FIXED || defined HALF // Nobody says that it is gone, with HALF.
    if (session)
#endif
        served = session->id;
    pthread_mutex_unlock(&lock);
    return unused;
}

static void *hang_up(void *unused) {
    pthread_mutex_lock(&lock);
    free(session);
#ifdef FIXED
    session = NULL;
#endif
    pthread_mutex_unlock(&lock);
    return unused;
}

int main(void) {
    pthread_t server, client;
    session = calloc(1, sizeof *session);
    session->id = 12;
    pthread_create(&server, NULL, serve, NULL);
    pthread_create(&client, NULL, hang_up, NULL);
    pthread_join(server, NULL);
    pthread_join(client, NULL);
    return served == 12 || served == 0 ? 0 : 1;
}
