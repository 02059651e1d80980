/*
 * world_checks.c: see world_checks.h.
 */
#include "tests/conformance/world_checks.h"

#include <stdio.h>

#include "proto/base/assert.h"
#include "proto/wire/json.h"
#include "proto/wire/writer.h"

/* ---- the standing checks ---- */

static void check_conserved(const struct engine_execution *execution)
{
    uint32_t tokens = 0;
    for (ENGINE_EACH(const struct engine_scope, scope, &execution->scopes, &execution->scope_order,
                     ENGINE_LINK_ALL)) {
        uint32_t live = scope->tokens.count;
        for (ENGINE_EACH(const struct engine_token, token, &execution->tokens, &scope->tokens,
                         ENGINE_LINK_IN_SCOPE)) {
            live -= token->guard;
        }
        for (ENGINE_EACH(const struct engine_join_tokens, join, &execution->joins, &scope->joins,
                         ENGINE_LINK_FIRST)) {
            ASSERT(join->count > 0 || join->taken);
            live += join->count;
        }
        ASSERT(live == scope->live);
        tokens += scope->tokens.count;
    }
    ASSERT(tokens == execution->token_count);
    ASSERT(tokens == execution->ready.count + execution->parked.count);
}

struct span world_encoded(const struct engine_execution *execution, struct arena *arena)
{
    struct wire_writer writer;
    wire_writer_init(&writer, arena, 1024);
    engine_encode(execution, &writer);
    ASSERT(!arena->overflowed);
    return wire_writer_span(&writer);
}

void world_expect_same(const char *what, struct span left, struct span right)
{
    if (span_equal(left, right)) {
        return;
    }
    struct arena arena;
    struct span a = SPAN_EMPTY, b = SPAN_EMPTY;
    arena_init(&arena, 65536, 1u << 28);
    (void)!json_from_wire(left, JSON_COMPACT, &arena, &a);
    (void)!json_from_wire(right, JSON_COMPACT, &arena, &b);
    fprintf(stderr, "%s:\n live: %.*s\nother: %.*s\n", what, SPAN_ARG(a), SPAN_ARG(b));
    arena_release(&arena);
    ASSERT_UNREACHABLE();
}

/* The reply and the human tasks, as one value. */
static struct span looks(const struct engine_execution *execution, struct arena *arena)
{
    struct wire_writer writer;
    wire_writer_init(&writer, arena, 1024);
    wire_write_array(&writer, 2);
    size_t mark = wire_open_map(&writer);
    wire_close_map(&writer, mark, engine_reply_pairs(execution, &writer));
    mark = wire_open_array(&writer);
    wire_close_array(&writer, mark, engine_tasks(execution, &writer));
    return wire_writer_span(&writer);
}

void world_check(struct world *world, const struct engine_output *output)
{
    struct arena arena;
    struct wire_writer events;
    struct engine_execution *copy;
    arena_init(&arena, 65536, WORLD_TURN_BYTES);
    wire_writer_init(&events, &arena, 1024);
    engine_events_encode(output->events, output->event_count, &events);
    enum result result = engine_replay(&world->catalog, wire_writer_span(&events),
                                       output->first_event_sequence, &world->shadow);
    ASSERT(result == RESULT_OK);
    struct span live = world_encoded(world->execution, &arena);
    world_expect_same("apply over events", live, world_encoded(world->shadow, &arena));
    result = engine_decode(&world->catalog, live, &copy);
    ASSERT(result == RESULT_OK);
    world_expect_same("decode(encode)", live, world_encoded(copy, &arena));
    world_expect_same("what callers see", looks(world->execution, &arena), looks(copy, &arena));
    ASSERT(engine_next_due_ms(copy) == engine_next_due_ms(world->execution));
    engine_free(copy);
    check_conserved(world->execution);
    arena_release(&arena);
}

/* ---- the twin: decoded from the bytes of just before, it must do what the live one does ---- */

struct engine_execution *world_twin(struct world *world)
{
    struct arena arena;
    struct engine_execution *twin;
    arena_init(&arena, 65536, WORLD_TURN_BYTES);
    if (world->execution->run == 0) { /* nothing to store before the start */
        arena_release(&arena);
        return NULL;
    }
    enum result result =
        engine_decode(&world->catalog, world_encoded(world->execution, &arena), &twin);
    ASSERT(result == RESULT_OK);
    arena_release(&arena);
    return twin;
}

static void write_effect(const struct engine_effect *effect, struct wire_writer *writer)
{
    wire_write_array(writer, 6);
    wire_write_int(writer, effect->kind);
    switch (effect->kind) {
    case ENGINE_EFFECT_CALL:
        wire_write_int(writer, effect->as.call.token);
        wire_write_int(writer, effect->as.call.attempt);
        wire_write_string(writer, effect->as.call.idempotency_key);
        wire_write_string(writer, effect->as.call.traceparent);
        wire_write_value(writer, effect->as.call.body);
        return;
    case ENGINE_EFFECT_CANCEL_CALL:
        wire_write_int(writer, effect->as.cancel.token);
        wire_write_int(writer, effect->as.cancel.attempt);
        break;
    case ENGINE_EFFECT_PUBLISH:
        wire_write_string(writer, effect->as.publish.id);
        wire_write_string(writer, effect->as.publish.name);
        wire_write_string(writer, effect->as.publish.correlation_key);
        wire_write_bool(writer, effect->as.publish.is_signal);
        wire_write_value(writer, effect->as.publish.payload);
        return;
    case ENGINE_EFFECT_AUDIT:
        wire_write_int(writer, effect->as.audit.revision);
        wire_write_value(writer, effect->as.audit.message);
        break;
    case ENGINE_EFFECT_SEGMENT_END:
    case ENGINE_EFFECT_STEP_DONE:
        wire_write_nil(writer);
        wire_write_value(writer, effect->as.segment.snapshot);
        break;
    }
    for (unsigned i = 0; i < 3; i++) {
        wire_write_nil(writer);
    }
}

/* All that came out of a call, as one value. */
static struct span outcome(const struct engine_output *output, struct arena *arena)
{
    struct wire_writer writer;
    wire_writer_init(&writer, arena, 4096);
    wire_write_array(&writer, 2);
    wire_write_array(&writer, output->event_count);
    engine_events_encode(output->events, output->event_count, &writer);
    wire_write_array(&writer, output->effect_count);
    for (uint32_t i = 0; i < output->effect_count; i++) {
        write_effect(&output->effects[i], &writer);
    }
    return wire_writer_span(&writer);
}

void world_expect_same_outcome(const struct engine_output *live, const struct engine_output *twin)
{
    struct arena arena;
    arena_init(&arena, 65536, WORLD_TURN_BYTES);
    world_expect_same("a twin from the bytes", outcome(live, &arena), outcome(twin, &arena));
    arena_release(&arena);
}
