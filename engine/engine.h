/*
 * engine.h: the token core as its callers see it (shards, `strider run`, scenario runner,
 * simulator).
 *
 * An execution is advanced in three kinds of call, all pure with respect to the world (no I/O,
 * clock, randomness, globals): engine_accept    takes one input (start, reply, callback, timer,
 * verb): checked, decided, applied; engine_advance   moves tokens until none can move,
 * LIMIT_TOKEN_MOVES were made, or the caller's step budget is used up; engine_replay    applies
 * journaled events on recovery. Inside, engine_decide only reads and yields events; engine_apply is
 * the only writer and decides nothing. Every event that was applied is also in the output, so
 * `apply` over a snapshot and the events after it gives the same execution, byte for byte when
 * encoded.
 *
 * What must happen outside comes back as effects. Effects may leave only after the events (or a
 * snapshot behind them) are durable. Timers and outstanding calls are derived from the state:
 * engine_next_due_ms and engine_recover.
 *
 * Thread: an execution belongs to one owner at a time. Memory: an execution holds its own; outputs
 * live in the arena given.
 */
#ifndef ENGINE_ENGINE_H
#define ENGINE_ENGINE_H

#include "engine/event.h"
#include "engine/model.h"
#include "proto/base/arena.h"
#include "proto/base/id.h"
#include "proto/base/result.h"
#include "proto/message.h"
#include "proto/operation.h"

#define ENGINE_FORMAT_VERSION 1 /* of execution.msgpack and step blobs: others are a miss */

struct engine_execution; /* opaque; engine/execution.h for the core itself */
struct wire_writer;

/* ---- state as the world sees it (engine.md 2) ---- */

enum engine_state_flag {
    ENGINE_STATE_RUNNING = 1,
    ENGINE_STATE_WAITING_TASK_CALLBACK = 2,
    ENGINE_STATE_WAITING_TASK = 4,
    ENGINE_STATE_STOPPED = 8,
    ENGINE_STATE_EXCEPTION = 16,
    ENGINE_STATE_COMPLETED = 32,
    ENGINE_STATE_TASK_COMPLETED = 64,
};

enum engine_lifecycle {
    ENGINE_PENDING,
    ENGINE_RUNNING,
    ENGINE_SUSPENDED,
    ENGINE_WAITING_FOR_HUMAN,
    ENGINE_COMPLETED,
    ENGINE_FAILED,
    ENGINE_LIFECYCLE_COUNT
};

const char *
engine_status_name(uint8_t state); /* "Error" "Completed" "Stopped" "Waiting" "Running" "Unknown" */
const char *engine_lifecycle_name(enum engine_lifecycle lifecycle); /* "Pending" … */

/* ---- inputs ---- */

enum engine_input_kind {
    ENGINE_IN_START,     /* begin: only on an execution made by engine_new */
    ENGINE_IN_CALL_DONE, /* a module call ended */
    ENGINE_IN_CALLBACK,  /* from outside, to a waiting token */
    ENGINE_IN_TIMER, /* time has passed: everything due by now_ms fires, in order of due time, then
                        token */
    ENGINE_IN_SUSPEND,
    ENGINE_IN_RESUME,
    ENGINE_IN_ABORT,
    ENGINE_IN_RESTART,
    ENGINE_IN_RETRY, /* a failed step again */
    /*
     * A message for this execution, which whoever correlates messages found to be wanted by
     * engine_subscriptions: by name, and by correlation key unless the subscription has none. One
     * subscription takes it: the one with an equal key first, then the oldest token's. Refused with
     * RESULT_NOT_FOUND and NotWaiting, nothing changed: the subscription ended meanwhile; the
     * message is still yours to buffer. An accepted one is consumed; it must not be given twice.
     */
    ENGINE_IN_MESSAGE,
    /* A signal: every subscription of that name takes it. RESULT_NOT_FOUND: there is none. */
    ENGINE_IN_SIGNAL,
    /*
     * To another version of its process: `process`, with `mapping`. Refused whole when anything
     * that it stands on has no counterpart there (engine/migration.h); the message names it.
     */
    ENGINE_IN_MIGRATE,
    /*
     * Begin, on an execution made by engine_new, where it stood in another engine
     * (engine/foreign.h). Its request, context and variables are those of engine_start.
     */
    ENGINE_IN_IMPORT,
    ENGINE_IN_COUNT
};

