// Accesses of every size, aligned or not, and copies of structures and ranges, by two threads under one lock.
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct mixed { uint8_t a; uint16_t b; uint32_t c; uint64_t d; unsigned e : 3, f : 5; char text[24]; };
struct __attribute__((packed)) crooked { uint8_t pad; uint16_t a; uint32_t b; uint64_t c; };
struct large { long words[9]; };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct mixed one, two;
static struct crooked odd;
static struct large big, copy;
static char buffer[100];
static double ratio = 1.5;
static volatile int changing;

static void *work(void *name) {
    for (int i = 0; i < 20; i++) {
        pthread_mutex_lock(&lock);
        one.a++; one.b += 2; one.c += 3; one.d += 4; one.e++; one.f++;
        two = one;
        odd.a++; odd.b ^= 0x01020304; odd.c += odd.b;
        big.words[i % 9] += i;
        copy = big;
        strcpy(one.text, name);
        strcat(one.text, "!");
        memcpy(buffer + i, &one, sizeof one);
        memmove(buffer + 1, buffer, 50);
        memset(buffer + 60, i, 33);
        if (memcmp(&one, &two, 4) == 0 && strlen(one.text) > 3 && strcmp(one.text, "x") != 0) changing++;
        ratio *= 1.01;
        pthread_mutex_unlock(&lock);
    }
    return NULL;
}

int main(void) {
    pthread_t t[2];
    pthread_create(&t[0], NULL, work, "left");
    pthread_create(&t[1], NULL, work, "right");
    for (int i = 0; i < 2; i++) pthread_join(t[i], NULL);
    int ok = one.a == 40 && one.b == 80 && one.c == 120 && one.d == 160 && odd.a == 40 && changing == 40;
    for (int i = 0; i < 9; i++) ok &= copy.words[i] == big.words[i];
    puts(ok ? "ok" : "wrong");
    return !ok;
}
