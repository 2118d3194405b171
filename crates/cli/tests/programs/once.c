/* Correct: what is initialised once is used after that only, also when the flag is used again. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static pthread_once_t flag = PTHREAD_ONCE_INIT;
static int value, *block;
static void first(void) { value = 1; block = malloc(4); *block = 7; }
static void *use(void *arg) {
  pthread_once(&flag, first);
  if (value != 1 || *block != 7) abort();
  return arg;
}

/* On the stack of main, in the same place each time. */
static pthread_once_t *local;
static int *number;
static void again(void) { *number = 5; }
static void *use_local(void *arg) {
  pthread_once(local, again);
  if (*number != 5) abort();
  return arg;
}
static __attribute__((noinline)) void round_of(int i) {
  pthread_once_t mine = PTHREAD_ONCE_INIT;
  int its = i;
  local = &mine;
  number = &its;
  pthread_t a, b;
  pthread_create(&a, 0, use_local, 0);
  pthread_create(&b, 0, use_local, 0);
  pthread_join(a, 0);
  pthread_join(b, 0);
}

int main(void) {
  pthread_t a, b;
  pthread_create(&a, 0, use, 0);
  pthread_create(&b, 0, use, 0);
  pthread_join(a, 0);
  pthread_join(b, 0);
  for (int i = 0; i < 2; i++) round_of(i);
  free(block);
  puts("once");
  return 0;
}
