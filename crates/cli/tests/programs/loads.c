// A program that loads a shared library, given by its argument, while it runs.
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>

static void (*add)(int);
static void *work(void *unused) {
    for (int i = 0; i < 10; i++) add(1);
    return unused;
}

int main(int count, char **arguments) {
    void *library = dlopen(arguments[1], RTLD_NOW);
    if (!library) { puts(dlerror()); return 2; }
    add = (void (*)(int))dlsym(library, "add");
    pthread_t t[2];
    for (int i = 0; i < 2; i++) pthread_create(&t[i], NULL, work, NULL);
    for (int i = 0; i < 2; i++) pthread_join(t[i], NULL);
    int ok = *(int *)dlsym(library, "in_library") == 20;
    puts(ok ? "ok" : "wrong");
    return !ok;
}
