/*
 * execution.h: the state of one execution, for the core itself. Only engine/apply*.c writes it (and
 * engine_new, decode); everyone else has it const.
 *
 * Everything hangs in the execution's own arena: slots in pools, payloads as MessagePack spans.
 * What a payload leaves behind is garbage; engine_execution_tidy copies what lives into a new arena
 * when garbage outweighs it. So no pointer into an execution outlives the engine call that took it.
 *
 * Token states:
 *
 *   ARRIVED ─ENTERED→ ENTERED ─COMPLETED→ LEAVING ─LEFT→ ARRIVED (next node)
 *                        │ CALLED→ CALLING ─ANSWERED→ ANSWERED ─COMPLETED→ LEAVING
 *                        │ WAITED→ WAITING ─CALLBACK→ ANSWERED      (ANSWERED may call or wait
 * again) │                 ─WOKEN→ ENTERED (retry), ─COMPLETED→ LEAVING (timer) │ SCOPE_OPENED→
 * INSIDE ─SCOPE_SPENT→ RETURNING ─COMPLETED→ LEAVING └ FAILED→ FAILED ─RETRIED→ the state to go on
 * from
 */
#ifndef ENGINE_EXECUTION_H
#define ENGINE_EXECUTION_H

#include "engine/engine.h"
#include "engine/history.h"
#include "engine/pool.h"
#include "proto/base/text.h"

#define ENGINE_EXECUTION_MAGIC 0x53455831u
#define ENGINE_INBOX_MAX       64u /* callbacks that came before their wait */
#define ENGINE_NO_DUE          INT64_MAX
#define ENGINE_TRANSIENT_CODE  "TRANSIENT_FAILURE" /* errorCode between tries (seed 003) */

/* `flags` in execution.msgpack. */
enum engine_flag {
    ENGINE_FLAG_SUSPENDED = 1,
    ENGINE_FLAG_MODULE_MISSING = 2,
    ENGINE_FLAG_TASK_COMPLETED = 4,
    ENGINE_FLAG_SEGMENT_OPEN = 8,
    ENGINE_FLAG_RESUMED_UNTOLD = 16,
};

/* Stored by name in execution.msgpack and by number in events: append only. */
enum engine_token_state {
    ENGINE_TOKEN_GONE, /* no token has it: the zero value */
    ENGINE_TOKEN_ARRIVED,
    ENGINE_TOKEN_ENTERED,
    ENGINE_TOKEN_ANSWERED,
    ENGINE_TOKEN_RETURNING,
    ENGINE_TOKEN_LEAVING,
    ENGINE_TOKEN_CALLING,
    ENGINE_TOKEN_WAITING,
    ENGINE_TOKEN_INSIDE,
    ENGINE_TOKEN_FAILED,
    ENGINE_TOKEN_LISTENING, /* a guard: its event sub-process begins when one of its events happens
                             */
    ENGINE_TOKEN_STATE_COUNT
};

enum engine_wait {
    ENGINE_WAIT_NONE,
    ENGINE_WAIT_CALLBACK,
    ENGINE_WAIT_HUMAN,
    ENGINE_WAIT_TIMER,
    ENGINE_WAIT_MESSAGE,
    ENGINE_WAIT_SIGNAL,
    ENGINE_WAIT_RETRY,
    ENGINE_WAIT_EVENT,
    ENGINE_WAIT_COUNT
};

enum engine_phase { ENGINE_PHASE_EXECUTE, ENGINE_PHASE_CALLBACK, ENGINE_PHASE_CANCEL };

enum engine_answer_kind {
    ENGINE_ANSWER_NONE,
    ENGINE_ANSWER_REPLY,
    ENGINE_ANSWER_CALLBACK,
    ENGINE_ANSWER_TIMEOUT,
    ENGINE_ANSWER_EVENT
};

