// A program with an allocator of its own, which is recorded like any code.
#include <pthread.h>
#include <stdio.h>
#include <stddef.h>
#include <string.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char heap[1 << 22] __attribute__((aligned(16)));
static size_t used;
void *malloc(size_t size) { pthread_mutex_lock(&lock); void *at = heap + used; used += (size + 31) / 16 * 16; pthread_mutex_unlock(&lock); return at; }
void free(void *at) { (void)at; }
void *calloc(size_t a, size_t b) { return malloc(a * b); }
void *realloc(void *at, size_t size) { void *new = malloc(size); if (at) memcpy(new, at, size); return new; }
static void *works(void *unused) { for (int i = 0; i < 100; i++) { char *b = malloc(10); b[0] = i; free(b); } return unused; }
int main(void) { pthread_t a, b; pthread_create(&a, 0, works, 0); pthread_create(&b, 0, works, 0); pthread_join(a, 0); pthread_join(b, 0); puts("ok"); }
