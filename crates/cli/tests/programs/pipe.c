// Calls that may take any time: the others run meanwhile.
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static int there[2], back[2], value;

static void *echo(void *unused) {
    char text[8];
    for (int i = 0; i < 20; i++) {
        if (read(there[0], text, sizeof text) != sizeof text) return NULL;
        text[0]++;
        if (write(back[1], text, sizeof text) != sizeof text) return NULL;
    }
    return unused;
}

static void *busy(void *unused) {
    for (int i = 0; i < 500; i++) __atomic_fetch_add(&value, 1, 5);
    return unused;
}

int main(void) {
    pthread_t t[2];
    char text[8] = "abc";
    if (pipe(there) || pipe(back)) return 2;
    pthread_create(&t[0], NULL, echo, NULL);
    pthread_create(&t[1], NULL, busy, NULL);
    for (int i = 0; i < 20; i++) {
        struct pollfd poll_for = {back[0], POLLIN, 0};
        if (write(there[1], text, sizeof text) != sizeof text || poll(&poll_for, 1, -1) != 1) return 3;
        if (read(back[0], text, sizeof text) != sizeof text) return 4;
    }
    for (int i = 0; i < 2; i++) pthread_join(t[i], NULL);
    int ok = text[0] == 'a' + 20 && value == 500;
    puts(ok ? "ok" : "wrong");
    return !ok;
}
