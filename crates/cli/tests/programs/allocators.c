// Blocks that move between threads, whatever allocator there is.
#include <malloc.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *given[64];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *works(void *unused) {
    for (int i = 0; i < 200; i++) {
        char *block = i % 3 ? malloc(40 + i) : calloc(10, 8);
        block = realloc(block, 100 + i);
        memset(block, i, 100);
        pthread_mutex_lock(&lock);
        free(given[i % 64]);
        given[i % 64] = block;
        pthread_mutex_unlock(&lock);
        void *aligned;
        if (posix_memalign(&aligned, 64, 100)) return NULL;
        if (malloc_usable_size(aligned) < 100) return NULL;
        free(aligned);
        free(strdup("text"));
    }
    return unused;
}

int main(void) {
    pthread_t t[3];
    void *result;
    int ok = 1;
    for (int i = 0; i < 3; i++) pthread_create(&t[i], NULL, works, &ok);
    for (int i = 0; i < 3; i++) {
        pthread_join(t[i], &result);
        ok &= result == &ok;
    }
    for (int i = 0; i < 64; i++) free(given[i]);
    puts(ok ? "ok" : "wrong");
    return !ok;
}
