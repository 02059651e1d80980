/*
 * message.h: what actors and adapters say to each other. One allocation a message: the struct, and
 * behind it the bytes of all its spans (message_new's `bytes`), so a message is self-contained and
 * is freed by whoever received it. Immutable once sent.
 */
#ifndef PROTO_MESSAGE_H
#define PROTO_MESSAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "proto/base/id.h"
#include "proto/base/result.h"
#include "proto/base/span.h"
#include "proto/operation.h"
#include "proto/sink.h"

enum proto_message_type {
    PROTO_NONE = 0,
    /* front, admin, command line -> router -> shard, registry or directory */
    PROTO_REQUEST, /* as.request; answered by PROTO_REPLY */
    PROTO_REPLY,   /* as.reply */
    /* shard <-> module dispatch (transport/modules.h) */
    PROTO_CALL,        /* as.call; answered by exactly one PROTO_CALL_DONE, after a cancel too */
    PROTO_CALL_CANCEL, /* as.call_cancel */
    PROTO_CALL_DONE,   /* as.call_done */
    /* shard <-> journal */
    PROTO_COMMIT,           /* as.commit */
    PROTO_COMMITTED,        /* as.committed */
    PROTO_JOURNAL_ADVANCED, /* journal -> drain: as.position is readable now; answered, in its time,
                               by DRAINED */
    PROTO_DRAINED,          /* drain -> journal, or bus drain -> storage, which writes its position
                               down and passes it on: as.drained */
    /* shard <-> storage */
    PROTO_FETCH,   /* as.fetch: an execution, blobs of it, its index row, a list */
    PROTO_FETCHED, /* as.fetched */
    PROTO_AWAIT,   /* as.await; PROTO_DONE when that blob is stored, or will not be soon */
    PROTO_KEEP,    /* as.keep: what a hot tier that lives elsewhere is to hold; answered by
                      PROTO_DONE */
    PROTO_INTERIM, /* as.execution_id: storage asks for a snapshot of a segment that holds the
                      journal back; no answer */
    /* registry -> shards */
    PROTO_DEFINITION, /* as.definition: compile and keep; answered by PROTO_DONE */
    PROTO_PROJECT,    /* as.project: modules and environment; answered by PROTO_DONE */
    /* shard <-> directory (the shard that hash(channelSessionId) picks) */
    PROTO_SESSION_BIND, /* as.session; answered by PROTO_DONE */
    PROTO_SESSION_DROP, /* as.session; no answer */
    PROTO_ROUTE_DROP,   /* as.route: that request was refused; no answer */
    /* shard <-> correlation (the shard that hash(name) picks) */
    PROTO_LISTEN,    /* as.listen: all that an execution listens for now; no answer */
    PROTO_PUBLISH,   /* as.publish: a message, durable by now, or a signal; no answer */
    PROTO_DELIVER,   /* as.publish, to the owner of its execution_id; a message is answered by
                        DELIVERED, a signal by nothing */
    PROTO_DELIVERED, /* as.publish: id, execution_id and result alone */
    /* registry <-> the owner of the execution that a trigger begins */
    PROTO_FIRE,  /* as.fire; answered by the same message as FIRED */
    PROTO_FIRED, /* as.fire: result OK: durable; AGAIN: nothing was done */
    /* ports with slow stores -> the actor that opened them */
    PROTO_PORT_DONE, /* as.port_done */
    /* audit bus (audit/bus.h) -> the actor that opened it */
    PROTO_BUS_SETTLED,  /* as.position: so many messages, in the order of their sending, are done
                           with */
    PROTO_BUS_REFUSED,  /* as.bus: the bus will never take it; before the SETTLED that counts it */
    PROTO_BUS_RECEIVED, /* as.bus: to be settled by its number */
    /* backup -> journal, storage */
    PROTO_HOLD,   /* as.hold: the journal trims nothing, or goes on trimming; answered by PROTO_DONE
                   */
    PROTO_BACKUP, /* as.directory: the tables are copied there; answered by PROTO_DONE */
    /* life cycle */
    PROTO_DRAIN, /* stop taking starts, finish segments, then answer PROTO_DONE */
    PROTO_DONE,  /* as.done */
    /* observers (strider run --trace, /v1/events) */
    PROTO_EVENT, /* as.event */
    PROTO_MESSAGE_TYPE_COUNT
};

enum proto_spelling { PROTO_MSGPACK, PROTO_JSON };

struct proto_request {
    enum proto_operation operation;
    enum proto_spelling spelling; /* the reply's */
    struct span body; /* the whole request: a MAP value, validated, ids checked by the router */
    struct execution_id
        execution_id;  /* filled by the router where the operation is about one execution */
    bool route_is_new; /* the keeper of its session has just found the execution, and has made a
                          note for repeats */
    bool by_tier;      /* a hot tier elsewhere has named the execution for the session, which may be
                          out of date */
    struct span start_node; /* a start by a webhook: where it begins; empty: the plain starts */
    uint64_t received_ms;   /* loop-independent monotonic ms, for time-outs and latency */
};

