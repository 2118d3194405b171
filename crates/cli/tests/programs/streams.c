/* Threads read a file, each in its own way, and count together what they found. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long bytes, turns;
static char shared[4096];

static void count(long found) {
    pthread_mutex_lock(&lock);
    bytes += found;
    turns++;
    pthread_mutex_unlock(&lock);
}

static void *blocks(void *path) {
    FILE *file = fopen(path, "r");
    size_t length;
    for (int i = 0; i < 40 && (length = fread(shared, 1, sizeof shared, file)) > 0; i++) count((long)length);
    fclose(file);
    return 0;
}

static void *lines(void *path) {
    FILE *file = fopen(path, "r");
    char *line = 0;
    size_t room = 0;
    ssize_t length;
    for (int i = 0; i < 40 && (length = getline(&line, &room, file)) > 0; i++) count(length);
    free(line);
    fclose(file);
    return 0;
}

static void *characters(void *path) {
    FILE *file = fopen(path, "r");
    char text[64];
    for (int i = 0; i < 40 && fgetc(file) != EOF && fgets(text, sizeof text, file); i++) count(1);
    fclose(file);
    return 0;
}

int main(void) {
    static char path[] = "/proc/self/exe";
    void *(*const ways[])(void *) = {blocks, lines, characters, blocks};
    pthread_t threads[4];
    for (int i = 0; i < 4; i++) pthread_create(&threads[i], 0, ways[i], path);
    for (int i = 0; i < 4; i++) pthread_join(threads[i], 0);
    puts(bytes > 0 && turns > 100 ? "ok" : "wrong");
    return 0;
}
