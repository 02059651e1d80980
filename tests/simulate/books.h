/*
 * books.h: who holds how many tokens where, kept from events alone, apart from the core's own
 * counting. Plain: a copy is a copy.
 */
#ifndef TESTS_SIMULATE_BOOKS_H
#define TESTS_SIMULATE_BOOKS_H

#include "engine/execution.h"

enum {
    BOOKS_TOKENS_MAX = 192,
    BOOKS_SCOPES_MAX = 48,
    BOOKS_JOINS_MAX = 96,
};

struct books_token {
    uint32_t id;
    uint32_t scope;
    uint32_t flow; /* by which it came */
    uint32_t call; /* number of the call that it waits for, or 0 */
    bool guard;    /* before an event sub-process: it does not keep its scope alive */
};

struct books_scope {
    uint32_t id;
    uint32_t host; /* token; 0: the root */
    const struct engine_process *process;
};

struct books_join {
    uint32_t scope;
    uint32_t flow;
    uint32_t count;
};

struct sim_books {
    const struct engine_process *root; /* that it runs */
    struct books_token tokens[BOOKS_TOKENS_MAX];
    struct books_scope scopes[BOOKS_SCOPES_MAX];
    struct books_join joins[BOOKS_JOINS_MAX];
    uint32_t token_count;
    uint32_t scope_count;
    uint32_t join_count;
    uint32_t call_last; /* number of the newest call */
    uint32_t callbacks; /* taken so far, in all runs */
};

/* Books one event. NULL: it adds up; else a sentence that says what does not. */
const char *sim_books_take(struct sim_books *books, const struct engine_catalog *catalog,
                           struct span project, const struct engine_event *event);
/* Does the execution hold what the books say? NULL, or a sentence. */
const char *sim_books_compare(const struct sim_books *books,
                              const struct engine_execution *execution);

#endif