struct proto_reply {
    enum proto_spelling spelling;
    bool ok;
    struct span body; /* a whole MAP value: {"v":1,"ok":…,…} */
};

/* Why a module call ended. */
enum proto_call_outcome {
    PROTO_CALL_ANSWERED,    /* an HTTP answer: `status`, `body` as a value (or empty for 202/204) */
    PROTO_CALL_UNREACHABLE, /* no connection or it broke before a whole answer: transient */
    PROTO_CALL_TIMED_OUT,   /* our deadline: transient */
    PROTO_CALL_BAD_REPLY,   /* `reason`: too large, not JSON, not UTF-8 …: permanent */
    PROTO_CALL_CANCELLED,   /* by PROTO_CALL_CANCEL */
    PROTO_CALL_REFUSED,     /* the call itself is impossible (bad URL): permanent */
};

struct proto_call {
    struct execution_id execution_id;
    uint32_t token; /* with execution_id and attempt: names the call, comes back */
    uint32_t attempt;
    struct span project; /* with `module`: the concurrency bucket */
    struct span module;  /* the module's name (its URL when it has none) */
    struct span url;
    struct span headers; /* MAP value of strings, may be empty */
    struct span idempotency_key;
    struct span traceparent; /* W3C trace context */
    struct span body;        /* MAP value; the dispatcher spells it as `spelling` says */
    enum proto_spelling spelling;
    uint32_t timeout_ms;
    uint32_t concurrent_max; /* of the module, over all shards */
    size_t reply_bytes_max;
};

struct proto_call_cancel {
    struct execution_id execution_id;
    uint32_t token;
    uint32_t attempt;
};

struct proto_call_done {
    struct execution_id execution_id;
    uint32_t token;
    uint32_t attempt;
    enum proto_call_outcome outcome;
    uint32_t status;        /* HTTP status when ANSWERED */
    int64_t retry_after_ms; /* from Retry-After, capped; -1 when none */
    struct span body;       /* a validated value, or empty */
    struct span reason;     /* for a person: what was wrong, with a cut sample of the body */
    uint32_t elapsed_ms;
};

/* One batch of journal records (proto/record.h), appended and made durable together. */
struct proto_commit {
    struct span records;
    uint64_t position; /* the journal's own note: where the batch ends once it is appended */
};

struct proto_committed {
    enum result result; /* RESULT_OK, RESULT_FULL, RESULT_IO */
    uint64_t position;  /* journal position behind the batch */
    uint64_t indexed;   /* the audit drain has passed this position */
};

enum proto_drain {
    PROTO_DRAIN_STATE,
    PROTO_DRAIN_BLOB,
    PROTO_DRAIN_AUDIT,
    PROTO_DRAIN_BUS,
    PROTO_DRAIN_COUNT
};

/* In place of a drain's position: there is no such drain, and the journal keeps nothing for it. */
#define PROTO_DRAIN_OFF UINT64_MAX

struct proto_drained {
    enum proto_drain drain;
    uint64_t durable; /* the journal may forget what lies before */
    uint64_t read;    /* read up to here: tell when there is more */
};

/*
 * Answered by what the journal held when the question came, not by how far a drain has got; EXISTS
 * alone does not wait.
 */
enum proto_fetch_kind {
    PROTO_FETCH_STATE,  /* storage: newest snapshot of a live execution */
    PROTO_FETCH_BLOB,   /* storage: execution.msgpack of workspace `query` */
    PROTO_FETCH_ROW,    /* audit: the index row, a MAP value */
    PROTO_FETCH_EXISTS, /* audit: is there an index row? */
    PROTO_FETCH_LOGS,   /* audit: logs of one execution, an ARRAY value */
    PROTO_FETCH_STEPS,  /* storage: step blobs. query: [workspaceId, outline, [stepId …]]; the
                           answer: [outline, [blob, nil (there is none) or false (it cannot be
                           read) …]], which ends early when it would be too large */
    PROTO_FETCH_HOT,    /* hot: a session's bytes, of whatever age */
    PROTO_FETCH_BOUND,  /* hot: whom channelSessionId `query` is bound to */
};

enum proto_keep_kind {
    PROTO_KEEP_SESSION, /* its bytes, and whom its channel session means */
    PROTO_KEEP_BOUND,   /* the latter alone: it is too large for the tier */
    PROTO_KEEP_NOTHING, /* it ended: both go, the binding if it is still its own */
};

struct proto_keep {
    enum proto_keep_kind kind;
    struct execution_id execution_id;
    struct span channel_session_id; /* or empty */
    struct span bytes;              /* of SESSION */
};

struct proto_fetch {
    enum proto_fetch_kind kind;
    struct execution_id execution_id;
    struct span query;
    uint64_t position; /* the store's own notes: what must be stored before it answers */
    uint64_t since_ms; /* ... and when it was asked */
};

