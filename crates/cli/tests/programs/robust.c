/* Correct: what a thread leaves behind that ends with a mutex is cleared away by the next who gets it. */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static pthread_mutex_t m;
static int *p, got, cleared;
static void *leaves(void *arg) {
  pthread_mutex_lock(&m);
  if (!cleared) got = *p;
  return arg;
}
static void *clears(void *arg) {
  int error = pthread_mutex_lock(&m);
  if (error == EOWNERDEAD) {
    free(p);
    cleared = 1;
    pthread_mutex_consistent(&m);
  } else if (error) {
    abort();
  }
  got++;
  pthread_mutex_unlock(&m);
  return arg;
}
int main(void) {
  pthread_mutexattr_t attributes;
  pthread_mutexattr_init(&attributes);
  pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
  pthread_mutex_init(&m, &attributes);
  p = malloc(sizeof *p);
  *p = 3;
  pthread_t a, b;
  pthread_create(&a, 0, leaves, 0);
  pthread_create(&b, 0, clears, 0);
  pthread_join(a, 0);
  pthread_join(b, 0);
  if (!cleared) {
    if (pthread_mutex_lock(&m) != EOWNERDEAD) abort();
    pthread_mutex_consistent(&m);
    free(p);
    pthread_mutex_unlock(&m);
  }
  puts("robust");
  return 0;
}
