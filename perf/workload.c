/*
 * workload.c: see workload.h.
 */
#include "perf/workload.h"

#include <stdio.h>

#include "proto/base/assert.h"
#include "proto/wire/reader.h"
#include "proto/wire/writer.h"

#define DEFINITION_BYTES_MAX 16384u

/* ---- definitions ---- */

struct text {
    char *bytes;
    size_t count;
};

static struct text open_definition(struct arena *arena, const char *process)
{
    struct text text = {.bytes = arena_alloc(arena, DEFINITION_BYTES_MAX)};
    ASSERT(text.bytes != NULL);
    text.count = (size_t)snprintf(
        text.bytes, DEFINITION_BYTES_MAX,
        "<definitions xmlns=\"http://www.omg.org/spec/BPMN/20100524/MODEL\""
        " xmlns:strider=\"urn:strider:bpmn:1\" targetNamespace=\"urn:strider:bench\">"
        "<process id=\"%s\" isExecutable=\"true\"><startEvent id=\"start\"/>",
        process);
    return text;
}

static void add(struct text *text, const char *format, const char *a, unsigned b, unsigned c)
{
    size_t room = DEFINITION_BYTES_MAX - text->count;
    int count = 0;
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    count = snprintf(text->bytes + text->count, room, format, a, b, c);
#pragma GCC diagnostic pop
    ASSERT(count >= 0 && (size_t)count < room);
    text->count += (size_t)count;
}

static struct span close_definition(struct text *text)
{
    add(text, "%s", "</process></definitions>", 0, 0);
    return span_of(text->bytes, text->count);
}

static void add_flow(struct text *text, const char *source, const char *target)
{
    char flow[256];
    snprintf(flow, sizeof flow, "<sequenceFlow id=\"%s-%s\" sourceRef=\"%s\" targetRef=\"%s\"/>",
             source, target, source, target);
    add(text, "%s", flow, 0, 0);
}

static struct span define_startend(struct arena *arena)
{
    struct text text = open_definition(arena, "startend");
    add(&text, "%s", "<endEvent id=\"end\"/>", 0, 0);
    add_flow(&text, "start", "end");
    return close_definition(&text);
}

static struct span define_tasks10(struct arena *arena)
{
    struct text text = open_definition(arena, "tasks10");
    char before[16] = "start";
    for (unsigned i = 1; i <= 10; i++) {
        char task[16];
        snprintf(task, sizeof task, "task%u", i);
        add(&text, "<serviceTask id=\"%s\" strider:type=\"echo\"/>", task, 0, 0);
        add_flow(&text, before, task);
        snprintf(before, sizeof before, "%s", task);
    }
    add(&text, "%s", "<endEvent id=\"end\"/>", 0, 0);
    add_flow(&text, before, "end");
    return close_definition(&text);
}

static struct span define_fork5(struct arena *arena)
{
    struct text text = open_definition(arena, "fork5");
    add(&text, "%s",
        "<parallelGateway id=\"fork\"/><parallelGateway id=\"join\"/><endEvent id=\"end\"/>", 0, 0);
    add_flow(&text, "start", "fork");
    for (unsigned i = 1; i <= 5; i++) {
        char task[16];
        snprintf(task, sizeof task, "task%u", i);
        add(&text, "<serviceTask id=\"%s\" strider:type=\"echo\"/>", task, 0, 0);
        add_flow(&text, "fork", task);
        add_flow(&text, task, "join");
    }
    add_flow(&text, "join", "end");
    return close_definition(&text);
}

static struct span define_modules(struct arena *arena)
{
    struct text text = open_definition(arena, "modules");
    add(&text, "%s", "<serviceTask id=\"call\" strider:type=\"bench\"/><endEvent id=\"end\"/>", 0,
        0);
    add_flow(&text, "start", "call");
    add_flow(&text, "call", "end");
    return close_definition(&text);
}

static struct span define_waitresume(struct arena *arena)
{
    struct text text = open_definition(arena, "waitresume");
    add(&text, "%s", "<userTask id=\"approve\"/><endEvent id=\"end\"/>", 0, 0);
    add_flow(&text, "start", "approve");
    add_flow(&text, "approve", "end");
    return close_definition(&text);
}

