/*
 * correlate.c: this shard as the keeper of names: messages meet those who listen for them.
 *
 * A message is in the journal before it comes here, and is struck out there by whoever takes it, in
 * the commit that holds what it did. So it is taken exactly once, whatever this table forgets in a
 * crash: what is here is only who waits for whom.
 */
#include "actors/shard/state.h"
#include "proto/base/assert.h"
#include "proto/log.h"
#include "proto/wire/reader.h"

enum {
    RETRY_MS = 1000,
    RINGS_AT_ONCE = 512, /* letters whose alarm is seen to in one turn; the next is due at once */
};
/* What executions publish is taken beyond the router's limit; this much of it is kept in memory. */
#define LETTERS_MAX (2u * LIMIT_MESSAGES)

struct proto_message *shard_publish_message(enum proto_message_type type,
                                            const struct proto_publish *published)
{
    struct proto_message *message = message_new(
        type, published->id.count + published->workspace.count + published->project.count +
                  published->name.count + published->key.count + published->payload.count +
                  published->process.count + published->node.count);
    if (message == NULL) {
        return NULL;
    }
    struct proto_publish *copy = &message->as.publish;
    *copy = *published;
    copy->id = message_keep(message, published->id);
    copy->workspace = message_keep(message, published->workspace);
    copy->project = message_keep(message, published->project);
    copy->name = message_keep(message, published->name);
    copy->key = message_keep(message, published->key);
    copy->payload = message_keep(message, published->payload);
    copy->process = message_keep(message, published->process);
    copy->node = message_keep(message, published->node);
    return message;
}

/* RESULT_LIMIT or RESULT_CLOSED: it has not left. */
static enum result deliver(struct actor_shard *shard, const struct proto_publish *published)
{
    struct proto_message *message = shard_publish_message(PROTO_DELIVER, published);
    if (message == NULL) {
        return RESULT_LIMIT;
    }
    message->reply_to = (struct proto_address){.sink = shard->self};
    uint32_t owner =
        actor_shard_of(execution_id_span(&published->execution_id), shard->options.shard_count);
    struct proto_sink *sink = shard->options.shards[owner];
    enum result result = sink->send(sink, &message);
    message_free(message);
    return result;
}

/* ---- starts ---- */

/* The time is in it, too: a client's message id comes from its requestId, which is free again after
 * LIMIT_REQUEST_KEPT_MS, and no execution may ever be begun under the id of another one. */
static void name_execution(struct actor_shard *shard, const struct proto_publish *published,
                           struct span process, struct execution_id *id)
{
    struct span name =
        arena_format(&shard->turn, "%.*s@%lld", SPAN_ARG(process), (long long)published->at_ms);
    *id = (struct execution_id){.count = UUID_TEXT_BYTES};
    uuid_format(uuid_v5(published->id, name), id->text);
}

/* The newest version of each process that it starts; RESULT_NOT_FOUND: none. `all`: else the first.
 */
static enum result start(struct actor_shard *shard, const struct proto_publish *published,
                         enum engine_event_kind kind, bool all)
{
    enum result result = RESULT_NOT_FOUND;
    for (const struct actor_source *source = shard->catalog.sources; source != NULL;
         source = source->next) {
        for (uint32_t i = 0; i < source->definition->process_count; i++) {
            const struct engine_process *process = &source->definition->processes[i];
            const struct engine_node *node =
                span_equal(source->project, published->project) &&
                        actor_catalog_newest(&shard->catalog, source->project, process->id) ==
                            source->version
                    ? engine_process_started_by(process, kind, published->name)
                    : NULL;
            if (node == NULL) {
                continue;
            }
            struct proto_publish begun = *published;
            begun.process = process->id;
            begun.node = node->id;
            name_execution(shard, published, process->id, &begun.execution_id);
            result = deliver(shard, &begun);
            if (!all) {
                return result;
            }
        }
    }
    return result;
}

/* ---- messages ---- */

static void retry_later(struct actor_shard *shard, struct actor_letter *letter)
{
    int64_t due_ms = shard->now.unix_ms + RETRY_MS;
    bool in_time = due_ms < letter->published.expires_ms || letter->awaited;
    actor_correlation_remind(&shard->correlation, letter,
                             in_time ? due_ms : letter->published.expires_ms);
}

