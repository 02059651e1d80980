/*
 * fixture_log.h: a journal in an array, for the unit tests of this folder: positions are batch
 * numbers, what is appended can be read after its sync, and appends and syncs can be made to fail.
 */
#ifndef ACTORS_FIXTURE_LOG_H
#define ACTORS_FIXTURE_LOG_H

#include <stdlib.h>

#include "proto/message.h"
#include "proto/record.h"
#include "proto/wire/writer.h"
#include "storage/journal.h"

enum { FIXTURE_BATCHES_MAX = 256 };

struct fixture_log {
    struct storage_journal journal;
    struct arena arena;
    struct span batches[FIXTURE_BATCHES_MAX];
    uint64_t appended, synced, trimmed;
    uint32_t syncs;
    enum result append_result, sync_result;
};

struct fixture_reader {
    struct fixture_log *log;
    uint64_t next;
};

static inline enum result fixture_append(struct storage_journal *self, struct span batch,
                                         uint64_t *position)
{
    struct fixture_log *log = (struct fixture_log *)self;
    if (log->append_result != RESULT_OK) {
        return log->append_result;
    }
    log->batches[log->appended++] = arena_copy(&log->arena, batch);
    *position = log->appended;
    return RESULT_OK;
}

static inline enum result fixture_sync(struct storage_journal *self, bool durable)
{
    struct fixture_log *log = (struct fixture_log *)self;
    (void)durable;
    log->syncs++;
    if (log->sync_result == RESULT_OK) {
        log->synced = log->appended;
    } else {
        log->appended = log->synced;
    }
    return log->sync_result;
}

static inline uint64_t fixture_end(struct storage_journal *self)
{
    return ((struct fixture_log *)self)->synced;
}
static inline uint64_t fixture_begin(struct storage_journal *self)
{
    return ((struct fixture_log *)self)->trimmed;
}

static inline enum result fixture_trim(struct storage_journal *self, uint64_t position)
{
    ((struct fixture_log *)self)->trimmed = position;
    return RESULT_OK;
}

static inline enum result fixture_reader_open(struct storage_journal *self, uint64_t position,
                                              struct storage_journal_reader **out)
{
    struct fixture_reader *reader = malloc(sizeof *reader);
    *reader = (struct fixture_reader){.log = (struct fixture_log *)self, .next = position};
    *out = (struct storage_journal_reader *)reader;
    return RESULT_OK;
}

static inline enum result fixture_reader_next(struct storage_journal_reader *self,
                                              struct span *batch, uint64_t *position)
{
    struct fixture_reader *reader = (struct fixture_reader *)self;
    if (reader->next >= reader->log->synced) {
        return RESULT_NOT_FOUND;
    }
    *batch = reader->log->batches[reader->next++];
    *position = reader->next;
    return RESULT_OK;
}

static inline void fixture_reader_close(struct storage_journal_reader *self)
{
    free(self);
}

static inline void fixture_log_init(struct fixture_log *log)
{
    static const struct storage_journal_ops ops = {.append = fixture_append,
                                                   .sync = fixture_sync,
                                                   .end = fixture_end,
                                                   .begin = fixture_begin,
                                                   .trim = fixture_trim,
                                                   .reader_open = fixture_reader_open,
                                                   .reader_next = fixture_reader_next,
                                                   .reader_close = fixture_reader_close};
    *log = (struct fixture_log){.journal.ops = &ops};
    arena_init(&log->arena, 4096, (size_t)128 << 20);
}

static inline void fixture_log_release(struct fixture_log *log)
{
    arena_release(&log->arena);
}

/* Appends and syncs one batch of records. */
static inline void fixture_log_write(struct fixture_log *log, const struct proto_record *records,
                                     size_t count)
{
    struct wire_writer writer;
    wire_writer_init(&writer, &log->arena, 1024);
    for (size_t i = 0; i < count; i++) {
        record_write(&writer, &records[i]);
    }
    log->batches[log->appended++] = wire_writer_span(&writer);
    log->synced = log->appended;
}

/* A sink that keeps what it is sent, oldest first. */
struct fixture_sink {
    struct proto_sink sink;
    struct proto_message *messages[64];
    uint32_t count;
};

static inline enum result fixture_take(struct proto_sink *self, struct proto_message **message)
{
    struct fixture_sink *sink = (struct fixture_sink *)self;
    sink->messages[sink->count++] = *message;
    *message = NULL;
    return RESULT_OK;
}

static inline void fixture_sink_init(struct fixture_sink *sink)
{
    *sink = (struct fixture_sink){.sink.send = fixture_take};
}

static inline void fixture_sink_clear(struct fixture_sink *sink)
{
    for (uint32_t i = 0; i < sink->count; i++) {
        message_free(sink->messages[i]);
    }
    sink->count = 0;
}

#endif