/* A small process, and one as wide as its request says. */
static struct span define_many(struct arena *arena)
{
    struct text text = open_definition(arena, "startend");
    add(&text, "%s", "<endEvent id=\"end\"/>", 0, 0);
    add_flow(&text, "start", "end");
    add(&text, "%s",
        "</process><process id=\"wide\" isExecutable=\"true\"><startEvent id=\"begin\"/>"
        "<serviceTask id=\"each\" strider:type=\"echo\"><multiInstanceLoopCharacteristics>"
        "<loopCardinality>=request.count</loopCardinality></multiInstanceLoopCharacteristics>"
        "</serviceTask>",
        0, 0);
    add_flow(&text, "begin", "each");
    return close_definition(&text);
}

const struct workload workload_table[] = {
    {"startend", "start event to end event", "startend", false, false, define_startend},
    {"tasks10", "ten built-in tasks in sequence", "tasks10", false, false, define_tasks10},
    {"fork5", "parallel split into five built-in tasks, and join", "fork5", false, false,
     define_fork5},
    {"modules", "one HTTP module", "modules", true, false, define_modules},
    {"waitresume", "start, wait at a user task, callback, end", "waitresume", false, true,
     define_waitresume},
    {"many", "small executions beside a very wide one", "startend", false, false, define_many},
};
const uint32_t workload_count = sizeof workload_table / sizeof workload_table[0];

const struct workload *workload_find(const char *name)
{
    for (uint32_t i = 0; i < workload_count; i++) {
        if (strcmp(workload_table[i].name, name) == 0) {
            return &workload_table[i];
        }
    }
    return NULL;
}

/* ---- scripts ---- */

/* A small order, as a gateway would send it: about 150 bytes. */
static struct span write_start(const struct workload *workload, struct arena *arena)
{
    struct wire_writer writer;
    wire_writer_init(&writer, arena, 512);
    wire_write_map(&writer, 4);
    wire_pair_int(&writer, "v", 1);
    wire_pair_text(&writer, "op", "start");
    wire_pair_text(&writer, "process", workload->process);
    wire_write_text(&writer, "request");
    wire_write_map(&writer, 5);
    wire_pair_text(&writer, "orderId", "A-2041-77");
    wire_pair_text(&writer, "customer", "Rivera & Sons");
    wire_pair_int(&writer, "amount", 129);
    wire_pair_text(&writer, "currency", "EUR");
    wire_pair_bool(&writer, "express", false);
    return wire_writer_span(&writer);
}

static struct span write_callback(struct load_lane *lane)
{
    struct wire_writer writer;
    wire_writer_init(&writer, &lane->arena, 256);
    wire_write_map(&writer, 4);
    wire_pair_int(&writer, "v", 1);
    wire_pair_text(&writer, "op", "callback");
    wire_pair_text(&writer, "executionId", lane->note);
    wire_write_text(&writer, "payload");
    wire_write_map(&writer, 1);
    wire_pair_text(&writer, "decision", "approve");
    return wire_writer_span(&writer);
}

static struct span script_next(void *owner, struct load_lane *lane)
{
    struct workload_script *script = owner;
    return lane->step == 0 ? script->start : write_callback(lane);
}

static enum load_verdict script_judge(void *owner, struct load_lane *lane, struct span reply)
{
    struct workload_script *script = owner;
    struct span status = wire_string_or(wire_find_text(reply, "status"), "");
    if (!wire_bool_or(wire_find_text(reply, "ok"), false)) {
        return LOAD_FAIL;
    }
    if (script->workload->callback && lane->step == 0) {
        struct span id = wire_string_or(wire_find_text(reply, "executionId"), "");
        if (!span_is(status, "Waiting") || id.count == 0 || id.count >= sizeof lane->note) {
            return LOAD_FAIL;
        }
        memcpy(lane->note, id.bytes, id.count);
        lane->note[id.count] = '\0';
        lane->step = 1;
        return LOAD_MORE;
    }
    return span_is(status, "Completed") ? LOAD_DONE : LOAD_FAIL;
}

void workload_script(const struct workload *workload, struct arena *arena,
                     struct workload_script *owner, struct load_script *script)
{
    owner->workload = workload;
    owner->start = write_start(workload, arena);
    *script = (struct load_script){.owner = owner, .next = script_next, .judge = script_judge};
}

static struct span echo_next(void *owner, struct load_lane *lane)
{
    (void)lane;
    return ((struct workload_script *)owner)->start;
}

static enum load_verdict echo_judge(void *owner, struct load_lane *lane, struct span reply)
{
    (void)lane;
    return span_equal(reply, ((struct workload_script *)owner)->start) ? LOAD_DONE : LOAD_FAIL;
}

void workload_echo_script(struct workload_script *owner, struct load_script *script)
{
    *script = (struct load_script){.owner = owner, .next = echo_next, .judge = echo_judge};
}
