// A library with a variable of its own, which is new whenever it is loaded.
static int own;

int bump(int *shared) {
    own++;
    *shared += 1;
    return own;
}
