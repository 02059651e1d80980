/*
 * stage.c: see stage.h. Replies without `after` arrive in the order of their calls, once every
 * runnable token has parked.
 */
#include "tools/strider/scenario/stage.h"

#include "engine/dmn/dmn.h"
#include "engine/read/read.h"
#include "engine/time/iso8601.h"
#include "proto/base/assert.h"
#include "proto/wire/reader.h"
#include "proto/wire/writer.h"
#include "tools/strider/zone.h"

#define STAGE_CLOCK_START_MS INT64_C(1767225600000) /* 2026-01-01T00:00:00Z */
#define STAGE_TURNS_MAX      1000000u
#define STAGE_TURN_BYTES     (256u << 20)
#define STAGE_TTL_MS         INT64_C(3600000) /* engine.md 4: an hour, unless said otherwise */

/* ---- catalog ---- */

static const struct engine_process *find_process(const struct engine_catalog *self,
                                                 struct span project, struct span id,
                                                 uint32_t version)
{
    const struct stage *stage = (const struct stage *)self;
    (void)project;
    (void)version;
    for (uint32_t i = 0; i < stage->scenario->definition_count; i++) {
        const struct engine_process *process =
            engine_definition_find(stage->scenario->definitions[i], id);
        if (process != NULL && (id.count == 0 || span_equal(process->id, id))) {
            return process;
        }
    }
    return NULL;
}

static const struct engine_process *
find_tagged(const struct engine_catalog *self, struct span project, struct span id, struct span tag)
{
    const struct stage *stage = (const struct stage *)self;
    const struct engine_process *found = NULL;
    (void)project;
    for (uint32_t i = 0; i < stage->scenario->definition_count; i++) {
        const struct engine_process *process =
            engine_definition_find(stage->scenario->definitions[i], id);
        found = process != NULL && span_equal(process->version_tag, tag) ? process : found;
    }
    return found;
}

static const struct engine_modules *find_modules(const struct engine_catalog *self,
                                                 struct span project)
{
    (void)project;
    return ((const struct stage *)self)->modules;
}

static const struct engine_dmn *find_decision(const struct engine_catalog *self,
                                              struct span project, struct span id, uint32_t version)
{
    const struct stage *stage = (const struct stage *)self;
    (void)project;
    for (uint32_t i = 0; version < 2 && i < stage->scenario->definition_count; i++) {
        const struct engine_dmn *decisions = stage->scenario->definitions[i]->decisions;
        if (decisions != NULL && engine_dmn_has_decision(decisions, id)) {
            return decisions;
        }
    }
    return NULL;
}

static const struct engine_zone *find_zone(const struct engine_catalog *self, struct span name,
                                           struct arena *arena)
{
    (void)self;
    return cli_zone_find(name, arena);
}

/* Kinds that only call a module when the scenario names them; `*` does not mean them. */
static bool is_called_by_star(enum engine_kind kind)
{
    return kind == ENGINE_SERVICE_TASK || kind == ENGINE_SEND_TASK ||
           kind == ENGINE_BUSINESS_RULE_TASK || kind == ENGINE_SCRIPT_TASK;
}

static bool is_scripted(const struct stage *stage, const struct engine_node *node)
{
    struct span modules = stage->scenario->modules;
    if (node->task_type.count == 0) {
        return false;
    }
    if (wire_find(modules, node->id).count > 0 || wire_find(modules, node->task_type).count > 0) {
        return true;
    }
    bool native = node->script != NULL && node->kind != ENGINE_BUSINESS_RULE_TASK;
    return wire_find_text(modules, "*").count > 0 && is_called_by_star(node->kind) && !native;
}

/* Is an earlier node of the same task type scripted too? A type has one module. */
static bool is_repeated(const struct stage *stage, uint32_t definition_index,
                        uint32_t process_index, uint32_t node_index)
{
    struct span type = stage->scenario->definitions[definition_index]
                           ->processes[process_index]
                           .nodes[node_index]
                           .task_type;
    for (uint32_t d = 0; d <= definition_index; d++) {
        const struct engine_definition *definition = stage->scenario->definitions[d];
        for (uint32_t p = 0; p < definition->process_count; p++) {
            for (uint32_t n = 0; n < definition->processes[p].node_count; n++) {
                if (d == definition_index && p == process_index && n == node_index) {
                    return false;
                }
                const struct engine_node *node = &definition->processes[p].nodes[n];
                if (span_equal(node->task_type, type) && is_scripted(stage, node)) {
                    return true;
                }
            }
        }
    }
    return false;
}

