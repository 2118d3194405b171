// Copies of every small size, asked for in every way, of memory that two threads share.
#include <pthread.h>
#include <stdio.h>
#include <string.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
char from[80], to[80], moved[80], set[80];
int sum;

#define EACH(X) X(1) X(2) X(3) X(4) X(5) X(6) X(7) X(8) X(9) X(11) X(12) X(13) X(15) X(16) X(17) X(24) X(31) X(32) X(33) X(48) X(63)

#define TYPE(n) static struct s##n { char bytes[n]; } a##n, b##n;
EACH(TYPE)

static void fill(int round) {
    for (int i = 0; i < 80; i++) from[i] = (char)(round * 7 + i);
}

#define COPY(n) __builtin_memcpy(to, from + n % 3, n); check(to, n % 3, n);
#define MOVE(n) __builtin_memmove(moved + 1, from, n); check(moved + 1, 0, n);
#define PLAIN(n) memcpy(to + 3, from, n); check(to + 3, 0, n); memmove(moved, from + 2, n); check(moved, 2, n);
#define SET(n) __builtin_memset(set + n % 5, n, n); memset(set, n, n); sum += set[n - 1] - n;
#define ASSIGN(n) b##n.bytes[n - 1]++; a##n = b##n; sum += a##n.bytes[n - 1] - b##n.bytes[n - 1];

static void check(const char *found, int shift, int length) {
    for (int i = 0; i < length; i++) sum += found[i] - from[i + shift];
}

// A comma in braces is none between arguments.
static void literals(int round) {
    struct triple { int a, b, c; } triple;
    __builtin_memcpy(&triple, &(struct triple){round, 2, 3}, sizeof triple);
    sum += triple.a + triple.b + triple.c - round - 5;
    __builtin_memmove(&triple, &(struct triple){1, 2, round}, sizeof triple);
    sum += triple.a + triple.b + triple.c - round - 3;
    __builtin_memset((char[]){1, 2, 3}, 0, 3);
}

static void *work(void *unused) {
    for (int round = 0; round < 3; round++) {
        pthread_mutex_lock(&lock);
        fill(round);
        literals(round);
        EACH(COPY) EACH(MOVE) EACH(PLAIN) EACH(SET) EACH(ASSIGN)
        pthread_mutex_unlock(&lock);
    }
    return NULL;
}

int main(void) {
    pthread_t t[2];
    for (int i = 0; i < 2; i++) pthread_create(&t[i], NULL, work, NULL);
    for (int i = 0; i < 2; i++) pthread_join(t[i], NULL);
    puts(sum == 0 ? "ok" : "wrong");
    return sum != 0;
}
