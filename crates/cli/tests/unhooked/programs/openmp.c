// OpenMP, whose library synchronises unseen. No race.
#include <stdio.h>
static int all[64], total;

int main(void) {
    for (int round = 0; round < 3; round++) {
#pragma omp parallel for num_threads(3)
        for (int i = 0; i < 64; i++)
            all[i] += i;
#pragma omp parallel for num_threads(3) reduction(+ : total)
        for (int i = 0; i < 64; i++)
            total += all[63 - i];
#pragma omp parallel num_threads(2)
        {
#pragma omp critical
            total++;
#pragma omp barrier
#pragma omp single
            total *= 2;
        }
    }
    printf("%d\n", total);
    return 0;
}
