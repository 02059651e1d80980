/*
 * tap.c: see tap.h. Bytes of committed states are kept until a newer one is durable.
 */
#include "tests/simulate/tap.h"

#include <stdlib.h>

#include "proto/base/assert.h"
#include "proto/base/limits.h"
#include "proto/wire/json.h"
#include "proto/wire/reader.h"
#include "proto/wire/writer.h"
#include "tests/simulate/letters.h"
#include "tests/simulate/machine.h"
#include "tests/simulate/tap_state.h"
#include "tests/simulate/ticks.h"

enum { SCRATCH_BLOCK_BYTES = 64 << 10 };
#define SCRATCH_BYTES_MAX (64ul << 20)

/* Of the one run that this process lives at a time: the engine's functions are global, too. */
static struct sim *listening;
static enum sim_bug bug; /* of the call in progress */

void sim_tap_listen(struct sim *sim)
{
    listening = sim;
}

enum sim_bug sim_tap_bug(void)
{
    return bug;
}

/* ---- helpers ---- */

struct sim_tracked *sim_tap_find(struct sim_tap *tap, struct span id)
{
    for (uint32_t i = 0; i < tap->count; i++) {
        if (span_equal(execution_id_span(&tap->tracked[i].id), id)) {
            return &tap->tracked[i];
        }
    }
    return NULL;
}

struct sim_tracked *sim_tap_find_of(struct sim_tap *tap, const struct engine_execution *execution)
{
    return sim_tap_find(tap, execution_id_span(&execution->id));
}

struct span sim_tap_encoded(const struct engine_execution *execution, struct arena *arena)
{
    struct wire_writer writer;
    wire_writer_init(&writer, arena, 2048);
    engine_encode(execution, &writer);
    ASSERT(!arena->overflowed);
    return wire_writer_span(&writer);
}

static struct span legible(struct sim_tap *tap, struct span value)
{
    struct span text;
    return value.count > 0 && json_from_wire(value, JSON_COMPACT, &tap->scratch, &text) == RESULT_OK
               ? text
               : span_text("(nothing)");
}

/* Names the first part that differs. */
void sim_tap_expect_same(struct sim_tap *tap, const struct sim_tracked *tracked, const char *what,
                         struct span expected, struct span found)
{
    struct span key, value;
    struct wire_map_walk walk = wire_map_begin(expected);
    if (span_equal(expected, found)) {
        return;
    }
    while (wire_map_next(&walk, &key, &value)) {
        if (!span_equal(value, wire_find(found, key))) {
            struct span left = legible(tap, value), right = legible(tap, wire_find(found, key));
            sim_fail(tap->sim, "%s: %s differs: %.*s should be %.*s, is %.*s", tracked->id.text,
                     what, SPAN_ARG(key), SPAN_ARG(left), SPAN_ARG(right));
            return;
        }
    }
    sim_fail(tap->sim, "%s: %s differs: it has more than expected", tracked->id.text, what);
}

void sim_tap_drop_shadow(struct sim_tracked *tracked)
{
    if (tracked->shadow != NULL) {
        engine_free(tracked->shadow);
        tracked->shadow = NULL;
    }
    tracked->books = (struct sim_books){0};
}

/* ---- each event ---- */

static void count_step(struct sim *sim, const struct sim_tracked *tracked,
                       const struct engine_event *event)
{
    const struct engine_scope *scope = engine_scope_find(tracked->shadow, event->scope);
    const struct engine_token *token = engine_token_find(tracked->shadow, event->token);
    scope =
        scope != NULL || token == NULL ? scope : engine_scope_find(tracked->shadow, token->scope);
    sim->report->steps++;
    if (scope != NULL && event->node < scope->process->node_count) {
        sim->report->kind_counts[scope->process->nodes[event->node].kind]++;
    }
}

