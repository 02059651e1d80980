/*
 * Bytes: snapshots, journals and step blobs against damage, and the properties that recovery stands
 * on.
 */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>

#include "proto/base/limits.h"
#include "proto/wire/json.h"
#include "proto/wire/reader.h"
#include "proto/wire/writer.h"
#include "tests/conformance/world.h"

static const char rich[] = WORLD_FILE(WORLD_PROCESS(
    "p", START("s") SERVICE("a") USER(
             "u") "<boundaryEvent id='b' attachedToRef='u' "
                  "cancelActivity='false'><timerEventDefinition><timeCycle>R3/PT1M</timeCycle>"
                  "</timerEventDefinition></boundaryEvent>"
                  "<subProcess id='sub'><startEvent id='i'/><callActivity id='c' "
                  "calledElement='q'/>" FLOW("i", "c") "</subProcess>" AND("j") FLOW("s", "a")
                      FLOW("s", "u") FLOW("s", "sub") FLOW("s", "j") FLOW("a", "j") FLOW("u", "j")
                          FLOW("sub", "j")) WORLD_PROCESS("q", START("qs") SERVICE("qa")
                                                                   FLOW("qs", "qa")));

static void open_rich(struct world *world)
{
    world_open(world, rich, NULL);
    world_start(world, "{\"text\":\"hello\",\"list\":[1,2,{\"x\":null}]}", "{\"n\":1}");
    world_answer(world, "a", 503, NULL);
    cr_assert(world_callback(world, "qa", "{\"early\":true}"));
    world_pass(world, 500);
}

/* Bodies with results, records of what can be compensated, a compensation under way, a guard. */
static const char scoped[] = WORLD_BPMN(START("s") "<subProcess id='d'>" TASK(
    "x") "<boundaryEvent id='bx' attachedToRef='x'>"
         "<compensateEventDefinition/></boundaryEvent><serviceTask id='ux' "
         "isForCompensation='true' camunda:type='external' camunda:topic='svc'/>"
         "<association id='ax' sourceRef='bx' targetRef='ux'/><subProcess id='k' "
         "triggeredByEvent='true'><startEvent id='ks'><compensateEventDefinition/>"
         "</startEvent></subProcess></subProcess>" TASK(
             "y") "<boundaryEvent id='by' "
                  "attachedToRef='y'><compensateEventDefinition/></boundaryEvent>"
                  "<serviceTask id='uy' isForCompensation='true' camunda:type='external' "
                  "camunda:topic='svc'/>"
                  "<association id='ay' sourceRef='by' targetRef='uy'/>" AND(
                      "f") "<serviceTask id='m' camunda:type='external' camunda:topic='svc'>"
                           "<multiInstanceLoopCharacteristics><extensionElements><zeebe:"
                           "loopCharacteristics "
                           "inputCollection='=[1,2,3]' inputElement='i' outputCollection='out' "
                           "outputElement='=r'/>"
                           "</extensionElements></multiInstanceLoopCharacteristics></serviceTask>"
                           "<intermediateThrowEvent "
                           "id='t'><compensateEventDefinition/></intermediateThrowEvent>"
                           "<adHocSubProcess id='h' ordering='Sequential'>" SERVICE("h1") TASK(
                               "h2") "</adHocSubProcess>"
                                     "<subProcess id='l' triggeredByEvent='true'><startEvent "
                                     "id='ls' isInterrupting='false'>"
                                     "<timerEventDefinition><timeCycle>R2/PT1M</timeCycle></"
                                     "timerEventDefinition></startEvent>" TASK("lt")
                                            FLOW("ls", "lt") "</subProcess>" FLOW("s", "d")
                                                FLOW("d", "y") FLOW("y", "f") FLOW("f", "m")
                                                    FLOW("f", "t") FLOW("f", "h"));

static void open_scoped(struct world *world)
{
    world_open(world, scoped, NULL);
    world_start(world, NULL, "{\"n\":1}");
    cr_assert_str_eq(world_open_calls(world), "m uy h1 m m");
    world_answer(world, "m", 200, "{\"execution\":{\"r\":5}}");
}

static const struct {
    void (*open)(struct world *world);
    const char *bpmn;
} samples[] = {{open_rich, rich}, {open_scoped, scoped}};
enum { SAMPLE_COUNT = sizeof samples / sizeof samples[0] };