struct engine_input {
    enum engine_input_kind kind;
    int64_t now_ms;   /* Unix ms; never below the execution's last one (the core clamps) */
    uint32_t token;   /* CALL_DONE: the call's token */
    uint32_t attempt; /* CALL_DONE: proto_call.attempt as the CALL effect had it: a number that
                         names the call */
    const struct proto_call_done *call; /* CALL_DONE; borrowed for the call */
    struct span task_id; /* CALLBACK, RETRY: node id, empty: the only one that waits; CALLBACK: or
                            the id of the step that waits, of several of one node */
    struct span payload; /* CALLBACK, MESSAGE, SIGNAL: value (empty: nil) */
    struct span output;  /* CALLBACK: block result, or empty */
    struct span error;   /* CALLBACK: MAP value {"code","message","bpmnError"?}, or empty */
    struct span reason;  /* ABORT: for the log */
    struct span name;    /* MESSAGE, SIGNAL */
    struct span correlation_key;          /* MESSAGE: text, or empty */
    struct span message_id;               /* MESSAGE: for the journal, or empty */
    const struct engine_process *process; /* MIGRATE: of the same id, deployed */
    struct span
        foreign; /* IMPORT: MAP: active, passed, and response, module, nodes (docs/protocol.md) */
    struct span mapping; /* MIGRATE: MAP of old node (or flow) ids to new ones, or empty */
};

/* What a new execution starts with; copied by engine_new. Payloads are MAP values or empty. */
struct engine_start {
    struct execution_id id;
    struct span workspace;
    struct span project;
    struct span channel;            /* may be empty */
    struct span channel_session_id; /* may be empty */
    struct span request;
    struct span context;
    struct span execution;
    struct span traceparent; /* from the caller, or empty */
    bool is_test;
    const struct engine_process *process;
    /*
     * Id of the node at which every run begins, or empty: the process's plain starts. A start
     * event, or what engine_process_started_by found. A message's payload is the caller's to put
     * into `execution`.
     */
    struct span start_node;
};

/* ---- outputs ---- */

enum engine_effect_kind {
    ENGINE_EFFECT_CALL, /* call a module: as.call (execution_id, token, attempt, body … all set;
                           reply_to is yours) */
    ENGINE_EFFECT_CANCEL_CALL, /* as.cancel */
    ENGINE_EFFECT_STEP_DONE,   /* a step's work is over: encode its blob now (engine_step_encode):
                                  as.step */
    ENGINE_EFFECT_AUDIT,       /* an audit message: as.audit */
    ENGINE_EFFECT_PUBLISH,     /* a message or signal is thrown: as.publish */
    ENGINE_EFFECT_SEGMENT_END, /* no token can move and no call is in flight: waiting or ended:
                                  as.segment */
};

/* A step whose work is over, or that waits. */
struct engine_step {
    uint32_t sequence;
    struct uuid step_id;
    uint32_t node;
    uint32_t token; /* whose step it is, and where: both may be gone when its blob is encoded */
    uint32_t scope;
    bool wait; /* it waits (callback, human, timer …): kept in `steps = waits` mode too */
    bool far;  /* of an instance behind the first LIMIT_HISTORY: its blob has no payloads */
    /* What it took: the token may have gone on by then. Spans are the execution's, for this call.
     */
    uint32_t attempts;
    uint32_t retries;
    uint32_t callbacks;
    uint32_t instance;
    int64_t called_ms;
    int64_t answered_ms;
    struct span own;
    struct span output;
};

