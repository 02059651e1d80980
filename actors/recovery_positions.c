/*
 * recovery_positions.c: see recovery_positions.h. A kill leaves in the page cache what a store was
 * given and had not flushed. The journal is trimmed up to these positions, so they must not be
 * among what a power cut takes: the stores are flushed before they are asked.
 */
#include "actors/recovery_positions.h"

#include "actors/drain/state_drain.h"
#include "proto/log.h"

/* false: what the store holds, and so its position, may be taken back. */
static bool is_durable(enum result flushed, const char *store)
{
    if (flushed != RESULT_OK) {
        log_line(LOG_ERROR, "STORE-NOT-FLUSHED", "store=%s reason=\"%s\"", store,
                 result_text(flushed));
    }
    return flushed == RESULT_OK;
}

/* A position outside of the journal means that data directories were mixed, or files were deleted:
 * say so, do what is possible. */
static uint64_t within(const struct storage_journal *log, uint64_t position, const char *drain)
{
    struct storage_journal *journal = (struct storage_journal *)log;
    uint64_t begin = log->ops->begin(journal);
    uint64_t end = log->ops->end(journal);
    if (position >= begin && position <= end) {
        return position;
    }
    if (position != 0) {
        log_line(LOG_CRITICAL, "JOURNAL-DOES-NOT-FIT", "drain=%s position=%llu begin=%llu end=%llu",
                 drain, (unsigned long long)position, (unsigned long long)begin,
                 (unsigned long long)end);
    }
    return position < begin ? begin : end;
}

/* While there was no bus nothing was kept for it. */
static enum result read_bus(const struct actor_recovery_options *options, uint64_t *at)
{
    uint64_t begin = options->log->ops->begin(options->log);
    enum result result = actor_position_read(options->state, ACTOR_POSITION_BUS, at);
    if (result == RESULT_OK && *at < begin) {
        log_line(LOG_WARN, "BUS-BEGINS-LATER", "position=%llu begin=%llu", (unsigned long long)*at,
                 (unsigned long long)begin);
        *at = begin;
    }
    *at = within(options->log, *at, "bus");
    return result;
}

static enum result read_table(const struct actor_recovery_options *options, uint64_t *at)
{
    enum result result =
        actor_position_read(options->state, ACTOR_POSITION_STATE, &at[PROTO_DRAIN_STATE]);
    if (result == RESULT_OK) {
        result = actor_position_read(options->state, ACTOR_POSITION_BLOB, &at[PROTO_DRAIN_BLOB]);
    }
    if (result == RESULT_OK && options->bus) {
        result = read_bus(options, &at[PROTO_DRAIN_BUS]);
    }
    at[PROTO_DRAIN_STATE] = within(options->log, at[PROTO_DRAIN_STATE], "state");
    at[PROTO_DRAIN_BLOB] = within(options->log, at[PROTO_DRAIN_BLOB], "blob");
    return result;
}

/* Elsewhere it may be away, and its position may be another data directory's. */
static enum result read_index(const struct actor_recovery_options *options, uint64_t *at)
{
    struct storage_index *index = options->index;
    if (options->index_elsewhere || !is_durable(index->ops->flush(index), "index")) {
        return RESULT_OK;
    }
    enum result result = index->ops->position(index, at);
    *at = within(options->log, *at, "audit");
    return result;
}

/* Who has no position begins where the journal does: what that has is more than any store lacks,
 * and all of them take nothing twice. */
enum result actor_recover_positions(const struct actor_recovery_options *options,
                                    struct actor_positions *positions)
{
    uint64_t begin = options->log->ops->begin(options->log);
    uint64_t *at = positions->at;
    at[PROTO_DRAIN_STATE] = at[PROTO_DRAIN_BLOB] = at[PROTO_DRAIN_AUDIT] = begin;
    at[PROTO_DRAIN_BUS] = options->bus ? begin : PROTO_DRAIN_OFF;
    enum result result = RESULT_OK;
    if (is_durable(options->state->ops->flush(options->state), "state")) {
        result = read_table(options, at);
    }
    return result == RESULT_OK ? read_index(options, &at[PROTO_DRAIN_AUDIT]) : result;
}
