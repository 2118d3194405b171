// Correct: who finds the file written to, under its name, comes after the first thread. The other that sets the flag removes the
// name before; so a write that it led to is found under that name by nobody.
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static const char *path;
static int file, flag, value;

static void set(void) {
    pthread_mutex_lock(&lock);
    flag = 1;
    pthread_mutex_unlock(&lock);
}

static void *begins(void *unused) {
    value = 1;
    set();
    return unused;
}

static void *writes(void *unused) {
    pthread_mutex_lock(&lock);
    int is_set = flag;
    pthread_mutex_unlock(&lock);
    if (is_set && write(file, "1", 1) != 1) abort();
    return unused;
}

static void *looks(void *unused) {
    struct stat about;
    if (stat(path, &about) == 0 && about.st_size == 1) value = 2;
    return unused;
}

static void *removes(void *unused) {
    unlink(path);
    set();
    return unused;
}

int main(int count, char **arguments) {
    void *(*all[])(void *) = {begins, writes, looks, removes};
    pthread_t threads[4];
    path = count > 1 ? arguments[1] : "several";
    file = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
    for (int i = 0; i < 4; i++) pthread_create(&threads[i], NULL, all[i], NULL);
    for (int i = 0; i < 4; i++) pthread_join(threads[i], NULL);
    printf("%d\n", value);
    return 0;
}