enum engine_scope_kind {
    ENGINE_SCOPE_PROCESS,
    ENGINE_SCOPE_SUB_PROCESS,
    ENGINE_SCOPE_CALLED,
    ENGINE_SCOPE_BODY,         /* around the instances of an activity with a loop marker */
    ENGINE_SCOPE_COMPENSATION, /* around the handlers that a compensation event runs */
    ENGINE_SCOPE_KIND_COUNT
};

enum engine_payload {
    ENGINE_PAYLOAD_REQUEST,
    ENGINE_PAYLOAD_RESPONSE,
    ENGINE_PAYLOAD_CONTEXT,
    ENGINE_PAYLOAD_MODULE,
    ENGINE_PAYLOAD_EXECUTION, /* of the process that the scope lies in */
    ENGINE_PAYLOAD_NODES,     /* of the process that the scope lies in */
    ENGINE_PAYLOAD_COUNT
};

enum engine_end { ENGINE_END_NONE, ENGINE_END_COMPLETED, ENGINE_END_FAILED, ENGINE_END_ABORTED };

/* A module's reply or a callback, until the token has acted on it. */
struct engine_answer {
    uint8_t kind;    /* enum engine_answer_kind */
    uint8_t outcome; /* REPLY: enum proto_call_outcome */
    uint8_t phase;   /* REPLY: of which call */
    uint32_t status;
    int64_t retry_after_ms;
    struct span body;   /* REPLY: value; CALLBACK: payload; EVENT: what came with it, or empty */
    struct span output; /* CALLBACK */
    struct span reason; /* REPLY: text; CALLBACK: error MAP */
};

struct engine_token {
    struct engine_slot slot; /* links: its queue; its scope's tokens */
    uint32_t scope;          /* id */
    uint32_t node;
    uint32_t flow;     /* by which it arrived, or ENGINE_NONE */
    uint32_t sequence; /* of its step; 0: none yet */
    uint32_t path;     /* steps on its path, if `segment` is the execution's */
    uint32_t segment;
    uint32_t attempts;        /* of this step, all of them */
    uint32_t attempts_before; /* of those, before the last operator retry */
    uint32_t retries;         /* operator retries of this step */
    uint32_t callbacks;       /* callback calls of this step */
    uint32_t call;            /* number of the call in flight or of the last one */
    uint32_t child;           /* scope id, INSIDE and RETURNING */
    uint32_t instance;        /* in a body: which instance of the activity, from 1; else 0 */
    uint8_t state;            /* enum engine_token_state; written by token_transition only */
    uint8_t resume;           /* FAILED: state to go on from */
    uint8_t wait;             /* WAITING: enum engine_wait */
    uint8_t phase;            /* CALLING: enum engine_phase */
    bool shown;               /* its step's blob was asked for */
    bool armed;               /* its boundary timers were armed */
    bool gave_output;         /* `output` is of this step, so it is a block's result */
    bool guard; /* before an event sub-process, for as long as the scope lives; no part of `live` */
    int64_t called_ms;   /* its step's newest module call left; 0: none */
    int64_t answered_ms; /* and was answered; 0: not yet */
    int64_t since_ms;    /* in WAITING */
    int64_t due_ms;      /* WAITING: when time-out, timer or retry is due, or ENGINE_NO_DUE */
    struct engine_chain timers; /* boundary timers on its node, and times among several triggers */
    struct engine_chain subscriptions;
    struct span own;      /* MAP, or empty: an instance's element and counter */
    struct span local;    /* MAP, or empty: made by the node's inputs */
    struct span output;   /* last result on its path: `output` in expressions */
    struct span detail;   /* MAP, or empty: of its wait, and behind the callback that ends it */
    struct span callback; /* payload of the callback that its module is being told of, or empty */
    struct engine_answer answer;
};

enum { ENGINE_LINK_QUEUE = ENGINE_LINK_FIRST, ENGINE_LINK_IN_SCOPE = ENGINE_LINK_SECOND };

