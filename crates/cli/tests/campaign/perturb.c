/* Linked into a recorded program with --wrap for each hook: one read finds something else than is there.
 *
 * The hook of a load returns right before the load. So memory is changed when it returns, and put back at the thread's next hook:
 * until then no other thread runs. Atomic loads and copies are done by the hook itself: what it gives, or the copy, is changed. It
 * knows nothing of the recorder but the names of its hooks, and calls no function that is recorded. */
extern char **environ;
static long which = -1, count;
static unsigned long mask;
static volatile unsigned char *volatile changed;
static volatile unsigned char kept[8];
static int length;

static long number(const char *name, long otherwise) {
    for (char **entry = environ; entry && *entry; entry++) {
        const char *at = *entry, *of = name;
        while (*of && *at == *of) at++, of++;
        if (*of || *at != '=') continue;
        unsigned long value = 0;
        for (at++; *at >= '0' && *at <= '9'; at++) value = value * 10 + (unsigned long)(*at - '0');
        return (long)value;
    }
    return otherwise;
}

__attribute__((constructor(101))) static void begin(void) {
    which = number("PERTURB", -1);
    mask = (unsigned long)number("PERTURB_MASK", 1);
}

void perturb_restore(void) {
    volatile unsigned char *at = changed;
    if (!at) return;
    for (int byte = 0; byte < length; byte++) at[byte] = kept[byte];
    changed = 0;
}

static void perturb(volatile unsigned char *at, int bytes) {
    if (count++ != which) return;
    length = bytes;
    for (int byte = 0; byte < bytes; byte++) {
        kept[byte] = at[byte];
        at[byte] ^= (unsigned char)(mask >> (8 * byte));
    }
    changed = at;
}

#define READ(size) \
    void __real___reweave_read##size(void *at, void *site); \
    void __wrap___reweave_read##size(void *at, void *site) { \
        perturb_restore(); \
        __real___reweave_read##size(at, site); \
        perturb(at, size); \
    }
READ(1) READ(2) READ(4) READ(8)

/* Only the first byte: the others may be recorded on their own. */
void __real___reweave_read(void *at, void *site, unsigned long size);
void __wrap___reweave_read(void *at, void *site, unsigned long size) {
    perturb_restore();
    __real___reweave_read(at, site, size);
    perturb(at, 1);
}

#define COPY(name) \
    void *__real___reweave_##name(void *to, void *from, unsigned long size, void *site); \
    void *__wrap___reweave_##name(void *to, void *from, unsigned long size, void *site) { \
        perturb_restore(); \
        void *result = __real___reweave_##name(to, from, size, site); \
        if (size && count++ == which) *(unsigned char *)to ^= (unsigned char)mask; \
        return result; \
    }
COPY(memmove) COPY(copy_in)

#define ATOMIC(size, type) \
    type __real___reweave_atomic##size##_load(void *at, int order, void *site); \
    type __wrap___reweave_atomic##size##_load(void *at, int order, void *site) { \
        perturb_restore(); \
        type found = __real___reweave_atomic##size##_load(at, order, site); \
        return count++ == which ? found ^ (type)mask : found; \
    }
ATOMIC(1, unsigned char) ATOMIC(2, unsigned short) ATOMIC(4, unsigned int) ATOMIC(8, unsigned long)

/* Any other hook, whatever its arguments: it finds the stack as it would without this. */
#define HOOK(name) \
    __asm__(".text\n.globl __wrap_" #name "\n.weak __real_" #name "\n__wrap_" #name ":\n" \
            "push %rdi\npush %rsi\npush %rdx\npush %rcx\npush %r8\npush %r9\npush %rax\n" \
            "call perturb_restore\n" \
            "pop %rax\npop %r9\npop %r8\npop %rcx\npop %rdx\npop %rsi\npop %rdi\n" \
            "jmp __real_" #name "\n");
#include "hooks.h"
