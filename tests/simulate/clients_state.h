/*
 * clients_state.h: what clients.c (requests and their answers) and wishes.c (what a client wants)
 * share.
 */
#ifndef TESTS_SIMULATE_CLIENTS_STATE_H
#define TESTS_SIMULATE_CLIENTS_STATE_H

#include "engine/execution.h"
#include "proto/operation.h"
#include "tests/simulate/clients.h"
#include "tests/simulate/model.h"

#define SIM_REQUESTS_MAX 768u
#define SIM_TOLD_MAX     64u

struct sim_request {
    uint32_t client;
    enum proto_operation operation;
    struct span node_id;         /* CALLBACK, MESSAGE, SIGNAL */
    struct execution_id news_id; /* MESSAGE, SIGNAL */
    struct span body;
    uint64_t aimed_ms;    /* it arrives first at that moment; 0: soon */
    uint64_t answered_ms; /* when it was done; 0: not yet */
    uint32_t ttl_ms;      /* MESSAGE */
    uint32_t boot;        /* SIGNAL: number of the process that was asked, */
    uint32_t step;        /* ... and of the step that was told to wait, or 0 */
    bool by_session;
    bool pending;
    bool done;
    bool refused;
    uint32_t copies;   /* sent; a refusal is not remembered, so another copy may be taken */
    bool after_start;  /* it was first sent when the start had been acknowledged */
    bool after_delete; /* ... when the delete had been */
};

/* A wait that a reply has told of. */
struct sim_told {
    struct span node_id;
    uint32_t step; /* its number */
    uint32_t boot;
};

struct sim_client {
    struct execution_id id;
    struct span foreign; /* it has begun elsewhere, and is imported: how far it came */
    bool adopted;        /* nobody has started it: a message has */
    bool started;        /* it was told so */
    bool finished;       /* it has seen the end */
    bool looks;          /* a look is on the calendar */
    bool by_session;
    bool operated; /* an end that it is told of may not be the last one */
    bool repaired; /* what was broken is so no longer */
    bool given_up; /* aborted for good */
    bool deleted;  /* it was told so */
    bool migrates; /* it shall run the second version */
    uint32_t late_callbacks;
    uint32_t operations_left;
    struct sim_told told[SIM_TOLD_MAX];
    uint32_t told_count;
};

struct sim_clients {
    struct proto_sink sink;
    struct sim *sim;
    struct sim_client clients[SIM_EXECUTIONS_MAX];
    uint32_t count;
    uint32_t root_count; /* those that were started, not adopted */
    struct sim_request requests[SIM_REQUESTS_MAX];
    uint32_t request_count;
};

/* What is asked; the rest of the request follows from it. */
struct sim_asking {
    enum proto_operation operation;
    struct span node_id;
    uint64_t aimed_ms;
    uint32_t ttl_ms;
};

/* Names a token's step, in whichever run; 0: it has made none. */
static inline uint32_t sim_step_of(const struct engine_execution *execution,
                                   const struct engine_token *token)
{
    return token->sequence == 0 ? 0 : execution->run << 16 | token->sequence;
}

/* ---- clients.c ---- */
struct sim_request *sim_client_ask(struct sim *sim, uint32_t client,
                                   const struct sim_asking *asking);
/* How many of these have no answer yet. */
uint32_t sim_client_pending(const struct sim *sim, uint32_t client, enum proto_operation operation,
                            struct span node_id);

/* ---- wishes.c ---- */
/* It sees how its execution stands, and acts. */
void sim_client_look(struct sim *sim, struct proto_message *message, uint64_t number);
/* It has failed where a module is to be repaired. */
bool sim_client_is_broken(const struct sim *sim, const struct engine_execution *execution);
/* What it says before anything waits for it. */
void sim_client_begin(struct sim *sim, uint32_t number);

#endif
