/*
 * tasks.c: the human tasks that wait in this shard's executions, newest wait first (task_place.h).
 * Those whose bytes are not in this shard's memory are fetched from the state table, one after the
 * other; what was found so far stays with the request.
 *
 * Asked for one execution a shard answers the caller; else its answer is a part (gather.h): each
 * task's place is in `places`, and `until` is where it stopped to look, if it did.
 */
#include <stdlib.h>

#include "actors/request.h"
#include "actors/shard/state.h"
#include "actors/task_place.h"
#include "proto/base/assert.h"
#include "proto/log.h"
#include "proto/wire/reader.h"

enum {
    TASKS_SEARCHED_MAX = 10000, /* with a filter: so many of the newest waits are looked at */
};

/* An execution to look at. */
struct candidate {
    struct execution_id id;
    int64_t at_ms;
};

struct tasks {
    struct actor_held held;
    struct proto_message *request;
    struct arena arena;
    struct wire_writer found;  /* a run of task values */
    struct wire_writer places; /* ... and of [at_ms, position] of each */
    uint32_t found_count;
    uint32_t limit;
    bool is_part;
    bool is_full;                  /* and an execution has more than the limit let in */
    bool stopped;                  /* there is more behind `until` */
    struct actor_task_place from;  /* where the list goes on; without an id: it begins */
    struct actor_task_place until; /* its id is a candidate's */
    uint32_t count;
    uint32_t next;
    enum proto_error failure; /* why the list is not whole; NONE: it is */
    struct candidate candidates[];
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

static bool matches(struct span request, struct span task)
{
    return field_matches(request, task, "assignee") && field_matches(request, task, "process") &&
           field_matches(request, task, "taskId") && group_matches(request, task);
}

static void take_task(struct tasks *tasks, const struct candidate *candidate, struct span task,
                      uint32_t position)
{
    wire_write_raw(&tasks->found, task);
    wire_write_array(&tasks->places, 2);
    wire_write_int(&tasks->places, candidate->at_ms);
    wire_write_int(&tasks->places, position);
    tasks->found_count++;
}

static void stop(struct tasks *tasks, const struct candidate *candidate, uint32_t position)
{
    tasks->stopped = true;
    tasks->until = (struct actor_task_place){
        .at_ms = candidate->at_ms, .id = execution_id_span(&candidate->id), .position = position};
}

static void take_tasks(struct tasks *tasks, const struct candidate *candidate,
                       const struct engine_execution *execution, struct arena *scratch)
{
    arena_clear(scratch);
    struct wire_writer writer;
    wire_writer_init(&writer, scratch, 512);
    uint32_t count = engine_tasks(execution, &writer);
    struct span run = wire_writer_span(&writer);
    struct wire_cursor cursor = wire_cursor(run);
    if (scratch->overflowed) {
        tasks->failure = PROTO_ERROR_PayloadTooLarge;
        return;
    }
    for (uint32_t i = 0; i < count && run.count > 0; i++) {
        struct span task;
        if (wire_take(&cursor, &task) != RESULT_OK) {
            return;
        }
        uint32_t position = (uint32_t)wire_int_or(wire_find_text(task, "sequence"), 0);
        const struct actor_task_place place = {.at_ms = candidate->at_ms,
                                               .id = execution_id_span(&candidate->id),
                                               .position = position};
        if (tasks->found_count == tasks->limit) {
            stop(tasks, candidate, position);
            tasks->is_full = true;
            return;
        }
        bool is_behind =
            tasks->from.id.count == 0 || !actor_task_place_is_before(&place, &tasks->from);
        if (is_behind && matches(tasks->request->as.request.body, task)) {
            take_task(tasks, candidate, task, position);
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

/* Returns how many pairs. */
static uint32_t write_places(struct tasks *tasks, struct wire_writer *writer)
{
    wire_write_text(writer, "places");
    wire_write_array(writer, tasks->found_count);
    wire_write_raw(writer, wire_writer_span(&tasks->places));
    if (tasks->stopped) {
        wire_pair_string(writer, "until", actor_task_place_text(&tasks->until, writer->arena));
    }
    return 1u + tasks->stopped;
}

static void answer(struct actor_shard *shard, struct tasks *tasks)
{
    arena_clear(&shard->scratch);
    struct wire_writer writer;
    uint32_t pairs;
    struct span found = wire_writer_span(&tasks->found);
    wire_writer_init(&writer, &shard->scratch, 512 + found.count + 16 * (size_t)tasks->found_count);
    size_t mark = actor_reply_open(&writer, &pairs);
    wire_write_text(&writer, "tasks");
    wire_write_array(&writer, tasks->found_count);
    wire_write_raw(&writer, found);
    pairs += 1 + (tasks->is_part ? write_places(tasks, &writer) : 0);
    struct span body = actor_reply_close(&writer, mark, pairs);
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

static void look_at_bytes(struct actor_shard *shard, struct tasks *tasks,
                          const struct candidate *candidate, struct span bytes)
{
    struct engine_execution *execution;
    enum result result = engine_decode(&shard->catalog.engine, bytes, &execution);
    if (result == RESULT_OK) {
        take_tasks(tasks, candidate, execution, &shard->scratch);
        engine_free(execution);
    } else if (result == RESULT_LIMIT) {
        tasks->failure = PROTO_ERROR_Overloaded;
    } /* else it is damaged, or without its process: whoever asks for it hears so */
}

/* false: it was asked for, and the walk goes on when it comes. */
static bool look_at(struct actor_shard *shard, struct tasks *tasks,
                    const struct candidate *candidate)
{
    struct actor_slot *slot = shard_slot_find(shard, execution_id_span(&candidate->id));
    if (slot == NULL || !slot->human) {
        return true; /* it has moved on meanwhile */
    }
    if (slot->work != NULL) {
        take_tasks(tasks, candidate, slot->work->execution, &shard->scratch);
        return true;
    }
    struct span bytes = shard_hot_peek(shard, slot);
    if (bytes.count == 0 && !fetch(shard, tasks, &candidate->id)) {
        tasks->failure = PROTO_ERROR_Overloaded;
        return true;
    }
    if (bytes.count == 0) {
        return false;
    }
    look_at_bytes(shard, tasks, candidate, bytes);
    return true;
}

static void go_on(struct actor_shard *shard, struct tasks *tasks)
{
    while (tasks->failure == PROTO_ERROR_NONE && tasks->next < tasks->count && !tasks->is_full) {
        const struct candidate *candidate = &tasks->candidates[tasks->next];
        if (tasks->found_count == tasks->limit) {
            stop(tasks, candidate, 0);
            break;
        }
        tasks->next++;
        if (!look_at(shard, tasks, candidate)) {
            return;
        }
    }
    answer(shard, tasks);
}

/* ---- which executions ---- */

/* How many executions to look at: each has a task at least, so without a filter the limit is
 * enough; one more says whether there are more. */
static uint32_t candidates_max(struct span body, uint32_t limit)
{
    static const char *const filters[] = {"assignee", "process", "taskId", "candidateGroup"};
    for (size_t i = 0; i < sizeof filters / sizeof filters[0]; i++) {
        if (wire_find_text(body, filters[i]).count > 0) {
            return TASKS_SEARCHED_MAX;
        }
    }
    return limit + 1;
}

static struct actor_rank *first_rank(const struct actor_shard *shard,
                                     const struct actor_task_place *from)
{
    return from->id.count == 0 ? actor_order_first(&shard->tasks)
                               : actor_order_from(&shard->tasks, from->at_ms, from->id);
}

static uint32_t count_candidates(struct actor_rank *rank, uint32_t max)
{
    uint32_t count = 0;
    for (; rank != NULL && count < max; rank = actor_order_after(rank)) {
        count++;
    }
    return count;
}

/* Those that come next; where others come behind them, the list ends there for now. */
static void list_candidates(struct tasks *tasks, struct actor_rank *rank, uint32_t max)
{
    while (rank != NULL && tasks->count < max) {
        struct candidate *candidate = &tasks->candidates[tasks->count];
        candidate->at_ms = rank->at_ms;
        enum result result = execution_id_parse(rank->id, &candidate->id);
        ASSERT(result == RESULT_OK); /* it was checked when it came */
        tasks->count++;
        rank = actor_order_after(rank);
    }
    if (rank != NULL) {
        stop(tasks, &tasks->candidates[tasks->count - 1], UINT32_MAX);
    }
}

void shard_tasks(struct actor_shard *shard, struct proto_message *request)
{
    struct span body = request->as.request.body;
    struct actor_request fields;
    actor_request_read(body, &fields);
    uint32_t wanted = actor_request_limit(&fields, PROTO_OP_TASKS);
    bool one = request->as.request.execution_id.count > 0;
    struct actor_task_place from = {0};
    struct span cursor = wire_string_or(wire_find_text(body, "cursor"), "");
    if (!one && cursor.count > 0) {
        enum result result = actor_task_place_parse(cursor, &from);
        ASSERT(result == RESULT_OK); /* the router looked at it */
    }
    struct actor_rank *first = one ? NULL : first_rank(shard, &from);
    uint32_t candidates = one ? 1 : count_candidates(first, candidates_max(body, wanted));
    struct tasks *tasks = malloc(sizeof *tasks + candidates * sizeof tasks->candidates[0]);
    if (tasks == NULL) {
        actor_reply_refuse_text(request, &shard->turn, PROTO_ERROR_Overloaded, "no memory");
        message_free(request);
        return;
    }
    *tasks = (struct tasks){.request = request, .limit = wanted, .is_part = !one, .from = from};
    shard_hold(shard, &tasks->held, TASKS_MAGIC);
    arena_init(&tasks->arena, 16 << 10, LIMIT_FRAME_BYTES * 4ul);
    wire_writer_init(&tasks->found, &tasks->arena, 4096);
    wire_writer_init(&tasks->places, &tasks->arena, 1024);
    if (one) {
        tasks->candidates[0] = (struct candidate){.id = request->as.request.execution_id};
        tasks->count = 1;
    } else {
        list_candidates(tasks, first, candidates);
    }
    go_on(shard, tasks);
}

void shard_tasks_fetched(struct actor_shard *shard, struct proto_message *message)
{
    struct tasks *tasks =
        ACTOR_OWNER(tasks, held, shard_of_ticket(message->reply_to.ticket, TASKS_MAGIC));
    if (message->as.fetched.result == RESULT_OK) {
        look_at_bytes(shard, tasks, &tasks->candidates[tasks->next - 1], message->as.fetched.bytes);
    } else if (message->as.fetched.result != RESULT_NOT_FOUND) { /* that one was deleted */
        tasks->failure = PROTO_ERROR_StorageFailed;
    }
    message_free(message);
    go_on(shard, tasks);
}