static void write_module(struct wire_writer *writer, struct span task_type)
{
    wire_write_map(writer, 2);
    wire_write_text(writer, "taskTypes");
    wire_write_array(writer, 1);
    wire_write_string(writer, task_type);
    wire_pair_text(writer, "url", "http://127.0.0.1:9/scenario");
}

/* The names that can only be task types by expression. */
static uint32_t write_computed(const struct stage *stage, struct wire_writer *writer)
{
    uint32_t count = 0;
    struct wire_map_walk walk = wire_map_begin(stage->scenario->modules);
    struct span type;
    struct span replies;
    bool computed;
    while (wire_map_next(&walk, &type, &replies)) {
        if (!scenario_names_task(stage->scenario, type, &computed) && computed) {
            write_module(writer, type);
            count++;
        }
    }
    return count;
}

/* modules.json for exactly the task types that the scenario answers. */
static uint32_t write_modules(const struct stage *stage, struct wire_writer *writer)
{
    uint32_t count = write_computed(stage, writer);
    for (uint32_t d = 0; d < stage->scenario->definition_count; d++) {
        const struct engine_definition *definition = stage->scenario->definitions[d];
        for (uint32_t p = 0; p < definition->process_count; p++) {
            for (uint32_t n = 0; n < definition->processes[p].node_count; n++) {
                const struct engine_node *node = &definition->processes[p].nodes[n];
                if (!is_scripted(stage, node) || is_repeated(stage, d, p, n)) {
                    continue;
                }
                write_module(writer, node->task_type);
                count++;
            }
        }
    }
    return count;
}

static bool open_modules(struct stage *stage)
{
    struct wire_writer writer;
    struct engine_report report;
    wire_writer_init(&writer, stage->arena, 1024);
    wire_write_map(&writer, 1);
    wire_write_text(&writer, "modules");
    size_t mark = wire_open_array(&writer);
    wire_close_array(&writer, mark, write_modules(stage, &writer));
    engine_report_init(&report, stage->scenario->name);
    enum result result = engine_read_modules(
        span_text("modules"), wire_writer_span(&writer), span_text("default"),
        wire_find_text(stage->scenario->start, "env"), &report, &stage->modules);
    if (result != RESULT_OK) {
        scenario_fail(stage->outcome, stage->arena, "%.*s",
                      SPAN_ARG(engine_report_text(&report, ENGINE_ERROR, stage->arena)));
    }
    engine_report_release(&report);
    return result == RESULT_OK;
}

bool stage_open(struct stage *stage, const struct scenario *scenario, struct arena *arena,
                struct scenario_outcome *outcome)
{
    *stage = (struct stage){.catalog = {.process = find_process,
                                        .tagged = find_tagged,
                                        .modules = find_modules,
                                        .decision = find_decision,
                                        .zone = find_zone,
                                        .max_steps = scenario->max_steps},
                            .scenario = scenario,
                            .outcome = outcome,
                            .arena = arena,
                            .now_ms = STAGE_CLOCK_START_MS};
    arena_init(&stage->turn, 16384, STAGE_TURN_BYTES);
    return open_modules(stage);
}

void stage_close(struct stage *stage)
{
    if (stage->execution != NULL) {
        engine_free(stage->execution);
    }
    if (stage->modules != NULL) {
        engine_modules_free(stage->modules);
    }
    arena_release(&stage->turn);
}

/* ---- module calls ---- */

static struct span replies_of(const struct stage *stage, struct span task_id, struct span task_type)
{
    struct span modules = stage->scenario->modules;
    struct span list = wire_find(modules, task_id);
    if (list.count == 0) {
        list = wire_find(modules, task_type);
    }
    return list.count > 0 ? list : wire_find_text(modules, "*");
}

/* A call made again (same key, same attempt) gets the reply it had; a new one the next of its list.
 */
