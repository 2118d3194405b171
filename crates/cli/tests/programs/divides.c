/* Ends by a fault: a thread divides by zero, and was about to store the quotient. */
#include <pthread.h>
static int zero, before = 1, quotient = 1;
static void *work(void *arg) {
  before = 2;
  quotient = 10 / zero;
  return arg;
}
int main(void) {
  pthread_t a;
  before = 3;
  quotient = 3;
  pthread_create(&a, 0, work, 0);
  pthread_join(a, 0);
  return before + quotient;
}