static void book(struct sim_tap *tap, struct sim_tracked *tracked,
                 const struct engine_execution *execution, const struct engine_output *output,
                 uint32_t from)
{
    for (uint32_t i = from; i < output->event_count; i++) {
        const struct engine_event *event = &output->events[i];
        const char *wrong =
            sim_books_take(&tracked->books, &tap->catalog.engine, span_text(SIM_PROJECT), event);
        if (wrong != NULL) {
            sim_fail(tap->sim, "%s: %s (event %u \"%s\", token %u, scope %u, node %u, flow %u)",
                     tracked->id.text, wrong, i, engine_event_name(event->type), event->token,
                     event->scope, event->node, event->flow);
            return;
        }
    }
    const char *wrong = sim_books_compare(&tracked->books, execution);
    if (wrong != NULL) {
        sim_fail(tap->sim, "%s: %s", tracked->id.text, wrong);
    }
}

static void follow(struct sim_tap *tap, struct sim_tracked *tracked,
                   const struct engine_execution *execution, const struct engine_output *output,
                   uint32_t from)
{
    struct wire_writer writer;
    wire_writer_init(&writer, &tap->scratch, 1024);
    engine_events_encode(output->events + from, output->event_count - from, &writer);
    enum result result = engine_replay(&tap->catalog.engine, wire_writer_span(&writer),
                                       output->first_event_sequence + from, &tracked->shadow);
    if (result != RESULT_OK) {
        sim_fail(tap->sim, "%s: its own events do not apply: %s", tracked->id.text,
                 result_text(result));
        return;
    }
    sim_tap_expect_same(tap, tracked, "what the events make",
                        sim_tap_encoded(execution, &tap->scratch),
                        sim_tap_encoded(tracked->shadow, &tap->scratch));
}

/* One that nobody asked for by its id: a message has begun it. */
static struct sim_tracked *adopt(struct sim *sim, const struct engine_execution *execution)
{
    if (sim->tap->count == SIM_EXECUTIONS_MAX) {
        sim_fail(sim, "more executions begin than the simulator has room for");
        return NULL;
    }
    sim_tap_track(sim, execution->id);
    sim_clients_adopt(sim, execution->id);
    return &sim->tap->tracked[sim->tap->count - 1];
}

/* A message came, or has begun it. */
static void note_letter(struct sim *sim, const struct sim_tracked *tracked,
                        const struct engine_event *event, uint64_t event_sequence)
{
    uint32_t number = (uint32_t)(tracked - sim->tap->tracked);
    if (event->type == ENGINE_EVENT_CREATED && sim_clients_are_adopted(sim, number) &&
        !sim_letters_begun(sim, number, event_sequence, execution_id_span(&tracked->id)) &&
        !sim_ticks_begun(sim, number, tracked->shadow)) {
        sim_fail(sim, "%s: begins, and no message or timer has begun it", tracked->id.text);
    } else if (event->type == ENGINE_EVENT_CAUGHT && event->text.count > 0) {
        sim_letters_caught(sim, number, event_sequence, event->text);
    }
}

static void take_events(struct sim *sim, const struct engine_execution *execution,
                        const struct engine_output *output, uint32_t from)
{
    struct sim_tap *tap = sim->tap;
    if (output->event_count == from || sim_failed(sim)) {
        return;
    }
    struct sim_tracked *tracked = sim_tap_find_of(tap, execution);
    if (tracked == NULL) {
        tracked = adopt(sim, execution);
    }
    if (tracked == NULL) {
        sim_fail(sim, "%s: begins, and nobody has asked for it", execution->id.text);
        return;
    }
    arena_clear(&tap->scratch);
    for (uint32_t i = from; i < output->event_count && sim->options.trace; i++) {
        sim_trace(sim, "    %s: %s token %u node %u", tracked->id.text,
                  engine_event_name(output->events[i].type), output->events[i].token,
                  output->events[i].node);
    }
    if (tracked->deletion.committed) {
        sim_fail(sim, "%s: moves on, though it was deleted", tracked->id.text);
        return;
    }
    book(tap, tracked, execution, output, from);
    if (sim_failed(sim)) {
        return; /* the shadow would assert */
    }
    follow(tap, tracked, execution, output, from);
    for (uint32_t i = from; i < output->event_count && !sim_failed(sim); i++) {
        if (output->events[i].type == ENGINE_EVENT_ENTERED) {
            count_step(sim, tracked, &output->events[i]);
        }
        note_letter(sim, tracked, &output->events[i], output->first_event_sequence + i);
    }
    sim_clients_notice(sim, (uint32_t)(tracked - tap->tracked));
}