static uint32_t reply_number(struct stage *stage, const struct proto_call *call,
                             struct span task_id)
{
    struct span key = arena_format(stage->arena, "%.*s %.*s/%u", SPAN_ARG(task_id),
                                   SPAN_ARG(call->idempotency_key), call->attempt);
    uint32_t number = 0;
    for (uint32_t i = 0; i < stage->answer_count; i++) {
        if (span_equal(stage->answers[i].key, key)) {
            return stage->answers[i].number;
        }
        bool same_task = stage->answers[i].key.count > task_id.count &&
                         stage->answers[i].key.bytes[task_id.count] == ' ' &&
                         memcmp(stage->answers[i].key.bytes, task_id.bytes, task_id.count) == 0;
        number += same_task ? 1 : 0;
    }
    if (stage->answer_count == stage->answer_capacity) {
        uint32_t capacity = stage->answer_capacity == 0 ? 16 : stage->answer_capacity * 2;
        struct stage_answer *grown =
            arena_grow(stage->arena, stage->answers, stage->answer_capacity * sizeof *grown,
                       capacity * sizeof *grown);
        ASSERT(grown != NULL);
        stage->answers = grown;
        stage->answer_capacity = capacity;
    }
    stage->answers[stage->answer_count++] = (struct stage_answer){.key = key, .number = number};
    return number;
}

/* {"wait":{"kind":"human"}} */
static const uint8_t human_wait_bytes[] = {0x81, 0xa4, 'w', 'a',  'i', 't', 0x81, 0xa4, 'k',
                                           'i',  'n',  'd', 0xa5, 'h', 'u', 'm',  'a',  'n'};
static const struct span human_wait = {human_wait_bytes, sizeof human_wait_bytes};

static bool add_call(struct stage *stage, const struct proto_call *call)
{
    struct span task_id = wire_string_or(wire_find_text(call->body, "taskId"), "");
    struct span task_type = wire_string_or(wire_find_text(call->body, "taskType"), "");
    struct span list = replies_of(stage, task_id, task_type);
    uint32_t number = reply_number(stage, call, task_id);
    if (list.count == 0 && span_is(task_type, "userTask")) {
        list = human_wait; /* the module is there for another task of this type */
    }
    uint32_t count = wire_is(list, WIRE_ARRAY) ? wire_count(list) : 0;
    struct span reply = count > 0 ? wire_at(list, number < count ? number : count - 1) : list;
    if (!wire_is(reply, WIRE_MAP)) {
        reply = SPAN_EMPTY; /* no replies, or null: done, with nothing to say */
    }
    struct span after = wire_string_or(wire_find_text(reply, "after"), "");
    int64_t due_ms = stage->now_ms;
    if (after.count > 0) {
        struct engine_duration duration;
        const char *reason;
        if (engine_duration_parse(after, &duration, &reason) != RESULT_OK) {
            scenario_fail(stage->outcome, stage->arena, "modules: \"after\":\"%.*s\": %s",
                          SPAN_ARG(after), reason);
            return false;
        }
        due_ms = engine_duration_after(stage->now_ms, duration);
    }
    if (stage->call_count == stage->call_capacity) {
        uint32_t capacity = stage->call_capacity == 0 ? 16 : stage->call_capacity * 2;
        struct stage_call *grown =
            arena_grow(stage->arena, stage->calls, stage->call_capacity * sizeof *grown,
                       capacity * sizeof *grown);
        ASSERT(grown != NULL);
        stage->calls = grown;
        stage->call_capacity = capacity;
    }
    stage->calls[stage->call_count++] = (struct stage_call){.token = call->token,
                                                            .attempt = call->attempt,
                                                            .due_ms = due_ms,
                                                            .order = stage->call_order++,
                                                            .reply = reply};
    return true;
}

static void drop_call(struct stage *stage, uint32_t index)
{
    memmove(&stage->calls[index], &stage->calls[index + 1],
            (stage->call_count - index - 1) * sizeof *stage->calls);
    stage->call_count--;
}

/* The next call that is due, or call_count. */
static uint32_t due_call(const struct stage *stage, int64_t now_ms)
{
    uint32_t found = stage->call_count;
    for (uint32_t i = 0; i < stage->call_count; i++) {
        const struct stage_call *call = &stage->calls[i];
        if (call->due_ms > now_ms) {
            continue;
        }
        if (found == stage->call_count || call->due_ms < stage->calls[found].due_ms ||
            (call->due_ms == stage->calls[found].due_ms &&
             call->order < stage->calls[found].order)) {
            found = i;
        }
    }
    return found;
}

