/*
 * hot.c: requests of the shards become commands of the tier, and its answers theirs. The hot
 * loop's thread.
 */
#include "actors/hot.h"

#include <stdlib.h>

#include "proto/base/assert.h"
#include "proto/log.h"

enum {
    HOT_MAGIC = 0x484f5453,
    ASKED_MAGIC = 0x48415344,
    PROBE_EVERY_MS = 2000, /* when nobody asks, the tier is asked so often whether it is there */
};

/* A request, or a probe (kind PROTO_NONE), and how many answers of the tier it waits for. */
struct asked {
    uint32_t magic;
    struct asked *older, *newer;
    enum proto_message_type kind;
    enum proto_fetch_kind fetch;
    struct execution_id execution_id;
    struct proto_address reply_to;
    uint32_t left;
    enum result result; /* the first failure */
};

struct actor_hot {
    uint32_t magic;
    struct proto_sink *self;
    struct storage_hot *tier;
    struct asked *newest;
    struct actor_time now;
    uint64_t probe_ms;
    struct actor_hot_counters counters;
};

enum result actor_hot_new(struct proto_sink *self, struct actor_hot **out)
{
    struct actor_hot *hot = calloc(1, sizeof *hot);
    if (hot == NULL) {
        return RESULT_LIMIT;
    }
    *hot = (struct actor_hot){.magic = HOT_MAGIC, .self = self};
    *out = hot;
    return RESULT_OK;
}

static void forget(struct actor_hot *hot, struct asked *asked)
{
    *(asked->newer == NULL ? &hot->newest : &asked->newer->older) = asked->older;
    if (asked->older != NULL) {
        asked->older->newer = asked->newer;
    }
    asked->magic = 0;
    free(asked);
}

void actor_hot_free(struct actor_hot *hot)
{
    if (hot == NULL) {
        return;
    }
    while (hot->newest != NULL) {
        forget(hot, hot->newest); /* whoever asked has stopped */
    }
    hot->magic = 0;
    free(hot);
}

void actor_hot_set_tier(struct actor_hot *hot, struct storage_hot *tier)
{
    hot->tier = tier;
}

const struct actor_hot_counters *actor_hot_counters(const struct actor_hot *hot)
{
    return &hot->counters;
}

/* ---- how the tier does ---- */

/* One line a change of state; in between it is counted (engine.md 11: a failure is CRITICAL). */
static void heard(struct actor_hot *hot, enum result result)
{
    bool failed = result != RESULT_OK && result != RESULT_NOT_FOUND;
    bool before = actor_count_read(&hot->counters.failing) == 1;
    if (failed) {
        actor_count(&hot->counters.failures, 1);
    }
    if (failed == before) {
        return;
    }
    actor_count_set(&hot->counters.failing, failed ? 1 : 0);
    log_line(failed ? LOG_CRITICAL : LOG_INFO, failed ? "HOT-FAILS" : "HOT-WORKS-AGAIN",
             "reason=\"%s\" failures=%llu", result_text(result),
             (unsigned long long)actor_count_read(&hot->counters.failures));
}

/* ---- answers ---- */

static void answer_kept(struct proto_address to, enum result result)
{
    struct proto_message *done = message_new(PROTO_DONE, 0);
    if (done == NULL) {
        log_line(LOG_CRITICAL, "HOT-ANSWER-LOST", "reason=\"no memory\"");
        return;
    }
    done->as.done.result = result;
    message_answer(to, done);
}

static void answer_fetched(const struct asked *asked, enum result result, struct span bytes)
{
    bytes = result == RESULT_OK ? bytes : SPAN_EMPTY;
    struct proto_message *fetched = message_new(PROTO_FETCHED, bytes.count);
    if (fetched == NULL) {
        fetched = message_new(PROTO_FETCHED, 0);
        result = RESULT_LIMIT;
        bytes = SPAN_EMPTY;
    }
    if (fetched == NULL) {
        log_line(LOG_CRITICAL, "HOT-ANSWER-LOST", "reason=\"no memory\"");
        return;
    }
    fetched->as.fetched = (struct proto_fetched){.kind = asked->fetch,
                                                 .execution_id = asked->execution_id,
                                                 .result = result,
                                                 .bytes = message_keep(fetched, bytes)};
    message_answer(asked->reply_to, fetched);
}

/* Frees it. */
static void conclude(struct actor_hot *hot, struct asked *asked, struct span bytes)
{
    ASSERT(asked->left == 0);
    if (asked->kind == PROTO_FETCH) {
        actor_count(&hot->counters.hits, asked->result == RESULT_OK ? 1 : 0);
        answer_fetched(asked, asked->result, bytes);
    } else if (asked->kind == PROTO_KEEP && asked->reply_to.sink != NULL) {
        answer_kept(asked->reply_to, asked->result);
    }
    forget(hot, asked);
}

/* ---- asking the tier ---- */

