/*
 * world.h: the outside of one execution, for tests: definitions from BPMN text, modules that answer
 * what the test says, a clock that stands still. Each call into the core is followed by the
 * standing checks of STYLE.md section 9, or the test aborts:
 *
 *   - an execution that got only the encoded events, through engine_replay, encodes to the same
 * bytes;
 *   - decode(encode(x)) encodes to the same bytes, and a twin made so before the call does the
 * same: same events, same effects, byte for byte;
 *   - tokens are conserved: what scopes count is what lives in them and their joins.
 */
#ifndef TESTS_CONFORMANCE_WORLD_H
#define TESTS_CONFORMANCE_WORLD_H

#include "engine/execution.h"

#define WORLD_PROCESS(id, body) "<process id='" id "' isExecutable='true'>" body "</process>"
#define WORLD_FILE(processes)                                                                      \
    "<definitions xmlns='http://www.omg.org/spec/BPMN/20100524/MODEL' "                            \
    "xmlns:xsi='http://www.w3.org/2001/XMLSchema-instance' "                                       \
    "xmlns:zeebe='http://camunda.org/schema/zeebe/1.0' "                                           \
    "xmlns:camunda='http://camunda.org/schema/1.0/bpmn'>" processes "</definitions>"
#define WORLD_BPMN(body) WORLD_FILE(WORLD_PROCESS("p", body))
#define FLOW(from, to)                                                                             \
    "<sequenceFlow id='" from "-" to "' sourceRef='" from "' targetRef='" to "'/>"
#define FLOW_IF(from, to, condition)                                                               \
    "<sequenceFlow id='" from "-" to "' sourceRef='" from "' targetRef='" to                       \
    "'><conditionExpression>" condition "</conditionExpression></sequenceFlow>"
#define START(id) "<startEvent id='" id "'/>"
#define END(id)   "<endEvent id='" id "'/>"
#define TASK(id)  "<task id='" id "'/>"
#define USER(id)  "<userTask id='" id "'/>"
/* A service task of that task type; modules of the test serve "svc" and what they name. */
#define SERVICE(id)                                                                                \
    "<serviceTask id='" id                                                                         \
    "'><extensionElements><zeebe:taskDefinition type='svc'/></extensionElements></serviceTask>"
#define AND(id) "<parallelGateway id='" id "'/>"
#define XOR(id) "<exclusiveGateway id='" id "'/>"

#define WORLD_NEWER_MAX      4u
#define WORLD_CLOCK_START_MS INT64_C(1767225600000) /* 2026-01-01T00:00:00Z */

struct world_call {
    struct proto_call call;
    struct span task_id;
    bool open; /* neither answered nor cancelled */
};

struct world {
    struct engine_catalog catalog; /* first: the engine hands it back */
    struct engine_definition *definition;
    struct engine_definition *newer[WORLD_NEWER_MAX]; /* versions 2 and so on of its processes */
    uint32_t newer_count;
    struct engine_modules *modules;
    struct engine_execution *execution;
    struct engine_execution *shadow; /* only ever fed with encoded events */
    struct arena arena;              /* the whole test's */
    int64_t now_ms;
    struct world_call *calls; /* all that were made, oldest first */
    uint32_t call_count;
    uint32_t call_capacity;
    uint32_t steps_shown;
    uint32_t steps_of_turn; /* sum of the sequences shown in the last turn */
    struct span last_audit; /* MAP */
    struct span last_snapshot;
    uint32_t segment_ends;
    char published[1024];    /* "name/key{payload} signal:name " */
    char audit_events[1024]; /* "started waiting completed " */
    enum proto_error error;  /* of the last refused input */
    struct span refusal;     /* its message */
    struct span error_details;
    uint32_t event_counts[ENGINE_EVENT_TYPE_COUNT];
};

/* `text`: BPMN, a JSON graph or a block scheme. `modules`: the list of modules.json as JSON, or
 * NULL: one that serves "svc". */
void world_open(struct world *world, const char *text, const char *modules);
/* The next version of its processes. */
void world_deploy(struct world *world, const char *text);
void world_close(struct world *world);

/* Starts process "p" (the first one); JSON or NULL each. */
void world_start(struct world *world, const char *request, const char *execution);
/* Process "p" begins at that node. */
void world_start_at(struct world *world, const char *node, const char *execution);
void world_start_as(struct world *world, const struct engine_start *start);
/* The oldest open call of that task is answered. `body`: JSON or NULL. */
void world_answer(struct world *world, const char *task_id, uint32_t status, const char *body);
void world_outcome(struct world *world, const char *task_id, enum proto_call_outcome outcome,
                   const char *reason);
/* Any call, by its place in `calls`, though nobody may wait for it. The result of engine_accept. */
enum result world_answer_call(struct world *world, uint32_t index, uint32_t status,
                              const char *body);
/* task_id may be NULL; payload, output, error are JSON or NULL. False: refused, see world->error.
 */
bool world_callback(struct world *world, const char *task_id, const char *payload);
bool world_callback_with(struct world *world, const char *task_id, const char *payload,
                         const char *output, const char *error);
/* key and payload may be NULL. False: nothing waits for it, see world->error. */
bool world_message(struct world *world, const char *name, const char *key, const char *payload);
bool world_signal(struct world *world, const char *name, const char *payload);
/* "catch:message:name/key boundary:signal:name": what it listens for. */
const char *world_subscriptions(struct world *world);
bool world_verb(struct world *world, enum engine_input_kind verb, const char *task_id);
/* `mapping`: JSON or NULL. False: refused, see world->refusal. */
bool world_migrate(struct world *world, uint32_t version, const char *mapping);
/* A new execution of process "p" that ran elsewhere. False: refused, and there is none. */
bool world_import(struct world *world, const char *foreign);
/* Block states as JSON; "" when it is no block scheme. */
const char *world_blocks(struct world *world);
/* Lets time pass; whatever is due on the way happens at its time. */
void world_pass(struct world *world, int64_t ms);
/* Time passes while nobody looks; what is due happens afterwards, at once. */
void world_sleep(struct world *world, int64_t ms);
/* All memory is lost: the execution comes back from its bytes, calls in flight are made again. */
void world_crash(struct world *world);

/* "start a b end": task ids in step order, of this run. */
const char *world_trace(struct world *world);
/* "a:human b:timer": who waits. */
const char *world_waiting(struct world *world);
/* "svc a": open calls by task id. */
const char *world_open_calls(struct world *world);
uint8_t world_state(const struct world *world);
const char *world_lifecycle(const struct world *world);
/* Error code of the execution, or "". */
const char *world_error(struct world *world);
const char *world_error_message(struct world *world);
/* A part of execution.msgpack as JSON, by dotted path: "execution.x", "nodes.a.result". "" when
 * absent. */
const char *world_value(struct world *world, const char *path);
/* A part of the last call's body of that task as JSON. */
const char *world_call_value(struct world *world, const char *task_id, const char *path);
/* Does a log line contain this text? */
bool world_logged(struct world *world, const char *text);

#endif