struct engine_timer {
    struct engine_slot slot; /* links: its host's timers */
    uint32_t token;          /* host */
    uint32_t node;           /* boundary event, or one that its host waits for */
    uint32_t definition;     /* which of the event's */
    uint32_t fired;
    int64_t armed_ms;
    int64_t due_ms;
    struct span cycle; /* ISO text, or empty */
};

/* What a token listens for besides time. */
struct engine_subscription {
    struct engine_slot slot; /* links: its token's subscriptions */
    uint32_t token;
    uint32_t node;       /* the event: the token's own, on its boundary, or behind its gateway */
    uint32_t definition; /* which of the event's */
    uint8_t kind;        /* enum engine_event_kind: message, signal or condition */
    bool held;           /* condition: true when last looked at; else: came, others must too */
    bool told;           /* a signal that the execution itself threw is for it; it acts next */
    struct span name;    /* of the message or signal */
    struct span key;     /* correlation key, or empty */
    struct span payload; /* told: of the signal, or empty */
};

/* What a fired join takes; JOIN_FIRED's flags. */
enum engine_join_phase {
    ENGINE_JOIN_WHOLE,    /* one token from each flow that holds one */
    ENGINE_JOIN_START,    /* the same, and the complex gateway remembers from which */
    ENGINE_JOIN_RESET,    /* one from each of the other flows; nothing is remembered any more */
    ENGINE_JOIN_GATHERED, /* an activity's start quantity, from whatever flows hold them */
    ENGINE_JOIN_PHASE_COUNT
};

/* Tokens that wait in a join, on one flow. */
struct engine_join_tokens {
    struct engine_slot slot; /* links: its scope's joins */
    uint32_t flow;
    uint32_t count;
    uint32_t path; /* the longest of theirs */
    uint32_t segment;
    bool taken;         /* a complex gateway has started with one of this flow; `count` may be 0 */
    struct span output; /* of the last one */
};

/* What an instance of a body came to, for the output collection. */
struct engine_instance_result {
    struct engine_slot slot; /* links: its body's results, in order of completion */
    uint32_t instance;
    struct span value;
};

/* An activity that has completed and can be compensated. */
struct engine_record {
    struct engine_slot slot; /* links: its scope's records, in order of completion */
    uint32_t node;
    uint32_t handler; /* node: an activity, or the event sub-process that compensates its scope */
    uint32_t inner;   /* so many records before it are of its inside: only its handler sees them */
    struct span locals; /* MAP: variables of scopes that are gone since, or empty */
};

struct engine_scope {
    struct engine_slot slot; /* links: all scopes; its parent's children */
    uint32_t parent;         /* id; 0: the root */
    uint32_t host;           /* token in the parent; 0: the root */
    uint32_t node;           /* the host's node; ENGINE_NONE: the root */
    uint8_t kind;            /* enum engine_scope_kind */
    uint32_t live;           /* tokens in it, those in joins included, guards left out */
    const struct engine_process *process;
    struct engine_chain tokens;
    struct engine_chain joins;
    struct engine_chain children;
    uint32_t total;     /* BODY: instances that there will be, at most */
    uint32_t begun;     /* BODY: those that were made; ad-hoc, in sequence: start nodes */
    uint32_t done;      /* BODY: those that have completed */
    size_t item_offset; /* BODY: where in `items` the next instance's element begins */
    struct span items;  /* BODY: the collection as it was at the beginning (F19), or empty */
    struct engine_chain results; /* BODY */
    struct engine_chain records; /* COMPENSATION: those whose handlers have not begun yet */
    uint32_t inner; /* COMPENSATION: its newest records, for the event sub-process that begins */
    struct span variables; /* MAP: `execution` of a process, local variables of a sub-process */
    struct span nodes;     /* MAP: outputs by node id: of a process; of an instance that runs beside
                              others, those of its own, which join the outer ones when it ends */
    uint8_t *blocks; /* what each node came to last (enum engine_block_state): of a process that is
                        a block scheme; else NULL */
};

