/* frame.c: see frame.h. */
#include "storage/embedded/log/frame.h"

#include <endian.h>
#include <string.h>

#include "proto/base/assert.h"
#include "proto/base/hash.h"

#define MAGIC_BATCH 0x314c4a53u /* "SJL1" */
#define MAGIC_END   0x454c4a53u /* "SJLE" */

struct head {
    uint32_t magic;
    uint32_t crc;
    uint64_t position;
    uint64_t claim;
    uint32_t body_bytes;
    uint32_t epoch;
};
_Static_assert(sizeof(struct head) == STORAGE_FRAME_HEAD_BYTES, "the head has no padding");
_Static_assert(__BYTE_ORDER == __LITTLE_ENDIAN, "the file is little-endian, and so are we");

#define CRC_SKIP offsetof(struct head, position)

static uint32_t crc_of(const struct head *head, struct span body);
static bool could_be(const struct head *head, uint64_t position);

void storage_frame_write_head(const struct storage_frame *frame,
                              uint8_t bytes[STORAGE_FRAME_HEAD_BYTES])
{
    ASSERT(frame->position % STORAGE_FRAME_ALIGN == 0);
    ASSERT(frame->claim <= frame->position);
    ASSERT(frame->body.count <= STORAGE_BATCH_BYTES_MAX);
    struct head head = {
        .magic = frame->kind == STORAGE_FRAME_END ? MAGIC_END : MAGIC_BATCH,
        .position = frame->position,
        .claim = frame->claim,
        .body_bytes = (uint32_t)frame->body.count,
        .epoch = frame->epoch,
    };
    head.crc = crc_of(&head, frame->body);
    memcpy(bytes, &head, sizeof head);
}

enum result storage_frame_read(struct storage_window *window, uint64_t base, uint64_t position,
                               struct storage_frame *out)
{
    struct span bytes;
    struct head head;
    enum result result = storage_window_get(window, position - base, sizeof head, &bytes);
    if (result != RESULT_OK) {
        return result;
    }
    if (bytes.count < sizeof head) {
        return RESULT_NOT_FOUND;
    }
    memcpy(&head, bytes.bytes, sizeof head);
    if (!could_be(&head, position)) {
        return RESULT_NOT_FOUND;
    }
    size_t wanted = sizeof head + head.body_bytes;
    if (head.body_bytes > STORAGE_BATCH_BYTES_MAX || wanted > window->limit - (position - base)) {
        return RESULT_CORRUPT;
    }
    result = storage_window_get(window, position - base, wanted, &bytes);
    if (result != RESULT_OK) {
        return result;
    }
    struct span body = span_of(bytes.bytes + sizeof head, bytes.count - sizeof head);
    if (body.count < head.body_bytes || crc_of(&head, body) != head.crc ||
        head.claim > head.position) {
        return RESULT_CORRUPT;
    }
    *out = (struct storage_frame){
        .kind = head.magic == MAGIC_END ? STORAGE_FRAME_END : STORAGE_FRAME_BATCH,
        .position = position,
        .claim = head.claim,
        .epoch = head.epoch,
        .body = body,
    };
    return RESULT_OK;
}

enum result storage_frame_find(struct storage_window *window, uint64_t base, uint64_t from,
                               struct storage_frame *out)
{
    ASSERT(from >= base && from % STORAGE_FRAME_ALIGN == 0);
    struct span bytes;
    for (uint64_t position = from;; position += bytes.count) {
        enum result result =
            storage_window_get(window, position - base, sizeof(struct head), &bytes);
        if (result != RESULT_OK || bytes.count < sizeof(struct head)) {
            return result != RESULT_OK ? result : RESULT_NOT_FOUND;
        }
        bytes = storage_window_rest(window, position - base);
        bytes.count -= bytes.count % STORAGE_FRAME_ALIGN;
        size_t at = 0;
        struct head head;
        for (; at < bytes.count; at += STORAGE_FRAME_ALIGN) {
            memcpy(&head, bytes.bytes + at, sizeof head);
            if (could_be(&head, position + at)) {
                break;
            }
        }
        if (at == bytes.count) {
            continue;
        }
        result = storage_frame_read(window, base, position + at, out);
        if (result != RESULT_CORRUPT) {
            return result;
        }
        bytes.count = at + STORAGE_FRAME_ALIGN;
    }
}

static uint32_t crc_of(const struct head *head, struct span body)
{
    const uint8_t *from = (const uint8_t *)head + CRC_SKIP;
    return base_crc32c(base_crc32c(0, span_of(from, sizeof *head - CRC_SKIP)), body);
}

static bool could_be(const struct head *head, uint64_t position)
{
    return head->position == position &&
           (head->magic == MAGIC_BATCH || (head->magic == MAGIC_END && head->body_bytes == 0));
}
