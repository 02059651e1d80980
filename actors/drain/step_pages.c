/*
 * step_pages.c: see step_pages.h. Invariant: of a page's items those before `next` have been asked
 * for, `waiting` of them are not answered yet.
 */
#include "actors/drain/step_pages.h"

#include <stdlib.h>

#include "actors/drain/blob_drain.h"
#include "engine/engine.h"
#include "proto/base/assert.h"
#include "proto/base/limits.h"
#include "proto/log.h"
#include "proto/wire/reader.h"
#include "proto/wire/writer.h"

enum {
    ITEMS_MAX = 256,
    AT_ONCE = 16,          /* requests of the port under way */
    PAGE_BYTES = 4u << 20, /* a page ends when it has so many; one blob there always is */
};

struct item {
    struct span step_id;        /* the fetch's */
    struct proto_message *done; /* the port's answer */
    bool missing;               /* the port did not take the question */
};

struct actor_step_page {
    struct actor_step_page *later;
    struct proto_message *fetch;
    uint32_t count;
    uint32_t next;
    uint32_t waiting;
    size_t bytes;
    struct item items[ITEMS_MAX];
};

static void page_free(struct actor_step_page *page)
{
    for (uint32_t i = 0; i < page->count; i++) {
        message_free(page->items[i].done);
    }
    message_free(page->fetch);
    free(page);
}

/* ---- the answer ---- */

/* The bytes come from a store that may not be ours alone. */
static bool is_readable(struct span bytes)
{
    size_t offset;
    const char *reason;
    return wire_is(bytes, WIRE_MAP) &&
           wire_validate(bytes, LIMIT_WIRE_DEPTH, &offset, &reason) == RESULT_OK &&
           wire_int_or(wire_find_text(bytes, "formatVersion"), 0) == ENGINE_FORMAT_VERSION;
}

static void write_item(const struct item *item, struct wire_writer *writer)
{
    const struct proto_port_done *done = item->done == NULL ? NULL : &item->done->as.port_done;
    if (done != NULL && done->result == RESULT_OK && is_readable(done->bytes)) {
        wire_write_raw(writer, done->bytes);
    } else if (done != NULL && done->result == RESULT_NOT_FOUND) {
        wire_write_nil(writer);
    } else {
        wire_write_bool(writer, false);
    }
}

static struct span write_answer(const struct actor_step_page *page, struct arena *arena)
{
    struct wire_writer writer;
    struct span outline = wire_at(page->fetch->as.fetch.query, 1);
    wire_writer_init(&writer, arena, page->bytes + outline.count + 64 + 2 * (size_t)page->next);
    wire_write_array(&writer, 2);
    wire_write_value(&writer, outline);
    wire_write_array(&writer, page->next);
    for (uint32_t i = 0; i < page->next; i++) {
        write_item(&page->items[i], &writer);
    }
    return wire_writer_span(&writer);
}

static void reply(const struct proto_message *fetch, enum result result, struct span bytes)
{
    struct proto_message *fetched = message_new(PROTO_FETCHED, bytes.count);
    if (fetched == NULL) {
        log_line(LOG_CRITICAL, "STORAGE-ANSWER-LOST", "reason=\"no memory\"");
        return;
    }
    fetched->as.fetched = (struct proto_fetched){.kind = PROTO_FETCH_STEPS,
                                                 .execution_id = fetch->as.fetch.execution_id,
                                                 .result = result,
                                                 .bytes = message_keep(fetched, bytes)};
    message_answer(fetch->reply_to, fetched);
}

static void answer(const struct actor_step_page *page)
{
    struct arena arena;
    arena_init(&arena, 4096, 2 * (page->bytes + page->fetch->as.fetch.query.count + (1u << 20)));
    struct span bytes = write_answer(page, &arena);
    reply(page->fetch, bytes.count == 0 ? RESULT_LIMIT : RESULT_OK, bytes);
    arena_release(&arena);
}

/* ---- asking ---- */

static bool is_full(const struct actor_step_page *page)
{
    return page->bytes >= PAGE_BYTES;
}

