/* Correct: two threads, two rounds, and another barrier in the same place. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static pthread_barrier_t barrier;
static int x[2];
static void *work(void *arg) {
  long i = (long)arg;
  x[i] = 1;
  pthread_barrier_wait(&barrier);
  int y = x[1 - i];
  if (y != 1) abort();
  pthread_barrier_wait(&barrier);
  x[i] = 2 + y;
  return 0;
}
int main(void) {
  for (int round = 0; round < 2; round++) {
    pthread_t a, b;
    pthread_barrier_init(&barrier, 0, 2);
    pthread_create(&a, 0, work, (void *)0);
    pthread_create(&b, 0, work, (void *)1);
    pthread_join(a, 0);
    pthread_join(b, 0);
    pthread_barrier_destroy(&barrier);
  }
  puts("met");
  return 0;
}
