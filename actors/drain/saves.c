/*
 * saves.c: two lists of saves and a table of both by name. A save is under way (its bytes are
 * borrowed by the port) or stored (its bytes are gone); one that failed is forgotten, and the drain
 * stores it as if nothing had been tried.
 */
#include "actors/drain/saves.h"

#include <stdlib.h>
#include <string.h>

#include "actors/drain/blob_drain.h"
#include "actors/table.h"
#include "proto/base/assert.h"
#include "proto/base/hash.h"
#include "proto/base/limits.h"

enum {
    SAVES_MAX = 1 << 16,   /* remembered */
    UNDER_WAY_MAX = 20,    /* at once */
    BYTES_MAX = 64u << 20, /* of those; one there always may be */
    ARENA_BLOCK = 64 << 10,
};

struct save {
    struct actor_link link; /* by its name */
    struct save *older, *newer;
    struct span name;            /* of the blob: in `texts` */
    uint64_t version;            /* position behind the batch that it came from */
    struct proto_message *await; /* NULL: answered */
    uint8_t *bytes;              /* while it is under way, else NULL */
    size_t byte_count;
    uint8_t texts[];
};

struct save_list {
    struct save *oldest, *newest;
};

struct actor_saves {
    struct storage_blob *blob;
    struct proto_sink *self;
    struct actor_pending *pending;
    struct actor_table by_name;
    struct save_list under_way, stored;
    uint32_t under_way_count;
    size_t under_way_bytes;
    struct arena arena; /* of one call */
    struct actor_saves_counters counters;
};

enum result actor_saves_new(struct storage_blob *blob, struct proto_sink *self,
                            struct actor_pending *pending, struct actor_saves **out)
{
    struct actor_saves *saves = calloc(1, sizeof *saves);
    if (saves == NULL) {
        return RESULT_LIMIT;
    }
    saves->blob = blob;
    saves->self = self;
    saves->pending = pending;
    actor_table_init(&saves->by_name);
    arena_init(&saves->arena, ARENA_BLOCK, (size_t)LIMIT_EXECUTION_BYTES * 2);
    *out = saves;
    return RESULT_OK;
}

static void list_add(struct save_list *list, struct save *save)
{
    save->older = list->newest;
    save->newer = NULL;
    *(list->newest == NULL ? &list->oldest : &list->newest->newer) = save;
    list->newest = save;
}

static void list_remove(struct save_list *list, struct save *save)
{
    *(save->older == NULL ? &list->oldest : &save->older->newer) = save->newer;
    *(save->newer == NULL ? &list->newest : &save->newer->older) = save->older;
}

/* It is in no list. */
static void save_free(struct actor_saves *saves, struct save *save)
{
    actor_table_remove(&saves->by_name, &save->link);
    message_free(save->await);
    free(save->bytes);
    free(save);
}

static void list_free(struct actor_saves *saves, struct save_list *list)
{
    while (list->oldest != NULL) {
        struct save *save = list->oldest;
        list_remove(list, save);
        save_free(saves, save);
    }
}

void actor_saves_free(struct actor_saves *saves)
{
    if (saves == NULL) {
        return;
    }
    list_free(saves, &saves->under_way);
    list_free(saves, &saves->stored);
    actor_table_release(&saves->by_name);
    arena_release(&saves->arena);
    free(saves);
}

const struct actor_saves_counters *actor_saves_counters(const struct actor_saves *saves)
{
    return &saves->counters;
}

/* ---- beginning ---- */

static struct save *save_new(struct actor_saves *saves, struct span name, struct span bytes)
{
    struct save *save = calloc(1, sizeof *save + name.count);
    uint8_t *copy = malloc(bytes.count + 1);
    if (save == NULL || copy == NULL) {
        free(save);
        free(copy);
        return NULL;
    }
    memcpy(save->texts, name.bytes, name.count);
    memcpy(copy, bytes.bytes, bytes.count);
    save->name = span_of(save->texts, name.count);
    save->bytes = copy;
    save->byte_count = bytes.count;
    actor_table_add(&saves->by_name, &save->link, base_hash(save->name, 0));
    return save;
}

static bool is_full(const struct actor_saves *saves)
{
    return saves->under_way_count >= UNDER_WAY_MAX || saves->under_way_bytes >= BYTES_MAX ||
           actor_table_count(&saves->by_name) >= SAVES_MAX;
}

/* The port may answer before this returns: that message comes later. */
static bool begin(struct actor_saves *saves, struct save *save)
{
    const struct storage_blob_item item = {.name = save->name,
                                           .bytes = span_of(save->bytes, save->byte_count),
                                           .awaited = true,
                                           .rewritten = true};
    struct proto_address to = {.sink = saves->self, .ticket = (uint64_t)(uintptr_t)save};
    if (saves->blob->ops->put(saves->blob, &item, 1, to) != RESULT_OK) {
        return false;
    }
    list_add(&saves->under_way, save);
    saves->under_way_count++;
    saves->under_way_bytes += save->byte_count;
    return true;
}

