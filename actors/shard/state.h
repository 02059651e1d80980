/*
 * state.h: what a shard is made of. Included by the files of this folder only; all of it belongs to
 * the shard's thread.
 *
 * - slot: one for each execution that is live, parked, or ended so lately that the index may not
 *   know it yet
 * - work: hangs on a slot while the execution is in memory as a live struct
 * - waiter: who gets a reply when the segment ends
 * - group: what waits for one commit
 * - gate: replies that wait for more than their commit: a stored blob, a binding at another shard
 * - lookup: a request whose execution is being fetched
 */
#ifndef ACTORS_SHARD_STATE_H
#define ACTORS_SHARD_STATE_H

#include "actors/catalog.h"
#include "actors/clock.h"
#include "actors/correlation.h"
#include "actors/directory.h"
#include "actors/order.h"
#include "actors/queue.h"
#include "actors/remembered.h"
#include "actors/reply.h"
#include "actors/shard/shard.h"
#include "actors/table.h"
#include "engine/engine.h"
#include "proto/wire/writer.h"
#include "storage/hot.h"

enum {
    SHARD_MAGIC = 0x53484152,
    GATE_MAGIC = 0x47415445,
    LOOKUP_MAGIC = 0x4c4f4f4b,
    TASKS_MAGIC = 0x5441534b,
    SHARD_COMMIT_BYTES =
        4 << 20, /* records of a turn beyond this are committed before the batch goes on */
    SHARD_SLICE_BYTES = 1 << 20, /* a slice that has written this much makes room for others */
    SHARD_MOVES_AT_ONCE = 32,    /* between two looks at that */
    SHARD_SLICES_MAX = 64,       /* unfinished segments that get a slice in one turn */
    SHARD_IDLE_TIMER_MS = 1000,  /* a timer that could not act is tried again then */
    SHARD_ENDED_MAX = 200000,    /* ended ones remembered while the index lags behind */
};

/* Answers what was accepted before the journal stalled. */
#define SHARD_KEPT_TEXT                                                                            \
    "the journal cannot be written; what was accepted is kept and will be tried again"

#define SHARD_NO_SESSION_TEXT "no execution waits on this channelSessionId"

struct actor_slot {
    struct actor_link link;
    struct actor_alarm alarm;       /* Unix ms: the engine's next due time */
    struct actor_rank rank;         /* among those with a human task; valid when human */
    struct actor_slot *ended_newer; /* among those that have ended; valid when ended */
    struct actor_work *work;        /* NULL: parked, ended or damaged */
    uint64_t ended_position;        /* journal position behind the commit that ended it */
    uint64_t hot_hash; /* of the bytes that a hot tier elsewhere may hold; 0: it holds none */
    bool human;
    bool ended;
    bool damaged;
    bool listens; /* the correlation knows of it */
    bool waking;  /* an alarm's lookup is under way */
    uint8_t id_bytes;
    char id[];
};

struct actor_waiter {
    struct actor_waiter *next;
    struct actor_work *work;
    struct proto_address to;     /* sink NULL: has been answered with Timeout, or nobody waits */
    struct actor_alarm deadline; /* monotonic ms */
    struct actor_remembered *remembered; /* NULL: the request had no requestId */
    enum proto_spelling spelling;
};

/* A message that an execution has published, or taken, in this turn; or the firing that began it.
 */
struct actor_news {
    struct actor_news *next;
    struct proto_message *fired; /* a firing, and nothing else */
    bool taken;
    struct proto_address from;      /* taken: who gave it */
    struct proto_publish published; /* taken: id and execution_id alone */
};

struct actor_work {
    struct actor_slot *slot;
    struct engine_execution *execution;
    struct actor_waiter *waiters; /* in the order they came */
    struct actor_work *unsettled_older, *unsettled_newer;
    struct actor_work *slice_next; /* run queue */
    uint64_t commit;               /* number of the newest commit with records of it */
    bool stored;                   /* a snapshot of it is in the journal */
    bool untabled;                 /* ... the newest of which says that it ended: no table has it */
    bool recorded;                 /* the journal knows of it */
    bool over;                     /* the segment ended: nothing to do until an input comes */
    bool sliced;                   /* in the run queue */
    bool forgotten;                /* deleted by an operator: goes with its commit */
    bool unsettled;                /* in the list */
    bool from_ended;               /* fetched for an operator's verb on an ended execution */
    /* this turn's */
    struct actor_work *touched_next;
    struct engine_output *output;
    uint32_t effects_seen;
    size_t step_bytes; /* of its newest step's blob; 0: none was made */
    struct actor_news *news, **news_end;
    struct actor_queue replies; /* leave behind the commit, and the gate if there is one */
    struct span
        snapshot; /* the engine's own encoding of the segment's end, if nothing came after it */
    uint32_t snapshot_events;
    bool touched;
    bool segment_ended; /* a snapshot is due */
    bool idle_timer;    /* a timer input changed nothing: no hurry with the next one */
    bool interim;       /* storage asked for a snapshot */
    bool broken;        /* memory ran out over it: to be set aside */
};

