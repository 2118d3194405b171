// Blocks of the heap that pass from thread to thread, and addresses that are used again.
#include <malloc.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct node { struct node *next; int value; char text[12]; };
static struct node *list;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long sum;

static void *work(void *unused) {
    for (int i = 0; i < 15; i++) {
        struct node *node = calloc(1, sizeof *node);
        node->value = i;
        strcpy(node->text, "node");
        pthread_mutex_lock(&lock);
        node->next = list;
        list = node;
        struct node *last = i % 2 ? list->next : NULL;
        if (last) list->next = last->next;
        pthread_mutex_unlock(&lock);
        if (last) {
            __atomic_fetch_add(&sum, last->value, 5);
            free(last);
        }
        int *numbers = malloc(4 * sizeof *numbers);
        for (int k = 0; k < 4; k++) numbers[k] = k;
        numbers = realloc(numbers, 400);
        for (int k = 4; k < 100; k++) numbers[k] = numbers[k - 1] + 1;
        if (numbers[99] != 99) puts("lost");
        free(numbers);
        void *aligned;
        if (posix_memalign(&aligned, 64, 100) || (uintptr_t)aligned % 64) puts("crooked");
        free(aligned);
        free(aligned_alloc(32, 64));
    }
    return unused;
}

int main(void) {
    pthread_t t[3];
    for (int i = 0; i < 3; i++) pthread_create(&t[i], NULL, work, NULL);
    for (int i = 0; i < 3; i++) pthread_join(t[i], NULL);
    while (list) {
        struct node *next = list->next;
        sum += list->value;
        free(list);
        list = next;
    }
    int ok = sum == 3 * 105;
    puts(ok ? "ok" : "wrong");
    return !ok;
}
