/*
 * gather.c: a sink that counts answers. Whichever shard's thread brings the last one puts them
 * together.
 *
 * One atomic, because no actor owns a gathering: each shard stores its own part, then subtracts one
 * (release); who gets to zero (acquire) sees all parts.
 */
#include "actors/gather.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "actors/reply.h"
#include "actors/task_place.h"
#include "proto/base/assert.h"
#include "proto/base/limits.h"
#include "proto/wire/reader.h"

struct gathering {
    struct proto_sink sink;
    struct proto_message *request;
    uint32_t limit;
    uint32_t part_count;
    _Atomic uint32_t left;
    struct proto_message *parts[];
};

static struct proto_message *refused_part(const struct gathering *gathering)
{
    for (uint32_t i = 0; i < gathering->part_count; i++) {
        if (gathering->parts[i] == NULL || !gathering->parts[i]->as.reply.ok) {
            return gathering->parts[i];
        }
    }
    return NULL;
}

/* What is next in each part. */
struct head {
    struct wire_map_walk tasks;
    struct wire_map_walk places;
    struct span value; /* empty: the part is through */
    struct actor_task_place place;
};

static void step(struct head *head)
{
    struct span place;
    if (!wire_array_next(&head->tasks, &head->value)) {
        head->value = SPAN_EMPTY;
        return;
    }
    bool has_place = wire_array_next(&head->places, &place);
    ASSERT(has_place); /* a shard gives one for each */
    head->place = (struct actor_task_place){
        .at_ms = wire_int_or(wire_at(place, 0), 0),
        .id = wire_string_or(wire_find_text(head->value, "executionId"), ""),
        .position = (uint32_t)wire_int_or(wire_at(place, 1), 0)};
}

static struct head *newest(struct head *heads, uint32_t count)
{
    struct head *found = NULL;
    for (uint32_t i = 0; i < count; i++) {
        if (heads[i].value.count > 0 &&
            (found == NULL || actor_task_place_is_before(&heads[i].place, &found->place))) {
            found = &heads[i];
        }
    }
    return found;
}

/* Behind the first place at which a shard stopped to look, there may be tasks that nobody listed.
 */
static bool find_end(const struct gathering *gathering, struct actor_task_place *end)
{
    bool has_end = false;
    for (uint32_t i = 0; i < gathering->part_count; i++) {
        struct actor_task_place until;
        struct span text =
            wire_string_or(wire_find_text(gathering->parts[i]->as.reply.body, "until"), "");
        if (text.count > 0 && actor_task_place_parse(text, &until) == RESULT_OK &&
            (!has_end || actor_task_place_is_before(&until, end))) {
            *end = until;
            has_end = true;
        }
    }
    return has_end;
}

/* Each part is in order of its places, and so is the whole; `cursor` is where it goes on. */
static struct span merge(const struct gathering *gathering, struct arena *arena)
{
    struct head *heads = arena_alloc(arena, gathering->part_count * sizeof *heads);
    struct actor_task_place end;
    bool has_end = find_end(gathering, &end);
    if (heads == NULL) {
        return SPAN_EMPTY;
    }
    for (uint32_t i = 0; i < gathering->part_count; i++) {
        struct span body = gathering->parts[i]->as.reply.body;
        heads[i].tasks = wire_array_begin(wire_find_text(body, "tasks"));
        heads[i].places = wire_array_begin(wire_find_text(body, "places"));
        step(&heads[i]);
    }
    struct wire_writer writer;
    uint32_t pairs;
    uint32_t count = 0;
    wire_writer_init(&writer, arena, 4096);
    size_t mark = actor_reply_open(&writer, &pairs);
    wire_write_text(&writer, "tasks");
    size_t array = wire_open_array(&writer);
    struct head *head = newest(heads, gathering->part_count);
    while (head != NULL && count < gathering->limit &&
           (!has_end || actor_task_place_is_before(&head->place, &end))) {
        wire_write_value(&writer, head->value);
        step(head);
        head = newest(heads, gathering->part_count);
        count++;
    }
    wire_close_array(&writer, array, count);
    if (head != NULL && (!has_end || actor_task_place_is_before(&head->place, &end))) {
        end = head->place;
        has_end = true;
    }
    if (has_end) {
        wire_pair_string(&writer, "cursor", actor_task_place_text(&end, arena));
    }
    return actor_reply_close(&writer, mark, pairs + 1 + has_end);
}