/* ---- the door ---- */

/* The linker's names. */
enum result __real_engine_accept(struct engine_execution *execution,
                                 const struct engine_input *input, struct engine_output *output);
enum result __wrap_engine_accept(struct engine_execution *execution,
                                 const struct engine_input *input, struct engine_output *output);
enum result __real_engine_advance(struct engine_execution *execution, int64_t now_ms,
                                  uint32_t moves, engine_step_fn after_step, void *owner,
                                  struct engine_output *output, bool *more);
enum result __wrap_engine_advance(struct engine_execution *execution, int64_t now_ms,
                                  uint32_t moves, engine_step_fn after_step, void *owner,
                                  struct engine_output *output, bool *more);
enum result __real_engine_recover(struct engine_execution *execution, struct engine_output *output);
enum result __wrap_engine_recover(struct engine_execution *execution, struct engine_output *output);
enum result __real_engine_decode(const struct engine_catalog *catalog, struct span bytes,
                                 struct engine_execution **out);
enum result __wrap_engine_decode(const struct engine_catalog *catalog, struct span bytes,
                                 struct engine_execution **out);
enum result __real_engine_replay(const struct engine_catalog *catalog, struct span events,
                                 uint64_t first, struct engine_execution **execution);
enum result __wrap_engine_replay(const struct engine_catalog *catalog, struct span events,
                                 uint64_t first, struct engine_execution **execution);

static struct sim *begin(void)
{
    struct sim *sim = listening;
    listening = NULL; /* what is called from here is the simulator's own */
    bug = sim == NULL ? SIM_NO_BUG : sim->options.bug;
    return sim;
}

enum result __wrap_engine_accept(struct engine_execution *execution,
                                 const struct engine_input *input, struct engine_output *output)
{
    struct sim *sim = begin();
    uint32_t from = output->event_count;
    enum result result = __real_engine_accept(execution, input, output);
    if (sim != NULL) {
        take_events(sim, execution, output, from);
        listening = sim;
    }
    return result;
}

enum result __wrap_engine_advance(struct engine_execution *execution, int64_t now_ms,
                                  uint32_t moves, engine_step_fn after_step, void *owner,
                                  struct engine_output *output, bool *more)
{
    struct sim *sim = begin();
    uint32_t from = output->event_count;
    enum result result =
        __real_engine_advance(execution, now_ms, moves, after_step, owner, output, more);
    bug = SIM_NO_BUG;
    if (sim != NULL) {
        take_events(sim, execution, output, from);
        listening = sim;
    }
    return result;
}

enum result __wrap_engine_recover(struct engine_execution *execution, struct engine_output *output)
{
    struct sim *sim = begin();
    uint32_t from = output->event_count;
    enum result result = __real_engine_recover(execution, output);
    if (sim != NULL) {
        take_events(sim, execution, output, from);
        listening = sim;
    }
    return result;
}

enum result __wrap_engine_decode(const struct engine_catalog *catalog, struct span bytes,
                                 struct engine_execution **out)
{
    struct sim *sim = begin();
    enum result result = __real_engine_decode(catalog, bytes, out);
    if (sim != NULL) {
        if (result == RESULT_OK) {
            sim_tap_came_back(sim, *out);
        }
        listening = sim;
    }
    return result;
}

enum result __wrap_engine_replay(const struct engine_catalog *catalog, struct span events,
                                 uint64_t first, struct engine_execution **execution)
{
    struct sim *sim = begin();
    enum result result = __real_engine_replay(catalog, events, first, execution);
    if (sim != NULL) {
        if (result == RESULT_OK) {
            sim_tap_came_back(sim, *execution);
        }
        listening = sim;
    }
    return result;
}

/* ---- commits ---- */

