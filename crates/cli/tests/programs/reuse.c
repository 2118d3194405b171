/* Correct: everything is done under a lock, and what is pointed to is always there. Memory that is freed is allocated
 * again, so that a pointer to one block equals a pointer to a later one. Says whether an address came twice. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static void *addresses[64];
static int count, again;

static void *note(void *p) {
  for (int i = 0; i < count; i++) again |= addresses[i] == p;
  if (count < 64) addresses[count++] = p;
  return p;
}

#if KIND == 0 /* a block that is replaced */
static int *g, got;
static void begin(void) { g = note(malloc(4)); *g = 5; }
static void use(void) { int *v = g; got = *v; }
static void change(void) { free(g); g = note(malloc(4)); *g = 6; }
#elif KIND == 1 /* by an equal one */
static int *g, got;
static void begin(void) { g = note(malloc(4)); *g = 5; }
static void use(void) { int *v = g; got = *v; }
static void change(void) { int *old = g; g = 0; free(old); g = note(malloc(4)); *g = 5; }
#elif KIND == 2 /* a string that is replaced */
static char *name; static int got;
static void begin(void) { name = note(strdup("eve")); }
static void use(void) { char *n = name; got += n[0]; }
static void change(void) { free(name); name = note(strdup("bob")); }
#elif KIND == 3 /* one that is printed */
static char *name; static int got;
static void begin(void) { if (asprintf(&name, "name %d", 1) < 0) abort(); note(name); }
static void use(void) { char *n = name; got += n[0]; }
static void change(void) { free(name); if (asprintf(&name, "name %d", 2) < 0) abort(); note(name); }
#elif KIND == 4 /* a list: pop and push */
struct node { struct node *next; int value; };
static struct node *head; static int got;
static void push(int value) { struct node *n = note(malloc(sizeof *n)); n->value = value; n->next = head; head = n; }
static void begin(void) { push(1); push(2); }
static void use(void) { struct node *n = head; got += n->value; }
static void change(void) { struct node *n = head; head = n->next; free(n); push(3); }
#elif KIND == 5 /* a block with a lock in it */
struct box { pthread_mutex_t lock; int value; };
static struct box *box; static int got;
static void make(int value) { box = note(malloc(sizeof *box)); pthread_mutex_init(&box->lock, 0); box->value = value; }
static void begin(void) { make(1); }
static void use(void) { struct box *b = box; pthread_mutex_lock(&b->lock); got += b->value; pthread_mutex_unlock(&b->lock); }
static void change(void) { pthread_mutex_destroy(&box->lock); free(box); make(2); }
#elif KIND == 6 /* taken away and put back */
static int *slot; static int got;
static void begin(void) { slot = note(malloc(8)); *slot = 1; }
static void use(void) { int *mine = slot; slot = 0; if (mine) { got += *mine; free(mine); } slot = note(malloc(8)); *slot = 2; }
static void change(void) { use(); }
#else /* two threads that both replace it */
static long *g; static long got;
static void begin(void) { g = note(malloc(8)); *g = 1; }
static void change(void) { long *old = g; long v = *old; free(old); g = note(malloc(8)); *g = v + 1; }
static void use(void) { got += *g; change(); }
#endif

static void *user(void *arg) {
  for (int i = 0; i < 2; i++) { pthread_mutex_lock(&m); use(); pthread_mutex_unlock(&m); }
  return arg;
}
static void *changer(void *arg) {
  for (int i = 0; i < 2; i++) { pthread_mutex_lock(&m); change(); pthread_mutex_unlock(&m); }
  return arg;
}
int main(void) {
  pthread_t a, b;
  begin();
  pthread_create(&a, 0, user, 0);
  pthread_create(&b, 0, changer, 0);
  pthread_join(a, 0);
  pthread_join(b, 0);
  puts(again ? "again" : "new");
  return 0;
}