struct engine_effect {
    enum engine_effect_kind kind;
    union {
        struct proto_call call; /* spans in the output's arena */
        struct proto_call_cancel cancel;
        struct engine_step step;
        /*
         * To whoever correlates: a message to one receiver, a signal to all that listen, this
         * execution included. `id` is the same when the effect is made again from the journal's
         * PUBLISHED event (engine_recover does not make it again): consume each id once.
         */
        struct {
            bool is_signal;
            struct span id;
            struct span name;
            struct span correlation_key; /* text, or empty */
            struct span payload;         /* value, or empty */
            int64_t ttl_ms; /* how long a message waits for its catch; 0: the default */
        } publish;
        struct {
            uint32_t revision;
            struct span message; /* MAP value of interfaces.md 5 */
        } audit;
        struct {
            struct span snapshot; /* execution.msgpack as engine_encode would write it now, in the
                                     output's arena */
        } segment;
    } as;
};

struct engine_output {
    struct arena *arena; /* borrowed; everything below lives in it */
    struct engine_effect *effects;
    uint32_t effect_count;
    uint32_t effect_capacity;
    struct engine_event *events; /* all that was applied since engine_output_init, in order */
    uint32_t event_count;
    uint32_t event_capacity;
    uint64_t first_event_sequence; /* of events[0] */
    enum proto_error error; /* why engine_accept refused the input; PROTO_ERROR_NONE otherwise */
    struct span error_message;
    struct span error_details; /* MAP value or empty: e.g. {"waiting":[…]} of AmbiguousCallback */
};

void engine_output_init(struct engine_output *output, struct arena *arena);

/* ---- life ---- */

/*
 * A fresh execution in lifecycle Pending; nothing has happened yet: accept ENGINE_IN_START next.
 * Copies everything. `catalog` is borrowed for the execution's life (process pointers are kept).
 * NULL when memory is refused.
 */
struct engine_execution *engine_new(const struct engine_catalog *catalog,
                                    const struct engine_start *start, int64_t now_ms);
void engine_free(struct engine_execution *execution);

/*
 * RESULT_OK: applied; call engine_advance next. RESULT_INVALID: refused, output->error and _message
 * say why and nothing changed (a late CALL_DONE for a token that is gone is RESULT_NOT_FOUND: drop
 * it). RESULT_LIMIT: the arena overflowed: throw the execution away and recover it.
 */
MUST_USE enum result engine_accept(struct engine_execution *execution,
                                   const struct engine_input *input, struct engine_output *output);

/*
 * Moves runnable tokens, at most `moves` node entries. *more: some can still move (call again,
 * later if you like). Each STEP_DONE effect is issued at the moment its blob is to be encoded: when
 * `after_step` is given it is called then, with `owner`, before the next token moves (the state
 * that the blob shows is gone afterwards), and it is not among the output's effects. engine_accept
 * issues none. A step that fails, is retried by an operator and succeeds is issued twice, with the
 * same stepId: the later bytes win. RESULT_LIMIT as above.
 */
typedef void (*engine_step_fn)(void *owner, struct engine_execution *execution,
                               const struct engine_effect *step);
MUST_USE enum result engine_advance(struct engine_execution *execution, int64_t now_ms,
                                    uint32_t moves, engine_step_fn after_step, void *owner,
                                    struct engine_output *output, bool *more);

/* Earliest Unix ms at which ENGINE_IN_TIMER has something to do; INT64_MAX: nothing. Includes
 * retries and wait deadlines. */
int64_t engine_next_due_ms(const struct engine_execution *execution);

/*
 * After decode or replay: CALL effects again for every call that was in flight (same attempt, same
 * Idempotency-Key). It may yield events too (a module that is no longer configured has refused):
 * call engine_advance next.
 */
MUST_USE enum result engine_recover(struct engine_execution *execution,
                                    struct engine_output *output);

/* ---- looking ---- */