bool actor_saves_take(struct actor_saves *saves, struct proto_message *await)
{
    ASSERT(await->type == PROTO_AWAIT);
    const struct actor_blob_id id =
        actor_blob_id_of(await->as.await.workspace, &await->as.await.execution_id);
    struct span bytes;
    uint64_t version;
    arena_clear(&saves->arena);
    if (is_full(saves) || actor_pending_forgotten(saves->pending, &id) ||
        actor_pending_find(saves->pending, &id, &saves->arena, &bytes, &version) !=
            ACTOR_PENDING_BYTES) {
        return false;
    }
    struct span name = actor_blob_name(&saves->arena, id.workspace, id.execution_id, id.name);
    struct save *save = name.count == 0 ? NULL : save_new(saves, name, bytes);
    saves->arena.overflowed = false;
    if (save == NULL) {
        return false;
    }
    save->version = version;
    if (!begin(saves, save)) {
        save_free(saves, save);
        return false;
    }
    save->await = await;
    return true;
}

/* ---- ending ---- */

static void answer(struct save *save, enum result result)
{
    if (save->await == NULL) {
        return;
    }
    struct proto_message *done = message_new(PROTO_DONE, 0);
    if (done != NULL) {
        done->as.done.result = result;
        message_answer(save->await->reply_to, done);
    }
    message_free(save->await);
    save->await = NULL;
}

static struct save *save_of(const struct actor_saves *saves, const struct proto_message *done)
{
    ASSERT(done->type == PROTO_PORT_DONE);
    struct save *save = saves->under_way.oldest;
    while (save != NULL && (uint64_t)(uintptr_t)save != done->reply_to.ticket) {
        save = save->newer;
    }
    return save;
}

bool actor_saves_has(const struct actor_saves *saves, const struct proto_message *done)
{
    return save_of(saves, done) != NULL;
}

void actor_saves_done(struct actor_saves *saves, const struct proto_message *done)
{
    struct save *save = save_of(saves, done);
    ASSERT(save != NULL && save->bytes != NULL);
    ASSERT(saves->under_way_count > 0);
    list_remove(&saves->under_way, save);
    saves->under_way_count--;
    saves->under_way_bytes -= save->byte_count;
    free(save->bytes);
    save->bytes = NULL;
    enum result result = done->as.port_done.result;
    answer(save, result);
    if (result == RESULT_OK) {
        list_add(&saves->stored, save);
        actor_count(&saves->counters.stored, 1);
    } else {
        save_free(saves, save);
    }
}

void actor_saves_give_up(struct actor_saves *saves, uint64_t since_ms)
{
    for (struct save *save = saves->under_way.oldest; save != NULL; save = save->newer) {
        if (save->await != NULL && save->await->as.await.since_ms <= since_ms) {
            answer(save, RESULT_TIMEOUT);
        }
    }
}

uint64_t actor_saves_since_ms(const struct actor_saves *saves)
{
    uint64_t since_ms = UINT64_MAX;
    for (const struct save *save = saves->under_way.oldest; save != NULL; save = save->newer) {
        if (save->await != NULL && save->await->as.await.since_ms < since_ms) {
            since_ms = save->await->as.await.since_ms;
        }
    }
    return since_ms;
}

/* ---- the drain ---- */

void actor_saves_passed(struct actor_saves *saves, uint64_t stored)
{
    while (saves->stored.oldest != NULL && saves->stored.oldest->version <= stored) {
        struct save *save = saves->stored.oldest;
        list_remove(&saves->stored, save);
        save_free(saves, save);
    }
}

enum actor_saved actor_saves_look(const struct actor_saves *saves, struct span name,
                                  uint64_t version)
{
    enum actor_saved saved = ACTOR_SAVED_NOT;
    if (actor_table_count(&saves->by_name) == 0) {
        return saved;
    }
    for (struct actor_link *link = actor_table_find(&saves->by_name, base_hash(name, 0));
         link != NULL; link = actor_table_again(link)) {
        const struct save *save = ACTOR_OWNER(save, link, link);
        if (!span_equal(save->name, name) || save->version < version) {
            continue;
        }
        if (save->bytes != NULL) {
            return ACTOR_SAVED_UNDER_WAY;
        }
        saved = ACTOR_SAVED_STORED;
    }
    return saved;
}

bool actor_saves_under(const struct actor_saves *saves, struct span prefix)
{
    for (const struct save *save = saves->under_way.oldest; save != NULL; save = save->newer) {
        if (save->name.count >= prefix.count &&
            memcmp(save->name.bytes, prefix.bytes, prefix.count) == 0) {
            return true;
        }
    }
    return false;
}
