/*
 * memory_hot.c: the hot tier in its owner's memory: one hash table of sessions and bindings, a list
 * of those that may go (least recently touched last), and the pinned ones outside of that list.
 */
#include <stdlib.h>
#include <string.h>

#include "proto/base/assert.h"
#include "proto/base/hash.h"
#include "storage/answer.h"
#include "storage/embedded/embedded.h"

#define HOT_MAGIC     0x31544f48u
#define BUCKETS_FIRST 1024u

enum hot_kind { HOT_SESSION, HOT_BINDING };

/* One allocation: the struct, the key's bytes, the value's bytes. */
struct hot_entry {
    struct hot_entry *chain; /* same bucket */
    struct hot_entry *newer; /* in the list; both NULL when pinned */
    struct hot_entry *older;
    uint64_t touched_ms;
    uint32_t hash;
    uint32_t value_count;
    uint16_t key_count;
    uint8_t kind;
    bool pinned;
    uint8_t bytes[];
};

struct memory_hot {
    struct storage_hot hot; /* first: the port points here */
    uint32_t magic;
    size_t bytes_max;
    size_t bytes; /* of all entries, structs included */
    uint64_t ttl_ms;
    struct hot_entry **buckets; /* a power of two of them */
    size_t bucket_count;
    size_t entry_count;
    struct hot_entry *newest;
    struct hot_entry *oldest;
};

static const struct storage_hot_ops hot_ops;

static struct hot_entry *find(struct memory_hot *self, enum hot_kind kind, struct span key);
static struct hot_entry *find_live(struct memory_hot *self, enum hot_kind kind, struct span key,
                                   uint64_t now_ms);
static enum result store(struct memory_hot *self, enum hot_kind kind, struct span key,
                         struct span value, uint64_t now_ms);
static enum result make_room(struct memory_hot *self, size_t bytes, uint64_t now_ms);
static void drop(struct memory_hot *self, struct hot_entry *entry);
static void list_add(struct memory_hot *self, struct hot_entry *entry);
static void list_remove(struct memory_hot *self, struct hot_entry *entry);
static void widen_table(struct memory_hot *self);

enum result storage_memory_hot_new(size_t bytes_max, uint64_t ttl_ms, struct storage_hot **out)
{
    struct memory_hot *self = calloc(1, sizeof *self);
    struct hot_entry **buckets = calloc(BUCKETS_FIRST, sizeof(struct hot_entry *));
    if (self == NULL || buckets == NULL) {
        free(buckets);
        free(self);
        return RESULT_LIMIT;
    }
    *self = (struct memory_hot){
        .hot = {.ops = &hot_ops},
        .magic = HOT_MAGIC,
        .bytes_max = bytes_max,
        .ttl_ms = ttl_ms,
        .buckets = buckets,
        .bucket_count = BUCKETS_FIRST,
    };
    *out = &self->hot;
    return RESULT_OK;
}

static struct memory_hot *hot_cast(struct storage_hot *hot)
{
    struct memory_hot *self = (struct memory_hot *)hot;
    ASSERT(self->magic == HOT_MAGIC);
    return self;
}

static struct span key_of(const struct hot_entry *entry)
{
    return span_of(entry->bytes, entry->key_count);
}

static struct span value_of(const struct hot_entry *entry)
{
    return span_of(entry->bytes + entry->key_count, entry->value_count);
}

static size_t size_of(const struct hot_entry *entry)
{
    return sizeof *entry + entry->key_count + entry->value_count;
}

void storage_memory_hot_pin(struct storage_hot *hot, struct span execution_id, bool pinned)
{
    struct memory_hot *self = hot_cast(hot);
    struct hot_entry *entry = find(self, HOT_SESSION, execution_id);
    if (entry == NULL || entry->pinned == pinned) {
        return;
    }
    if (pinned) {
        list_remove(self, entry);
    }
    entry->pinned = pinned;
    if (!pinned) {
        list_add(self, entry);
    }
}

struct span storage_memory_hot_peek(struct storage_hot *hot, struct span execution_id,
                                    uint64_t now_ms)
{
    struct hot_entry *entry = find_live(hot_cast(hot), HOT_SESSION, execution_id, now_ms);
    return entry == NULL ? SPAN_EMPTY : value_of(entry);
}

