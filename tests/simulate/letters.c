/*
 * letters.c: see letters.h. What is said of a message is tentative until the log was synced; a
 * death takes back what was not, and then the keepers tell.
 */
#include "tests/simulate/letters.h"

#include <stdio.h>

#include "actors/shard/state.h"
#include "proto/base/assert.h"
#include "proto/wire/reader.h"
#include "tests/simulate/machine.h"
#include "tests/simulate/model.h"

enum { LETTERS_MAX = 1024, CATCHES_MAX = 2048 };

struct letter {
    struct span id;
    struct span name;
    int64_t at_ms;
    int64_t expires_ms;
    uint32_t catches;      /* by executions as they are now */
    uint32_t struck_in;    /* number of the commit that strikes it out; 0: none */
    bool appended, struck; /* its records were appended */
    bool durable, struck_durable;
    bool gone; /* its publisher's commit did not survive */
};

/* One event of an execution that took a letter. */
struct catch
{
    uint32_t letter;
    uint32_t execution;
    uint64_t event_sequence;
    bool committed;
};

struct sim_letters {
    struct letter letters[LETTERS_MAX];
    uint32_t count;
    struct catch catches[CATCHES_MAX];
    uint32_t catch_count;
    uint32_t commit; /* number of the one that is looked at, from 1 */
};

static struct letter *find(const struct sim *sim, struct span id)
{
    struct sim_letters *letters = sim->letters;
    for (uint32_t i = letters->count; i > 0; i--) {
        if (span_equal(letters->letters[i - 1].id, id) && !letters->letters[i - 1].gone) {
            return &letters->letters[i - 1];
        }
    }
    return NULL;
}

void sim_letters_init(struct sim *sim)
{
    sim->letters = arena_zero(&sim->arena, sizeof *sim->letters);
    ASSERT(sim->letters != NULL);
    sim->letters->commit = 1;
}

/* ---- taking ---- */

static void take(struct sim *sim, struct letter *letter, uint32_t execution,
                 uint64_t event_sequence)
{
    struct sim_letters *letters = sim->letters;
    ASSERT(letters->catch_count < CATCHES_MAX);
    letters->catches[letters->catch_count++] =
        (struct catch){.letter = (uint32_t)(letter - letters->letters),
                       .execution = execution,
                       .event_sequence = event_sequence};
    if (++letter->catches > 1) {
        sim_fail(sim, "message %.*s (%.*s) is taken twice", SPAN_ARG(letter->id),
                 SPAN_ARG(letter->name));
    }
    if (!letter->durable && sim->machine->durable) {
        sim_fail(sim, "message %.*s is taken before it is durable", SPAN_ARG(letter->id));
    }
}

void sim_letters_caught(struct sim *sim, uint32_t execution, uint64_t event_sequence,
                        struct span id)
{
    struct letter *letter = find(sim, id);
    if (letter != NULL) {
        take(sim, letter, execution, event_sequence);
    }
}

/* As actors/README.md says: a UUIDv5 of the message's id; in it the process, and when it came. */
static bool names(const struct letter *letter, struct span process, struct span execution_id)
{
    char name[128], text[UUID_TEXT_BYTES + 1];
    int bytes =
        snprintf(name, sizeof name, "%.*s@%lld", SPAN_ARG(process), (long long)letter->at_ms);
    uuid_format(uuid_v5(letter->id, span_of(name, (size_t)bytes)), text);
    return span_equal(execution_id, span_of(text, UUID_TEXT_BYTES));
}

bool sim_letters_begun(struct sim *sim, uint32_t execution, uint64_t event_sequence,
                       struct span execution_id)
{
    for (uint32_t i = 0; i < sim->letters->count; i++) {
        struct letter *letter = &sim->letters->letters[i];
        struct span process = sim_model_begins(sim->model, letter->name);
        if (!letter->gone && process.count > 0 && names(letter, process, execution_id)) {
            take(sim, letter, execution, event_sequence);
            return true;
        }
    }
    return false;
}