/* What the scenario wrote as the dispatcher would report it. */
static struct proto_call_done answer_of(const struct stage *stage, const struct stage_call *call)
{
    struct proto_call_done done = {
        .token = call->token, .attempt = call->attempt, .retry_after_ms = -1};
    struct engine_view view;
    engine_look(stage->execution, &view);
    if (execution_id_parse(view.id, &done.execution_id) != RESULT_OK) {
        ASSERT_UNREACHABLE();
    }
    struct span outcome = wire_string_or(wire_find_text(call->reply, "outcome"), "");
    int64_t status =
        wire_int_or(wire_find_text(call->reply, "status"), call->reply.count > 0 ? 200 : 204);
    done.status = (uint32_t)status;
    done.retry_after_ms = wire_int_or(wire_find_text(call->reply, "retryAfterMs"), -1);
    done.body = status == 204 ? SPAN_EMPTY : call->reply;
    done.reason = wire_string_or(wire_find_text(call->reply, "reason"), "");
    done.outcome = span_is(outcome, "unreachable") ? PROTO_CALL_UNREACHABLE
                   : span_is(outcome, "timeout")   ? PROTO_CALL_TIMED_OUT
                   : span_is(outcome, "badReply")  ? PROTO_CALL_BAD_REPLY
                                                   : PROTO_CALL_ANSWERED;
    if (done.outcome != PROTO_CALL_ANSWERED) {
        done.body = SPAN_EMPTY;
    }
    return done;
}

/* ---- store ---- */

static void keep_events(struct stage *stage, const struct engine_output *output)
{
    if (output->event_count == 0) {
        return;
    }
    if (stage->event_count == stage->event_capacity) {
        uint32_t capacity = stage->event_capacity == 0 ? 16 : stage->event_capacity * 2;
        stage->events =
            arena_grow(stage->arena, stage->events, stage->event_capacity * sizeof *stage->events,
                       capacity * sizeof *stage->events);
        stage->event_firsts = arena_grow(stage->arena, stage->event_firsts,
                                         stage->event_capacity * sizeof *stage->event_firsts,
                                         capacity * sizeof *stage->event_firsts);
        ASSERT(stage->events != NULL && stage->event_firsts != NULL);
        stage->event_capacity = capacity;
    }
    struct wire_writer writer;
    wire_writer_init(&writer, stage->arena, 256);
    engine_events_encode(output->events, output->event_count, &writer);
    stage->events[stage->event_count] = wire_writer_span(&writer);
    stage->event_firsts[stage->event_count] = output->first_event_sequence;
    stage->event_count++;
}

static void keep_snapshot(struct stage *stage)
{
    struct wire_writer writer;
    wire_writer_init(&writer, stage->arena, 1024);
    engine_encode(stage->execution, &writer);
    stage->snapshot = wire_writer_span(&writer);
    stage->event_count = 0;
}

/* ---- messages ---- */

static bool keep_message(struct stage *stage, const struct stage_message *message)
{
    if (stage->message_count == stage->message_capacity) {
        uint32_t capacity = stage->message_capacity == 0 ? 8 : stage->message_capacity * 2;
        struct stage_message *grown =
            arena_grow(stage->arena, stage->messages, stage->message_capacity * sizeof *grown,
                       capacity * sizeof *grown);
        if (grown == NULL) {
            return false;
        }
        stage->messages = grown;
        stage->message_capacity = capacity;
    }
    stage->messages[stage->message_count++] = *message;
    return true;
}

static void drop_message(struct stage *stage, uint32_t index)
{
    memmove(&stage->messages[index], &stage->messages[index + 1],
            (stage->message_count - index - 1) * sizeof *stage->messages);
    stage->message_count--;
}

/* What the execution publishes comes back to it, as to all others. */
static bool add_published(struct stage *stage, const struct engine_effect *effect)
{
    int64_t ttl_ms = effect->as.publish.ttl_ms > 0 ? effect->as.publish.ttl_ms : STAGE_TTL_MS;
    const struct stage_message message = {
        .is_signal = effect->as.publish.is_signal,
        .name = arena_copy(stage->arena, effect->as.publish.name),
        .correlation_key = arena_copy(stage->arena, effect->as.publish.correlation_key),
        .payload = arena_copy(stage->arena, effect->as.publish.payload),
        .id = arena_copy(stage->arena, effect->as.publish.id),
        .expires_ms = stage->now_ms + ttl_ms,
    };
    return keep_message(stage, &message);
}

