/*
 * http_blob.c: see http_blob.h. Each request of the port is a job of one or more transfers; a
 * listing is read page by page, and a removal deletes each page before it reads the next.
 */
#include "storage/http/http_blob.h"

#include <stdlib.h>
#include <string.h>

#include "proto/base/assert.h"
#include "proto/wire/writer.h"
#include "storage/answer.h"
#include "storage/http/transfers.h"

#define BLOB_MAGIC      0x424f4c48u
#define NAME_BYTES_MAX  480u
#define BATCH_ITEMS_MAX 200u
#define PAGE_NAMES      1000u
#define LIST_BLOCK      (16u << 10)
#define LIST_BYTES_MAX  (64u << 20)

struct http_blob {
    struct storage_blob blob; /* first: the port points here */
    uint32_t magic;
    struct storage_transfers transfers;
};

/* One request of the port. */
struct job {
    struct http_blob *self;
    struct proto_address reply_to;
    enum result result; /* the first failure */
    size_t left;        /* transfers that have not ended */
    /* list and remove */
    struct arena arena;
    struct wire_writer writer; /* list */
    size_t mark;
    uint32_t limit;
    uint32_t count;
    struct span marker; /* in the arena */
    size_t prefix_count;
    uint8_t prefix[NAME_BYTES_MAX];
    /* put */
    size_t result_count;
    uint8_t results[BATCH_ITEMS_MAX];
};

static const struct storage_blob_ops blob_ops;

static void on_put(struct storage_transfer_end end);
static void on_got(struct storage_transfer_end end);
static void on_page(struct storage_transfer_end end);
static void on_page_to_remove(struct storage_transfer_end end);
static void on_removed(struct storage_transfer_end end);
static void answer_job(struct job *job, struct span bytes);

enum result storage_http_blob_open(struct ev_loop *loop, const struct storage_http_options *options,
                                   struct storage_http_service *service, struct storage_blob **out)
{
    struct http_blob *self = calloc(1, sizeof *self);
    enum result result = self == NULL
                             ? RESULT_LIMIT
                             : storage_transfers_init(&self->transfers, loop, options, service);
    if (result != RESULT_OK) {
        service->close(service);
        free(self);
        return result;
    }
    self->blob.ops = &blob_ops;
    self->magic = BLOB_MAGIC;
    *out = &self->blob;
    return RESULT_OK;
}

static struct http_blob *blob_cast(struct storage_blob *blob)
{
    struct http_blob *self = (struct http_blob *)blob;
    ASSERT(self->magic == BLOB_MAGIC);
    return self;
}

static void blob_close(struct storage_blob *blob)
{
    struct http_blob *self = blob_cast(blob);
    storage_transfers_release(&self->transfers);
    self->magic = 0;
    free(self);
}

static bool name_is_valid(struct span name)
{
    return name.count > 0 && name.count <= NAME_BYTES_MAX;
}

static struct job *job_new(struct http_blob *self, struct proto_address reply_to)
{
    struct job *job = calloc(1, sizeof *job);
    if (job != NULL) {
        job->self = self;
        job->reply_to = reply_to;
        arena_init(&job->arena, LIST_BLOCK, LIST_BYTES_MAX);
    }
    return job;
}

static bool has_room(const struct http_blob *self, size_t more)
{
    const struct storage_http_options *options = &self->transfers.options;
    return self->transfers.count + more <= options->waiting_max + options->parallel_max;
}

/* With the job of a request that has no transfer left: answers it. */
static void answer_job(struct job *job, struct span bytes)
{
    ASSERT(job->left == 0);
    struct storage_answer answer = {.result = job->result,
                                    .results = span_of(job->results, job->result_count)};
    if (job->result == RESULT_OK) {
        answer.bytes = bytes;
    }
    (void)storage_answer(job->reply_to, answer);
    arena_release(&job->arena);
    free(job);
}

static void note_result(struct job *job, enum result result)
{
    if (job->result == RESULT_OK || job->result == RESULT_INVALID) {
        job->result = result == RESULT_OK ? job->result : result;
    }
}

