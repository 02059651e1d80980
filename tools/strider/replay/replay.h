/*
 * replay.h: what happened in an execution, step by step: read from a running engine (`steps`),
 * compared, and shown as a table, as JSON or as one HTML page.
 */
#ifndef TOOLS_STRIDER_REPLAY_REPLAY_H
#define TOOLS_STRIDER_REPLAY_REPLAY_H

#include "proto/base/arena.h"
#include "proto/base/span.h"
#include "tools/strider/connection.h"

#define REPLAY_STEPS_DEFAULT 2000u
#define REPLAY_STEPS_MAX     20000u
#define REPLAY_CHANGES_MAX   200u /* of one step */
#define REPLAY_CALLED_MAX    32u  /* processes whose diagrams a page holds beside the execution's */

struct replay_step {
    int64_t sequence;
    struct span entry;    /* MAP: sequence, stepId, taskId, at …, snapshot or missing */
    struct span snapshot; /* MAP, or empty */
    struct span before;   /* the snapshot that was made before it, or empty */
    int64_t before_sequence;
    int64_t order; /* in which snapshots were made */
};

/* A process that the execution calls. */
struct replay_called {
    struct span process;
    int64_t version;     /* 0: not known */
    struct span diagram; /* as below */
};

struct replay {
    struct span outline;       /* the first reply: all about the execution but its steps */
    struct replay_step *steps; /* by sequence */
    uint32_t count;
    bool cut;               /* there are more */
    struct span definition; /* MAP {name, version, content} or empty */
    struct span diagram;    /* BPMN with a drawing, text; or empty */
    struct replay_called called[REPLAY_CALLED_MAX];
    uint32_t called_count;
};

/* `get --steps`: the steps as a table, or JSON. An exit code. */
int replay_list(const struct cli_arguments *arguments);

/* ---- fetch.c ---- */

/* Steps from `from` on, at most `limit`; `with_diagram`: the definition, too. An exit code. */
int replay_fetch(struct client_connection *connection, const char *execution_id, uint32_t from,
                 uint32_t limit, bool with_diagram, struct arena *arena, struct replay *out);

/* ---- diff.c ---- */

enum replay_change_kind { REPLAY_ADDED, REPLAY_CHANGED, REPLAY_REMOVED };

struct replay_change {
    enum replay_change_kind kind;
    struct span path; /* "execution.items[2].price" */
    struct span before;
    struct span after;
};

struct replay_changes {
    struct replay_change at[REPLAY_CHANGES_MAX];
    uint32_t count;
    bool cut;
};

/* Payload paths that differ between two snapshots; paths live in the arena. */
void replay_diff(struct span before, struct span after, struct arena *arena,
                 struct replay_changes *out);

/* ---- show.c ---- */

/* The module's time from call to reply in ms; -1: there was no call. */
int64_t replay_module_ms(const struct replay_step *step);
void replay_print_list(const struct replay *replay, struct arena *arena);
void replay_print_step(const struct replay *replay, const struct replay_step *step,
                       struct arena *arena);
/* Says what is missing and why, if anything is. */
void replay_print_missing(const struct replay *replay);
/* {…, steps: [{…, moduleMs?, comparedTo?, changes: [{path, kind, before?, after?}]}]} as a value.
 */
struct span replay_value(const struct replay *replay, struct arena *arena);

/* ---- html.c ---- */

/* The whole page in the arena; empty: it does not fit. */
struct span replay_html(const struct replay *replay, struct arena *arena);

#endif
