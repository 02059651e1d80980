/*
 * schedule.c: a row for each timer trigger that has ever been in force or fired, by project and
 * process; those that will fire have an alarm.
 */
#include "actors/schedule.h"

#include <stdlib.h>

#include "actors/router.h"
#include "actors/shard/shard.h"
#include "proto/base/assert.h"
#include "proto/base/hash.h"
#include "proto/log.h"
#include "proto/wire/reader.h"
#include "proto/wire/writer.h"

enum {
    SCHEDULE_MAGIC = 0x53434845,
    RETRY_MS = 1000, /* a firing that could not be made is tried again */
    LATE_MS = ACTOR_WAIT_MAX_MS,
    ID_BYTES_MAX = 64 << 10, /* of all that is formatted for one trigger */
};

struct row {
    struct actor_link link; /* by project and process */
    struct actor_alarm alarm;
    struct span project, process, trigger; /* own memory, behind the struct */
    struct span node;                      /* borrowed from the catalog */
    uint32_t version;                      /* that `past.fired` counts for */
    bool in_force;
    bool fires;     /* due_ms is valid */
    bool under_way; /* sent, not answered */
    int64_t due_ms;
    struct actor_plan plan; /* while in force */
    struct engine_schedule_past past;
};

struct actor_schedule {
    uint32_t magic;
    struct actor_schedule_options options;
    struct actor_table rows;
    struct actor_alarms alarms; /* Unix ms */
    struct arena scratch;
    struct actor_schedule_counters counters;
};

/* ---- rows ---- */

static uint64_t hash_of(struct span project, struct span process)
{
    return base_hash(process, base_hash(project, 3));
}

/* The first of a process, or the next behind `row`. */
static struct row *next_row(const struct actor_schedule *schedule, struct row *row,
                            struct span project, struct span process)
{
    struct actor_link *link = row == NULL
                                  ? actor_table_find(&schedule->rows, hash_of(project, process))
                                  : actor_table_again(&row->link);
    for (; link != NULL; link = actor_table_again(link)) {
        struct row *found = ACTOR_OWNER(row, link, link);
        if (span_equal(found->project, project) && span_equal(found->process, process)) {
            return found;
        }
    }
    return NULL;
}

static struct row *find_row(const struct actor_schedule *schedule, struct span project,
                            struct span process, struct span trigger)
{
    struct row *row = NULL;
    while ((row = next_row(schedule, row, project, process)) != NULL &&
           !span_equal(row->trigger, trigger)) {
    }
    return row;
}

static struct span put(uint8_t **room, struct span span)
{
    uint8_t *copy = *room;
    if (span.count > 0) {
        memcpy(copy, span.bytes, span.count);
    }
    *room += span.count;
    return span_of(copy, span.count);
}

static struct row *row_of(struct actor_schedule *schedule, struct span project, struct span process,
                          struct span trigger)
{
    struct row *row = find_row(schedule, project, process, trigger);
    if (row != NULL) {
        return row;
    }
    row = calloc(1, sizeof *row + project.count + process.count + trigger.count);
    if (row == NULL) {
        return NULL;
    }
    uint8_t *room = (uint8_t *)(row + 1);
    row->project = put(&room, project);
    row->process = put(&room, process);
    row->trigger = put(&room, trigger);
    row->past.last_due_ms = row->past.last_fired_ms = INT64_MIN;
    actor_table_add(&schedule->rows, &row->link, hash_of(project, process));
    return row;
}

/* What it has done stays known. */
static void retire(struct actor_schedule *schedule, struct row *row)
{
    if (row->in_force) {
        actor_alarms_clear(&schedule->alarms, &row->alarm);
        actor_plan_release(&row->plan);
        actor_count(&schedule->counters.triggers, row->fires ? -1 : 0);
    }
    row->in_force = row->fires = row->under_way = false;
    row->node = SPAN_EMPTY;
}

/* ---- life ---- */