static struct span snapshot(struct world *world)
{
    struct wire_writer writer;
    wire_writer_init(&writer, &world->arena, 4096);
    engine_encode(world->execution, &writer);
    return wire_writer_span(&writer);
}

static void truncate_everywhere(void (*open)(struct world *world))
{
    struct world world;
    open(&world);
    struct span bytes = snapshot(&world);
    for (size_t count = 0; count < bytes.count; count++) {
        struct engine_execution *execution;
        uint8_t *cut = malloc(count + 1); /* so that ASan sees a read behind the end */
        memcpy(cut, bytes.bytes, count);
        cr_expect_neq(engine_decode(&world.catalog, span_of(cut, count), &execution), RESULT_OK,
                      "%zu", count);
        cr_expect_null(execution);
        free(cut);
    }
    world_close(&world);
}

Test(bytes, truncated_anywhere_are_a_miss_never_a_crash)
{
    for (size_t i = 0; i < SAMPLE_COUNT; i++) {
        truncate_everywhere(samples[i].open);
    }
}

static enum result run_on(struct engine_execution *execution, int64_t now_ms,
                          struct engine_output *output)
{
    bool more = true;
    enum result result = RESULT_OK;
    while (result == RESULT_OK && more) {
        result = engine_advance(execution, now_ms, 100, NULL, NULL, output, &more);
    }
    return result;
}

/* Time passes and every call is answered, as often as something is called. */
static void drive(struct engine_execution *execution, int64_t now_ms)
{
    struct arena arena;
    struct engine_output output;
    struct proto_call_done done = {.outcome = PROTO_CALL_ANSWERED, .status = 200};
    struct engine_input input = {.kind = ENGINE_IN_TIMER, .now_ms = now_ms};
    arena_init(&arena, 65536, 1u << 24);
    engine_output_init(&output, &arena);
    enum result result = engine_recover(execution, &output);
    result = result == RESULT_OK ? engine_accept(execution, &input, &output) : result;
    result = result == RESULT_OK ? run_on(execution, now_ms, &output) : result;
    for (unsigned i = 0; i < 20 && result == RESULT_OK && execution->call_count > 0; i++) {
        const struct engine_token *token = NULL;
        do {
            token = engine_token_next(execution, token);
        } while (token->state != ENGINE_TOKEN_CALLING);
        input = (struct engine_input){.kind = ENGINE_IN_CALL_DONE, .now_ms = now_ms, .call = &done};
        input.token = token->slot.id;
        input.attempt = token->call;
        result = engine_accept(execution, &input, &output);
        result = result == RESULT_OK ? run_on(execution, now_ms, &output) : result;
    }
    arena_release(&arena);
}

static void flip_every_bit(void (*open)(struct world *world))
{
    struct world world;
    open(&world);
    struct span bytes = snapshot(&world);
    uint8_t *copy = malloc(bytes.count);
    unsigned decoded = 0;
    for (size_t bit = 0; bit < 8 * bytes.count; bit++) {
        struct engine_execution *execution;
        memcpy(copy, bytes.bytes, bytes.count);
        copy[bit / 8] ^= (uint8_t)(1u << bit % 8);
        if (engine_decode(&world.catalog, span_of(copy, bytes.count), &execution) != RESULT_OK) {
            continue;
        }
        decoded++;
        drive(execution, world.now_ms + 3600000);
        engine_free(execution);
    }
    cr_expect_gt(decoded, 0);
    free(copy);
    world_close(&world);
}

/* Every bit flipped: refused, or an execution that can be driven on without a crash. */
Test(bytes, with_a_bit_flipped_are_refused_or_run_on_safely, .timeout = 600)
{
    for (size_t i = 0; i < SAMPLE_COUNT; i++) {
        flip_every_bit(samples[i].open);
    }
}

Test(bytes, of_another_format_version_are_a_miss)
{
    struct world world;
    struct engine_execution *execution;
    open_rich(&world);
    struct span over;
    struct wire_writer writer;
    wire_writer_init(&writer, &world.arena, 64);
    wire_write_map(&writer, 1);
    wire_pair_int(&writer, "formatVersion", ENGINE_FORMAT_VERSION + 1);
    over = wire_merge(&world.arena, snapshot(&world), wire_writer_span(&writer));
    cr_expect_eq(engine_decode(&world.catalog, over, &execution), RESULT_INVALID);
    world_close(&world);
}

