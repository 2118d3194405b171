// What the kernel calls this process, and what the program was called by.
#include <stdio.h>

int main(int argc, char **argv) {
    char name[64] = "";
    FILE *file = fopen("/proc/self/comm", "r");
    if (file == NULL || fgets(name, sizeof name, file) == NULL) return 1;
    fclose(file);
    printf("%s%s\n", name, argv[0]);
    return argc != 1;
}