enum result actor_schedule_new(const struct actor_schedule_options *options,
                               struct actor_schedule **out)
{
    struct actor_schedule *schedule = calloc(1, sizeof *schedule);
    if (schedule == NULL) {
        return RESULT_LIMIT;
    }
    schedule->magic = SCHEDULE_MAGIC;
    schedule->options = *options;
    actor_table_init(&schedule->rows);
    arena_init(&schedule->scratch, 1024, ID_BYTES_MAX);
    *out = schedule;
    return RESULT_OK;
}

void actor_schedule_free(struct actor_schedule *schedule)
{
    if (schedule == NULL) {
        return;
    }
    struct actor_link *next;
    for (struct actor_link *link = actor_table_take_all(&schedule->rows); link != NULL;
         link = next) {
        next = link->next;
        struct row *row = ACTOR_OWNER(row, link, link);
        retire(schedule, row);
        free(row);
    }
    actor_table_release(&schedule->rows);
    actor_alarms_release(&schedule->alarms);
    arena_release(&schedule->scratch);
    schedule->magic = 0;
    free(schedule);
}

const struct actor_schedule_counters *actor_schedule_counters(const struct actor_schedule *schedule)
{
    return &schedule->counters;
}

/* ---- recovery ---- */

/* The table and the tail overlap: the newest counts. */
enum result actor_schedule_recover(struct actor_schedule *schedule,
                                   const struct proto_record *record)
{
    struct row *row = row_of(schedule, record->project_id, record->name,
                             wire_string_or(wire_at(record->body, 0), ""));
    uint64_t fired = (uint64_t)wire_int_or(wire_at(record->body, 1), 0);
    if (row == NULL) {
        return RESULT_LIMIT;
    }
    if (record->number > row->version ||
        (record->number == row->version && fired >= row->past.fired)) {
        row->version = (uint32_t)record->number;
        row->past.fired = fired;
        row->past.last_due_ms = record->at_ms;
        row->past.last_fired_ms = wire_int_or(wire_at(record->body, 2), record->at_ms);
    }
    return RESULT_OK;
}

/* ---- versions ---- */

static void set_alarm(struct actor_schedule *schedule, struct row *row, int64_t due_ms)
{
    if (actor_alarms_set(&schedule->alarms, &row->alarm, due_ms) != RESULT_OK) {
        log_line(LOG_CRITICAL, "TRIGGER-SET-ASIDE",
                 "process=\"%.*s\" trigger=\"%.*s\" reason=\"no memory\"", SPAN_ARG(row->process),
                 SPAN_ARG(row->trigger));
    }
}

static void await_next(struct actor_schedule *schedule, struct row *row)
{
    bool fired = row->fires;
    row->fires = engine_schedule_due(&row->plan.schedule, row->plan.zone, &row->past, &row->due_ms);
    actor_count(&schedule->counters.triggers, (row->fires ? 1 : 0) - (fired ? 1 : 0));
    set_alarm(schedule, row, row->fires ? row->due_ms : INT64_MAX);
}

/* A walk over the triggers of one process. */
struct walk {
    const struct actor_catalog *catalog;
    struct arena *scratch;
    struct actor_schedule *schedule; /* NULL: only checked */
    const struct actor_source *source;
    struct span project;
    const struct engine_process *process;
    int64_t deployed_ms;
    struct engine_report *report;
    struct wire_writer *writer;
    uint32_t count;
};

static enum result read_plan(const struct walk *walk, const struct engine_start_trigger *trigger,
                             struct actor_plan *out, char why[ACTOR_PLAN_WHY_BYTES])
{
    return actor_plan_read(&walk->catalog->engine, walk->project, trigger, walk->deployed_ms, out,
                           why);
}

static struct span id_of(const struct walk *walk, const struct engine_start_trigger *trigger)
{
    arena_clear(walk->scratch);
    return engine_trigger_id(walk->process, trigger, walk->scratch);
}

static void check_trigger(void *owner, const struct engine_start_trigger *trigger)
{
    struct walk *walk = owner;
    struct actor_plan plan;
    char why[ACTOR_PLAN_WHY_BYTES];
    if (trigger->kind != ENGINE_START_BY_TIMER) {
        return;
    }
    if (read_plan(walk, trigger, &plan, why) == RESULT_OK) {
        actor_plan_release(&plan);
        return;
    }
    struct span id = id_of(walk, trigger);
    engine_report_add(walk->report, ENGINE_ERROR, "timer", id,
                      trigger->node == NULL ? walk->process->line : trigger->node->line, 0,
                      "timer \"%.*s\": %s", SPAN_ARG(id), why);
}