Test(bytes, of_a_process_that_is_not_there_are_not_found)
{
    struct world world;
    struct engine_execution *execution;
    open_rich(&world);
    struct wire_writer writer;
    wire_writer_init(&writer, &world.arena, 64);
    wire_write_map(&writer, 1);
    wire_pair_text(&writer, "process", "elsewhere");
    struct span over = wire_merge(&world.arena, snapshot(&world), wire_writer_span(&writer));
    cr_expect_eq(engine_decode(&world.catalog, over, &execution), RESULT_NOT_FOUND);
    world_close(&world);
}

/* Events of a whole life, as one run: the journal of an execution that never had a snapshot. */
struct journal {
    struct wire_writer writer;
    struct engine_execution *execution;
    struct arena arena;
};

static void record(struct journal *journal, const struct engine_output *output)
{
    engine_events_encode(output->events, output->event_count, &journal->writer);
}

static void open_journal(struct journal *journal, struct world *world)
{
    struct engine_output output;
    struct engine_start start = {.id = {.count = 1, .text = "t"},
                                 .workspace = span_text("default"),
                                 .project = span_text("default"),
                                 .process = &world->definition->processes[0]};
    struct engine_input input = {.kind = ENGINE_IN_START, .now_ms = world->now_ms};
    bool more;
    arena_init(&journal->arena, 65536, 1u << 24);
    wire_writer_init(&journal->writer, &journal->arena, 4096);
    journal->execution = engine_new(&world->catalog, &start, world->now_ms);
    engine_output_init(&output, &journal->arena);
    cr_assert_eq(engine_accept(journal->execution, &input, &output), RESULT_OK);
    cr_assert_eq(engine_advance(journal->execution, world->now_ms, 100, NULL, NULL, &output, &more),
                 RESULT_OK);
    record(journal, &output);
}

Test(journal, run_that_overlaps_a_snapshot_is_applied_once)
{
    struct world world;
    struct journal journal;
    world_open(&world, rich, NULL);
    open_journal(&journal, &world);
    struct span events = wire_writer_span(&journal.writer);
    struct engine_execution *again = NULL;

    cr_assert_eq(engine_replay(&world.catalog, events, 1, &again), RESULT_OK);
    cr_assert_eq(engine_replay(&world.catalog, events, 1, &again), RESULT_OK,
                 "all of it is known already");

    struct engine_view left, right;
    engine_look(journal.execution, &left);
    engine_look(again, &right);
    cr_expect_eq(left.event_sequence, right.event_sequence);
    cr_expect_eq(engine_replay(&world.catalog, events, left.event_sequence + 2, &again),
                 RESULT_CORRUPT, "a gap");
    engine_free(again);
    engine_free(journal.execution);
    arena_release(&journal.arena);
    world_close(&world);
}

static void damage_journal(const char *bpmn)
{
    struct world world;
    struct journal journal;
    world_open(&world, bpmn, NULL);
    open_journal(&journal, &world);
    struct span events = wire_writer_span(&journal.writer);
    uint8_t *copy = malloc(events.count);
    for (size_t bit = 0; bit < 8 * events.count; bit++) {
        struct engine_execution *execution = NULL;
        memcpy(copy, events.bytes, events.count);
        copy[bit / 8] ^= (uint8_t)(1u << bit % 8);
        enum result result =
            engine_replay(&world.catalog, span_of(copy, events.count), 1, &execution);
        cr_expect(result == RESULT_OK || result == RESULT_CORRUPT || result == RESULT_NOT_FOUND ||
                  result == RESULT_LIMIT);
        engine_free(execution);
    }
    free(copy);
    engine_free(journal.execution);
    arena_release(&journal.arena);
    world_close(&world);
}

Test(journal, damaged_anywhere_is_corrupt_never_a_crash, .timeout = 600)
{
    for (size_t i = 0; i < SAMPLE_COUNT; i++) {
        damage_journal(samples[i].bpmn);
    }
}

/* ---- step blobs ---- */

struct volume {
    size_t largest;
    size_t sum;
    uint32_t steps;
    uint32_t without_payloads;
    uint32_t tokens_most; /* in one blob */
};

