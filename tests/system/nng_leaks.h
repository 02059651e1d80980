/*
 * nng_leaks.h: for programs that end connections of NNG 1.5.2 at the worst of moments: what it then
 * never lets go of (docs/operations.md, known limits) is no leak of ours. To be included once, in
 * the program's own file.
 */
#ifndef TESTS_SYSTEM_NNG_LEAKS_H
#define TESTS_SYSTEM_NNG_LEAKS_H

const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void)
{
    return "leak:libnng\n";
}

#endif