struct proto_await {
    struct execution_id execution_id; /* whose execution.msgpack is waited for ... */
    struct span workspace;
    uint64_t position; /* ... as it is before this position, or newer */
    uint64_t since_ms; /* the store's own note */
};

struct proto_fetched {
    enum proto_fetch_kind kind;
    struct execution_id execution_id;
    enum result result;
    struct span bytes;
};

struct proto_definition {
    struct span project;
    struct span name;    /* file name, for messages */
    struct span content; /* the file's bytes */
    uint32_t version;    /* of each process in it */
};

struct proto_project {
    struct span project;
    struct span workspace;
    struct span environment; /* MAP value */
    struct span modules;     /* modules.json as a value */
};

struct proto_session {
    struct span channel_session_id;
    struct execution_id execution_id;
    uint64_t waiting_since_ms; /* the newest wins */
};

/* By which the keeper of a session knows a request again. */
struct proto_route {
    struct span workspace;
    struct span request_id;
};

struct proto_listen {
    struct execution_id execution_id;
    struct span workspace;
    struct span subscriptions; /* a run of values, as engine_subscriptions writes them */
};

struct proto_publish {
    bool is_signal;
    struct span id;
    struct span workspace;
    struct span project;
    struct span name;
    struct span key;     /* or empty */
    struct span payload; /* a value, or empty */
    int64_t at_ms;
    int64_t expires_ms; /* Unix; not taken from then on */
    /* DELIVER and DELIVERED */
    struct execution_id execution_id;
    struct span process; /* not empty: begin a new execution of it ... */
    struct span node;    /* ... here */
    enum result result;  /* OK: taken, durably; NOT_FOUND: not wanted any more; AGAIN: later */
};

/* A trigger's firing: an execution begins. */
struct proto_fire {
    struct execution_id execution_id;
    struct span workspace;
    struct span project;
    struct span process;
    uint32_t version;
    struct span trigger; /* its id within the process */
    struct span node;    /* where the execution begins; empty: as by hand */
    uint64_t fired;      /* how often this version has, this firing included */
    int64_t due_ms;      /* Unix: the instant that it stands for */
    int64_t fired_ms;    /* Unix: when it was found due */
    enum result result;
};

struct proto_port_done {
    enum result result;
    struct span results; /* one byte (enum result) an item, where the operation had several */
    struct span bytes;   /* what was read */
};

struct proto_bus_message {
    uint64_t number; /* REFUSED: how many were sent before it; RECEIVED: what settles it */
    struct span id;  /* message-id, or empty */
    struct span body;
    struct span reason; /* REFUSED: for a person */
    bool cut;           /* RECEIVED: larger than any message may be; the body is its beginning */
};

struct proto_done {
    enum result result;
    struct span text; /* for a person, on failure */
    uint64_t value;
};

struct proto_event {
    struct span body; /* MAP value: {"event","executionId","taskId",…} */
};

struct proto_message {
    struct proto_message *next; /* private to the queue that holds it */
    uint32_t magic;             /* PROTO_MESSAGE_MAGIC */
    enum proto_message_type type;
    struct proto_address reply_to;
    union {
        struct proto_request request;
        struct proto_reply reply;
        struct proto_call call;
        struct proto_call_cancel call_cancel;
        struct proto_call_done call_done;
        struct proto_commit commit;
        struct proto_committed committed;
        uint64_t position;
        struct proto_await await;
        struct proto_fetch fetch;
        struct proto_fetched fetched;
        struct proto_keep keep;
        struct proto_drained drained;
        struct execution_id execution_id;
        struct proto_definition definition;
        struct proto_project project;
        struct proto_session session;
        struct proto_listen listen;
        struct proto_publish publish;
        struct proto_route route;
        struct proto_fire fire;
        struct proto_port_done port_done;
        struct proto_bus_message bus;
        struct proto_done done;
        bool hold;
        struct span directory; /* with a NUL behind it */
        struct proto_event event;
    } as;
    /* private to message.c */
    uint8_t *room;
    uint8_t *room_end;
};

#define PROTO_MESSAGE_MAGIC 0x4d534731u

/* A zeroed message of that type with `bytes` of room for message_keep; NULL when malloc refuses. */
struct proto_message *message_new(enum proto_message_type type, size_t bytes);
/*
 * Copies a span into the message's own room (ASSERTs that it was reserved) and returns the copy. A
 * NUL byte is not added.
 */
struct span message_keep(struct proto_message *message, struct span span);
/* Messages that hold copies of these; NULL when malloc refuses. */
struct proto_message *message_of_definition(const struct proto_definition *definition);
struct proto_message *message_of_project(const struct proto_project *project);
/* Frees it; NULL is fine. */
void message_free(struct proto_message *message);

/*
 * Sends to `to` as the answer to its ticket; frees the message when nobody waits or the sink is
 * closed. Always takes it. The asker finds its ticket in the answer's reply_to.ticket
 * (reply_to.sink is NULL: nobody waits for an answer to it).
 */
void message_answer(struct proto_address to, struct proto_message *message);

#endif
