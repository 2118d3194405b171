// A small shop with three bugs that most runs do not show: a race, a deadlock and a use after free.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

struct account { pthread_mutex_t lock; int balance; };
struct order { int item, price; };

static struct account till = {PTHREAD_MUTEX_INITIALIZER, 100}, bank = {PTHREAD_MUTEX_INITIALIZER, 1000};
static pthread_mutex_t orders = PTHREAD_MUTEX_INITIALIZER;
static struct order *current;
static int sold;

// The caller decides which lock comes first.
static void transfer(struct account *from, struct account *to, int amount) {
    pthread_mutex_lock(&from->lock);
    pthread_mutex_lock(&to->lock);
    from->balance -= amount;
    to->balance += amount;
    pthread_mutex_unlock(&to->lock);
    pthread_mutex_unlock(&from->lock);
}

static void *clerk(void *unused) {
    pthread_mutex_lock(&orders);
    int price = current->price;
    sold += 1;
    pthread_mutex_unlock(&orders);
    transfer(&till, &bank, price);
    return unused;
}

static void *accountant(void *unused) {
    printf("sold so far: %d\n", sold);
    transfer(&bank, &till, 10);
    return unused;
}

int main(void) {
    pthread_t first, second;
    current = malloc(sizeof *current);
    current->item = 1;
    current->price = 30;
    pthread_create(&first, NULL, accountant, NULL);
    pthread_create(&second, NULL, clerk, NULL);
    pthread_join(first, NULL);
    // The clerk had time enough.
    usleep(1000);
    pthread_mutex_lock(&orders);
    free(current);
    pthread_mutex_unlock(&orders);
    pthread_join(second, NULL);
    printf("till %d, bank %d\n", till.balance, bank.balance);
    return 0;
}
