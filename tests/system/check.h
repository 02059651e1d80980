/*
 * check.h: checks for test programs with a plain main, for what Criterion cannot run (threads under
 * ThreadSanitizer).
 *
 * A program is: int main(void) { CHECK_CASE("what must hold"); …CHECK(x == 1)…; return
 * check_report(); } A failed check is printed with its case, file and line; the program goes on and
 * exits 1 at the end. The counts are atomic, so checks may be made on any thread.
 */
#ifndef TESTS_SYSTEM_CHECK_H
#define TESTS_SYSTEM_CHECK_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "proto/base/span.h"

static _Atomic unsigned check_made;
static _Atomic unsigned check_failed;
static const char *_Atomic check_case_name = "";

/* Names what the checks that follow are about. */
#define CHECK_CASE(name)                                                                           \
    do {                                                                                           \
        atomic_store(&check_case_name, (name));                                                    \
        fprintf(stderr, "- %s\n", (name));                                                         \
    } while (0)

#define CHECK(condition) ((void)check_one((condition), #condition, __FILE__, __LINE__))
#define CHECK_INT(found, expected)                                                                 \
    ((void)check_int((long long)(found), (long long)(expected), #found, __FILE__, __LINE__))
/* A span against a text. */
#define CHECK_TEXT(found, expected)                                                                \
    ((void)check_text((found), (expected), #found, __FILE__, __LINE__))
/* A span that has `part` somewhere in it. */
#define CHECK_HAS(found, part) ((void)check_has((found), (part), #found, __FILE__, __LINE__))

/* What a program can only go on with: prints and ends it. */
#define REQUIRE(condition)                                                                         \
    do {                                                                                           \
        if (!check_one((condition), #condition, __FILE__, __LINE__)) {                             \
            _Exit(check_report());                                                                 \
        }                                                                                          \
    } while (0)

static inline bool check_one(bool holds, const char *text, const char *file, int line)
{
    atomic_fetch_add(&check_made, 1);
    if (!holds) {
        atomic_fetch_add(&check_failed, 1);
        fprintf(stderr, "FAILED %s:%d [%s] %s\n", file, line, atomic_load(&check_case_name), text);
    }
    return holds;
}

static inline bool check_int(long long found, long long expected, const char *text,
                             const char *file, int line)
{
    bool holds = check_one(found == expected, text, file, line);
    if (!holds) {
        fprintf(stderr, "       found %lld, expected %lld\n", found, expected);
    }
    return holds;
}

static inline bool check_text(struct span found, const char *expected, const char *text,
                              const char *file, int line)
{
    bool holds = check_one(span_is(found, expected), text, file, line);
    if (!holds) {
        fprintf(stderr, "       found \"%.*s\", expected \"%s\"\n", SPAN_ARG(found), expected);
    }
    return holds;
}

static inline bool check_has(struct span found, const char *part, const char *text,
                             const char *file, int line)
{
    bool holds =
        check_one(found.count > 0 && memmem(found.bytes, found.count, part, strlen(part)) != NULL,
                  text, file, line);
    if (!holds) {
        fprintf(stderr, "       found \"%.*s\", expected \"%s\" in it\n", SPAN_ARG(found), part);
    }
    return holds;
}

/* Prints "N checks, M failed"; the program's exit code. A program that checked nothing has failed.
 */
static inline int check_report(void)
{
    unsigned made = atomic_load(&check_made);
    unsigned failed = atomic_load(&check_failed);
    printf("%u checks, %u failed\n", made, failed);
    return made == 0 || failed > 0 ? 1 : 0;
}

#endif