static enum result hot_put(struct storage_hot *hot, struct span execution_id, struct span bytes,
                           uint64_t now_ms, struct proto_address reply_to)
{
    struct storage_answer answer = {
        .result = store(hot_cast(hot), HOT_SESSION, execution_id, bytes, now_ms),
    };
    return storage_answer(reply_to, answer);
}

static enum result answer_entry(const struct hot_entry *entry, struct proto_address reply_to)
{
    struct storage_answer answer = {.result = RESULT_NOT_FOUND};
    if (entry != NULL) {
        answer = (struct storage_answer){.result = RESULT_OK, .bytes = value_of(entry)};
    }
    return storage_answer(reply_to, answer);
}

static enum result hot_get(struct storage_hot *hot, struct span execution_id, uint64_t now_ms,
                           struct proto_address reply_to)
{
    return answer_entry(find_live(hot_cast(hot), HOT_SESSION, execution_id, now_ms), reply_to);
}

static enum result hot_remove(struct storage_hot *hot, struct span execution_id,
                              struct proto_address reply_to)
{
    struct memory_hot *self = hot_cast(hot);
    struct hot_entry *entry = find(self, HOT_SESSION, execution_id);
    if (entry != NULL) {
        drop(self, entry);
    }
    return storage_answer(reply_to, (struct storage_answer){.result = RESULT_OK});
}

static enum result hot_bind(struct storage_hot *hot, struct span channel_session_id,
                            struct span execution_id, uint64_t now_ms,
                            struct proto_address reply_to)
{
    struct storage_answer answer = {
        .result = store(hot_cast(hot), HOT_BINDING, channel_session_id, execution_id, now_ms),
    };
    return storage_answer(reply_to, answer);
}

static enum result hot_resolve(struct storage_hot *hot, struct span channel_session_id,
                               uint64_t now_ms, struct proto_address reply_to)
{
    return answer_entry(find_live(hot_cast(hot), HOT_BINDING, channel_session_id, now_ms),
                        reply_to);
}

static enum result hot_unbind(struct storage_hot *hot, struct span channel_session_id,
                              struct span execution_id, struct proto_address reply_to)
{
    struct memory_hot *self = hot_cast(hot);
    struct hot_entry *entry = find(self, HOT_BINDING, channel_session_id);
    if (entry != NULL && span_equal(value_of(entry), execution_id)) {
        drop(self, entry);
    }
    return storage_answer(reply_to, (struct storage_answer){.result = RESULT_OK});
}

static void hot_close(struct storage_hot *hot)
{
    struct memory_hot *self = hot_cast(hot);
    for (size_t i = 0; i < self->bucket_count; i++) {
        while (self->buckets[i] != NULL) {
            drop(self, self->buckets[i]);
        }
    }
    ASSERT(self->entry_count == 0 && self->bytes == 0);
    free(self->buckets);
    self->magic = 0;
    free(self);
}

static uint32_t hash_of(enum hot_kind kind, struct span key)
{
    return (uint32_t)base_hash(key, (uint64_t)kind + 1);
}

static struct hot_entry **bucket_of(struct memory_hot *self, uint32_t hash)
{
    return &self->buckets[hash & (self->bucket_count - 1)];
}

static struct hot_entry *find(struct memory_hot *self, enum hot_kind kind, struct span key)
{
    uint32_t hash = hash_of(kind, key);
    struct hot_entry *entry = *bucket_of(self, hash);
    while (entry != NULL &&
           (entry->hash != hash || entry->kind != kind || !span_equal(key_of(entry), key))) {
        entry = entry->chain;
    }
    return entry;
}

static bool expired(const struct memory_hot *self, const struct hot_entry *entry, uint64_t now_ms)
{
    return self->ttl_ms > 0 && !entry->pinned && now_ms >= entry->touched_ms + self->ttl_ms;
}

static struct hot_entry *find_live(struct memory_hot *self, enum hot_kind kind, struct span key,
                                   uint64_t now_ms)
{
    struct hot_entry *entry = find(self, kind, key);
    if (entry == NULL) {
        return NULL;
    }
    if (expired(self, entry, now_ms)) {
        drop(self, entry);
        return NULL;
    }
    entry->touched_ms = now_ms;
    if (!entry->pinned) {
        list_remove(self, entry);
        list_add(self, entry);
    }
    return entry;
}