/* ---- turns ---- */

/* Acts on the effects of one engine call; *segment_ended. */
static bool act(struct stage *stage, const struct engine_output *output, bool *segment_ended)
{
    for (uint32_t i = 0; i < output->effect_count; i++) {
        const struct engine_effect *effect = &output->effects[i];
        if (effect->kind == ENGINE_EFFECT_CALL && !add_call(stage, &effect->as.call)) {
            return false;
        }
        if (effect->kind == ENGINE_EFFECT_PUBLISH && !add_published(stage, effect)) {
            return false;
        }
        if (effect->kind == ENGINE_EFFECT_CANCEL_CALL) {
            for (uint32_t k = 0; k < stage->call_count; k++) {
                if (stage->calls[k].token == effect->as.cancel.token &&
                    stage->calls[k].attempt == effect->as.cancel.attempt) {
                    drop_call(stage, k);
                    break;
                }
            }
        }
        *segment_ended = *segment_ended || effect->kind == ENGINE_EFFECT_SEGMENT_END;
    }
    return true;
}

/* Accepts one input and moves tokens until all have parked. */
static bool turn(struct stage *stage, const struct engine_input *input, enum proto_error *refusal,
                 struct span *message)
{
    struct engine_output output;
    bool more = false;
    bool segment_ended = false;
    arena_clear(&stage->turn);
    engine_output_init(&output, &stage->turn);
    enum result result = engine_accept(stage->execution, input, &output);
    if (result == RESULT_INVALID) {
        *refusal = output.error;
        *message = arena_copy(stage->arena, output.error_message);
        return true;
    }
    if (result == RESULT_NOT_FOUND) {
        return true; /* a reply that nobody waits for any more */
    }
    do {
        result = result == RESULT_OK ? engine_advance(stage->execution, stage->now_ms,
                                                      LIMIT_TOKEN_MOVES, NULL, NULL, &output, &more)
                                     : result;
    } while (result == RESULT_OK && more);
    if (result != RESULT_OK || !act(stage, &output, &segment_ended)) {
        scenario_fail(stage->outcome, stage->arena, "the engine gave up: %s", result_text(result));
        return false;
    }
    keep_events(stage, &output);
    if (segment_ended) {
        keep_snapshot(stage);
    }
    return true;
}

static bool settle_call(struct stage *stage, uint32_t index)
{
    struct proto_call_done done = answer_of(stage, &stage->calls[index]);
    struct engine_input input = {.kind = ENGINE_IN_CALL_DONE,
                                 .now_ms = stage->now_ms,
                                 .token = done.token,
                                 .attempt = done.attempt,
                                 .call = &done};
    enum proto_error refusal = PROTO_ERROR_NONE;
    struct span message = SPAN_EMPTY;
    drop_call(stage, index);
    return turn(stage, &input, &refusal, &message);
}

static bool is_wanted(const struct stage *stage, const struct stage_message *message)
{
    struct arena arena;
    struct wire_writer writer;
    struct span entry;
    bool wanted = false;
    arena_init(&arena, 4096, STAGE_TURN_BYTES);
    wire_writer_init(&writer, &arena, 512);
    uint32_t count = engine_subscriptions(stage->execution, &writer);
    struct wire_cursor cursor = wire_cursor(wire_writer_span(&writer));
    for (uint32_t i = 0; i < count && !wanted && wire_take(&cursor, &entry) == RESULT_OK; i++) {
        bool signal = span_is(wire_string_or(wire_find_text(entry, "kind"), ""), "signal");
        struct span key = wire_string_or(wire_find_text(entry, "correlationKey"), "");
        wanted = signal == message->is_signal &&
                 span_equal(wire_string_or(wire_find_text(entry, "name"), ""), message->name) &&
                 (key.count == 0 || span_equal(key, message->correlation_key));
    }
    arena_release(&arena);
    return wanted;
}

/* The first message that is wanted now, or message_count. Signals reach who listens and are gone;
 * messages are gone when their time is up (field report F71: looked at here, not by a sweeper). */