enum { ENGINE_LINK_ALL = ENGINE_LINK_FIRST, ENGINE_LINK_SIBLINGS = ENGINE_LINK_SECOND };

#define ENGINE_SCOPE_ROOT 1u

/* A time that is written often, with its text. */
struct engine_time_text {
    int64_t ms;
    char text[TEXT_TIME_BYTES + 1];
};

/* A callback that came before its wait: [payload, output, error] as one ARRAY value. */
struct engine_kept_callback {
    struct span task_id;
    struct span content;
};

struct engine_execution {
    uint32_t magic;
    const struct engine_catalog *catalog;
    const struct engine_process *process;
    struct arena memory;
    size_t tidy_at_bytes; /* tidy when the arena holds more than this */

    struct execution_id id;
    struct span workspace;
    struct span project;
    struct span channel;
    struct span channel_session_id;
    struct span traceparent;
    struct span identity; /* the fields above as ready MessagePack pairs, for snapshot, step blob
                             and audit message */
    uint32_t identity_pairs;
    bool is_test;
    struct span start_node; /* id of the node that a run begins at, or empty: the plain starts */

    uint32_t run; /* 0: not started */
    uint8_t end;  /* enum engine_end */
    bool suspended;
    bool module_missing;
    bool task_completed; /* of the last step */
    bool segment_open;
    bool resumed_untold; /* the segment goes on after a wait and no audit message said so yet */
    int64_t created_ms;
    int64_t started_ms; /* of the run */
    int64_t now_ms;
    int64_t ended_ms;
    int64_t waiting_since_ms;
    int64_t human_since_ms; /* when it last began to wait for a person; not stored: of those that
                               wait when it is read */
    uint32_t sequence;
    uint32_t segment;
    uint32_t callback_segment; /* in which a callback was last taken */
    uint32_t revision;
    uint32_t token_next;
    uint32_t scope_next;
    uint32_t call_last;
    uint64_t event_sequence; /* events applied */
    struct span error_code;
    struct span error_message;
    struct span error_task; /* node id, or empty */

    struct span request; /* MAP or empty, like all payloads */
    struct span response;
    struct span context;
    struct span module;
    struct span resume;        /* __resume */
    struct span output;        /* the last result of any token */
    struct span conversations; /* MAP */
    struct span first_request; /* what a restart starts with */
    struct span first_context;
    struct span first_execution;

    struct engine_pool tokens;
    struct engine_pool scopes;
    struct engine_pool timers;
    struct engine_pool subscriptions;
    struct engine_pool joins;
    struct engine_pool results;
    struct engine_pool records;
    struct engine_chain ready;  /* tokens that can move, first in first out */
    struct engine_chain parked; /* all others */
    struct engine_chain scope_order;
    uint32_t token_count;
    uint32_t call_count;                     /* tokens in CALLING */
    uint32_t subscription_count;             /* for messages and signals */
    uint32_t condition_count;                /* subscriptions for conditions */
    uint32_t told_count;                     /* subscriptions that were told */
    uint32_t inclusive_count;                /* join records of inclusive and complex gateways */
    uint32_t wait_counts[ENGINE_WAIT_COUNT]; /* tokens in WAITING, by kind */

    struct engine_kept_callback *inbox; /* first in first out */
    uint32_t inbox_count;
    uint32_t inbox_capacity;

    struct engine_history steps; /* executionMap */
    struct engine_history logs;
    uint64_t log_last;          /* index of the newest log */
    uint64_t log_shipped;       /* lastPersistedLogIndex */
    size_t log_unshipped_bytes; /* the newest bytes of `logs` */

    size_t step_last_bytes; /* the newest entry of `steps` */
    struct uuid
        step_id; /* of step_id_sequence in this run: hashed once for its effect and its blob */
    uint32_t step_id_sequence;
    struct engine_time_text now_text;
    struct engine_time_text started_text;

