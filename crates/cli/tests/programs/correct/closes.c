// Closes every descriptor, the standard ones too, while another thread counts; the status says how far they came.
#include <pthread.h>
#include <unistd.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int counted;
static void *work(void *unused) {
    for (int i = 0; i < 5; i++) {
        pthread_mutex_lock(&lock);
        counted++;
        pthread_mutex_unlock(&lock);
        for (int file = 0; file < 1024; file++) close(file);
    }
    return unused;
}
int main(void) {
    pthread_t threads[2];
    for (int i = 0; i < 2; i++) pthread_create(&threads[i], NULL, work, NULL);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
    return counted == 10 ? 0 : 1;
}