static uint32_t wanted_message(struct stage *stage)
{
    uint32_t index = 0;
    while (index < stage->message_count) {
        const struct stage_message *message = &stage->messages[index];
        if (message->expires_ms >= stage->now_ms && is_wanted(stage, message)) {
            return index;
        }
        if (message->is_signal || message->expires_ms < stage->now_ms) {
            drop_message(stage, index);
        } else {
            index++;
        }
    }
    return index;
}

static bool deliver(struct stage *stage, uint32_t index)
{
    const struct stage_message message = stage->messages[index];
    struct engine_input input = {
        .kind = message.is_signal ? ENGINE_IN_SIGNAL : ENGINE_IN_MESSAGE,
        .now_ms = stage->now_ms,
        .name = message.name,
        .correlation_key = message.correlation_key,
        .payload = message.payload,
        .message_id = message.id,
    };
    enum proto_error refusal = PROTO_ERROR_NONE;
    struct span text = SPAN_EMPTY;
    drop_message(stage, index);
    return turn(stage, &input, &refusal, &text);
}

static bool fire_timers(struct stage *stage)
{
    struct engine_input input = {.kind = ENGINE_IN_TIMER, .now_ms = stage->now_ms};
    enum proto_error refusal = PROTO_ERROR_NONE;
    struct span message = SPAN_EMPTY;
    return turn(stage, &input, &refusal, &message);
}

/* Everything that is due now: messages, then replies, each in order, then timers. */
static bool settle(struct stage *stage)
{
    for (uint32_t turns = 0; turns < STAGE_TURNS_MAX; turns++) {
        uint32_t message = wanted_message(stage);
        uint32_t call = due_call(stage, stage->now_ms);
        bool done = true;
        if (message < stage->message_count) {
            done = deliver(stage, message);
        } else if (call < stage->call_count) {
            done = settle_call(stage, call);
        } else if (engine_next_due_ms(stage->execution) <= stage->now_ms) {
            done = fire_timers(stage);
        } else {
            return true;
        }
        if (!done) {
            return false;
        }
    }
    scenario_fail(stage->outcome, stage->arena, "replies and timers never come to an end");
    return false;
}

bool stage_input(struct stage *stage, const struct engine_input *input, enum proto_error *refusal,
                 struct span *message)
{
    *refusal = PROTO_ERROR_NONE;
    *message = SPAN_EMPTY;
    return turn(stage, input, refusal, message) && settle(stage);
}

/* `start_node`: empty: a plain start; `payload`: of the message that starts it, or empty. */
static bool start_at(struct stage *stage, struct span start_node, struct span payload)
{
    struct span start = stage->scenario->start;
    struct engine_start begin = {
        .workspace = span_text("default"),
        .project = span_text("default"),
        .channel = wire_string_or(wire_find_text(start, "channel"), ""),
        .channel_session_id = wire_string_or(wire_find_text(start, "channelSessionId"), ""),
        .request = wire_find_text(start, "request"),
        .context = wire_find_text(start, "context"),
        .execution = wire_find_text(start, "execution"),
        .is_test = wire_bool_or(wire_find_text(start, "isTest"), false),
        .process = find_process(&stage->catalog, SPAN_EMPTY, stage->scenario->process, 0),
        .start_node = start_node};
    if (begin.process == NULL) {
        scenario_fail(stage->outcome, stage->arena, "DefinitionNotFound: no process \"%.*s\"",
                      SPAN_ARG(stage->scenario->process));
        return false;
    }
    if (wire_is(payload, WIRE_MAP)) {
        begin.execution = wire_merge(stage->arena, begin.execution, payload);
    }
    if (execution_id_parse(span_text("scenario"), &begin.id) != RESULT_OK) {
        ASSERT_UNREACHABLE();
    }
    stage->execution = engine_new(&stage->catalog, &begin, stage->now_ms);
    struct engine_input input = {.kind = ENGINE_IN_START, .now_ms = stage->now_ms};
    enum proto_error refusal = PROTO_ERROR_NONE;
    struct span message = SPAN_EMPTY;
    if (stage->execution == NULL || !stage_input(stage, &input, &refusal, &message)) {
        return false;
    }
    if (refusal != PROTO_ERROR_NONE) {
        scenario_fail(stage->outcome, stage->arena, "the start was refused: %s: %.*s",
                      proto_error_name(refusal), SPAN_ARG(message));
    }
    return refusal == PROTO_ERROR_NONE;
}