/* What other actors hold a ticket of: a gate, a lookup, a walk over tasks. Listed, so that a
 * stopped shard frees them. */
struct actor_held {
    uint32_t magic;
    struct actor_held *older, *newer;
};

struct actor_gate {
    struct actor_held held;
    uint32_t left; /* answers still to come */
    bool heavy;    /* one of them says whether a heavy session's blob is stored */
    struct execution_id execution_id; /* for the log */
    struct actor_queue replies;       /* what leaves then: also what another gate waits for */
};

struct actor_group {
    struct actor_group *newer;
    uint64_t number;
    struct actor_queue effects; /* leave when the commit is durable (at once when nothing is) */
    struct actor_queue awaits;  /* PROTO_AWAIT: leave with the commit's position, in either case */
};

/* A request (or an alarm: request NULL) whose execution must be fetched first. */
struct actor_lookup {
    struct actor_held held;
    struct execution_id id;
    struct proto_message *request;
    struct proto_message *row;  /* PROTO_FETCHED, or NULL */
    struct proto_message *logs; /* PROTO_FETCHED, or NULL */
    enum proto_fetch_kind kind; /* of the fetch that has just come; valid when answered */
    enum result result;         /* ... its result */
    struct span bytes;          /* ... and its bytes, while its message is handled */
    bool answered;
    bool pending;
    bool index_failed; /* where it was, or whether, is not known */
    bool deleted;      /* meanwhile: what was asked for may still show what was before */
};

struct actor_shard {
    uint32_t magic;
    struct actor_shard_options options;
    struct proto_sink *self;
    struct actor_catalog catalog;
    struct storage_hot *hot;
    struct actor_directory directory;
    struct actor_correlation correlation;
    struct actor_remembered_table requests;
    struct actor_remembered_table
        routes; /* (workspaceId, requestId) of session callbacks -> executionId */
    struct actor_time now;

    struct actor_table slots;
    struct actor_order tasks; /* slots with a human task */
    struct actor_slot *ended_oldest, *ended_newest;
    uint32_t ended_count;
    uint64_t ended_forgotten; /* position: some that ended before it are neither here nor surely in
                                 the index */
    struct actor_alarms alarms;                             /* slots, Unix ms */
    struct actor_alarms deadlines;                          /* waiters, monotonic ms */
    struct actor_work *unsettled_oldest, *unsettled_newest; /* by commit */
    struct actor_work *slices_oldest, *slices_newest;

    /* commits */
    uint64_t commit_number; /* of the turn being built */
    uint64_t committed;     /* all up to here are durable */
    uint64_t committed_position;
    struct actor_group *groups_oldest, *groups_newest;
    bool stalled;           /* the journal takes nothing: no input but answers of modules */
    uint64_t stalled_until; /* the newest commit that it did not take; valid when stalled */

    /* this turn's */
    struct arena turn;    /* outputs of the engine */
    struct arena records; /* the commit's bytes, nothing else */
    struct arena scratch; /* one encoding at a time */
    struct wire_writer batch;
    struct actor_queue effects;
    struct actor_queue awaits;
    struct actor_work *touched_oldest, *touched_newest;

    struct actor_held *held_newest;
    struct proto_address drain; /* who waits for the shard to come to rest */
    bool closing; /* since somebody has asked so: nothing begins or wakes by itself any more */
    struct actor_shard_counters counters;
};

