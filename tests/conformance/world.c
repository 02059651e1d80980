/*
 * world.c: see world.h.
 */
#include "tests/conformance/world_checks.h"

#include <stdio.h>
#include <stdlib.h>

#include "engine/read/read.h"
#include "proto/base/assert.h"
#include "proto/wire/json.h"
#include "proto/wire/reader.h"
#include "proto/wire/writer.h"

#define WORLD_ARENA_BYTES (1u << 30)
#define WORLD_TURNS_MAX   100000u
#define DEFAULT_MODULES   "[{\"taskTypes\":[\"svc\"],\"url\":\"http://127.0.0.1:9/svc\"}]"

/* ---- catalog ---- */

static const struct engine_process *find_process(const struct engine_catalog *self,
                                                 struct span project, struct span id,
                                                 uint32_t version)
{
    (void)project;
    const struct world *world = (const struct world *)self;
    if (version > world->newer_count + 1) {
        return NULL;
    }
    version = version == 0 ? world->newer_count + 1 : version;
    const struct engine_process *process =
        engine_definition_find(version == 1 ? world->definition : world->newer[version - 2], id);
    return process != NULL && (id.count == 0 || span_equal(process->id, id)) ? process : NULL;
}

static const struct engine_process *
find_tagged(const struct engine_catalog *self, struct span project, struct span id, struct span tag)
{
    const struct world *world = (const struct world *)self;
    for (uint32_t version = world->newer_count + 1; version > 0; version--) {
        const struct engine_process *process = find_process(self, project, id, version);
        if (process != NULL && span_equal(process->version_tag, tag)) {
            return process;
        }
    }
    return NULL;
}

static const struct engine_modules *find_modules(const struct engine_catalog *self,
                                                 struct span project)
{
    (void)project;
    return ((const struct world *)self)->modules;
}

static struct span value_of(struct world *world, const char *json)
{
    struct span value;
    struct json_error error;
    if (json == NULL) {
        return SPAN_EMPTY;
    }
    enum result result = json_to_wire(span_text(json), LIMIT_DEPTH, &world->arena, &value, &error);
    if (result != RESULT_OK) {
        fprintf(stderr, "bad JSON in the test: %s\n", json);
    }
    ASSERT(result == RESULT_OK);
    return value;
}

static void print_problems(struct engine_report *report)
{
    struct arena arena;
    arena_init(&arena, 4096, 1u << 20);
    struct span text = engine_report_text(report, ENGINE_WARNING, &arena);
    fprintf(stderr, "%.*s", SPAN_ARG(text));
    arena_release(&arena);
}

static struct engine_definition *read_definition(const char *text, uint32_t version)
{
    struct engine_report report;
    struct engine_definition *definition;
    engine_report_init(&report, span_text("test"));
    enum result result = engine_read(span_text("test"), span_text(text), &report, &definition);
    if (result != RESULT_OK) {
        print_problems(&report);
    }
    ASSERT(result == RESULT_OK);
    engine_report_release(&report);
    for (uint32_t i = 0; i < definition->process_count; i++) {
        definition->processes[i].version = version;
    }
    return definition;
}

void world_deploy(struct world *world, const char *text)
{
    ASSERT(world->newer_count < WORLD_NEWER_MAX);
    world->newer[world->newer_count] = read_definition(text, world->newer_count + 2);
    world->newer_count++;
}

void world_open(struct world *world, const char *text, const char *modules)
{
    struct engine_report report;
    memset(world, 0, sizeof *world);
    world->catalog = (struct engine_catalog){
        .process = find_process, .tagged = find_tagged, .modules = find_modules};
    world->now_ms = WORLD_CLOCK_START_MS;
    arena_init(&world->arena, 64u << 10, WORLD_ARENA_BYTES);
    world->definition = read_definition(text, 1);
    engine_report_init(&report, span_text("test"));
    enum result result;
    struct span list = arena_format(&world->arena, "{\"modules\":%s}",
                                    modules == NULL ? DEFAULT_MODULES : modules);
    result = engine_read_modules(span_text("modules.json"),
                                 value_of(world, (const char *)list.bytes), span_text("default"),
                                 value_of(world, "{\"site\":\"north\"}"), &report, &world->modules);
    if (result != RESULT_OK) {
        print_problems(&report);
    }
    ASSERT(result == RESULT_OK);
    engine_report_release(&report);
}

