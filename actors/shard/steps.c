/*
 * steps.c: `steps`: what replay shows: a page of an execution's steps, each with its blob.
 *
 * Two passes: the first finds the execution, writes the outline of the reply and asks storage for
 * the blobs; the second puts both together. Storage answers by what the journal held when it was
 * asked, so the newest steps are there, too.
 */
#include "actors/shard/asking.h"
#include "proto/base/assert.h"

/* ---- the first pass ---- */

static const char *mode_name(enum actor_step_blobs mode)
{
    switch (mode) {
    case ACTOR_STEPS_ALL:
        return "all";
    case ACTOR_STEPS_WAITS:
        return "waits";
    case ACTOR_STEPS_OFF:
        return "off";
    }
    ASSERT_UNREACHABLE();
}

struct page {
    uint32_t from;
    uint32_t count;
};

static struct page page_of(const struct asking *asking, uint32_t last)
{
    int64_t from = actor_request_count(&asking->fields, ACTOR_FIELD_FROM, 1);
    int64_t limit = actor_request_limit(&asking->fields, PROTO_OP_STEPS);
    from = from < 1 ? 1 : from;
    int64_t left = from > last ? 0 : (int64_t)last - from + 1;
    return (struct page){(uint32_t)from, (uint32_t)(left < limit ? left : limit)};
}

static void write_outline(struct actor_shard *shard, const struct engine_execution *execution,
                          const struct engine_view *view, struct span entries,
                          struct wire_writer *writer)
{
    size_t mark = wire_open_map(writer);
    uint32_t pairs = engine_reply_pairs(execution, writer);
    wire_pair_string(writer, "workspaceId", view->workspace);
    wire_pair_string(writer, "projectId", view->project);
    wire_pair_time(writer, "startedAt", view->started_ms);
    wire_pair_time(writer, "updatedAt", view->updated_ms);
    wire_pair_text(writer, "stepBlobs", mode_name(shard->options.step_blobs));
    wire_pair_value(writer, "steps", entries);
    wire_close_map(writer, mark, pairs + 6);
}

static void write_ids(struct span entries, struct wire_writer *writer)
{
    struct wire_map_walk walk = wire_array_begin(entries);
    struct span entry;
    wire_write_array(writer, wire_count(entries));
    while (wire_array_next(&walk, &entry)) {
        wire_write_value(writer, wire_find_text(entry, "stepId"));
    }
}

static void ask(struct actor_shard *shard, struct asking *asking,
                const struct engine_execution *execution)
{
    struct engine_view view;
    struct wire_writer entries, query;
    engine_look(execution, &view);
    struct page page = page_of(asking, view.sequence);
    wire_writer_init(&entries, &shard->turn, 256 + (size_t)page.count * 192);
    if (page.count == 0) {
        wire_write_array(&entries, 0);
    } else {
        engine_steps_from(execution, page.from, page.count, &entries);
    }
    struct span steps = wire_writer_span(&entries);
    wire_writer_init(&query, &shard->turn, 1024 + 2 * steps.count);
    wire_write_array(&query, 3);
    wire_write_string(&query, view.workspace);
    write_outline(shard, execution, &view, steps, &query);
    write_ids(steps, &query);
    struct span text = wire_writer_span(&query);
    if (text.count == 0 || shard_fetch_steps(shard, &asking->id, text, &asking->message,
                                             asking->lookup) != SHARD_PENDING) {
        asking_refuse_text(shard, asking, PROTO_ERROR_StorageFailed, "the steps cannot be read");
    }
}

/* ---- the second ---- */

/* Why a step has no snapshot. */
static const char *why_missing(struct span outline, struct span entry, struct span blob)
{
    if (wire_bool_or(wire_find_text(entry, "underWay"), false)) {
        return "underWay";
    }
    if (wire_is(blob, WIRE_BOOL)) {
        return "unreadable";
    }
    return span_is(wire_string_or(wire_find_text(outline, "stepBlobs"), ""), "all") ? "absent"
                                                                                    : "notKept";
}