void actor_schedule_check(const struct actor_catalog *catalog, struct span project,
                          const struct engine_definition *definition, int64_t now_ms,
                          struct engine_report *report)
{
    struct arena scratch;
    arena_init(&scratch, 1024, ID_BYTES_MAX);
    for (uint32_t i = 0; i < definition->process_count; i++) {
        struct walk walk = {.catalog = catalog,
                            .scratch = &scratch,
                            .project = project,
                            .process = &definition->processes[i],
                            .deployed_ms = now_ms,
                            .report = report};
        engine_triggers_each(walk.process, check_trigger, &walk);
    }
    arena_release(&scratch);
}

static void put_in_force(struct walk *walk, struct row *row,
                         const struct engine_start_trigger *trigger)
{
    char why[ACTOR_PLAN_WHY_BYTES];
    if (row->version != walk->source->version) {
        row->version = walk->source->version;
        row->past.fired = 0;
    }
    row->past.deployed_ms = walk->deployed_ms;
    row->node = trigger->node == NULL ? SPAN_EMPTY : trigger->node->id;
    if (read_plan(walk, trigger, &row->plan, why) != RESULT_OK) {
        log_line(LOG_ERROR, "TRIGGER-NOT-SCHEDULED",
                 "project=\"%.*s\" process=\"%.*s\" trigger=\"%.*s\" reason=\"%s\"",
                 SPAN_ARG(row->project), SPAN_ARG(row->process), SPAN_ARG(row->trigger), why);
        return;
    }
    row->in_force = true;
    await_next(walk->schedule, row);
}

static void put_trigger(void *owner, const struct engine_start_trigger *trigger)
{
    struct walk *walk = owner;
    if (trigger->kind != ENGINE_START_BY_TIMER) {
        return;
    }
    struct span id = id_of(walk, trigger);
    struct row *row =
        id.count == 0 ? NULL : row_of(walk->schedule, walk->project, walk->process->id, id);
    if (row != NULL) {
        retire(walk->schedule, row); /* two of one id: the last counts */
        put_in_force(walk, row, trigger);
    } else {
        log_line(LOG_CRITICAL, "TRIGGER-SET-ASIDE", "process=\"%.*s\" reason=\"no memory\"",
                 SPAN_ARG(walk->process->id));
    }
}

void actor_schedule_put(struct actor_schedule *schedule, const struct actor_source *source)
{
    for (uint32_t i = 0; i < source->definition->process_count; i++) {
        struct walk walk = {.catalog = schedule->options.catalog,
                            .scratch = &schedule->scratch,
                            .schedule = schedule,
                            .source = source,
                            .project = source->project,
                            .process = &source->definition->processes[i],
                            .deployed_ms = source->at_ms};
        if (actor_catalog_newest(schedule->options.catalog, walk.project, walk.process->id) !=
            source->version) {
            continue;
        }
        struct row *row = NULL;
        while ((row = next_row(schedule, row, walk.project, walk.process->id)) != NULL) {
            retire(schedule, row);
        }
        engine_triggers_each(walk.process, put_trigger, &walk);
    }
}

/* ---- firing ---- */

static bool may_fire(const struct actor_schedule *schedule)
{
    return schedule->options.router == NULL || actor_router_takes_starts(schedule->options.router);
}

/* A name space of its own, so no requestId of a client makes the same id. */
static void name_execution(const struct row *row, struct execution_id *id)
{
    static const uint8_t name_space[16] = {0x91, 0x15, 0x8c, 0x39, 0x04, 0x30, 0x4c, 0x9d,
                                           0xdd, 0x75, 0xf6, 0x16, 0x5e, 0x83, 0xa6, 0xb4};
    uint8_t numbers[12];
    for (unsigned i = 0; i < 4; i++) {
        numbers[i] = (uint8_t)(row->version >> 8 * i);
    }
    for (unsigned i = 0; i < 8; i++) {
        numbers[4 + i] = (uint8_t)((uint64_t)row->due_ms >> 8 * i);
    }
    const struct span zero = span_of("", 1);
    const struct span parts[] = {row->project,
                                 zero,
                                 row->process,
                                 zero,
                                 row->trigger,
                                 zero,
                                 span_of(numbers, sizeof numbers)};
    *id = (struct execution_id){.count = UUID_TEXT_BYTES};
    uuid_format(uuid_v5_in(name_space, parts, sizeof parts / sizeof parts[0]), id->text);
}