/* ---- commits ---- */

static void publish(struct sim *sim, const struct proto_record *record)
{
    struct sim_letters *letters = sim->letters;
    if (find(sim, record->name) != NULL) {
        sim_fail(sim, "message %.*s is published twice", SPAN_ARG(record->name));
        return;
    }
    ASSERT(letters->count < LETTERS_MAX);
    letters->letters[letters->count++] = (struct letter){
        .id = arena_copy(&sim->arena, record->name),
        .name = arena_copy(&sim->arena, wire_string_or(wire_at(record->body, 0), "")),
        .at_ms = wire_int_or(wire_at(record->body, 3), 0),
        .expires_ms = record->at_ms};
}

void sim_letters_commit(struct sim *sim, const struct proto_record *record)
{
    if (record->kind == PROTO_RECORD_MESSAGE) {
        publish(sim, record);
        return;
    }
    struct letter *letter = find(sim, record->name);
    if (letter == NULL) {
        sim_fail(sim, "message %.*s is struck out, and was never published",
                 SPAN_ARG(record->name));
        return;
    }
    if (letter->struck_in != 0) {
        sim_fail(sim, "message %.*s is struck out twice", SPAN_ARG(letter->id));
    }
    letter->struck_in = sim->letters->commit;
    if (letter->catches == 0 && letter->expires_ms > sim->now.unix_ms) {
        sim_fail(sim, "message %.*s is struck out, and nobody has taken it", SPAN_ARG(letter->id));
    }
}

void sim_letters_commit_of(struct sim *sim, uint32_t execution)
{
    for (uint32_t i = 0; i < sim->letters->catch_count; i++) {
        struct catch *taken = &sim->letters->catches[i];
        const struct letter *letter = &sim->letters->letters[taken->letter];
        if (taken->execution != execution || taken->committed) {
            continue;
        }
        taken->committed = true;
        if (letter->struck_in != sim->letters->commit) {
            sim_fail(sim, "message %.*s is not struck out in the commit of what it did",
                     SPAN_ARG(letter->id));
        }
    }
}

void sim_letters_deleted(struct sim *sim, uint32_t execution)
{
    struct sim_letters *letters = sim->letters;
    for (uint32_t i = 0; i < letters->catch_count; i++) {
        struct catch *taken = &letters->catches[i];
        struct letter *letter = &letters->letters[taken->letter];
        if (taken->execution != execution || taken->committed) {
            continue;
        }
        taken->committed = letter->struck_in == letters->commit;
        if (!taken->committed) {
            letter->catches--;
            *taken = letters->catches[--letters->catch_count];
            i--;
        }
    }
}

void sim_letters_committed(struct sim *sim)
{
    for (uint32_t i = 0; i < sim->letters->catch_count; i++) {
        const struct catch *taken = &sim->letters->catches[i];
        const struct letter *letter = &sim->letters->letters[taken->letter];
        if (!taken->committed && letter->struck_in == sim->letters->commit) {
            sim_fail(sim, "message %.*s is struck out before what it did is committed",
                     SPAN_ARG(letter->id));
        }
    }
    sim->letters->commit++;
}

void sim_letters_appended(struct sim *sim, const struct proto_record *record)
{
    struct letter *letter = find(sim, record->name);
    if (letter == NULL) {
        return;
    }
    *(record->kind == PROTO_RECORD_MESSAGE ? &letter->appended : &letter->struck) = true;
}

void sim_letters_synced(struct sim *sim, bool well)
{
    for (uint32_t i = 0; i < sim->letters->count; i++) {
        struct letter *letter = &sim->letters->letters[i];
        if (well) {
            letter->durable = letter->appended;
            letter->struck_durable = letter->struck;
        } else {
            letter->appended = letter->durable;
            letter->struck = letter->struck_durable;
        }
    }
}

/* ---- death and return ---- */