void world_close(struct world *world)
{
    engine_free(world->execution);
    engine_free(world->shadow);
    engine_modules_free(world->modules);
    engine_definition_free(world->definition);
    for (uint32_t i = 0; i < world->newer_count; i++) {
        engine_definition_free(world->newer[i]);
    }
    arena_release(&world->arena);
}

static void count_step(void *owner, struct engine_execution *execution,
                       const struct engine_effect *step)
{
    (void)execution;
    *(uint32_t *)owner += step->as.step.sequence;
}

/* ---- effects ---- */

static void remember_call(struct world *world, const struct proto_call *call)
{
    if (world->call_count == world->call_capacity) {
        uint32_t capacity = world->call_capacity == 0 ? 16 : 2 * world->call_capacity;
        struct world_call *calls = arena_alloc(&world->arena, capacity * sizeof *calls);
        ASSERT(calls != NULL);
        if (world->call_count > 0) {
            memcpy(calls, world->calls, world->call_count * sizeof *calls);
        }
        world->calls = calls;
        world->call_capacity = capacity;
    }
    struct world_call *kept = &world->calls[world->call_count++];
    *kept = (struct world_call){.call = *call, .open = true};
    kept->call.body = arena_copy(&world->arena, call->body);
    kept->call.url = arena_copy(&world->arena, call->url);
    kept->call.idempotency_key = arena_copy(&world->arena, call->idempotency_key);
    kept->call.traceparent = arena_copy(&world->arena, call->traceparent);
    kept->task_id = wire_string_or(wire_find_text(kept->call.body, "taskId"), "http");
    if (span_is(wire_string_or(wire_find_text(kept->call.body, "phase"), ""), "cancel")) {
        kept->open = false;
    }
}

static void cancel_call(struct world *world, const struct proto_call_cancel *cancel)
{
    for (uint32_t i = 0; i < world->call_count; i++) {
        struct world_call *call = &world->calls[i];
        if (call->call.token == cancel->token && call->call.attempt == cancel->attempt) {
            call->open = false;
        }
    }
}

static void take_audit(struct world *world, struct span message)
{
    struct span event = wire_string_or(wire_find_text(message, "event"), "");
    size_t used = strlen(world->audit_events);
    (void)snprintf(world->audit_events + used, sizeof world->audit_events - used, "%.*s ",
                   SPAN_ARG(event));
    world->last_audit = arena_copy(&world->arena, message);
}

static void take_published(struct world *world, const struct engine_effect *effect)
{
    size_t used = strlen(world->published);
    struct span key = effect->as.publish.correlation_key;
    struct span payload = SPAN_EMPTY;
    if (effect->as.publish.payload.count > 0) {
        enum result written =
            json_from_wire(effect->as.publish.payload, JSON_COMPACT, &world->arena, &payload);
        ASSERT(written == RESULT_OK);
    }
    (void)snprintf(world->published + used, sizeof world->published - used, "%s%.*s%s%.*s%.*s ",
                   effect->as.publish.is_signal ? "signal:" : "", SPAN_ARG(effect->as.publish.name),
                   key.count > 0 ? "/" : "", SPAN_ARG(key), SPAN_ARG(payload));
}

