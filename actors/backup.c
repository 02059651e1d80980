/*
 * backup.c: hold the journal, have the tables copied, copy the rest, let go, answer.
 */
#include "actors/backup.h"

#include <stdlib.h>

#include "actors/queue.h"
#include "actors/reply.h"
#include "proto/base/assert.h"
#include "proto/log.h"
#include "proto/wire/reader.h"

enum { BACKUP_MAGIC = 0x42414355 };

/* What the next PROTO_DONE is about: the tickets. */
enum { TICKET_HELD = 1, TICKET_TABLES, TICKET_LET_GO };

struct actor_backup {
    uint32_t magic;
    struct actor_backup_options options;
    struct actor_queue waiting;    /* requests behind the one under way */
    struct proto_message *request; /* under way; NULL: none */
    struct arena arena;            /* of that one */
    const char *directory;
};

enum result actor_backup_new(const struct actor_backup_options *options, struct actor_backup **out)
{
    struct actor_backup *backup = calloc(1, sizeof *backup);
    if (backup == NULL) {
        return RESULT_LIMIT;
    }
    backup->magic = BACKUP_MAGIC;
    backup->options = *options;
    arena_init(&backup->arena, 4096, 64 << 10);
    *out = backup;
    return RESULT_OK;
}

void actor_backup_free(struct actor_backup *backup)
{
    if (backup == NULL) {
        return;
    }
    actor_queue_clear(&backup->waiting);
    message_free(backup->request);
    arena_release(&backup->arena);
    backup->magic = 0;
    free(backup);
}

/* ---- the end of one ---- */

static void refuse(struct actor_backup *backup, enum result result)
{
    bool bad = result == RESULT_EXISTS || result == RESULT_INVALID || result == RESULT_DENIED ||
               result == RESULT_LIMIT;
    const char *why = result == RESULT_EXISTS    ? "the directory exists: name a new one"
                      : result == RESULT_INVALID ? "directory must be an absolute path, and its "
                                                   "parent must be there"
                      : result == RESULT_DENIED  ? "the engine may not make that directory"
                                                 : "the backup failed; remove what was copied";
    log_line(LOG_ERROR, "BACKUP-FAILED", "reason=\"%s\"", result_text(result));
    actor_reply_refuse_text(backup->request, &backup->arena,
                            bad ? PROTO_ERROR_InvalidRequest : PROTO_ERROR_StorageFailed, why);
}

static void answer(struct actor_backup *backup, uint64_t position)
{
    struct wire_writer writer;
    uint32_t pairs;
    wire_writer_init(&writer, &backup->arena, 256);
    size_t mark = actor_reply_open(&writer, &pairs);
    wire_pair_text(&writer, "directory", backup->directory);
    wire_pair_int(&writer, "position", (int64_t)position);
    struct span body = actor_reply_close(&writer, mark, pairs + 2);
    struct proto_message *reply = actor_reply_new(backup->request->as.request.spelling, true, body);
    if (reply != NULL) {
        message_answer(backup->request->reply_to, reply);
    }
    log_line(LOG_INFO, "BACKUP-DONE", "position=%llu", (unsigned long long)position);
}

static void finish(struct actor_backup *backup)
{
    message_free(backup->request);
    backup->request = NULL;
    arena_clear(&backup->arena);
}

/* ---- its steps ---- */

static bool tell(struct actor_backup *backup, struct proto_sink *sink,
                 struct proto_message *message, uint64_t ticket)
{
    if (message == NULL) {
        return false;
    }
    message->reply_to = (struct proto_address){.sink = backup->options.self, .ticket = ticket};
    bool sent = sink->send(sink, &message) == RESULT_OK;
    message_free(message);
    return sent;
}

static bool hold(struct actor_backup *backup, bool held)
{
    struct proto_message *message = message_new(PROTO_HOLD, 0);
    if (message != NULL) {
        message->as.hold = held;
    }
    return tell(backup, backup->options.journal, message, held ? TICKET_HELD : TICKET_LET_GO);
}

static void begin(struct actor_backup *backup, struct proto_message *request)
{
    struct storage_backup *port = backup->options.port;
    struct span given = wire_string_or(wire_find_text(request->as.request.body, "directory"), "");
    backup->request = request;
    backup->directory = (const char *)arena_format(&backup->arena, "%.*s", SPAN_ARG(given)).bytes;
    enum result result = backup->directory == NULL || strlen(backup->directory) != given.count
                             ? RESULT_INVALID
                             : port->ops->begin(port, backup->directory);
    if (result == RESULT_OK && !hold(backup, true)) {
        result = RESULT_CLOSED;
    }
    if (result != RESULT_OK) {
        refuse(backup, result);
        finish(backup);
    }
}

static void let_go(struct actor_backup *backup, enum result result, uint64_t position)
{
    if (result == RESULT_OK) {
        answer(backup, position);
    } else {
        refuse(backup, result);
    }
    if (!hold(backup, false)) {
        finish(backup); /* the journal has stopped, and so shall we */
    }
}

static void copy_tables(struct actor_backup *backup)
{
    struct span directory = span_of(backup->directory, strlen(backup->directory) + 1);
    struct proto_message *message = message_new(PROTO_BACKUP, directory.count);
    if (message != NULL) {
        message->as.directory = message_keep(message, directory);
    }
    if (!tell(backup, backup->options.storage, message, TICKET_TABLES)) {
        let_go(backup, RESULT_LIMIT, 0);
    }
}

static void done(struct actor_backup *backup, const struct proto_message *message)
{
    struct storage_backup *port = backup->options.port;
    enum result result = message->as.done.result;
    uint64_t position = 0;
    ASSERT(backup->request != NULL);
    if (message->reply_to.ticket == TICKET_HELD) {
        copy_tables(backup);
    } else if (message->reply_to.ticket == TICKET_TABLES) {
        if (result == RESULT_OK) {
            result = port->ops->copy_journal(port, backup->directory, &position);
        }
        let_go(backup, result, position);
    } else {
        ASSERT(message->reply_to.ticket == TICKET_LET_GO);
        finish(backup);
    }
}

/* ---- the turn ---- */

uint64_t actor_backup_turn(void *argument, struct proto_message *batch, struct actor_time now)
{
    struct actor_backup *backup = BASE_CAST(actor_backup, argument, BACKUP_MAGIC);
    (void)now;
    while (batch != NULL) {
        struct proto_message *message = batch;
        batch = batch->next;
        message->next = NULL;
        if (message->type == PROTO_REQUEST) {
            actor_queue_push(&backup->waiting, message);
            continue;
        }
        ASSERT(message->type == PROTO_DONE);
        done(backup, message);
        message_free(message);
    }
    struct proto_message *next;
    while (backup->request == NULL && (next = actor_queue_pop(&backup->waiting)) != NULL) {
        begin(backup, next);
    }
    return ACTOR_NEVER;
}