static void hand_to(struct actor_shard *shard, struct actor_letter *letter,
                    struct actor_listener *listener)
{
    struct proto_publish published = letter->published;
    published.execution_id = listener->id;
    if (deliver(shard, &published) != RESULT_OK) {
        retry_later(shard, letter);
        return;
    }
    letter->handed = listener->busy = true;
}

/* To whom it is for, else to a process that it starts, else it waits here. */
static void hand_now(struct actor_shard *shard, struct actor_letter *letter)
{
    struct actor_listener *taker = actor_correlation_taker(&shard->correlation, letter);
    if (taker != NULL) {
        hand_to(shard, letter, taker);
        return;
    }
    if (actor_correlation_is_wanted(&shard->correlation, letter)) {
        /* For somebody who has no time now; whether that one will take it is not known yet. */
        letter->awaited = letter->published.expires_ms <= letter->published.at_ms;
        retry_later(shard, letter);
        return;
    }
    enum result result = start(shard, &letter->published, ENGINE_ON_MESSAGE, false);
    letter->handed = result == RESULT_OK;
    if (result != RESULT_OK && result != RESULT_NOT_FOUND) {
        retry_later(shard, letter);
    }
}

/* Again, as long as it lives. */
static void hand(struct actor_shard *shard, struct actor_letter *letter)
{
    if (!letter->handed && actor_correlation_lives(letter, shard->now.unix_ms)) {
        hand_now(shard, letter);
    }
}

/* What waits for a listener that has just begun to listen, or has time again. */
static void serve(struct actor_shard *shard, struct span execution_id)
{
    struct actor_listener *listener = actor_correlation_listener(&shard->correlation, execution_id);
    struct actor_letter *letter =
        listener == NULL
            ? NULL
            : actor_correlation_next(&shard->correlation, listener, shard->now.unix_ms);
    if (letter != NULL) {
        hand_to(shard, letter, listener);
    }
}

struct signal {
    struct actor_shard *shard;
    const struct proto_publish *published;
};

static void signal_one(void *owner, const struct execution_id *id)
{
    const struct signal *signal = owner;
    struct proto_publish published = *signal->published;
    published.execution_id = *id;
    if (deliver(signal->shard, &published) == RESULT_LIMIT) {
        log_line(LOG_CRITICAL, "SIGNAL-LOST", "executionId=%s reason=\"no memory\"", id->text);
    }
}

/* ---- what comes ---- */

static enum result keep(struct actor_shard *shard, const struct proto_publish *published,
                        struct actor_letter **letter)
{
    *letter = NULL;
    if (actor_correlation_count(&shard->correlation) >= LETTERS_MAX) {
        return RESULT_LIMIT;
    }
    enum result result = actor_correlation_add(&shard->correlation, published, letter);
    actor_count_set(&shard->counters.letters, actor_correlation_count(&shard->correlation));
    return result;
}

static void drop(struct actor_shard *shard, struct actor_letter *letter)
{
    actor_correlation_take(&shard->correlation, letter);
    actor_count_set(&shard->counters.letters, actor_correlation_count(&shard->correlation));
}

void shard_published(struct actor_shard *shard, const struct proto_publish *published)
{
    if (published->is_signal) {
        struct signal signal = {.shard = shard, .published = published};
        actor_correlation_hear(&shard->correlation, published->workspace, published->name,
                               signal_one, &signal);
        if (start(shard, published, ENGINE_ON_SIGNAL, true) == RESULT_LIMIT) {
            log_line(LOG_CRITICAL, "SIGNAL-LOST", "name=\"%.*s\" reason=\"no memory\"",
                     SPAN_ARG(published->name));
        }
        return;
    }
    struct actor_letter *letter;
    enum result result = keep(shard, published, &letter);
    if (result == RESULT_OK) {
        actor_correlation_remind(&shard->correlation, letter, published->expires_ms);
        hand_now(shard, letter);
    } else if (result == RESULT_LIMIT) {
        /* The journal has it: the next start delivers it. */
        log_line(LOG_CRITICAL, "MESSAGE-SET-ASIDE", "messageId=%.*s reason=\"no room\"",
                 SPAN_ARG(published->id));
    }
}