/* ---- held.c: tickets ---- */
void shard_hold(struct actor_shard *shard, struct actor_held *held, uint32_t magic);
/* Off the list; the caller frees it. */
void shard_let_go(struct actor_shard *shard, struct actor_held *held);
struct proto_address shard_ticket(struct actor_shard *shard, struct actor_held *held);
/* What a ticket that came back stands for. */
struct actor_held *shard_of_ticket(uint64_t ticket, uint32_t magic);
uint32_t shard_ticket_magic(uint64_t ticket);
/* The execution is deleted: whoever looks for it just now finds nothing. */
void shard_lookups_deleted(struct actor_shard *shard, struct span execution_id);
/* Frees all that is held: nobody will answer any more. */
void shard_held_free(struct actor_shard *shard);

/* ---- slot.c: who is here ---- */
struct actor_slot *shard_slot_find(struct actor_shard *shard, struct span id);
struct actor_slot *shard_slot_new(struct actor_shard *shard, struct span id);
void shard_slot_free(struct actor_shard *shard, struct actor_slot *slot);
static inline struct span shard_slot_id(const struct actor_slot *slot)
{
    return span_of(slot->id, slot->id_bytes);
}
void shard_slot_set_human(struct actor_shard *shard, struct actor_slot *slot, bool human,
                          int64_t since_ms);
void shard_slot_set_alarm(struct actor_shard *shard, struct actor_slot *slot, int64_t due_ms);
void shard_slot_set_damaged(struct actor_shard *shard, struct actor_slot *slot, const char *why);
void shard_slot_end(struct actor_shard *shard, struct actor_slot *slot, uint64_t position);
void shard_slots_forget_ended(struct actor_shard *shard, uint64_t indexed);
/* Puts a live execution on a slot that has none. NULL: no memory (the execution is freed). */
struct actor_work *shard_work_new(struct actor_shard *shard, struct actor_slot *slot,
                                  struct engine_execution *execution);
/* Frees the execution and takes the work off its slot. Waiters must be gone. */
void shard_work_free(struct actor_shard *shard, struct actor_work *work);

/* ---- work.c: an execution moves ---- */
/* This turn's output of it. NULL: no memory. */
struct engine_output *shard_touch(struct actor_shard *shard, struct actor_work *work);
/* engine_accept; on RESULT_OK the segment runs until it parks, ends or has used up its slice. */
enum result shard_accept(struct actor_shard *shard, struct actor_work *work,
                         const struct engine_input *input);
void shard_run(struct actor_shard *shard, struct actor_work *work);
void shard_run_slices(struct actor_shard *shard);
/* It gets its next slice in a turn to come. */
void shard_slice_later(struct actor_shard *shard, struct actor_work *work);
/* Makes the calls again that were in flight. Returns how many. */
uint32_t shard_call_again(struct actor_shard *shard, struct actor_work *work);
/* Cancels the calls in flight; those of this turn are not made. */
void shard_cancel_calls(struct actor_shard *shard, struct actor_work *work);

/* ---- answer.c: who waits ---- */
/* timeout_ms 0: none. NULL: too many wait. */
struct actor_waiter *shard_wait(struct actor_shard *shard, struct actor_work *work,
                                const struct proto_message *request,
                                struct actor_remembered *remembered, uint64_t timeout_ms);
/* Takes back a wait that has not been answered: its input was refused. */
void shard_wait_end(struct actor_shard *shard, struct actor_waiter *waiter);
/* One without anybody: keeps the remembered request of an execution that was recovered. */
MUST_USE enum result shard_wait_remembered(struct actor_shard *shard, struct actor_work *work,
                                           struct actor_remembered *remembered);
/* The segment ended: all who wait get the state, held until the commit. */
void shard_answer_all(struct actor_shard *shard, struct actor_work *work);
void shard_refuse_all(struct actor_shard *shard, struct actor_work *work,
                      const struct actor_refusal *refusal);
void shard_time_out(struct actor_shard *shard);
/* The body {"v":1,"ok":true,…state…} in the scratch arena. */
struct span shard_state_body(struct actor_shard *shard, const struct engine_execution *execution);
/* Answers one request with `body`: held until commit `after` is durable; remembers it as the first
 * reply. */
void shard_reply(struct actor_shard *shard, const struct proto_message *request, bool ok,
                 struct span body, uint64_t after);
/* The final answer to a request that may be remembered; repeats that were attached get it too. */
void shard_conclude(struct actor_shard *shard, const struct proto_message *request,
                    struct actor_remembered *remembered, bool ok, struct span body,
                    struct actor_work *work);
/* The same where no execution is concerned, in this turn's commit; remembered under that id. */
void shard_conclude_here(struct actor_shard *shard, const struct proto_message *request,
                         struct actor_remembered *remembered, struct span id, struct span body);