static struct sim_committed *committed_new(const struct sim_tracked *tracked, struct span bytes)
{
    struct sim_committed *committed = malloc(sizeof *committed + bytes.count);
    ASSERT(committed != NULL);
    *committed = (struct sim_committed){.event_sequence = tracked->shadow->event_sequence,
                                        .run = tracked->shadow->run,
                                        .sequence = tracked->shadow->sequence,
                                        .call_last = tracked->shadow->call_last,
                                        .ended = tracked->shadow->end != ENGINE_END_NONE,
                                        .books = tracked->books,
                                        .count = bytes.count};
    memcpy(committed->bytes, bytes.bytes, bytes.count);
    return committed;
}

struct sim_committed *sim_tap_committed_at(const struct sim_tracked *tracked,
                                           uint64_t event_sequence)
{
    struct sim_committed *committed = tracked->oldest;
    while (committed != NULL && committed->event_sequence != event_sequence) {
        committed = committed->newer;
    }
    return committed;
}

static void keep_committed(struct sim_tracked *tracked, struct sim_committed *committed)
{
    if (tracked->newest == NULL) {
        tracked->oldest = committed;
    } else {
        tracked->newest->newer = committed;
    }
    tracked->newest = committed;
}

/* Forgets those that are older than the one at this place. */
void sim_tap_forget_before(struct sim_tracked *tracked, uint64_t event_sequence)
{
    while (tracked->oldest != NULL && tracked->oldest->event_sequence < event_sequence) {
        struct sim_committed *oldest = tracked->oldest;
        tracked->oldest = oldest->newer;
        free(oldest);
    }
    if (tracked->oldest == NULL) {
        tracked->newest = NULL;
    }
}

void sim_tap_forget_after(struct sim_tracked *tracked, uint64_t event_sequence)
{
    struct sim_committed **place = &tracked->oldest;
    tracked->newest = NULL;
    while (*place != NULL && (*place)->event_sequence <= event_sequence) {
        tracked->newest = *place;
        place = &(*place)->newer;
    }
    while (*place != NULL) {
        struct sim_committed *gone = *place;
        *place = gone->newer;
        free(gone);
    }
}

static uint32_t count_values(struct span run)
{
    struct wire_cursor cursor = wire_cursor(run);
    uint32_t count = 0;
    while (cursor.next < cursor.end && wire_skip(&cursor) == RESULT_OK) {
        count++;
    }
    return count;
}

static uint64_t sequence_of_snapshot(struct span bytes)
{
    return (uint64_t)wire_int_or(wire_find_text(bytes, "eventSequence"), 0);
}

/* An operator's delete: from here on there is nothing of it. */
static void commit_deletion(struct sim_tap *tap, const struct proto_record *record)
{
    struct sim_tracked *tracked = sim_tap_find(tap, record->execution_id);
    if (tracked == NULL) {
        return;
    }
    if (tracked->shadow == NULL) {
        sim_fail(tap->sim, "%s: deleted, and there is nothing of it", tracked->id.text);
        return;
    }
    sim_trace(tap->sim, "    %s: its deletion in a commit", tracked->id.text);
    sim_letters_deleted(tap->sim, (uint32_t)(tracked - tap->tracked));
    sim_tap_drop_shadow(tracked);
    tracked->deletion.committed = true;
    sim_clients_notice(tap->sim, (uint32_t)(tracked - tap->tracked));
}

static void commit_record(struct sim_tap *tap, const struct proto_record *record)
{
    if (record->kind == PROTO_RECORD_FORGET) {
        commit_deletion(tap, record);
        return;
    }
    bool snapshot = record->kind == PROTO_RECORD_SNAPSHOT;
    struct sim_tracked *tracked = snapshot || record->kind == PROTO_RECORD_EVENTS
                                      ? sim_tap_find(tap, record->execution_id)
                                      : NULL;
    if (tracked == NULL || sim_failed(tap->sim)) {
        return;
    }
    if (tracked->shadow == NULL) {
        sim_fail(tap->sim, "%s: a commit holds what never happened", tracked->id.text);
        return;
    }
    sim_trace(tap->sim, "    %s: %s %llu in a commit", tracked->id.text,
              snapshot ? "snapshot" : "events from", (unsigned long long)record->number);
    struct span bytes = sim_tap_encoded(tracked->shadow, &tap->scratch);
    uint64_t next = tracked->newest == NULL ? 1 : tracked->newest->event_sequence + 1;
    if (snapshot) {
        sim_tap_expect_same(tap, tracked, "the committed snapshot", bytes, record->body);
    } else if (record->number != next) {
        sim_fail(tap->sim, "%s: a commit begins with event %llu, the next one was %llu",
                 tracked->id.text, (unsigned long long)record->number, (unsigned long long)next);
    }
    if (sim_tap_committed_at(tracked, tracked->shadow->event_sequence) == NULL) {
        keep_committed(tracked, committed_new(tracked, bytes));
    }
    sim_letters_commit_of(tap->sim, (uint32_t)(tracked - tap->tracked));
    sim_ticks_commit_of(tap->sim, (uint32_t)(tracked - tap->tracked));
}