static void answer(struct gathering *gathering)
{
    struct arena arena;
    arena_init(&arena, 16 << 10, LIMIT_FRAME_BYTES * 4ul);
    struct proto_message *refused = refused_part(gathering);
    bool all = refused == NULL;
    for (uint32_t i = 0; i < gathering->part_count; i++) {
        all = all && gathering->parts[i] != NULL;
    }
    struct span body = all               ? merge(gathering, &arena)
                       : refused != NULL ? refused->as.reply.body
                                         : SPAN_EMPTY;
    if (body.count == 0) {
        struct actor_refusal refusal = {
            .error = all ? PROTO_ERROR_PayloadTooLarge : PROTO_ERROR_Overloaded,
            .message = span_text(all ? "the list is too large for one answer: ask for fewer"
                                     : "not every shard answered")};
        all = false;
        arena_clear(&arena);
        body = actor_reply_refusal(&arena, &refusal);
    }
    struct proto_message *reply =
        actor_reply_new(gathering->request->as.request.spelling, all, body);
    if (reply != NULL) {
        message_answer(gathering->request->reply_to, reply);
    }
    arena_release(&arena);
}

static void part_done(struct gathering *gathering)
{
    if (atomic_fetch_sub_explicit(&gathering->left, 1, memory_order_acq_rel) > 1) {
        return;
    }
    answer(gathering);
    for (uint32_t i = 0; i < gathering->part_count; i++) {
        message_free(gathering->parts[i]);
    }
    message_free(gathering->request);
    free(gathering);
}

static enum result take_part(struct proto_sink *self, struct proto_message **message)
{
    struct gathering *gathering =
        (struct gathering *)((char *)self - offsetof(struct gathering, sink));
    uint64_t part = (*message)->reply_to.ticket;
    ASSERT((*message)->type == PROTO_REPLY);
    ASSERT(part < gathering->part_count && gathering->parts[part] == NULL);
    gathering->parts[part] = *message;
    *message = NULL;
    part_done(gathering);
    return RESULT_OK;
}

static struct proto_message *copy_request(const struct proto_message *request)
{
    struct proto_message *copy = message_new(PROTO_REQUEST, request->as.request.body.count);
    if (copy != NULL) {
        copy->as.request = request->as.request;
        copy->as.request.spelling = PROTO_MSGPACK;
        copy->as.request.body = message_keep(copy, request->as.request.body);
    }
    return copy;
}

enum result actor_gather(struct proto_message **request, struct proto_sink *const *shards,
                         uint32_t shard_count, uint32_t limit)
{
    struct gathering *gathering =
        calloc(1, sizeof *gathering + shard_count * sizeof gathering->parts[0]);
    if (gathering == NULL) {
        return RESULT_LIMIT;
    }
    gathering->sink.send = take_part;
    gathering->request = *request;
    gathering->limit = limit;
    gathering->part_count = shard_count;
    /* One more than there are shards: it must not end before all were asked. */
    atomic_store_explicit(&gathering->left, shard_count + 1, memory_order_relaxed);
    for (uint32_t i = 0; i < shard_count; i++) {
        struct proto_message *copy = copy_request(*request);
        if (copy != NULL) {
            copy->reply_to = (struct proto_address){.sink = &gathering->sink, .ticket = i};
        }
        if (copy == NULL || shards[i]->send(shards[i], &copy) != RESULT_OK) {
            message_free(copy);
            part_done(gathering);
        }
    }
    *request = NULL;
    part_done(gathering);
    return RESULT_OK;
}