static struct proto_message *fire_message(const struct actor_schedule *schedule,
                                          const struct row *row, struct actor_time now)
{
    struct span workspace = actor_catalog_workspace(schedule->options.catalog, row->project);
    struct proto_message *message =
        message_new(PROTO_FIRE, workspace.count + row->project.count + row->process.count +
                                    row->trigger.count + row->node.count);
    if (message == NULL) {
        return NULL;
    }
    message->as.fire = (struct proto_fire){.workspace = message_keep(message, workspace),
                                           .project = message_keep(message, row->project),
                                           .process = message_keep(message, row->process),
                                           .version = row->version,
                                           .trigger = message_keep(message, row->trigger),
                                           .node = message_keep(message, row->node),
                                           .fired = row->past.fired + 1,
                                           .due_ms = row->due_ms,
                                           .fired_ms = now.unix_ms};
    name_execution(row, &message->as.fire.execution_id);
    message->reply_to = (struct proto_address){.sink = schedule->options.self};
    return message;
}

static void fire(struct actor_schedule *schedule, struct row *row, struct actor_time now)
{
    ASSERT(row->in_force && row->fires && !row->under_way);
    struct proto_message *message = fire_message(schedule, row, now);
    if (message != NULL) {
        uint32_t owner = actor_shard_of(execution_id_span(&message->as.fire.execution_id),
                                        schedule->options.shard_count);
        struct proto_sink *sink = schedule->options.shards[owner];
        row->under_way = sink->send(sink, &message) == RESULT_OK;
        message_free(message);
    }
    if (!row->under_way) {
        set_alarm(schedule, row, now.unix_ms + RETRY_MS);
    }
}

/* Were there others behind it that had come before it was served? */
static bool stands_for_several(const struct row *row)
{
    struct engine_schedule_past past = row->past;
    int64_t next_ms;
    past.last_fired_ms = past.last_due_ms;
    return engine_schedule_due(&row->plan.schedule, row->plan.zone, &past, &next_ms) &&
           next_ms <= row->past.last_fired_ms;
}

static void count_firing(struct actor_schedule *schedule, const struct row *row)
{
    const struct engine_schedule_past *past = &row->past;
    bool is_late = past->last_fired_ms - past->last_due_ms > (int64_t)LATE_MS;
    actor_count(&schedule->counters.firings, 1);
    /* A start that had passed when it was deployed was not missed by anybody (field report F53). */
    if (past->last_due_ms >= past->deployed_ms) {
        actor_count(&schedule->counters.late, is_late ? 1 : 0);
        actor_count(&schedule->counters.caught_up, stands_for_several(row) ? 1 : 0);
    }
}

/* A firing of a version that has been replaced meanwhile still counts as what was served last. */
static void note_old(struct row *row, const struct proto_fire *fired)
{
    if (fired->result == RESULT_OK && fired->due_ms > row->past.last_due_ms) {
        row->past.last_due_ms = fired->due_ms;
        row->past.last_fired_ms = fired->fired_ms;
    }
}

void actor_schedule_fired(struct actor_schedule *schedule, const struct proto_fire *fired,
                          struct actor_time now)
{
    struct row *row = find_row(schedule, fired->project, fired->process, fired->trigger);
    ASSERT(row != NULL);
    bool is_current = row->under_way && row->version == fired->version;
    row->under_way = row->under_way && !is_current;
    if (!is_current) {
        note_old(row, fired);
        if (row->in_force && !row->under_way) {
            await_next(schedule, row);
        }
        return;
    }
    if (fired->result != RESULT_OK) {
        set_alarm(schedule, row, now.unix_ms + RETRY_MS);
        return;
    }
    ASSERT(fired->due_ms == row->due_ms);
    row->past.fired = fired->fired;
    row->past.last_due_ms = fired->due_ms;
    row->past.last_fired_ms = fired->fired_ms;
    count_firing(schedule, row);
    await_next(schedule, row);
}