    int64_t due_ms; /* earliest due time of all waits and timers, when due_known */
    bool due_known;
};

/* ---- looking; NULL when absent ---- */

static inline struct engine_token *engine_token_at(const struct engine_execution *execution,
                                                   uint32_t slot)
{
    return engine_pool_at(&execution->tokens, slot);
}

static inline struct engine_token *engine_token_find(const struct engine_execution *execution,
                                                     uint32_t id)
{
    return engine_pool_at(&execution->tokens, engine_pool_find(&execution->tokens, id));
}

static inline struct engine_scope *engine_scope_find(const struct engine_execution *execution,
                                                     uint32_t id)
{
    return engine_pool_at(&execution->scopes, engine_pool_find(&execution->scopes, id));
}

static inline uint32_t engine_token_slot(const struct engine_execution *execution,
                                         const struct engine_token *token)
{
    return engine_pool_find(&execution->tokens, token->slot.id);
}

/* Runnable states come before the parked ones. */
static inline bool engine_token_is_ready(uint8_t state)
{
    return state > ENGINE_TOKEN_GONE && state < ENGINE_TOKEN_CALLING;
}

/* Does it lie within a process, so that names are looked for further out? */
static inline bool engine_scope_is_inner(const struct engine_scope *scope)
{
    return scope->kind != ENGINE_SCOPE_PROCESS && scope->kind != ENGINE_SCOPE_CALLED;
}

/* The scope of the process that this scope lies in: itself, or the nearest one outward. */
struct engine_scope *engine_scope_of_process(const struct engine_execution *execution,
                                             const struct engine_scope *scope);
/*
 * The scope whose `nodes` a step in this scope adds to: the process's, or that of an instance that
 * runs beside others, so that what follows in it sees its own and not another's.
 */
struct engine_scope *engine_scope_of_nodes(const struct engine_execution *execution,
                                           const struct engine_scope *scope);
const struct engine_node *engine_token_node(const struct engine_execution *execution,
                                            const struct engine_token *token);
struct engine_join_tokens *engine_join_find(const struct engine_execution *execution,
                                            const struct engine_scope *scope, uint32_t flow);

static inline bool engine_execution_frozen(const struct engine_execution *execution)
{
    return execution->end != ENGINE_END_NONE || execution->suspended;
}

/* Does the scope lie in `top` so that what can be compensated in it is top's, if top is cancelled?
 * What a called process has done is its own. */
bool engine_scope_lends(const struct engine_execution *execution, const struct engine_scope *scope,
                        const struct engine_scope *top);
/* Is the record about that activity (ENGINE_NONE: any), itself or something inside it? */
bool engine_record_is_about(const struct engine_scope *scope, const struct engine_record *record,
                            uint32_t node);

/* Walks all tokens: the runnable ones, then the parked ones, each in order. Begin with NULL. */
const struct engine_token *engine_token_next(const struct engine_execution *execution,
                                             const struct engine_token *token);

/* ---- making (execution.c; for engine_new, apply and decode only) ---- */

/* Sets now_ms or started_ms and its text. */
void engine_execution_set_now(struct engine_execution *execution, int64_t now_ms);
void engine_execution_set_started(struct engine_execution *execution, int64_t started_ms);
/* An empty execution of that identity, before its first run. NULL: no memory. */
struct engine_execution *engine_execution_make(const struct engine_catalog *catalog,
                                               const struct engine_start *start,
                                               int64_t created_ms);
/* It runs another version from now on. */
void engine_execution_set_process(struct engine_execution *execution,
                                  const struct engine_process *process);
/* Copies what lives into a fresh arena if garbage outweighs it. Nobody may hold a pointer into the
 * execution. */
void engine_execution_tidy(struct engine_execution *execution);
/* Finds due_ms again if it is not known. */
void engine_execution_refresh_due(struct engine_execution *execution);

#endif
