/*
 * ledger.h: what the torture has been told: which executions it began, and what the engine has
 * acknowledged of each. The truth that the engine is held against at the end.
 */
#ifndef TESTS_TORTURE_LEDGER_H
#define TESTS_TORTURE_LEDGER_H

#include <stdbool.h>
#include <stdint.h>

/* What an execution's process is, and what it needs from outside to come to its end. */
enum torture_kind {
    TORTURE_WAIT,    /* module, human task (a callback), module */
    TORTURE_FORK,    /* three modules at once, joined */
    TORTURE_MESSAGE, /* catches a message, module */
    TORTURE_TIMER,   /* a second, module */
    TORTURE_KIND_COUNT
};

struct torture_kind_row {
    const char *process;
    const char *definition; /* BPMN */
    unsigned calls;         /* of modules in one run: as many logs say "ran" */
    bool needs;             /* something from outside: a callback or a message */
};
extern const struct torture_kind_row torture_kinds[TORTURE_KIND_COUNT];

struct torture_entry {
    enum torture_kind kind;
    bool started;  /* acknowledged */
    bool supplied; /* so is what it needs */
    bool tried;    /* that was sent at least once */
};

enum { TORTURE_ENTRIES_MAX = 400000 };

#endif
