/*
 * tasks.c: the human tasks that wait in this shard's executions, newest wait first. Those whose
 * bytes are not in this shard's memory are fetched from the state table, one after the other; what
 * was found so far stays with the request.
 */
#include <stdlib.h>

#include "actors/shard/state.h"
#include "proto/base/assert.h"
#include "proto/log.h"
#include "proto/wire/reader.h"

enum {
    TASKS_LIMIT_DEFAULT = 100,
    TASKS_LIMIT_MAX = 1000,
    TASKS_SEARCHED_MAX = 10000, /* with a filter: so many of the newest waits are looked at */
};

struct tasks {
    struct actor_held held;
    struct proto_message *request;
    struct arena arena;
    struct wire_writer found; /* a run of task values */
    uint32_t found_count;
    uint32_t limit;
    uint32_t id_count;
    uint32_t id_next;
    enum proto_error failure;  /* why the list is not whole; NONE: it is */
    struct execution_id ids[]; /* the executions to look at */
};

/* ---- filters ---- */

static bool field_matches(struct span request, struct span task, const char *name)
{
    struct span wanted = wire_string_or(wire_find_text(request, name), "");
    return wanted.count == 0 || span_equal(wire_string_or(wire_find_text(task, name), ""), wanted);
}

/* `candidateGroup` names one of the task's candidateGroups. */
static bool group_matches(struct span request, struct span task)
{
    struct span wanted = wire_string_or(wire_find_text(request, "candidateGroup"), "");
    if (wanted.count == 0) {
        return true;
    }
    struct wire_map_walk walk = wire_array_begin(wire_find_text(task, "candidateGroups"));
    struct span group;
    while (wire_array_next(&walk, &group)) {
        if (span_equal(wire_string_or(group, ""), wanted)) {
            return true;
        }
    }
    return false;
}

static void take_tasks(struct tasks *tasks, const struct engine_execution *execution,
                       struct arena *scratch)
{
    arena_clear(scratch);
    struct wire_writer writer;
    wire_writer_init(&writer, scratch, 512);
    uint32_t count = engine_tasks(execution, &writer);
    struct span run = wire_writer_span(&writer);
    struct wire_cursor cursor = wire_cursor(run);
    struct span body = tasks->request->as.request.body;
    if (scratch->overflowed) {
        tasks->failure = PROTO_ERROR_PayloadTooLarge;
        return;
    }
    for (uint32_t i = 0; i < count && run.count > 0 && tasks->found_count < tasks->limit; i++) {
        struct span task;
        if (wire_take(&cursor, &task) != RESULT_OK) {
            return;
        }
        if (field_matches(body, task, "assignee") && field_matches(body, task, "process") &&
            field_matches(body, task, "taskId") && group_matches(body, task)) {
            wire_write_raw(&tasks->found, task);
            tasks->found_count++;
        }
    }
}

/* ---- the walk ---- */

/* A list with holes in it would be a lie. */
static void refuse(struct actor_shard *shard, struct tasks *tasks)
{
    bool large = tasks->failure == PROTO_ERROR_NONE;
    struct actor_refusal refusal = {
        .error = large ? PROTO_ERROR_PayloadTooLarge : tasks->failure,
        .message = span_text(large ? "the tasks are too large for one answer: ask for fewer"
                                   : "an execution that waits for people could not be read")};
    shard_refuse(shard, tasks->request, NULL, &refusal, NULL);
}

static void answer(struct actor_shard *shard, struct tasks *tasks)
{
    arena_clear(&shard->scratch);
    struct wire_writer writer;
    uint32_t pairs;
    struct span found = wire_writer_span(&tasks->found);
    wire_writer_init(&writer, &shard->scratch, 256 + found.count);
    size_t mark = actor_reply_open(&writer, &pairs);
    wire_write_text(&writer, "tasks");
    wire_write_array(&writer, tasks->found_count);
    wire_write_raw(&writer, found);
    struct span body = actor_reply_close(&writer, mark, pairs + 1);
    if (tasks->failure != PROTO_ERROR_NONE || tasks->arena.overflowed || body.count == 0) {
        refuse(shard, tasks);
    } else {
        /* What is listed may be a state whose commit is under way. */
        shard_reply(shard, tasks->request, true, body, shard->commit_number - 1);
    }
    shard_tasks_free(shard, &tasks->held);
}

void shard_tasks_free(struct actor_shard *shard, struct actor_held *held)
{
    struct tasks *tasks = ACTOR_OWNER(tasks, held, held);
    message_free(tasks->request);
    arena_release(&tasks->arena);
    shard_let_go(shard, held);
    free(tasks);
}

static bool fetch(struct actor_shard *shard, struct tasks *tasks, const struct execution_id *id)
{
    struct proto_message *message = message_new(PROTO_FETCH, 0);
    if (message == NULL) {
        return false;
    }
    message->as.fetch = (struct proto_fetch){.kind = PROTO_FETCH_STATE, .execution_id = *id};
    message->reply_to = shard_ticket(shard, &tasks->held);
    if (shard->options.storage->send(shard->options.storage, &message) != RESULT_OK) {
        message_free(message);
        return false;
    }
    return true;
}