static enum result store(struct memory_hot *self, enum hot_kind kind, struct span key,
                         struct span value, uint64_t now_ms)
{
    if (key.count == 0 || key.count > UINT16_MAX || value.count > UINT32_MAX) {
        return RESULT_INVALID;
    }
    struct hot_entry *before = find(self, kind, key);
    bool pinned = before != NULL && before->pinned;
    if (before != NULL && before->value_count == value.count) {
        memcpy(before->bytes + before->key_count, value.bytes, value.count);
        before->touched_ms = now_ms;
        if (!pinned) {
            list_remove(self, before);
            list_add(self, before);
        }
        return RESULT_OK;
    }
    struct hot_entry *entry = malloc(sizeof *entry + key.count + value.count);
    if (entry == NULL) {
        return RESULT_LIMIT;
    }
    *entry = (struct hot_entry){
        .touched_ms = now_ms,
        .hash = hash_of(kind, key),
        .value_count = (uint32_t)value.count,
        .key_count = (uint16_t)key.count,
        .kind = (uint8_t)kind,
        .pinned = pinned,
    };
    memcpy(entry->bytes, key.bytes, key.count);
    if (value.count > 0) {
        memcpy(entry->bytes + key.count, value.bytes, value.count);
    }
    if (before != NULL) {
        drop(self, before); /* its old bytes would be wrong now, whether the new ones fit or not */
    }
    enum result result = make_room(self, size_of(entry), now_ms);
    if (result != RESULT_OK) {
        free(entry);
        return result;
    }
    widen_table(self);
    struct hot_entry **bucket = bucket_of(self, entry->hash);
    entry->chain = *bucket;
    *bucket = entry;
    self->entry_count++;
    self->bytes += size_of(entry);
    if (!pinned) {
        list_add(self, entry);
    }
    return RESULT_OK;
}

static enum result make_room(struct memory_hot *self, size_t bytes, uint64_t now_ms)
{
    while (self->oldest != NULL &&
           (expired(self, self->oldest, now_ms) || self->bytes + bytes > self->bytes_max)) {
        drop(self, self->oldest);
    }
    return self->bytes + bytes > self->bytes_max ? RESULT_FULL : RESULT_OK;
}

static void drop(struct memory_hot *self, struct hot_entry *entry)
{
    struct hot_entry **link = bucket_of(self, entry->hash);
    while (*link != entry) {
        link = &(*link)->chain;
    }
    *link = entry->chain;
    if (!entry->pinned) {
        list_remove(self, entry);
    }
    ASSERT(self->bytes >= size_of(entry));
    self->bytes -= size_of(entry);
    self->entry_count--;
    free(entry);
}

static void list_add(struct memory_hot *self, struct hot_entry *entry)
{
    entry->newer = NULL;
    entry->older = self->newest;
    if (self->newest != NULL) {
        self->newest->newer = entry;
    } else {
        self->oldest = entry;
    }
    self->newest = entry;
}

static void list_remove(struct memory_hot *self, struct hot_entry *entry)
{
    *(entry->newer != NULL ? &entry->newer->older : &self->newest) = entry->older;
    *(entry->older != NULL ? &entry->older->newer : &self->oldest) = entry->newer;
    entry->newer = NULL;
    entry->older = NULL;
}

/* Twice the buckets when there are more entries than buckets; without memory the chains just grow.
 */
static void widen_table(struct memory_hot *self)
{
    if (self->entry_count < self->bucket_count) {
        return;
    }
    struct hot_entry **before = self->buckets;
    size_t count = self->bucket_count;
    struct hot_entry **buckets = calloc(count * 2, sizeof(struct hot_entry *));
    if (buckets == NULL) {
        return;
    }
    self->buckets = buckets;
    self->bucket_count = count * 2;
    for (size_t i = 0; i < count; i++) {
        struct hot_entry *entry = before[i];
        while (entry != NULL) {
            struct hot_entry *next = entry->chain;
            struct hot_entry **bucket = bucket_of(self, entry->hash);
            entry->chain = *bucket;
            *bucket = entry;
            entry = next;
        }
    }
    free(before);
}

static const struct storage_hot_ops hot_ops = {
    .put = hot_put,
    .get = hot_get,
    .remove = hot_remove,
    .bind = hot_bind,
    .resolve = hot_resolve,
    .unbind = hot_unbind,
    .close = hot_close,
};
