/*
 * assert.h: assertions for our own mistakes. Nothing that an outsider can cause may trip one.
 *
 * ASSERT is always on. ASSERT_SLOW (whole-list scans) is on in debug, simulator and fuzz builds
 * (-DSTRIDER_SLOW_ASSERTS).
 */
#ifndef PROTO_BASE_ASSERT_H
#define PROTO_BASE_ASSERT_H

/* Prints "file:line: assertion failed: text" to stderr and aborts. */
_Noreturn void base_assert_failed(const char *file, int line, const char *text);

#define ASSERT(condition)                                                                          \
    do {                                                                                           \
        if (__builtin_expect(!(condition), 0)) {                                                   \
            base_assert_failed(__FILE__, __LINE__, #condition);                                    \
        }                                                                                          \
    } while (0)

#ifdef STRIDER_SLOW_ASSERTS
#define ASSERT_SLOW(condition) ASSERT(condition)
#else
#define ASSERT_SLOW(condition) ((void)0)
#endif

#define ASSERT_UNREACHABLE() base_assert_failed(__FILE__, __LINE__, "unreachable")

/* A void pointer back to its type, checked by the uint32_t magic that the object begins with. */
#define BASE_CAST(type, pointer, magic_value)                                                      \
    ((struct type *)base_cast_checked((pointer), (magic_value), __FILE__, __LINE__))
void *base_cast_checked(void *pointer, unsigned magic, const char *file, int line);

#endif
