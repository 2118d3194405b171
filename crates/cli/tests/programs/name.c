// What the kernel calls this process, and what the program was called with.
#include <stdio.h>

int main(int argc, char **argv) {
    char name[64] = "";
    FILE *file = fopen("/proc/self/comm", "r");
    if (file == NULL || fgets(name, sizeof name, file) == NULL) return 1;
    fclose(file);
    printf("%s", name);
    for (int i = 0; i < argc; i++) printf("%s\n", argv[i]);
    return 0;
}