static void take_effects(struct world *world, const struct engine_output *output)
{
    for (uint32_t i = 0; i < output->event_count; i++) {
        world->event_counts[output->events[i].type]++;
    }
    for (uint32_t i = 0; i < output->effect_count; i++) {
        const struct engine_effect *effect = &output->effects[i];
        switch (effect->kind) {
        case ENGINE_EFFECT_CALL:
            remember_call(world, &effect->as.call);
            break;
        case ENGINE_EFFECT_CANCEL_CALL:
            cancel_call(world, &effect->as.cancel);
            break;
        case ENGINE_EFFECT_STEP_DONE:
            ASSERT_UNREACHABLE(); /* after_step was given */
        case ENGINE_EFFECT_PUBLISH:
            take_published(world, effect);
            break;
        case ENGINE_EFFECT_AUDIT:
            take_audit(world, effect->as.audit.message);
            break;
        case ENGINE_EFFECT_SEGMENT_END:
            world->segment_ends++;
            world->last_snapshot = arena_copy(&world->arena, effect->as.segment.snapshot);
            break;
        }
    }
}

static void after_step(void *owner, struct engine_execution *execution,
                       const struct engine_effect *step)
{
    struct world *world = owner;
    struct arena arena;
    struct wire_writer writer;
    arena_init(&arena, 65536, WORLD_TURN_BYTES);
    wire_writer_init(&writer, &arena, 512);
    engine_step_encode(execution, &step->as.step, &writer);
    size_t offset;
    const char *reason;
    enum result valid = wire_validate(wire_writer_span(&writer), 2 * LIMIT_DEPTH, &offset, &reason);
    ASSERT(valid == RESULT_OK);
    int64_t sequence = wire_int_or(
        wire_find_text(wire_find_text(wire_writer_span(&writer), "step"), "sequence"), 0);
    ASSERT(sequence == step->as.step.sequence);
    arena_release(&arena);
    world->steps_shown++;
    world->steps_of_turn += step->as.step.sequence;
}

/* ---- driving ---- */

static void advance(struct world *world)
{
    bool more = true;
    for (uint32_t turns = 0; more; turns++) {
        struct arena arena;
        struct engine_output output;
        ASSERT(turns < WORLD_TURNS_MAX);
        arena_init(&arena, 65536, WORLD_TURN_BYTES);
        engine_output_init(&output, &arena);
        struct engine_execution *twin = world_twin(world);
        world->steps_of_turn = 0;
        enum result result =
            engine_advance(world->execution, world->now_ms, 1, after_step, world, &output, &more);
        ASSERT(result == RESULT_OK);
        struct engine_output twin_output;
        bool twin_more;
        uint32_t twin_steps = 0;
        engine_output_init(&twin_output, &arena);
        result = engine_advance(twin, world->now_ms, 1, count_step, &twin_steps, &twin_output,
                                &twin_more);
        ASSERT(result == RESULT_OK && twin_more == more);
        ASSERT(world->steps_of_turn == twin_steps);
        world_expect_same_outcome(&output, &twin_output);
        world_expect_same("the twin itself", world_encoded(world->execution, &arena),
                          world_encoded(twin, &arena));
        engine_free(twin);
        world_check(world, &output);
        take_effects(world, &output);
        if (output.effect_count > 0 &&
            output.effects[output.effect_count - 1].kind == ENGINE_EFFECT_SEGMENT_END) {
            world_expect_same("snapshot", world_encoded(world->execution, &arena),
                              world->last_snapshot);
        }
        arena_release(&arena);
    }
}

static enum result accept(struct world *world, struct engine_input *input)
{
    struct arena arena;
    struct engine_output output;
    arena_init(&arena, 65536, WORLD_TURN_BYTES);
    engine_output_init(&output, &arena);
    input->now_ms = world->now_ms;
    struct engine_execution *twin = world_twin(world);
    enum result result = engine_accept(world->execution, input, &output);
    if (twin != NULL) {
        struct engine_output twin_output;
        engine_output_init(&twin_output, &arena);
        enum result twin_result = engine_accept(twin, input, &twin_output);
        ASSERT(twin_result == result && twin_output.error == output.error);
        world_expect_same_outcome(&output, &twin_output);
        world_expect_same("the twin itself", world_encoded(world->execution, &arena),
                          world_encoded(twin, &arena));
        engine_free(twin);
    }
    ASSERT(result == RESULT_OK || (result == RESULT_INVALID && output.error != PROTO_ERROR_NONE) ||
           result == RESULT_NOT_FOUND);
    ASSERT(result == RESULT_OK || output.event_count == 0);
    world->error = output.error;
    world->refusal = arena_copy(&world->arena, output.error_message);
    world->error_details = arena_copy(&world->arena, output.error_details);
    if (world->execution->run > 0) { /* else it was refused before anything was */
        world_check(world, &output);
    }
    take_effects(world, &output);
    arena_release(&arena);
    if (result == RESULT_OK) {
        advance(world);
    }
    return result;
}

