// The threads of C11.
#include <stdio.h>
#include <threads.h>
#include <time.h>

static mtx_t lock;
static cnd_t changed;
static once_flag once = ONCE_FLAG_INIT;
static tss_t key;
static int value, made, ended;

static void make(void) { made++; }
static void end(void *unused) { mtx_lock(&lock); ended++; mtx_unlock(&lock); }

static int work(void *unused) {
    call_once(&once, make);
    tss_set(key, &value);
    for (int i = 0; i < 10; i++) {
        while (mtx_trylock(&lock) != thrd_success) thrd_yield();
        value++;
        cnd_broadcast(&changed);
        mtx_unlock(&lock);
    }
    return 7;
}

int main(void) {
    thrd_t t[2];
    int result[2];
    mtx_init(&lock, mtx_plain);
    cnd_init(&changed);
    tss_create(&key, end);
    for (int i = 0; i < 2; i++) thrd_create(&t[i], work, NULL);
    mtx_lock(&lock);
    while (value < 20) cnd_wait(&changed, &lock);
    mtx_unlock(&lock);
    for (int i = 0; i < 2; i++) thrd_join(t[i], &result[i]);
    thrd_sleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    int ok = value == 20 && made == 1 && ended == 2 && result[0] == 7 && result[1] == 7;
    puts(ok ? "ok" : "wrong");
    return !ok;
}
