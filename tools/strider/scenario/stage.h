/*
 * stage.h: the world of one scenario: catalog, clock, modules, store. The execution acts on it as
 * it would in an engine.
 */
#ifndef TOOLS_STRIDER_SCENARIO_STAGE_H
#define TOOLS_STRIDER_SCENARIO_STAGE_H

#include "tools/strider/scenario/scenario.h"

/* A module call whose answer has not come yet. */
struct stage_call {
    uint32_t token;
    uint32_t attempt;
    int64_t due_ms;
    uint64_t order;
    struct span reply; /* MAP as the scenario has it */
};

/* Which reply a call got, so that a call made again after a crash gets the same one. */
struct stage_answer {
    struct span key; /* Idempotency-Key and attempt */
    uint32_t number; /* from 0, of its list */
};

/* A message that waits for its catch, or a signal on its way. */
struct stage_message {
    bool is_signal;
    struct span name;
    struct span correlation_key; /* text, or empty */
    struct span payload;         /* value, or empty */
    struct span id;              /* of what the execution published, or empty */
    int64_t expires_ms;
};

struct stage {
    struct engine_catalog catalog; /* first: the engine hands it back */
    const struct scenario *scenario;
    struct scenario_outcome *outcome;
    struct engine_modules *modules;
    struct engine_execution *execution;
    struct arena *arena; /* the scenario's */
    struct arena turn;   /* outputs of one engine call */
    int64_t now_ms;
    struct stage_call *calls;
    uint32_t call_count;
    uint32_t call_capacity;
    uint64_t call_order;
    struct stage_message *messages; /* in the order in which they were published */
    uint32_t message_count;
    uint32_t message_capacity;
    struct stage_answer *answers;
    uint32_t answer_count;
    uint32_t answer_capacity;
    /* the store: a snapshot, and the events behind it */
    struct span snapshot;
    struct span *events;
    uint64_t *event_firsts;
    uint32_t event_count;
    uint32_t event_capacity;
};

/* False: a failure was added to the outcome. */
bool stage_open(struct stage *stage, const struct scenario *scenario, struct arena *arena,
                struct scenario_outcome *outcome);
void stage_close(struct stage *stage);

/* Makes the execution and runs it until it waits or ends. */
bool stage_start(struct stage *stage);
/* Can it begin by a message or signal only? Then the first one that a start event wants starts it.
 */
bool stage_waits_for_start(const struct stage *stage);
/* One input, then as far as it goes at this instant. A refusal is kept in *refusal
 * (PROTO_ERROR_NONE else). */
bool stage_input(struct stage *stage, const struct engine_input *input, enum proto_error *refusal,
                 struct span *message);
/*
 * Publishes a message or signal, then as far as it goes. What nobody waits for is kept until ttl_ms
 * have passed, a signal is not. Before stage_start: it starts the process if a start event wants it
 * (true: the execution is there), else it is kept.
 */
bool stage_publish(struct stage *stage, const struct stage_message *message, int64_t ttl_ms);
/* Moves the clock, stopping at everything that falls due on the way. */
bool stage_advance(struct stage *stage, int64_t until_ms);
/* Drops all memory of the execution and recovers it from the store. */
bool stage_crash(struct stage *stage);

#endif