static void must_accept(struct world *world, struct engine_input *input)
{
    enum result result = accept(world, input);
    ASSERT(result == RESULT_OK);
}

void world_start_as(struct world *world, const struct engine_start *start)
{
    struct engine_input input = {.kind = ENGINE_IN_START};
    world->execution = engine_new(&world->catalog, start, world->now_ms);
    ASSERT(world->execution != NULL);
    must_accept(world, &input);
}

void world_start_at(struct world *world, const char *node, const char *execution)
{
    struct engine_start start = {
        .workspace = span_text("default"),
        .project = span_text("default"),
        .execution = value_of(world, execution),
        .process = &world->definition->processes[0],
        .start_node = span_text(node),
    };
    enum result parsed =
        execution_id_parse(span_text("01930000-0000-7000-8000-000000000001"), &start.id);
    ASSERT(parsed == RESULT_OK);
    world_start_as(world, &start);
}

bool world_message(struct world *world, const char *name, const char *key, const char *payload)
{
    struct engine_input input = {.kind = ENGINE_IN_MESSAGE,
                                 .name = span_text(name),
                                 .correlation_key = key == NULL ? SPAN_EMPTY : span_text(key),
                                 .payload = value_of(world, payload),
                                 .message_id = span_text("m-1")};
    return accept(world, &input) == RESULT_OK;
}

bool world_signal(struct world *world, const char *name, const char *payload)
{
    struct engine_input input = {
        .kind = ENGINE_IN_SIGNAL, .name = span_text(name), .payload = value_of(world, payload)};
    return accept(world, &input) == RESULT_OK;
}

void world_start(struct world *world, const char *request, const char *execution)
{
    struct engine_start start = {
        .workspace = span_text("default"),
        .project = span_text("default"),
        .request = value_of(world, request),
        .execution = value_of(world, execution),
        .process = &world->definition->processes[0],
    };
    enum result parsed =
        execution_id_parse(span_text("01930000-0000-7000-8000-000000000001"), &start.id);
    ASSERT(parsed == RESULT_OK);
    world_start_as(world, &start);
}

static struct world_call *open_call(struct world *world, const char *task_id)
{
    for (uint32_t i = 0; i < world->call_count; i++) {
        if (world->calls[i].open && span_is(world->calls[i].task_id, task_id)) {
            return &world->calls[i];
        }
    }
    fprintf(stderr, "no open call of %s\n", task_id);
    ASSERT_UNREACHABLE();
}

static enum result finish_call(struct world *world, struct world_call *call,
                               struct proto_call_done *done)
{
    struct engine_input input = {.kind = ENGINE_IN_CALL_DONE,
                                 .token = call->call.token,
                                 .attempt = call->call.attempt,
                                 .call = done};
    done->execution_id = call->call.execution_id;
    done->token = call->call.token;
    done->attempt = call->call.attempt;
    call->open = false;
    return accept(world, &input);
}

void world_answer(struct world *world, const char *task_id, uint32_t status, const char *body)
{
    struct proto_call_done done = {
        .outcome = PROTO_CALL_ANSWERED, .status = status, .retry_after_ms = -1};
    done.body = value_of(world, body);
    enum result result = finish_call(world, open_call(world, task_id), &done);
    ASSERT(result == RESULT_OK);
}

void world_outcome(struct world *world, const char *task_id, enum proto_call_outcome outcome,
                   const char *reason)
{
    struct proto_call_done done = {
        .outcome = outcome, .retry_after_ms = -1, .reason = span_text(reason)};
    enum result result = finish_call(world, open_call(world, task_id), &done);
    ASSERT(result == RESULT_OK);
}