void sim_letters_go_back(struct sim *sim, uint32_t execution, uint64_t event_sequence)
{
    struct sim_letters *letters = sim->letters;
    for (uint32_t i = 0; i < letters->catch_count; i++) {
        struct catch *taken = &letters->catches[i];
        if (taken->execution == execution && taken->event_sequence > event_sequence) {
            letters->letters[taken->letter].catches--;
            *taken = letters->catches[--letters->catch_count];
            i--;
        }
    }
}

static bool is_kept(const struct sim *sim, const struct letter *letter)
{
    const struct sim_machine *machine = sim->machine;
    uint32_t keeper = actor_shard_of(letter->name, machine->shard_count);
    return actor_correlation_find(&machine->shards[keeper]->correlation, letter->id) != NULL;
}

static void come_back(struct sim *sim, struct letter *letter)
{
    bool kept = is_kept(sim, letter);
    bool over = letter->catches > 0;
    if (kept && over) {
        sim_fail(sim, "message %.*s comes back, though it has been taken", SPAN_ARG(letter->id));
    } else if (kept && letter->struck_durable) {
        sim_fail(sim, "message %.*s comes back, though it was struck out", SPAN_ARG(letter->id));
    } else if (!kept && !over && letter->durable && !letter->struck &&
               letter->expires_ms > sim->now.unix_ms) {
        sim_fail(sim, "message %.*s (%.*s) is lost", SPAN_ARG(letter->id), SPAN_ARG(letter->name));
    } else if (!kept && !over && letter->struck && letter->expires_ms > sim->now.unix_ms) {
        sim_fail(sim, "message %.*s was struck out, and what it did is lost", SPAN_ARG(letter->id));
    }
    letter->gone = !kept && !over && !letter->struck && !letter->durable;
    letter->appended = letter->durable = !letter->gone;
    letter->struck = letter->struck_durable = !kept && !letter->gone;
    letter->struck_in = letter->struck ? letter->struck_in : 0;
}

void sim_letters_come_back(struct sim *sim)
{
    for (uint32_t i = 0; i < sim->letters->count && !sim_failed(sim); i++) {
        if (!sim->letters->letters[i].gone) {
            come_back(sim, &sim->letters->letters[i]);
        }
    }
    for (uint32_t i = 0; i < sim->letters->catch_count; i++) {
        sim->letters->catches[i].committed = true; /* else it would have gone */
    }
}

/* ---- looking ---- */

static bool waits(const struct sim *sim, const struct letter *letter)
{
    return letter->catches == 0 && !letter->gone && letter->struck_in == 0 &&
           letter->expires_ms > sim->now.unix_ms;
}

bool sim_letters_wait(const struct sim *sim, struct span id)
{
    const struct letter *letter = find(sim, id);
    return letter != NULL && waits(sim, letter);
}

bool sim_letters_know(const struct sim *sim, struct span id)
{
    return find(sim, id) != NULL;
}

bool sim_letters_are_quiet(const struct sim *sim)
{
    for (uint32_t i = 0; i < sim->letters->count; i++) {
        const struct letter *letter = &sim->letters->letters[i];
        if (waits(sim, letter) && sim_model_begins(sim->model, letter->name).count > 0) {
            return false;
        }
    }
    return true;
}

void sim_letters_judge(struct sim *sim)
{
    for (uint32_t i = 0; i < sim->letters->count && !sim_failed(sim); i++) {
        const struct letter *letter = &sim->letters->letters[i];
        bool expired = letter->expires_ms <= sim->now.unix_ms;
        bool kept = !letter->gone && is_kept(sim, letter);
        if (letter->gone || letter->catches == 1) {
            if (kept) {
                sim_fail(sim, "message %.*s was taken, and is kept still", SPAN_ARG(letter->id));
            }
        } else if (!kept && !expired) {
            sim_fail(sim, "message %.*s (%.*s) was taken by nobody, and is not kept",
                     SPAN_ARG(letter->id), SPAN_ARG(letter->name));
        }
    }
}