/* What the journal has and the tier not yet, as the port would answer. false: ask the port. */
static bool take_pending(struct actor_step_pages *pages, struct actor_step_page *page,
                         struct item *item)
{
    const struct actor_blob_id id = {
        .workspace = wire_string_or(wire_at(page->fetch->as.fetch.query, 0), ""),
        .execution_id = execution_id_span(&page->fetch->as.fetch.execution_id),
        .name = item->step_id};
    struct arena arena;
    struct span bytes;
    uint64_t version;
    if (pages->pending == NULL) {
        return false;
    }
    arena_init(&arena, 4096, (size_t)LIMIT_EXECUTION_BYTES * 2);
    enum actor_pending_found found =
        actor_pending_find(pages->pending, &id, &arena, &bytes, &version);
    if (found == ACTOR_PENDING_BYTES || found == ACTOR_PENDING_GONE) {
        item->done = message_new(PROTO_PORT_DONE, bytes.count);
    }
    if (item->done != NULL) {
        item->done->as.port_done.result =
            found == ACTOR_PENDING_BYTES ? RESULT_OK : RESULT_NOT_FOUND;
        item->done->as.port_done.bytes = message_keep(item->done, bytes);
        page->bytes += bytes.count;
    }
    arena_release(&arena);
    return item->done != NULL;
}

static void ask_next(struct actor_step_pages *pages, struct actor_step_page *page)
{
    struct item *item = &page->items[page->next++];
    struct arena arena;
    if (take_pending(pages, page, item)) {
        return;
    }
    arena_init(&arena, 1024, 4096);
    struct span name =
        actor_blob_name(&arena, wire_string_or(wire_at(page->fetch->as.fetch.query, 0), ""),
                        execution_id_span(&page->fetch->as.fetch.execution_id), item->step_id);
    struct proto_address to = {.sink = pages->self, .ticket = (uint64_t)(uintptr_t)item};
    if (name.count > 0 && pages->blob->ops->get(pages->blob, name, to) == RESULT_OK) {
        page->waiting++;
    } else {
        item->missing = true;
    }
    arena_release(&arena);
}

static void go_on(struct actor_step_pages *pages, struct actor_step_page *page)
{
    while (page->next < page->count && page->waiting < AT_ONCE && !is_full(page)) {
        ask_next(pages, page);
    }
    if (page->waiting > 0) {
        return;
    }
    struct actor_step_page **at = &pages->first;
    while (*at != page) {
        at = &(*at)->later;
    }
    *at = page->later;
    answer(page);
    page_free(page);
}

void actor_step_pages_fetch(struct actor_step_pages *pages, struct proto_message *fetch)
{
    ASSERT(fetch->type == PROTO_FETCH && fetch->as.fetch.kind == PROTO_FETCH_STEPS);
    struct actor_step_page *page = calloc(1, sizeof *page);
    if (page == NULL) {
        reply(fetch, RESULT_LIMIT, SPAN_EMPTY);
        message_free(fetch);
        return;
    }
    page->fetch = fetch;
    struct wire_map_walk walk = wire_array_begin(wire_at(fetch->as.fetch.query, 2));
    struct span step_id;
    while (wire_array_next(&walk, &step_id) && page->count < ITEMS_MAX) {
        page->items[page->count++].step_id = wire_string_or(step_id, "");
    }
    page->later = pages->first;
    pages->first = page;
    go_on(pages, page);
}

bool actor_step_pages_take(struct actor_step_pages *pages, struct proto_message *done)
{
    ASSERT(done->type == PROTO_PORT_DONE);
    uintptr_t ticket = (uintptr_t)done->reply_to.ticket;
    for (struct actor_step_page *page = pages->first; page != NULL; page = page->later) {
        uintptr_t begin = (uintptr_t)page->items;
        if (ticket >= begin && ticket < begin + sizeof page->items) {
            struct item *item = &page->items[(ticket - begin) / sizeof *item];
            ASSERT(item->done == NULL && page->waiting > 0);
            item->done = done;
            page->waiting--;
            page->bytes += done->as.port_done.bytes.count;
            go_on(pages, page);
            return true;
        }
    }
    return false;
}

void actor_step_pages_release(struct actor_step_pages *pages)
{
    while (pages->first != NULL) {
        struct actor_step_page *page = pages->first;
        pages->first = page->later;
        page_free(page);
    }
}