/* The entry, or of one that history has let go of what the blob says. */
static void write_step(struct span outline, struct span entry, struct span blob,
                       struct wire_writer *writer)
{
    struct span told = wire_find_text(blob, "step");
    struct span key, value;
    size_t mark = wire_open_map(writer);
    uint32_t pairs = 0;
    for (struct wire_map_walk walk = wire_map_begin(entry); wire_map_next(&walk, &key, &value);) {
        wire_write_string(writer, key);
        wire_write_raw(writer, value);
        pairs++;
    }
    if (wire_find_text(entry, "taskId").count == 0) {
        for (struct wire_map_walk walk = wire_map_begin(told);
             wire_map_next(&walk, &key, &value);) {
            if (!span_is(key, "sequence")) {
                wire_write_string(writer, key);
                wire_write_raw(writer, value);
                pairs++;
            }
        }
    }
    if (wire_is(blob, WIRE_MAP)) {
        wire_pair_value(writer, "snapshot", blob);
    } else {
        wire_pair_text(writer, "missing", why_missing(outline, entry, blob));
    }
    wire_close_map(writer, mark, pairs + 1);
}

static uint32_t copy_outline(struct span outline, struct wire_writer *writer)
{
    uint32_t pairs = 0;
    struct span key, value;
    for (struct wire_map_walk walk = wire_map_begin(outline); wire_map_next(&walk, &key, &value);) {
        if (!span_is(key, "steps")) {
            wire_write_string(writer, key);
            wire_write_raw(writer, value);
            pairs++;
        }
    }
    return pairs;
}

static uint64_t commit_of(struct actor_shard *shard, const struct asking *asking)
{
    const struct actor_slot *slot = shard_slot_find(shard, execution_id_span(&asking->id));
    const struct actor_work *work = slot == NULL ? NULL : slot->work;
    return work == NULL ? 0 : work->touched ? shard->commit_number : work->commit;
}

static void answer(struct actor_shard *shard, struct asking *asking)
{
    struct span outline = wire_at(asking->lookup->bytes, 0);
    struct span blobs = wire_at(asking->lookup->bytes, 1);
    struct span entries = wire_find_text(outline, "steps");
    struct wire_map_walk of_entries = wire_array_begin(entries);
    struct wire_map_walk of_blobs = wire_array_begin(blobs);
    struct span entry, blob;
    struct wire_writer writer;
    uint32_t pairs;
    arena_clear(&shard->scratch);
    wire_writer_init(&writer, &shard->scratch, 1024 + asking->lookup->bytes.count);
    size_t mark = actor_reply_open(&writer, &pairs);
    pairs += copy_outline(outline, &writer);
    wire_write_text(&writer, "steps");
    wire_write_array(&writer, wire_count(blobs));
    int64_t last = 0;
    while (wire_array_next(&of_blobs, &blob) && wire_array_next(&of_entries, &entry)) {
        write_step(outline, entry, blob, &writer);
        last = wire_int_or(wire_find_text(entry, "sequence"), 0);
    }
    pairs++;
    if (last > 0 && last < wire_int_or(wire_find_text(outline, "sequence"), 0)) {
        wire_pair_int(&writer, "next", last + 1);
        pairs++;
    }
    struct span body = actor_reply_close(&writer, mark, pairs);
    if (body.count == 0) {
        arena_clear(&shard->scratch);
        asking_refuse_text(shard, asking, PROTO_ERROR_PayloadTooLarge,
                           "the page is too large: ask for fewer steps with limit");
        return;
    }
    shard_reply(shard, asking->message, true, body, commit_of(shard, asking));
    asking_done(asking);
}

void asking_steps(struct actor_shard *shard, struct asking *asking)
{
    struct actor_lookup *lookup = asking->lookup;
    if (lookup != NULL && lookup->answered && lookup->kind == PROTO_FETCH_STEPS) {
        if (lookup->result == RESULT_OK) {
            answer(shard, asking);
        } else {
            asking_refuse_text(shard, asking, PROTO_ERROR_StorageFailed,
                               "the steps cannot be read");
        }
        return;
    }
    struct actor_work *work = asking_find(shard, asking);
    if (work != NULL) {
        ask(shard, asking, work->execution);
    }
}
