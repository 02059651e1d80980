/*
 * threads.c: see threads.h.
 *
 * NNG asks sysconf for the number of processors, and a program's own functions come before those of
 * the C library: here is a sysconf that tells NNG a smaller number. Where it is not taken (a linker
 * that binds otherwise, a sanitizer that may call it before it is ready itself), NNG starts as many
 * threads as it likes: slower, not wrong.
 */
#include "transport/front/threads.h"

#include <unistd.h>

#define PROCESSORS_MAX 4 /* NNG starts two threads for each */

/* Of the thread that opens the front: NNG asks on that very thread. */
static _Thread_local bool few;

void front_threads_few(bool on)
{
    few = on;
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) && defined(__GLIBC__)

long __sysconf(int name); /* glibc's name for its own */

long sysconf(int name)
{
    long value = __sysconf(name);
    if (!few || name != _SC_NPROCESSORS_ONLN) {
        return value;
    }
    long processors = value / 2 < PROCESSORS_MAX ? value / 2 : PROCESSORS_MAX;
    return processors > 0 ? processors : 1;
}

#endif