bool stage_start(struct stage *stage)
{
    return start_at(stage, SPAN_EMPTY, SPAN_EMPTY);
}

static bool needs_trigger(const struct engine_node *node)
{
    if (node->kind == ENGINE_EVENT_GATEWAY || node->kind == ENGINE_RECEIVE_TASK) {
        return node->instantiate;
    }
    return node->kind == ENGINE_START_EVENT && (engine_node_bears(node, ENGINE_ON_MESSAGE) ||
                                                engine_node_bears(node, ENGINE_ON_SIGNAL));
}

bool stage_waits_for_start(const struct stage *stage)
{
    const struct engine_process *process =
        find_process(&stage->catalog, SPAN_EMPTY, stage->scenario->process, 0);
    if (process == NULL || process->starts.count == 0) {
        return false;
    }
    for (uint32_t i = 0; i < process->starts.count; i++) {
        if (!needs_trigger(&process->nodes[process->starts.at[i]])) {
            return false;
        }
    }
    return true;
}

bool stage_publish(struct stage *stage, const struct stage_message *message, int64_t ttl_ms)
{
    if (stage->execution == NULL) {
        const struct engine_process *process =
            find_process(&stage->catalog, SPAN_EMPTY, stage->scenario->process, 0);
        const struct engine_node *node =
            process == NULL
                ? NULL
                : engine_process_started_by(
                      process, message->is_signal ? ENGINE_ON_SIGNAL : ENGINE_ON_MESSAGE,
                      message->name);
        if (node != NULL) {
            return start_at(stage, node->id, message->payload);
        }
    }
    struct stage_message kept = *message;
    kept.expires_ms = stage->now_ms + (ttl_ms < 0 ? STAGE_TTL_MS : ttl_ms);
    if (!keep_message(stage, &kept)) {
        return false;
    }
    return stage->execution == NULL || settle(stage);
}

bool stage_advance(struct stage *stage, int64_t until_ms)
{
    for (uint32_t turns = 0; turns < STAGE_TURNS_MAX; turns++) {
        int64_t timer_ms = engine_next_due_ms(stage->execution);
        uint32_t call = due_call(stage, until_ms);
        int64_t call_ms = call < stage->call_count ? stage->calls[call].due_ms : INT64_MAX;
        int64_t next_ms = timer_ms < call_ms ? timer_ms : call_ms;
        if (next_ms > until_ms) {
            stage->now_ms = until_ms;
            return true;
        }
        stage->now_ms = next_ms > stage->now_ms ? next_ms : stage->now_ms;
        bool timer_first = timer_ms <= call_ms;
        struct engine_input input = {.kind = ENGINE_IN_TIMER, .now_ms = stage->now_ms};
        enum proto_error refusal;
        struct span message;
        if (!(timer_first ? stage_input(stage, &input, &refusal, &message) : settle(stage))) {
            return false;
        }
    }
    scenario_fail(stage->outcome, stage->arena, "timers never come to an end");
    return false;
}

bool stage_crash(struct stage *stage)
{
    struct engine_execution *recovered = NULL;
    struct engine_output output;
    bool segment_ended = false;
    engine_free(stage->execution);
    stage->execution = NULL;
    stage->call_count = 0;
    enum result result = RESULT_OK;
    if (stage->snapshot.count > 0) {
        result = engine_decode(&stage->catalog, stage->snapshot, &recovered);
    }
    for (uint32_t i = 0; i < stage->event_count && result == RESULT_OK; i++) {
        result =
            engine_replay(&stage->catalog, stage->events[i], stage->event_firsts[i], &recovered);
    }
    stage->execution = recovered;
    if (result != RESULT_OK || recovered == NULL) {
        scenario_fail(stage->outcome, stage->arena, "recovery failed: %s", result_text(result));
        return false;
    }
    arena_clear(&stage->turn);
    engine_output_init(&output, &stage->turn);
    result = engine_recover(recovered, &output);
    if (result != RESULT_OK || !act(stage, &output, &segment_ended)) {
        scenario_fail(stage->outcome, stage->arena, "recovery failed: %s", result_text(result));
        return false;
    }
    keep_events(stage, &output);
    return settle(stage);
}