void shard_refuse(struct actor_shard *shard, const struct proto_message *request,
                  struct actor_remembered *remembered, const struct actor_refusal *refusal,
                  struct actor_work *work);
/* Writes the REQUEST record of a remembered request into this turn's commit. */
void shard_record_request(struct actor_shard *shard, struct actor_remembered *remembered,
                          struct span execution_id);

/* ---- verb.c: what is asked for ---- */
/* Takes the message. `lookup`: what a fetch has found, or NULL. */
void shard_request(struct actor_shard *shard, struct proto_message *message,
                   struct actor_lookup *lookup);
/* A request that this shard found the execution of by its session was refused there. Takes the
 * PROTO_ROUTE_DROP. */
void shard_drop_route(struct actor_shard *shard, struct proto_message *message);

/* ---- lookup.c: where an execution is ---- */
enum shard_located {
    SHARD_LIVE,    /* *work */
    SHARD_PENDING, /* the request was taken and comes again */
    SHARD_ABSENT,  /* unknown everywhere */
    SHARD_ENDED,   /* ended, and its bytes were not asked for */
    SHARD_DAMAGED,
    SHARD_FAILED, /* a store did not answer */
};
/* What an operation wants of an execution. */
enum shard_wish {
    SHARD_WISH_LIVE,  /* for an input: ended ones are only said to be so */
    SHARD_WISH_ANY,   /* for an operator: ended ones come back to life */
    SHARD_WISH_CHECK, /* for a start: is the id taken? */
};
enum shard_located shard_locate(struct actor_shard *shard, const struct execution_id *id,
                                enum shard_wish wish, struct proto_message **request,
                                struct actor_lookup *lookup, struct actor_work **work);
void shard_lookup_free(struct actor_shard *shard, struct actor_lookup *lookup);
/* PENDING: the request comes back with what storage says to this query. Else FAILED. */
enum shard_located shard_fetch_steps(struct actor_shard *shard, const struct execution_id *id,
                                     struct span query, struct proto_message **request,
                                     struct actor_lookup *lookup);
/* Fetches the logs for a `get`; true: the request was taken and comes again with them. */
bool shard_fetch_logs(struct actor_shard *shard, const struct execution_id *id,
                      struct proto_message **request, struct actor_lookup *lookup);
/* Asks a hot tier elsewhere whom a channel session means that nobody here knows; true: the request
 * was taken and comes again with the answer. */
bool shard_fetch_bound(struct actor_shard *shard, struct span channel_session_id,
                       struct proto_message **request, struct actor_lookup *lookup);
/* What came: false when it names nobody. */
bool shard_found_bound(const struct actor_lookup *lookup, struct execution_id *id);
/* Takes the message. */
void shard_fetched(struct actor_shard *shard, struct proto_message *message);
void shard_alarms_ring(struct actor_shard *shard);

/* ---- hot.c: the bytes of those that wait ---- */
bool shard_hot_is_elsewhere(const struct actor_shard *shard);
/* The bytes in this shard's own memory (until the next call), empty on a miss. */
struct span shard_hot_peek(struct actor_shard *shard, const struct actor_slot *slot);
/* Are these, fetched from elsewhere, the newest? */
bool shard_hot_is_newest(const struct actor_slot *slot, struct span bytes);
/* It waits with these bytes: kept here, or the returned message tells the hot actor so. */
struct proto_message *shard_hot_park(struct actor_shard *shard, struct actor_slot *slot,
                                     const struct engine_view *view, struct span bytes);
/* The same where the tier may have them already, or should have. */
void shard_hot_recover(struct actor_shard *shard, struct actor_slot *slot, struct span bytes);
void shard_hot_warm(struct actor_shard *shard, struct actor_slot *slot,
                    const struct engine_view *view, struct span bytes);
/* It goes on: what is kept is out of date. */
void shard_hot_drop(struct actor_shard *shard, struct actor_slot *slot);
/* It ended or was deleted: with this turn's commit the tier forgets it. */
void shard_hot_end(struct actor_shard *shard, struct actor_slot *slot,
                   const struct engine_view *view);

/* A tier elsewhere says that the session means this execution, which has ended: both keys go. */
void shard_hot_disown(struct actor_shard *shard, struct span id, struct span channel_session_id);