static bool is_letter(const struct proto_record *record)
{
    return record->kind == PROTO_RECORD_MESSAGE || record->kind == PROTO_RECORD_MESSAGE_TAKEN;
}

static void commit_letter(struct sim_tap *tap, const struct proto_record *record)
{
    if (is_letter(record)) {
        sim_letters_commit(tap->sim, record);
    } else if (record->kind == PROTO_RECORD_TRIGGER) {
        sim_ticks_commit(tap->sim, record);
    }
}

static void each_record(struct sim_tap *tap, struct span records,
                        void (*take)(struct sim_tap *tap, const struct proto_record *record))
{
    struct proto_record record;
    enum result result;
    while ((result = record_read(&records, &record)) == RESULT_OK) {
        take(tap, &record);
    }
    if (result == RESULT_CORRUPT) {
        sim_fail(tap->sim, "a batch of the journal is no run of records");
    }
}

void sim_tap_committed(struct sim *sim, struct span records)
{
    struct sim *before = begin();
    arena_clear(&sim->tap->scratch);
    each_record(sim->tap, records, commit_letter);
    each_record(sim->tap, records, commit_record);
    sim_letters_committed(sim);
    sim_ticks_committed(sim);
    listening = before;
}

/* Which event is the last one that the record holds? 0: none. */
uint64_t sim_tap_end_of_record(const struct proto_record *record)
{
    switch (record->kind) {
    case PROTO_RECORD_SNAPSHOT:
        return sequence_of_snapshot(record->body);
    case PROTO_RECORD_EVENTS:
        return record->number + count_values(record->body) - 1;
    case PROTO_RECORD_NONE:
    case PROTO_RECORD_STEP:
    case PROTO_RECORD_AUDIT:
    case PROTO_RECORD_REQUEST:
    case PROTO_RECORD_DEFINITION:
    case PROTO_RECORD_FORGET:
    case PROTO_RECORD_MESSAGE:
    case PROTO_RECORD_MESSAGE_TAKEN:
    case PROTO_RECORD_TRIGGER:
        break;
    }
    return 0;
}

static void append_record(struct sim_tap *tap, const struct proto_record *record)
{
    if (is_letter(record)) {
        sim_letters_appended(tap->sim, record);
    }
    uint64_t end = sim_tap_end_of_record(record);
    bool deletion = record->kind == PROTO_RECORD_FORGET;
    struct sim_tracked *tracked =
        end == 0 && !deletion ? NULL : sim_tap_find(tap, record->execution_id);
    if (tracked != NULL && deletion) {
        tracked->deletion.appended = true;
    }
    if (tracked != NULL && end > tracked->appended) {
        tracked->appended = end;
    }
}

void sim_tap_appended(struct sim *sim, struct span records)
{
    each_record(sim->tap, records, append_record);
}

void sim_tap_synced(struct sim *sim, bool well)
{
    sim_letters_synced(sim, well);
    for (uint32_t i = 0; i < sim->tap->count; i++) {
        struct sim_tracked *tracked = &sim->tap->tracked[i];
        if (!well) {
            tracked->appended = tracked->durable;
            tracked->deletion.appended = tracked->deletion.durable;
            continue;
        }
        tracked->durable = tracked->appended;
        tracked->deletion.durable = tracked->deletion.appended;
        sim_tap_forget_before(tracked, tracked->durable);
    }
}

/* ---- what leaves ---- */

static const struct sim_committed *durable_of(const struct sim_tracked *tracked)
{
    return tracked->durable == 0 ? NULL : sim_tap_committed_at(tracked, tracked->durable);
}