static void look_at_bytes(struct actor_shard *shard, struct tasks *tasks, struct span bytes)
{
    struct engine_execution *execution;
    enum result result = engine_decode(&shard->library.engine, bytes, &execution);
    if (result == RESULT_OK) {
        take_tasks(tasks, execution, &shard->scratch);
        engine_free(execution);
    } else if (result == RESULT_LIMIT) {
        tasks->failure = PROTO_ERROR_Overloaded;
    } /* else it is damaged, or without its process: whoever asks for it hears so */
}

/* false: it was asked for, and the walk goes on when it comes. */
static bool look_at(struct actor_shard *shard, struct tasks *tasks, const struct execution_id *id)
{
    struct actor_slot *slot = shard_slot_find(shard, execution_id_span(id));
    if (slot == NULL || !slot->human) {
        return true; /* it has moved on meanwhile */
    }
    if (slot->work != NULL) {
        take_tasks(tasks, slot->work->execution, &shard->scratch);
        return true;
    }
    struct span bytes = shard_hot_peek(shard, slot);
    if (bytes.count == 0 && !fetch(shard, tasks, id)) {
        tasks->failure = PROTO_ERROR_Overloaded;
        return true;
    }
    if (bytes.count == 0) {
        return false;
    }
    look_at_bytes(shard, tasks, bytes);
    return true;
}

static void go_on(struct actor_shard *shard, struct tasks *tasks)
{
    while (tasks->failure == PROTO_ERROR_NONE && tasks->id_next < tasks->id_count &&
           tasks->found_count < tasks->limit) {
        if (!look_at(shard, tasks, &tasks->ids[tasks->id_next++])) {
            return;
        }
    }
    answer(shard, tasks);
}

/* The newest ones. */
static uint32_t list_ids(const struct actor_shard *shard, struct execution_id *ids, uint32_t max)
{
    uint32_t count = 0;
    for (const struct actor_slot *slot = shard->tasks_newest; slot != NULL && count < max;
         slot = slot->tasks_older) {
        if (execution_id_parse(shard_slot_id(slot), &ids[count]) == RESULT_OK) {
            count++;
        }
    }
    return count;
}

/* How many executions to look at: each has a task at least, so without a filter the limit is
 * enough. */
static uint32_t candidates_count(const struct actor_shard *shard, struct span body, uint32_t limit)
{
    static const char *const filters[] = {"assignee", "process", "taskId", "candidateGroup"};
    uint32_t max = limit;
    for (size_t i = 0; i < sizeof filters / sizeof filters[0]; i++) {
        max = wire_find_text(body, filters[i]).count > 0 ? TASKS_SEARCHED_MAX : max;
    }
    uint32_t count = 0;
    for (const struct actor_slot *slot = shard->tasks_newest; slot != NULL && count < max;
         slot = slot->tasks_older) {
        count++;
    }
    return count;
}

void shard_tasks(struct actor_shard *shard, struct proto_message *request)
{
    struct span body = request->as.request.body;
    int64_t limit = wire_int_or(wire_find_text(body, "limit"), TASKS_LIMIT_DEFAULT);
    uint32_t wanted = limit < 1 ? 1 : limit > TASKS_LIMIT_MAX ? TASKS_LIMIT_MAX : (uint32_t)limit;
    bool one = request->as.request.execution_id.count > 0;
    uint32_t candidates = one ? 1 : candidates_count(shard, body, wanted);
    struct tasks *tasks = malloc(sizeof *tasks + candidates * sizeof tasks->ids[0]);
    if (tasks == NULL) {
        actor_reply_refuse_text(request, &shard->turn, PROTO_ERROR_Overloaded, "no memory");
        message_free(request);
        return;
    }
    *tasks = (struct tasks){.request = request, .limit = wanted};
    shard_hold(shard, &tasks->held, TASKS_MAGIC);
    arena_init(&tasks->arena, 16 << 10, LIMIT_FRAME_BYTES * 4ul);
    wire_writer_init(&tasks->found, &tasks->arena, 4096);
    if (one) {
        tasks->ids[0] = request->as.request.execution_id;
        tasks->id_count = 1;
    } else {
        tasks->id_count = list_ids(shard, tasks->ids, candidates);
    }
    go_on(shard, tasks);
}

void shard_tasks_fetched(struct actor_shard *shard, struct proto_message *message)
{
    struct tasks *tasks =
        ACTOR_OWNER(tasks, held, shard_of_ticket(message->reply_to.ticket, TASKS_MAGIC));
    if (message->as.fetched.result == RESULT_OK) {
        look_at_bytes(shard, tasks, message->as.fetched.bytes);
    } else if (message->as.fetched.result != RESULT_NOT_FOUND) { /* that one was deleted */
        tasks->failure = PROTO_ERROR_StorageFailed;
    }
    message_free(message);
    go_on(shard, tasks);
}