static void note_size(void *owner, struct engine_execution *execution,
                      const struct engine_effect *step)
{
    struct volume *volume = owner;
    struct arena arena;
    struct wire_writer writer;
    arena_init(&arena, 4096, 4u << 20);
    wire_writer_init(&writer, &arena, 512);
    engine_step_encode(execution, &step->as.step, &writer);
    struct span blob = wire_writer_span(&writer);
    cr_assert_gt(blob.count, 0);
    uint32_t tokens = wire_count(wire_find_text(blob, "tokens"));
    volume->largest = blob.count > volume->largest ? blob.count : volume->largest;
    volume->sum += blob.count;
    volume->steps++;
    volume->without_payloads += wire_find_text(blob, "payloadsLeftOut").count > 0;
    volume->tokens_most = tokens > volume->tokens_most ? tokens : volume->tokens_most;
    arena_release(&arena);
}

/* A fresh execution of the file's process, started with those variables (JSON, or NULL). */
static struct engine_execution *begin(struct world *world, const char *variables)
{
    struct span execution = SPAN_EMPTY;
    if (variables != NULL) {
        struct json_error error;
        cr_assert_eq(
            json_to_wire(span_text(variables), LIMIT_DEPTH, &world->arena, &execution, &error),
            RESULT_OK);
    }
    struct engine_start start = {.id = {.count = 1, .text = "t"},
                                 .workspace = span_text("default"),
                                 .project = span_text("default"),
                                 .execution = execution,
                                 .process = &world->definition->processes[0]};
    struct engine_execution *made = engine_new(&world->catalog, &start, world->now_ms);
    struct engine_input input = {.kind = ENGINE_IN_START, .now_ms = world->now_ms};
    struct engine_output output;
    engine_output_init(&output, &world->arena);
    cr_assert_eq(engine_accept(made, &input, &output), RESULT_OK);
    return made;
}

static bool move(struct world *world, struct engine_execution *execution, uint32_t moves,
                 struct volume *volume)
{
    struct arena arena;
    struct engine_output output;
    bool more;
    arena_init(&arena, 65536, 256u << 20);
    engine_output_init(&output, &arena);
    cr_assert_eq(engine_advance(execution, world->now_ms, moves, note_size, volume, &output, &more),
                 RESULT_OK);
    arena_release(&arena);
    return more;
}

/* engine.md 6: a step blob does not grow with the number of steps. */
Test(bytes, of_a_step_do_not_grow_with_the_steps_before)
{
    struct world world;
    struct volume early = {0}, late = {0};
    world_open(
        &world,
        WORLD_BPMN(START("s") XOR("m") TASK("a") FLOW("s", "m") FLOW("m", "a") FLOW("a", "m")),
        NULL);
    struct engine_execution *execution = begin(&world, NULL);
    cr_assert(move(&world, execution, 10, &early), "the budget of moves is kept");
    cr_assert(move(&world, execution, 180, &late));
    cr_expect_leq(late.largest, early.largest + 8, "%zu, %zu", early.largest, late.largest);
    engine_free(execution);
    world_close(&world);
}

/* All instances wait at once, so that each step is made among the tokens of all before it. */
static struct volume fork_of(uint32_t instances)
{
    struct world world;
    struct volume volume = {0};
    char variables[32];
    world_open(
        &world,
        WORLD_BPMN(START("s") "<userTask id='m'><multiInstanceLoopCharacteristics>"
                              "<loopCardinality>=n</loopCardinality>"
                              "</multiInstanceLoopCharacteristics></userTask>" FLOW("s", "m")),
        NULL);
    snprintf(variables, sizeof variables, "{\"n\":%u}", instances);
    struct engine_execution *execution = begin(&world, variables);
    cr_assert_not(move(&world, execution, UINT32_MAX, &volume));
    engine_free(execution);
    world_close(&world);
    return volume;
}

Test(bytes, of_a_step_do_not_grow_with_the_tokens, .timeout = 120)
{
    struct volume few = fork_of(1000);
    struct volume many = fork_of(5000);

    cr_expect_eq(few.steps, 1002);
    cr_expect_eq(many.steps, 5002, "each step has one");
    cr_expect_eq(many.tokens_most, 32);
    cr_expect_leq(many.largest, few.largest + few.largest / 20, "%zu, %zu", few.largest,
                  many.largest);
    size_t each_of_few = few.sum / few.steps;
    size_t each_of_many = many.sum / many.steps;
    cr_expect_leq(each_of_many, each_of_few + each_of_few / 20, "%zu, %zu", each_of_few,
                  each_of_many);
}