struct engine_view {
    uint8_t state;
    enum engine_lifecycle lifecycle;
    uint32_t run;
    uint32_t sequence;       /* steps so far */
    uint32_t revision;       /* audit messages so far */
    uint64_t event_sequence; /* events so far: journal order within the execution */
    bool ended;              /* Stopped */
    bool waiting;            /* the segment ended and something outside must happen */
    bool human;              /* a human task waits */
    bool retrying;           /* a retry back-off runs */
    uint32_t call_count;     /* module calls in flight */
    int64_t waiting_since_ms;
    int64_t human_since_ms; /* when it last began to wait for a person */
    int64_t started_ms;
    int64_t updated_ms;
    int64_t ended_ms; /* where it has */
    bool is_test;
    struct span id, workspace, project, process, channel,
        channel_session_id; /* borrowed from the execution */
    struct span error_code; /* or empty */
    uint32_t version;
};
void engine_look(const struct engine_execution *execution, struct engine_view *out);

/* Fields of the reply to start, callback and verbs (interfaces.md 2), written as pairs into an open
 * map; returns the count. */
uint32_t engine_reply_pairs(const struct engine_execution *execution, struct wire_writer *writer);
/* executionMap as one ARRAY value: {sequence, stepId, taskId, at, token, process?} each, oldest
 * first, at most LIMIT_HISTORY. */
void engine_steps(const struct engine_execution *execution, struct wire_writer *writer);
/* Block states of a block scheme (engine.md 5) as one MAP value {block: "Pending" "Completed"
 * "Suspended" or "Aborted"}, blocks that were never activated left out. False: it is no scheme, and
 * nothing was written. */
bool engine_blocks(const struct engine_execution *execution, struct wire_writer *writer);
/*
 * An ARRAY value with an entry for each of `count` steps from that sequence on (all of this run):
 * {sequence, stepId, and what executionMap still has of it, underWay?: true}.
 */
void engine_steps_from(const struct engine_execution *execution, uint32_t from, uint32_t count,
                       struct wire_writer *writer);
/*
 * What it listens for now: {token, taskId, kind: "message" or "signal", name, correlationKey?} each
 * as one value; returns how many. It changes with every call of engine_accept and engine_advance; a
 * subscription without a correlation key takes any message of its name.
 */
uint32_t engine_subscriptions(const struct engine_execution *execution, struct wire_writer *writer);
/* Human tasks waiting in it: {executionId, process, taskId, stepId, sequence, taskName, assignee?,
 * candidateGroups?, candidateUsers?, formKey?, dueAt?, since, data} each as one value, in the order
 * of their steps' sequence; returns how many. None with the arena overflowed: it was too small. */
uint32_t engine_tasks(const struct engine_execution *execution, struct wire_writer *writer);

/* ---- bytes ---- */

/*
 * execution.msgpack (interfaces.md 4): one self-describing MAP value with formatVersion; also the
 * hot session and the state row. Equal executions give equal bytes.
 */
void engine_encode(const struct engine_execution *execution, struct wire_writer *writer);
/*
 * A step blob: payloads, the step's own entry, its token and the scopes around it, some of the
 * others with the counts of all; no history. At most so large whatever the execution holds besides
 * its payloads (encode_step.c).
 */
void engine_step_encode(const struct engine_execution *execution, const struct engine_step *step,
                        struct wire_writer *writer);
/* The id of any step of this run, also of one that history has let go of. */
struct uuid engine_step_id(const struct engine_execution *execution, uint32_t sequence);
/*
 * Back to life. RESULT_INVALID: not ours or an unknown formatVersion (a miss). RESULT_CORRUPT:
 * contradicts itself. RESULT_NOT_FOUND: the catalog lacks its process version (*missing says which,
 * static or from bytes).
 */
MUST_USE enum result engine_decode(const struct engine_catalog *catalog, struct span bytes,
                                   struct engine_execution **out);
/* The journal form of events: a run of MessagePack objects. */
void engine_events_encode(const struct engine_event *events, uint32_t count,
                          struct wire_writer *writer);
/*
 * Applies a run written by engine_events_encode whose first event has number `first`; events the
 * execution has already are skipped. *execution NULL: the run must begin with the creating event
 * (made by engine_new). RESULT_CORRUPT: a gap or bad bytes.
 */
MUST_USE enum result engine_replay(const struct engine_catalog *catalog, struct span events,
                                   uint64_t first, struct engine_execution **execution);

#endif
