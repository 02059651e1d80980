/*
 * decision.h: what a decision reads and what it writes. Deciding has the execution const; its only
 * outcome is a run of events, behind those that were applied before, and effects. The caller
 * applies the events, then decides on.
 */
#ifndef ENGINE_DECISION_H
#define ENGINE_DECISION_H

#include "engine/execution.h"

struct engine_element_ops;

struct engine_decision {
    const struct engine_execution *execution;
    struct engine_output *output;
    struct arena *arena; /* the output's */
    uint32_t event_mark; /* output->event_count when it began */
    uint32_t tokens_made;
    uint32_t scopes_made;
    uint32_t calls_made;
    /* A step whose blob is to be encoded when the events are applied. */
    bool step_due;
    struct engine_step step;
    struct engine_event spare; /* written to instead when the arena is full */
};

/* A token in its node: what almost every decision is about. */
struct engine_visit {
    const struct engine_token *token;
    const struct engine_scope *scope;
    const struct engine_node *node;
    const struct engine_element_ops *ops;
};

void engine_decision_begin(struct engine_decision *decision,
                           const struct engine_execution *execution, struct engine_output *output);
/* Takes back all events of this decision: it turned out to fail. Nothing of it was applied yet. */
void engine_decision_rewind(struct engine_decision *decision);
/* The modules of the execution's project, as they are now. */
const struct engine_modules *engine_decision_modules(const struct engine_decision *decision);
struct engine_visit engine_visit_of(const struct engine_decision *decision,
                                    const struct engine_token *token);

/* A zeroed event at the end of the run; never NULL. Valid until the next one. */
struct engine_event *engine_emit(struct engine_decision *decision, enum engine_event_type type);
struct engine_event *engine_emit_token(struct engine_decision *decision,
                                       enum engine_event_type type,
                                       const struct engine_token *token);
/* Variables that the token's work sets: each is changed where it is seen from there. */
void engine_emit_variables(struct engine_decision *decision, const struct engine_token *token,
                           struct span variables);
/* A zeroed effect at the end; NULL when the arena is full. */
struct engine_effect *engine_emit_effect(struct engine_decision *decision,
                                         enum engine_effect_kind kind);
void engine_emit_log(struct engine_decision *decision, unsigned level,
                     const struct engine_visit *visit, struct span message);

/* Ids for what the decision makes. */
uint32_t engine_decision_token_id(struct engine_decision *decision);
uint32_t engine_decision_scope_id(struct engine_decision *decision);
uint32_t engine_decision_call_number(struct engine_decision *decision);

/* The token's step is over, or a wait: its blob is encoded once the events are applied. Once a
 * step. */
void engine_decision_step(struct engine_decision *decision, const struct engine_token *token,
                          bool waits);

/* Makes a text in the decision's arena. */
#define ENGINE_TEXT(decision, ...) arena_format((decision)->arena, __VA_ARGS__)
/* A text as a MessagePack string. */
struct span engine_decision_string(struct engine_decision *decision, struct span text);

#endif
