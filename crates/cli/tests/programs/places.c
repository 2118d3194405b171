// A program that gives up what it started with: descriptors, root, rights; loads a library again and again; maps a device without
// an end; or waits for a signal.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static int shared;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *works(void *unused) {
    for (int i = 0; i < 50; i++) {
        pthread_mutex_lock(&lock);
        shared++;
        pthread_mutex_unlock(&lock);
    }
    return unused;
}

static int load(const char *name) {
    void *library = dlopen(name, RTLD_NOW);
    if (!library) return 0;
    int (*bump)(int *) = (int (*)(int *))dlsym(library, "bump");
    int result = bump(&shared);
    dlclose(library);
    return result;
}

static int map(void) {
    int device = open("/dev/zero", O_RDONLY);
    return mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, device, 0) != MAP_FAILED;
}

int main(int argc, char **argv) {
    const char *how = argc > 1 ? argv[1] : "";
    int failed = 0;
    if (!strcmp(how, "close")) for (int i = 3; i < 2048; i++) close(i);
    if (!strcmp(how, "range")) failed = close_range(3, ~0U, 0);
    if (!strcmp(how, "root")) failed = chroot(argv[2]) || chdir("/");
    if (!strcmp(how, "rights")) failed = setgid(65534) || setuid(65534);
    if (!strcmp(how, "load")) for (int i = 0; i < 3; i++) failed |= load(argv[2]) != 1;
    if (!strcmp(how, "map")) failed = !map();
    pthread_t t[2];
    for (int i = 0; i < 2; i++) pthread_create(&t[i], NULL, works, NULL);
    for (int i = 0; i < 2; i++) pthread_join(t[i], NULL);
    if (!strcmp(how, "load")) failed |= load(argv[2]) != 1;
    printf("%d\n", failed ? -1 : shared);
    fflush(stdout);
    if (!strcmp(how, "wait")) pause();
    return 0;
}