enum result world_answer_call(struct world *world, uint32_t index, uint32_t status,
                              const char *body)
{
    struct proto_call_done done = {
        .outcome = PROTO_CALL_ANSWERED, .status = status, .retry_after_ms = -1};
    ASSERT(index < world->call_count);
    done.body = value_of(world, body);
    return finish_call(world, &world->calls[index], &done);
}

bool world_callback_with(struct world *world, const char *task_id, const char *payload,
                         const char *output, const char *error)
{
    struct engine_input input = {
        .kind = ENGINE_IN_CALLBACK,
        .task_id = span_text(task_id),
        .payload = value_of(world, payload),
        .output = value_of(world, output),
        .error = value_of(world, error),
    };
    return accept(world, &input) == RESULT_OK;
}

bool world_callback(struct world *world, const char *task_id, const char *payload)
{
    return world_callback_with(world, task_id, payload, NULL, NULL);
}

bool world_verb(struct world *world, enum engine_input_kind verb, const char *task_id)
{
    struct engine_input input = {.kind = verb, .task_id = span_text(task_id)};
    return accept(world, &input) == RESULT_OK;
}

bool world_migrate(struct world *world, uint32_t version, const char *mapping)
{
    struct engine_input input = {.kind = ENGINE_IN_MIGRATE,
                                 .process = find_process(&world->catalog, span_text("default"),
                                                         world->execution->process->id, version),
                                 .mapping = value_of(world, mapping)};
    ASSERT(input.process != NULL);
    return accept(world, &input) == RESULT_OK;
}

bool world_import(struct world *world, const char *foreign)
{
    struct span map = value_of(world, foreign);
    struct engine_start start = {
        .workspace = span_text("default"),
        .project = span_text("default"),
        .request = wire_find_text(map, "request"),
        .context = wire_find_text(map, "context"),
        .execution = wire_find_text(map, "execution"),
        .process = &world->definition->processes[0],
    };
    enum result parsed =
        execution_id_parse(span_text("01930000-0000-7000-8000-000000000001"), &start.id);
    ASSERT(parsed == RESULT_OK && world->execution == NULL);
    world->execution = engine_new(&world->catalog, &start, world->now_ms);
    ASSERT(world->execution != NULL);
    struct engine_input input = {.kind = ENGINE_IN_IMPORT, .foreign = map};
    if (accept(world, &input) == RESULT_OK) {
        return true;
    }
    engine_free(world->execution);
    world->execution = NULL;
    return false;
}

static void fire(struct world *world)
{
    struct engine_input input = {.kind = ENGINE_IN_TIMER};
    must_accept(world, &input);
}

void world_pass(struct world *world, int64_t ms)
{
    int64_t until = world->now_ms + ms;
    for (int64_t due = engine_next_due_ms(world->execution); due <= until;
         due = engine_next_due_ms(world->execution)) {
        world->now_ms = due > world->now_ms ? due : world->now_ms;
        fire(world);
        ASSERT(engine_next_due_ms(world->execution) > world->now_ms);
    }
    world->now_ms = until;
}

void world_sleep(struct world *world, int64_t ms)
{
    world->now_ms += ms;
    fire(world);
}

void world_crash(struct world *world)
{
    struct arena arena;
    struct engine_output output;
    arena_init(&arena, 65536, WORLD_TURN_BYTES);
    struct span bytes = world_encoded(world->execution, &arena);
    engine_free(world->execution);
    enum result result = engine_decode(&world->catalog, bytes, &world->execution);
    ASSERT(result == RESULT_OK);
    for (uint32_t i = 0; i < world->call_count; i++) {
        world->calls[i].open = false;
    }
    engine_output_init(&output, &arena);
    result = engine_recover(world->execution, &output);
    ASSERT(result == RESULT_OK);
    world_check(world, &output);
    take_effects(world, &output);
    arena_release(&arena);
    advance(world);
}
