/*
 * retention.c: a page of the list, its deletions, the next page; then a pause.
 */
#include "actors/retention.h"

#include <stdlib.h>

#include "proto/base/assert.h"
#include "proto/log.h"
#include "proto/wire/reader.h"
#include "proto/wire/writer.h"

enum {
    RETENTION_MAGIC = 0x52455445,
    PAGE_ROWS = 200,
    PAUSE_MIN_MS = 1000,
    PAUSE_MAX_MS = 60000,
    TICKET_LIST = 1, /* answers to anything else are about a deletion */
    TICKET_DELETE,
};

/* Which ended executions are looked for just now; NONE: it rests. */
enum round { ROUND_NONE, ROUND_COMPLETED, ROUND_FAILED, ROUND_COUNT };

static const char *const lifecycles[ROUND_COUNT] = {"", "Completed", "Failed"};

struct actor_retention {
    uint32_t magic;
    struct actor_retention_options options;
    struct arena arena;
    enum round round;
    uint32_t deleting; /* deletions under way */
    uint32_t deleted;  /* of this page */
    bool listing;
    bool more; /* the page was full */
    uint64_t due_ms;
    struct actor_retention_counters counters;
};

enum result actor_retention_new(const struct actor_retention_options *options,
                                struct actor_retention **out)
{
    struct actor_retention *retention = calloc(1, sizeof *retention);
    if (retention == NULL) {
        return RESULT_LIMIT;
    }
    retention->magic = RETENTION_MAGIC;
    retention->options = *options;
    arena_init(&retention->arena, 16 << 10, 16 << 20);
    *out = retention;
    return RESULT_OK;
}

void actor_retention_free(struct actor_retention *retention)
{
    if (retention == NULL) {
        return;
    }
    arena_release(&retention->arena);
    retention->magic = 0;
    free(retention);
}

const struct actor_retention_counters *
actor_retention_counters(const struct actor_retention *retention)
{
    return &retention->counters;
}

static uint64_t age_ms(const struct actor_retention *retention, enum round round)
{
    return round == ROUND_COMPLETED ? retention->options.completed_ms
                                    : retention->options.failed_ms;
}

/* A tenth of the shortest age that is kept to. */
static uint64_t pause_ms(const struct actor_retention *retention)
{
    uint64_t least_ms = UINT64_MAX;
    for (enum round round = ROUND_COMPLETED; round < ROUND_COUNT; round++) {
        uint64_t age = age_ms(retention, round);
        least_ms = age > 0 && age < least_ms ? age : least_ms;
    }
    uint64_t pause = least_ms / 10;
    return pause < PAUSE_MIN_MS ? PAUSE_MIN_MS : pause > PAUSE_MAX_MS ? PAUSE_MAX_MS : pause;
}

static bool request(struct actor_retention *retention, enum proto_operation operation,
                    uint64_t ticket, struct span body)
{
    struct proto_message *message = body.count == 0 ? NULL : message_new(PROTO_REQUEST, body.count);
    if (message == NULL) {
        return false;
    }
    message->as.request = (struct proto_request){
        .operation = operation, .spelling = PROTO_MSGPACK, .body = message_keep(message, body)};
    message->reply_to = (struct proto_address){.sink = retention->options.self, .ticket = ticket};
    bool sent = retention->options.router->send(retention->options.router, &message) == RESULT_OK;
    message_free(message);
    return sent;
}

/* ---- looking ---- */

static void ask_for_page(struct actor_retention *retention, struct actor_time now)
{
    struct wire_writer writer;
    arena_clear(&retention->arena);
    wire_writer_init(&writer, &retention->arena, 256);
    wire_write_map(&writer, 4);
    wire_pair_text(&writer, "op", "list");
    wire_pair_text(&writer, "lifecycle", lifecycles[retention->round]);
    wire_pair_time(&writer, "endedBefore",
                   now.unix_ms - (int64_t)age_ms(retention, retention->round));
    wire_pair_int(&writer, "limit", PAGE_ROWS);
    retention->listing = request(retention, PROTO_OP_LIST, TICKET_LIST, wire_writer_span(&writer));
}

static void delete_row(struct actor_retention *retention, struct span row)
{
    struct wire_writer writer;
    wire_writer_init(&writer, &retention->arena, 512);
    wire_write_map(&writer, 4);
    wire_pair_text(&writer, "op", "delete");
    wire_pair_string(&writer, "executionId",
                     wire_string_or(wire_find_text(row, "executionId"), ""));
    wire_pair_string(&writer, "workspaceId",
                     wire_string_or(wire_find_text(row, "workspaceId"), "default"));
    wire_pair_bool(&writer, "ifEnded", true);
    if (request(retention, PROTO_OP_DELETE, TICKET_DELETE, wire_writer_span(&writer))) {
        retention->deleting++;
    }
}

/* An index that fails, or has nothing: the round is over. */
static void take_page(struct actor_retention *retention, const struct proto_reply *reply)
{
    struct span rows = reply->ok ? wire_find_text(reply->body, "executions") : SPAN_EMPTY;
    struct wire_map_walk walk = wire_array_begin(rows);
    struct span row;
    retention->listing = false;
    retention->deleted = 0;
    arena_clear(&retention->arena);
    while (wire_array_next(&walk, &row)) {
        delete_row(retention, row);
    }
    retention->more = retention->deleting == PAGE_ROWS;
}

/* ---- the turn ---- */

static void go_on(struct actor_retention *retention, struct actor_time now)
{
    /* A page of which nothing could be deleted would come again. */
    bool again = retention->more && retention->deleted > 0;
    retention->more = false;
    if (!again) {
        retention->round++;
    }
    while (retention->round < ROUND_COUNT && age_ms(retention, retention->round) == 0) {
        retention->round++;
    }
    if (retention->round < ROUND_COUNT) {
        ask_for_page(retention, now);
    }
    if (!retention->listing) {
        retention->round = ROUND_NONE;
        retention->due_ms = now.monotonic_ms + pause_ms(retention);
    }
}

uint64_t actor_retention_turn(void *argument, struct proto_message *batch, struct actor_time now)
{
    struct actor_retention *retention = BASE_CAST(actor_retention, argument, RETENTION_MAGIC);
    bool moved = false;
    while (batch != NULL) {
        struct proto_message *message = batch;
        batch = batch->next;
        ASSERT(message->type == PROTO_REPLY);
        if (message->reply_to.ticket == TICKET_LIST) {
            take_page(retention, &message->as.reply);
        } else {
            ASSERT(retention->deleting > 0);
            retention->deleting--;
            retention->deleted += message->as.reply.ok ? 1 : 0;
            actor_count(&retention->counters.deleted, message->as.reply.ok ? 1 : 0);
        }
        moved = true;
        message_free(message);
    }
    if (retention->listing || retention->deleting > 0) {
        return ACTOR_NEVER;
    }
    if (moved || retention->due_ms <= now.monotonic_ms) {
        go_on(retention, now);
    }
    return retention->listing || retention->deleting > 0 ? ACTOR_NEVER : retention->due_ms;
}