static struct asked *ask(struct actor_hot *hot, const struct proto_message *message)
{
    struct asked *asked = calloc(1, sizeof *asked);
    if (asked == NULL) {
        return NULL;
    }
    *asked = (struct asked){.magic = ASKED_MAGIC, .older = hot->newest, .result = RESULT_OK};
    if (message != NULL) {
        asked->kind = message->type;
        asked->reply_to = message->reply_to;
    }
    if (asked->older != NULL) {
        asked->older->newer = asked;
    }
    hot->newest = asked;
    return asked;
}

static struct proto_address ticket(struct actor_hot *hot, struct asked *asked)
{
    return (struct proto_address){.sink = hot->self, .ticket = (uint64_t)(uintptr_t)asked};
}

/* What the tier said to one command: an answer comes, or it did not even take it. */
static void commanded(struct actor_hot *hot, struct asked *asked, enum result result)
{
    if (result == RESULT_OK) {
        asked->left++;
        return;
    }
    heard(hot, result);
    asked->result = asked->result == RESULT_OK ? result : asked->result;
}

static void keep(struct actor_hot *hot, const struct proto_message *message)
{
    const struct proto_keep *kept = &message->as.keep;
    const struct storage_hot_ops *ops = hot->tier->ops;
    struct span id = execution_id_span(&kept->execution_id);
    struct span session = kept->channel_session_id;
    struct asked *asked = ask(hot, message);
    if (asked == NULL) {
        answer_kept(message->reply_to, RESULT_LIMIT);
        return;
    }
    actor_count(&hot->counters.writes, 1);
    uint64_t now_ms = hot->now.monotonic_ms;
    struct proto_address to = ticket(hot, asked);
    if (kept->kind == PROTO_KEEP_SESSION) {
        commanded(hot, asked, ops->put(hot->tier, id, kept->bytes, now_ms, to));
    } else {
        commanded(hot, asked, ops->remove(hot->tier, id, to));
    }
    if (session.count > 0 && kept->kind == PROTO_KEEP_NOTHING) {
        commanded(hot, asked, ops->unbind(hot->tier, session, id, to));
    } else if (session.count > 0) {
        commanded(hot, asked, ops->bind(hot->tier, session, id, now_ms, to));
    }
    if (asked->left == 0) {
        conclude(hot, asked, SPAN_EMPTY);
    }
}

static void fetch(struct actor_hot *hot, const struct proto_message *message)
{
    const struct proto_fetch *wanted = &message->as.fetch;
    const struct storage_hot_ops *ops = hot->tier->ops;
    struct asked *asked = ask(hot, message);
    if (asked == NULL) {
        answer_fetched(&(struct asked){.fetch = wanted->kind,
                                       .execution_id = wanted->execution_id,
                                       .reply_to = message->reply_to},
                       RESULT_LIMIT, SPAN_EMPTY);
        return;
    }
    asked->fetch = wanted->kind;
    asked->execution_id = wanted->execution_id;
    actor_count(&hot->counters.reads, 1);
    uint64_t now_ms = hot->now.monotonic_ms;
    struct proto_address to = ticket(hot, asked);
    commanded(hot, asked,
              wanted->kind == PROTO_FETCH_BOUND
                  ? ops->resolve(hot->tier, wanted->query, now_ms, to)
                  : ops->get(hot->tier, execution_id_span(&wanted->execution_id), now_ms, to));
    if (asked->left == 0) {
        conclude(hot, asked, SPAN_EMPTY);
    }
}

/* So that a tier that nobody needs just now is known to be away, or back. */
static void probe(struct actor_hot *hot)
{
    struct asked *asked = ask(hot, NULL);
    if (asked == NULL) {
        return;
    }
    commanded(hot, asked,
              hot->tier->ops->get(hot->tier, span_text("strider-probe"), hot->now.monotonic_ms,
                                  ticket(hot, asked)));
    if (asked->left == 0) {
        conclude(hot, asked, SPAN_EMPTY);
    }
}

static void port_done(struct actor_hot *hot, const struct proto_message *message)
{
    struct asked *asked =
        BASE_CAST(asked, (void *)(uintptr_t)message->reply_to.ticket, ASKED_MAGIC);
    const struct proto_port_done *done = &message->as.port_done;
    ASSERT(asked->left > 0);
    heard(hot, done->result);
    asked->result = asked->result == RESULT_OK ? done->result : asked->result;
    if (--asked->left == 0) {
        conclude(hot, asked, done->bytes);
    }
}

/* ---- the turn ---- */

uint64_t actor_hot_turn(void *argument, struct proto_message *batch, struct actor_time now)
{
    struct actor_hot *hot = BASE_CAST(actor_hot, argument, HOT_MAGIC);
    hot->now = now;
    while (batch != NULL) {
        struct proto_message *message = batch;
        batch = batch->next;
        message->next = NULL;
        if (message->type == PROTO_KEEP) {
            keep(hot, message);
        } else if (message->type == PROTO_FETCH) {
            fetch(hot, message);
        } else {
            ASSERT(message->type == PROTO_PORT_DONE);
            port_done(hot, message);
        }
        message_free(message);
    }
    if (hot->probe_ms <= now.monotonic_ms) {
        hot->probe_ms = now.monotonic_ms + PROBE_EVERY_MS;
        probe(hot);
    }
    return hot->probe_ms;
}
