/* Calls on your own data structures, for programs that Reweave records.
 *
 *     REWEAVE_OP("set", s, added = set_add(s, v), "add(%d)=%s", v, REWEAVE_BOOL(added));
 *
 * runs a statement and records it as one call: the type of the object, the object (a pointer), the statement, and the method with
 * its arguments and its result, as `printf` would print them. The result of a method without one is `()`. What happens inside
 * of the statement is not recorded, and no other thread runs meanwhile: use it where the data structure locks itself and does
 * not wait.
 *
 *     REWEAVE_CALL("channel", c, "close()=()");
 *
 * records a call that was just made, or is made here: under the lock that makes it one step.
 *
 *     REWEAVE_NEW("channel", c);
 *
 * says that from here on another object is at this address, where the same memory is used again.
 *
 * Without `reweave cc` and `reweave c++`, which define __REWEAVE__ and find this file by themselves, REWEAVE_OP is its statement and the
 * others are nothing. Formats are checked all the same. The type is one of `reweave spec show`, or one of your own; "" is none.
 */
#ifndef REWEAVE_H
#define REWEAVE_H

/* A truth value, for `%s`. */
#define REWEAVE_BOOL(value) ((value) ? "true" : "false")

#if defined(__GNUC__)
#define REWEAVE_LIKE_PRINTF_ __attribute__((format(printf, 2, 3), unused))
#else
#define REWEAVE_LIKE_PRINTF_
#endif

#ifdef __cplusplus
extern "C" {
#endif

static inline REWEAVE_LIKE_PRINTF_ void reweave_check_(const void *object, const char *format, ...)
{
    (void)object;
    (void)format;
}

#if defined(__REWEAVE__)
extern unsigned long __reweave_told_begin(void) __attribute__((weak));
extern unsigned long __reweave_told_called(const void *object, const char *text, unsigned long length) __attribute__((weak));
extern unsigned long __reweave_told_end(void) __attribute__((weak));

struct reweave_scope_ {
    const void *object;
    unsigned long on;
};

/* The statement was left before its end: what came of the call is not known. */
static inline __attribute__((unused)) void reweave_left_(struct reweave_scope_ *scope)
{
    if (scope->on) {
        __reweave_told_called(scope->object, "left()", 6);
        __reweave_told_end();
    }
}
#endif

#ifdef __cplusplus
}
#endif

#if defined(__REWEAVE__)

#define REWEAVE_TEXT_ 512

#define REWEAVE_OP(type, pointer, statement, ...)                                                              \
    do {                                                                                                       \
        struct reweave_scope_ reweave_scope_ __attribute__((cleanup(reweave_left_))) = {(pointer), 0};         \
        if (0)                                                                                                 \
            reweave_check_((pointer), __VA_ARGS__);                                                            \
        reweave_scope_.on = __reweave_told_begin ? __reweave_told_begin() : 0;                                 \
        {                                                                                                      \
            statement;                                                                                         \
        }                                                                                                      \
        if (reweave_scope_.on) {                                                                               \
            char reweave_text_[REWEAVE_TEXT_];                                                                 \
            int reweave_length_ = __builtin_snprintf(reweave_text_, sizeof reweave_text_, "#of " type " " __VA_ARGS__); \
            if (reweave_length_ < 0 || reweave_length_ >= REWEAVE_TEXT_)                                       \
                reweave_length_ = __builtin_snprintf(reweave_text_, sizeof reweave_text_, "long()");           \
            __reweave_told_called(reweave_scope_.object, reweave_text_, (unsigned long)reweave_length_);       \
            reweave_scope_.on = 0;                                                                             \
            __reweave_told_end();                                                                              \
        }                                                                                                      \
    } while (0)

#define REWEAVE_CALL(type, pointer, ...) REWEAVE_OP(type, pointer, (void)0, __VA_ARGS__)

#else

#define REWEAVE_OP(type, pointer, statement, ...)   \
    do {                                            \
        if (0)                                      \
            reweave_check_((pointer), __VA_ARGS__); \
        statement;                                  \
    } while (0)

#define REWEAVE_CALL(type, pointer, ...)            \
    do {                                            \
        if (0)                                      \
            reweave_check_((pointer), __VA_ARGS__); \
    } while (0)

#endif

#define REWEAVE_NEW(type, pointer) REWEAVE_CALL(type, pointer, "#new")

#endif