uint64_t actor_schedule_turn(struct actor_schedule *schedule, struct actor_time now)
{
    ASSERT(schedule->magic == SCHEDULE_MAGIC);
    struct actor_alarm *alarm;
    int64_t next_ms = actor_alarms_next_ms(&schedule->alarms);
    if (next_ms <= now.unix_ms && !may_fire(schedule)) {
        return now.monotonic_ms + RETRY_MS;
    }
    while ((alarm = actor_alarms_take(&schedule->alarms, now.unix_ms)) != NULL) {
        fire(schedule, ACTOR_OWNER(row, alarm, alarm), now);
    }
    next_ms = actor_alarms_next_ms(&schedule->alarms);
    if (next_ms == INT64_MAX) {
        return ACTOR_NEVER;
    }
    int64_t left_ms = next_ms - now.unix_ms;
    return now.monotonic_ms +
           (left_ms > (int64_t)ACTOR_WAIT_MAX_MS ? ACTOR_WAIT_MAX_MS : (uint64_t)left_ms);
}

/* ---- looking ---- */

static const char *const kind_names[] = {
    [ENGINE_START_BY_TIMER] = "timer",
    [ENGINE_START_BY_MESSAGE] = "message",
    [ENGINE_START_BY_SIGNAL] = "signal",
    [ENGINE_START_BY_WEBHOOK] = "webhook",
};

static uint32_t write_timer(const struct row *row, struct wire_writer *writer)
{
    uint32_t pairs = 0;
    if (row->in_force) {
        wire_pair_string(writer, "schedule", row->plan.text);
        pairs++;
    }
    if (row->in_force && row->fires) {
        wire_pair_time(writer, "nextDueAt", row->due_ms);
        pairs++;
    }
    if (row->past.last_due_ms != INT64_MIN) {
        wire_pair_time(writer, "lastDueAt", row->past.last_due_ms);
        wire_pair_time(writer, "lastFiredAt", row->past.last_fired_ms);
        pairs += 2;
    }
    wire_pair_int(writer, "fired", (int64_t)row->past.fired);
    return pairs + 1;
}

static void write_trigger(void *owner, const struct engine_start_trigger *trigger)
{
    struct walk *walk = owner;
    struct span id = id_of(walk, trigger);
    const struct row *row =
        trigger->kind == ENGINE_START_BY_TIMER
            ? find_row(walk->schedule, walk->process->project, walk->process->id, id)
            : NULL;
    size_t mark = wire_open_map(walk->writer);
    uint32_t pairs = 2;
    wire_pair_string(walk->writer, "id", id);
    wire_pair_text(walk->writer, "kind", kind_names[trigger->kind]);
    if (trigger->node != NULL) {
        wire_pair_string(walk->writer, "taskId", trigger->node->id);
        pairs++;
    }
    if (row != NULL) {
        pairs += write_timer(row, walk->writer);
    } else if (trigger->kind != ENGINE_START_BY_TIMER) {
        wire_pair_string(walk->writer, trigger->kind == ENGINE_START_BY_WEBHOOK ? "path" : "name",
                         trigger->text);
        pairs++;
    }
    wire_close_map(walk->writer, mark, pairs);
    walk->count++;
}

void actor_schedule_write(const struct actor_schedule *schedule,
                          const struct engine_process *process, struct wire_writer *writer)
{
    /* The scratch arena is all that changes. */
    struct actor_schedule *writable = (struct actor_schedule *)schedule;
    struct walk walk = {.catalog = schedule->options.catalog,
                        .scratch = &writable->scratch,
                        .schedule = writable,
                        .process = process,
                        .writer = writer};
    size_t mark = wire_open_array(writer);
    engine_triggers_each(process, write_trigger, &walk);
    wire_close_array(writer, mark, walk.count);
}