static enum result add(struct job *job, const struct storage_http_call *call,
                       storage_transfer_fn done, size_t index)
{
    enum result result = storage_transfers_add(&job->self->transfers, call, done, job, index);
    job->left += result == RESULT_OK;
    return result;
}

static enum result blob_put(struct storage_blob *blob, const struct storage_blob_item *items,
                            size_t count, struct proto_address reply_to)
{
    struct http_blob *self = blob_cast(blob);
    ASSERT(count <= BATCH_ITEMS_MAX);
    if (reply_to.sink == NULL || !has_room(self, count)) {
        return reply_to.sink == NULL ? RESULT_INVALID : RESULT_AGAIN;
    }
    struct job *job = job_new(self, reply_to);
    if (job == NULL) {
        return RESULT_LIMIT;
    }
    job->result_count = count;
    for (size_t i = 0; i < count; i++) {
        const struct storage_http_call call = {.verb = STORAGE_HTTP_PUT,
                                               .name = items[i].name,
                                               .body = items[i].bytes,
                                               .rewritten = items[i].rewritten,
                                               .awaited = items[i].awaited};
        enum result result =
            name_is_valid(items[i].name) ? add(job, &call, on_put, i) : RESULT_INVALID;
        job->results[i] = (uint8_t)result;
        note_result(job, result);
    }
    if (job->left == 0) {
        answer_job(job, SPAN_EMPTY);
    }
    storage_transfers_start(&self->transfers);
    return RESULT_OK;
}

static void on_put(struct storage_transfer_end end)
{
    struct job *job = end.owner;
    /* (A put that is told "not found" has lost its container again and again.) */
    enum result result = end.result == RESULT_NOT_FOUND ? RESULT_IO : end.result;
    job->results[end.index] = (uint8_t)result;
    note_result(job, result);
    job->left--;
    if (job->left == 0) {
        answer_job(job, SPAN_EMPTY);
    }
}

static enum result blob_get(struct storage_blob *blob, struct span name,
                            struct proto_address reply_to)
{
    struct http_blob *self = blob_cast(blob);
    if (!name_is_valid(name)) {
        return storage_answer(reply_to, (struct storage_answer){.result = RESULT_NOT_FOUND});
    }
    const struct storage_http_call call = {.verb = STORAGE_HTTP_GET, .name = name, .awaited = true};
    struct job *job = has_room(self, 1) ? job_new(self, reply_to) : NULL;
    if (job == NULL || add(job, &call, on_got, 0) != RESULT_OK) {
        free(job);
        return has_room(self, 1) ? RESULT_LIMIT : RESULT_AGAIN;
    }
    storage_transfers_start(&self->transfers);
    return RESULT_OK;
}

static void on_got(struct storage_transfer_end end)
{
    struct job *job = end.owner;
    job->result = end.result;
    job->left--;
    answer_job(job, end.reply);
}

/* ---- pages ---- */

/* `limit` names from the job's marker on. */
static enum result ask_page(struct job *job, uint32_t limit, storage_transfer_fn done)
{
    const struct storage_http_call call = {
        .verb = STORAGE_HTTP_LIST,
        .name = span_of(job->prefix, job->prefix_count),
        .marker = job->marker,
        .limit = limit < PAGE_NAMES ? limit : PAGE_NAMES,
    };
    return add(job, &call, done, 0);
}

static enum result page_job(struct http_blob *self, struct span prefix, uint32_t limit,
                            storage_transfer_fn done, struct proto_address reply_to)
{
    struct job *job = has_room(self, 1) ? job_new(self, reply_to) : NULL;
    if (job == NULL) {
        return has_room(self, 1) ? RESULT_LIMIT : RESULT_AGAIN;
    }
    job->prefix_count = prefix.count;
    if (prefix.count > 0) {
        memcpy(job->prefix, prefix.bytes, prefix.count);
    }
    job->limit = limit;
    wire_writer_init(&job->writer, &job->arena, LIST_BLOCK / 4);
    job->mark = wire_open_array(&job->writer);
    if (ask_page(job, limit, done) != RESULT_OK) {
        arena_release(&job->arena);
        free(job);
        return RESULT_LIMIT;
    }
    storage_transfers_start(&self->transfers);
    return RESULT_OK;
}