/* ---- tasks.c: the human tasks of this shard ---- */
/* Takes the request. */
void shard_tasks(struct actor_shard *shard, struct proto_message *request);
/* Takes the message, a PROTO_FETCHED that shard_tasks asked for. */
void shard_tasks_fetched(struct actor_shard *shard, struct proto_message *message);
void shard_tasks_free(struct actor_shard *shard, struct actor_held *held);

/* ---- commit.c: what becomes durable, and what leaves then ---- */
void shard_begin(struct actor_shard *shard);
/* Writes the records of everything touched, sends the commit, queues the effects behind it. */
void shard_end(struct actor_shard *shard);
void shard_committed(struct actor_shard *shard, const struct proto_message *message);
/* An effect that must wait for commit `after` (0: for none). */
void shard_effect(struct actor_shard *shard, struct proto_message *effect, uint64_t after);
/* `result` other than OK: what was waited for could not be done; what is held leaves all the same,
 * as the journal has it. */
void shard_gate_answered(struct actor_shard *shard, uint64_t ticket, enum result result);
void shard_gate_free(struct actor_shard *shard, struct actor_gate *gate);
/* Parks or frees what has come to rest. */
void shard_settle(struct actor_shard *shard);
/* From now on the work waits in the list of the unsettled, behind its newest commit. */
void shard_unsettle(struct actor_shard *shard, struct actor_work *work);

/* Enters or drops a session in this shard's directory. Takes the message. */
void shard_bind_here(struct actor_shard *shard, struct proto_message *message);
/* A PROTO_SESSION_BIND or _DROP; NULL: no memory. */
struct proto_message *shard_session_message(enum proto_message_type type,
                                            const struct engine_view *view);

/* ---- correlate.c: this shard keeps names ---- */
struct proto_message *shard_publish_message(enum proto_message_type type,
                                            const struct proto_publish *published);
void shard_published(struct actor_shard *shard, const struct proto_publish *published);
void shard_listened(struct actor_shard *shard, const struct proto_listen *listen);
void shard_delivered(struct actor_shard *shard, const struct proto_publish *delivered);
/* Recovery: it is handed out with the first turn. */
MUST_USE enum result shard_keep_message(struct actor_shard *shard,
                                        const struct proto_publish *published);
void shard_letters_ring(struct actor_shard *shard);

/* ---- deliver.c: this shard's executions publish and take ---- */
struct proto_sink *shard_keeper(struct actor_shard *shard, struct span name);
void shard_note_publish(struct actor_shard *shard, struct actor_work *work,
                        const struct engine_effect *effect);
/* Takes the message. `lookup`: what a fetch has found, or NULL. */
void shard_deliver(struct actor_shard *shard, struct proto_message *message,
                   struct actor_lookup *lookup);
/* Tells the correlation what it listens for now, behind this turn's commit. */
void shard_listen(struct actor_shard *shard, struct actor_slot *slot,
                  const struct engine_execution *execution, bool gone);
/* The records of what it published and took, into the commit of what that did. */
void shard_finish_news(struct actor_shard *shard, struct actor_work *work);

/* ---- start.c ---- */
/* A new execution that nobody waits for, begun by a message, signal or timer; NULL: it could not be
 * made. */
struct actor_work *shard_begin_by(struct actor_shard *shard, const struct engine_start *start);

/* ---- fire.c: timers begin executions ---- */
/* Takes the PROTO_FIRE. */
void shard_fire(struct actor_shard *shard, struct proto_message *message);
/* Its record, into the commit of what it began, and its answer behind that. Takes the message. */
void shard_finish_fire(struct actor_shard *shard, const struct actor_work *work,
                       struct proto_message *message);

/* ---- observe.c: what observers are told (PROTO_EVENT) ---- */
bool shard_is_observed(const struct actor_shard *shard);
void shard_observe_audit(struct actor_shard *shard, struct span message);
void shard_observe_step(struct actor_shard *shard, struct span step_blob);

/* ---- tell.c: log lines of single executions ---- */

void shard_tell_call(const struct actor_shard *shard, const struct proto_call *call);
void shard_tell_answer(const struct actor_shard *shard, const struct proto_call_done *done);
/* Nothing where it goes on. */
void shard_tell_end(const struct actor_shard *shard, const struct engine_view *view);
/* Its human tasks, when it begins to wait for people. */
void shard_observe_tasks(struct actor_shard *shard, const struct engine_execution *execution);

#endif