Test(bytes, of_a_step_leave_the_payloads_out_behind_the_thousandth_instance, .timeout = 120)
{
    struct volume few = fork_of(1000);
    struct volume many = fork_of(1500);

    cr_expect_eq(few.without_payloads, 0);
    cr_expect_eq(many.without_payloads, 500);
}

static void keep_blob(void *owner, struct engine_execution *execution,
                      const struct engine_effect *step)
{
    struct wire_writer *writer = owner;
    writer->count = 0;
    engine_step_encode(execution, &step->as.step, writer);
}

Test(bytes, of_a_step_tell_the_way_in_and_how_long_the_module_took)
{
    struct world world;
    struct wire_writer blob;
    world_open(&world, WORLD_BPMN(START("s") SERVICE("a") FLOW("s", "a")), NULL);
    world_start(&world, NULL, NULL);
    world_pass(&world, 1500);
    struct world_call *call = &world.calls[0];
    wire_writer_init(&blob, &world.arena, 4096);

    struct engine_input input = {.kind = ENGINE_IN_CALL_DONE,
                                 .now_ms = world.now_ms,
                                 .token = call->call.token,
                                 .attempt = call->call.attempt,
                                 .call = &(struct proto_call_done){.status = 204}};
    struct engine_output output;
    bool more;
    engine_output_init(&output, &world.arena);
    cr_assert_eq(engine_accept(world.execution, &input, &output), RESULT_OK);
    cr_assert_eq(
        engine_advance(world.execution, world.now_ms, 100, keep_blob, &blob, &output, &more),
        RESULT_OK);

    struct span bytes = wire_writer_span(&blob);
    struct span work = wire_find_text(bytes, "work");
    cr_expect(
        span_is(wire_string_or(wire_find_text(wire_find_text(bytes, "step"), "flow"), ""), "s-a"));
    cr_expect(
        span_is(wire_string_or(wire_find_text(work, "calledAt"), ""), "2026-01-01T00:00:00.000Z"));
    cr_expect(span_is(wire_string_or(wire_find_text(work, "answeredAt"), ""),
                      "2026-01-01T00:00:01.500Z"));
    world_close(&world);
}

Test(memory, of_an_execution_is_tidied_when_garbage_outweighs_it)
{
    struct world world;
    world_open(&world,
               WORLD_BPMN(START("s") USER("m")
                              FLOW("s", "m") "<sequenceFlow id='l' sourceRef='m' targetRef='m'/>"),
               NULL);
    world_start(&world, NULL, NULL);
    struct wire_writer writer;
    wire_writer_init(&writer, &world.arena, 20000);
    size_t mark = wire_open_string(&writer);
    for (unsigned i = 0; i < 10000; i++) {
        wire_write_raw(&writer, span_text("x"));
    }
    wire_close_string(&writer, mark);
    char *json = malloc(10100);
    snprintf(json, 10100, "{\"big\":\"%.*s\"}", 10000, (const char *)writer.bytes + 3);
    for (unsigned i = 0; i < 50; i++) {
        cr_assert(world_callback(&world, NULL, json));
    }
    cr_expect_lt(world.execution->memory.taken_bytes, 300000, "%zu",
                 world.execution->memory.taken_bytes);
    free(json);
    world_close(&world);
}

/* Whatever a process builds, its snapshot can be read back (world.c decodes after each call). */
Test(bytes, of_a_variable_that_grows_deeper_each_lap_stay_readable)
{
    struct world world;
    world_open(&world,
               WORLD_BPMN(START("s") USER(
                   "u") "<serviceTask id='a'><extensionElements><zeebe:taskDefinition "
                        "type='svc'/><zeebe:ioMapping>"
                        "<zeebe:output source='=x' "
                        "target='x.a.b.c.d.e.f.g'/></zeebe:ioMapping></extensionElements>"
                        "</serviceTask>" FLOW("s", "u") FLOW("u", "a") FLOW("a", "u")),
               NULL);
    world_start(&world, NULL, "{\"x\":{\"y\":1}}");
    for (unsigned lap = 0; lap < 100 && world_callback(&world, NULL, "{}"); lap++) {
        world_answer(&world, "a", 200, "{}");
    }
    cr_expect_str_eq(world_error(&world), "ExpressionFailed");
    world_close(&world);
}