void sim_tap_call_leaves(struct sim *sim, const struct proto_call *call)
{
    struct sim_tracked *tracked = sim_tap_find(sim->tap, execution_id_span(&call->execution_id));
    ASSERT(tracked != NULL);
    if (!sim->machine->durable) {
        return;
    }
    const struct sim_committed *durable = durable_of(tracked);
    if (durable == NULL || durable->call_last < call->attempt) {
        sim_fail(sim, "%s: call %u leaves, the newest that is durable is %u", tracked->id.text,
                 call->attempt, durable == NULL ? 0 : durable->call_last);
    }
}

void sim_tap_reply_leaves(struct sim *sim, const struct proto_reply *reply)
{
    struct span id = wire_string_or(wire_find_text(reply->body, "executionId"), "");
    struct sim_tracked *tracked = reply->ok ? sim_tap_find(sim->tap, id) : NULL;
    if (tracked == NULL || !sim->machine->durable) {
        return;
    }
    if (wire_bool_or(wire_find_text(reply->body, "deleted"), false)) {
        if (!tracked->deletion.durable) {
            sim_fail(sim, "%s: told to be deleted, which is not durable", tracked->id.text);
        }
        return;
    }
    if (tracked->deletion.durable) {
        return; /* it came that far in the turn that deleted it: nothing will say otherwise */
    }
    int64_t sequence = wire_int_or(wire_find_text(reply->body, "sequence"), 0);
    const struct sim_committed *durable = durable_of(tracked);
    int64_t run = wire_int_or(wire_find_text(reply->body, "run"), 0);
    if (durable == NULL || run > durable->run ||
        (run == durable->run && sequence > durable->sequence)) {
        sim_fail(sim, "%s: a reply tells of step %lld, the newest that is durable is %lld",
                 tracked->id.text, (long long)sequence,
                 durable == NULL ? 0ll : (long long)durable->sequence);
    }
}

/* ---- life ---- */

void sim_tap_init(struct sim *sim)
{
    sim->tap = arena_zero(&sim->arena, sizeof *sim->tap);
    ASSERT(sim->tap != NULL);
    sim->tap->sim = sim;
    arena_init(&sim->tap->scratch, SCRATCH_BLOCK_BYTES, SCRATCH_BYTES_MAX);
    (void)sim_catalog_init(sim, &sim->tap->catalog);
}

void sim_tap_release(struct sim *sim)
{
    for (uint32_t i = 0; i < sim->tap->count; i++) {
        sim_tap_drop_shadow(&sim->tap->tracked[i]);
        sim_tap_forget_after(&sim->tap->tracked[i], 0);
    }
    arena_release(&sim->tap->scratch);
    sim_catalog_release(&sim->tap->catalog);
}

void sim_tap_track(struct sim *sim, struct execution_id id)
{
    ASSERT(sim->tap->count < SIM_EXECUTIONS_MAX);
    sim->tap->tracked[sim->tap->count++].id = id;
}

const struct engine_execution *sim_tap_shadow(struct sim *sim, uint32_t execution)
{
    ASSERT(execution < sim->tap->count);
    return sim->tap->tracked[execution].shadow;
}

bool sim_tap_has_settled(struct sim *sim, uint32_t execution)
{
    const struct sim_tracked *tracked = &sim->tap->tracked[execution];
    ASSERT(execution < sim->tap->count);
    return tracked->shadow == NULL || (tracked->shadow->end != ENGINE_END_NONE &&
                                       tracked->durable == tracked->shadow->event_sequence);
}

bool sim_tap_is_deleted(const struct sim *sim, struct span execution_id)
{
    const struct sim_tracked *tracked = sim_tap_find(sim->tap, execution_id);
    return tracked != NULL && tracked->deletion.committed;
}

uint32_t sim_tap_callbacks(struct sim *sim, uint32_t execution)
{
    ASSERT(execution < sim->tap->count);
    return sim->tap->tracked[execution].books.callbacks;
}

const struct sim_catalog *sim_tap_catalog(struct sim *sim)
{
    return &sim->tap->catalog;
}
