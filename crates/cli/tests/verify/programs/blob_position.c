// After DERBY-1573: the position is read in one section and written in another (RWW); each section is locked, the whole is not.
// With -DFIX=0 no lock, 1 the insufficient fix, 2 a sufficient one.
#include <pthread.h>
#include <stdlib.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int position;

static void *advance(void *unused) {
#if FIX
    pthread_mutex_lock(&lock);
#endif
    int now = position;
#if FIX == 1
    pthread_mutex_unlock(&lock);
    pthread_mutex_lock(&lock);
#endif
    position = now + 1;
#if FIX
    pthread_mutex_unlock(&lock);
#endif
    return unused;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, NULL, advance, NULL);
    pthread_create(&b, NULL, advance, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    (void)lock;
    return position != 2;
}