static enum result blob_list(struct storage_blob *blob, struct span prefix, uint32_t limit,
                             struct proto_address reply_to)
{
    static const uint8_t none = 0x90; /* MessagePack: an empty array */
    if (limit == 0 || prefix.count > NAME_BYTES_MAX) {
        return storage_answer(reply_to, (struct storage_answer){.bytes = span_of(&none, 1)});
    }
    return page_job(blob_cast(blob), prefix, limit, on_page, reply_to);
}

static bool is_ours(const struct job *job, struct span name)
{
    return name.count >= job->prefix_count &&
           memcmp(name.bytes, job->prefix, job->prefix_count) == 0;
}

static void list_name(void *owner, struct span name)
{
    struct job *job = owner;
    if (is_ours(job, name) && job->count < job->limit) {
        wire_write_string(&job->writer, name);
        job->count++;
    }
}

/* Reads a page; a container that does not exist is an empty one. False: the page was no listing. */
static bool read_page(struct job *job, struct storage_transfer_end end,
                      void (*each)(void *owner, struct span name))
{
    struct span marker = SPAN_EMPTY;
    enum result result = end.result;
    if (result == RESULT_OK) {
        result = storage_listing_read(end.reply, &job->self->transfers.service->words, &job->arena,
                                      each, job, &marker);
        result = result == RESULT_INVALID ? RESULT_IO : result;
    }
    job->marker = marker;
    job->left--;
    note_result(job, result == RESULT_NOT_FOUND ? RESULT_OK : result);
    return job->result == RESULT_OK;
}

static void on_page(struct storage_transfer_end end)
{
    struct job *job = end.owner;
    if (read_page(job, end, list_name) && job->marker.count > 0 && job->count < job->limit) {
        note_result(job, ask_page(job, job->limit - job->count, on_page));
    }
    if (job->left > 0) {
        return;
    }
    wire_close_array(&job->writer, job->mark, job->count);
    if (job->arena.overflowed) {
        note_result(job, RESULT_LIMIT);
    }
    answer_job(job, wire_writer_span(&job->writer));
}

static enum result blob_remove(struct storage_blob *blob, struct span prefix,
                               struct proto_address reply_to)
{
    if (!name_is_valid(prefix) || prefix.bytes[prefix.count - 1] != '/') {
        return storage_answer(reply_to, (struct storage_answer){.result = RESULT_INVALID});
    }
    return page_job(blob_cast(blob), prefix, PAGE_NAMES, on_page_to_remove, reply_to);
}

static void remove_name(void *owner, struct span name)
{
    struct job *job = owner;
    const struct storage_http_call call = {.verb = STORAGE_HTTP_DELETE, .name = name};
    if (is_ours(job, name) && name_is_valid(name)) {
        note_result(job, add(job, &call, on_removed, 0));
    }
}

/* All of this page are gone: the next one. */
static void remove_on(struct job *job)
{
    if (job->left == 0 && job->result == RESULT_OK && job->marker.count > 0) {
        note_result(job, ask_page(job, PAGE_NAMES, on_page_to_remove));
    }
    if (job->left == 0) {
        answer_job(job, SPAN_EMPTY);
    }
}

static void on_page_to_remove(struct storage_transfer_end end)
{
    struct job *job = end.owner;
    (void)read_page(job, end, remove_name);
    remove_on(job);
}

static void on_removed(struct storage_transfer_end end)
{
    struct job *job = end.owner;
    note_result(job, end.result == RESULT_NOT_FOUND ? RESULT_OK : end.result);
    job->left--;
    remove_on(job);
}

static enum result blob_flush(struct storage_blob *blob, struct proto_address reply_to)
{
    (void)blob_cast(blob);
    return storage_answer(reply_to, (struct storage_answer){.result = RESULT_OK});
}

static const struct storage_blob_ops blob_ops = {
    .put = blob_put,
    .get = blob_get,
    .list = blob_list,
    .remove = blob_remove,
    .flush = blob_flush,
    .close = blob_close,
};
