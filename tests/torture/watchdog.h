/*
 * watchdog.h: the torture may find an engine that hangs, but never hangs itself: each of its phases
 * has a time, and whatever ends it, its last line is printed.
 */
#ifndef TESTS_TORTURE_WATCHDOG_H
#define TESTS_TORTURE_WATCHDOG_H

/* Prints the last line, with `more` violations; on any thread, and at most once. */
typedef void (*torture_last_words_fn)(unsigned more);

/* Before any other thread. SIGINT and SIGTERM end the torture with its last words from here on. */
void torture_watchdog_start(torture_last_words_fn last_words);
/* What is done from now on, and how long it may take: longer is said, and ends the process. */
void torture_watchdog_phase(const char *name, unsigned seconds);

#endif