enum result shard_keep_message(struct actor_shard *shard, const struct proto_publish *published)
{
    struct actor_letter *letter;
    enum result result = keep(shard, published, &letter);
    if (result == RESULT_OK) {
        actor_correlation_remind(&shard->correlation, letter, shard->now.unix_ms);
    }
    return result == RESULT_EXISTS ? RESULT_OK : result;
}

static size_t values_count(struct span run)
{
    struct wire_cursor cursor = wire_cursor(run);
    size_t count = 0;
    while (cursor.next < cursor.end && wire_skip(&cursor) == RESULT_OK) {
        count++;
    }
    return count;
}

/* Those whose name is kept here, of all that an execution listens for. */
static size_t read_wanted(const struct actor_shard *shard, struct span run,
                          struct actor_wanted *wanted)
{
    struct wire_cursor cursor = wire_cursor(run);
    size_t count = 0;
    struct span map;
    while (cursor.next < cursor.end && wire_take(&cursor, &map) == RESULT_OK) {
        struct actor_wanted one = {
            .is_signal = span_is(wire_string_or(wire_find_text(map, "kind"), ""), "signal"),
            .name = wire_string_or(wire_find_text(map, "name"), ""),
            .key = wire_string_or(wire_find_text(map, "correlationKey"), "")};
        if (actor_shard_of(one.name, shard->options.shard_count) == shard->options.index) {
            wanted[count++] = one;
        }
    }
    return count;
}

void shard_listened(struct actor_shard *shard, const struct proto_listen *listen)
{
    struct actor_wanted *wanted =
        arena_alloc(&shard->turn, (values_count(listen->subscriptions) + 1) * sizeof *wanted);
    size_t count = wanted == NULL ? 0 : read_wanted(shard, listen->subscriptions, wanted);
    if (wanted == NULL || actor_correlation_listen(&shard->correlation, &listen->execution_id,
                                                   listen->workspace, wanted, count) != RESULT_OK) {
        log_line(LOG_CRITICAL, "SHARD-LISTENER-LOST", "executionId=%s reason=\"no memory\"",
                 listen->execution_id.text);
    }
    serve(shard, execution_id_span(&listen->execution_id));
}

void shard_delivered(struct actor_shard *shard, const struct proto_publish *delivered)
{
    struct span id = execution_id_span(&delivered->execution_id);
    struct actor_letter *letter = actor_correlation_find(&shard->correlation, delivered->id);
    if (letter != NULL && delivered->result == RESULT_OK) {
        drop(shard, letter);
        letter = NULL;
    }
    if (letter != NULL) {
        letter->handed = false;
        if (delivered->result == RESULT_NOT_FOUND) {
            actor_correlation_refused(&shard->correlation, id, letter);
        }
    }
    actor_correlation_rests(&shard->correlation, id);
    if (letter != NULL && delivered->result == RESULT_AGAIN) {
        retry_later(shard, letter);
    } else if (letter != NULL) {
        hand(shard, letter);
    }
    serve(shard, id);
}

/* ---- time ---- */

void shard_letters_ring(struct actor_shard *shard)
{
    struct actor_letter *letter;
    for (uint32_t i = 0;
         i < RINGS_AT_ONCE &&
         (letter = actor_correlation_due(&shard->correlation, shard->now.unix_ms)) != NULL;
         i++) {
        bool over = letter->published.expires_ms <= shard->now.unix_ms;
        letter->awaited =
            letter->awaited && actor_correlation_is_wanted(&shard->correlation, letter);
        if (!over || letter->handed || letter->awaited) {
            actor_correlation_remind(&shard->correlation, letter,
                                     over ? shard->now.unix_ms + RETRY_MS
                                          : letter->published.expires_ms);
            hand(shard, letter);
            continue;
        }
        record_write(&shard->batch, &(struct proto_record){.kind = PROTO_RECORD_MESSAGE_TAKEN,
                                                           .name = letter->published.id});
        drop(shard, letter);
    }
}
