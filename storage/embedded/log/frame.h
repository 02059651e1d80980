/*
 * frame.h: how one batch stands in a file of the log. Little-endian, each frame at a multiple of
 * 32 bytes:
 *
 *   u32 magic      batch or end mark
 *   u32 crc        CRC32C of the rest of the head and the body
 *   u64 position   where this frame begins in the log: a stale frame in a re-used file names
 * another u64 claim      all before this position was durable when the frame was written; so a hurt
 * frame before the claim of a later sound one was acknowledged, and one that no sound frame claims
 * is a torn tail u32 body bytes u32 epoch      grows whenever the log takes up an abandoned tail: a
 * frame that survived behind such a tail is older than the one before it, and so does not count
 *   body, zeros up to the next multiple of 32
 *
 * An end mark (no body) is written by an orderly close, so that the next start need not look for
 * sound frames behind it; the next batch overwrites it.
 */
#ifndef STORAGE_EMBEDDED_LOG_FRAME_H
#define STORAGE_EMBEDDED_LOG_FRAME_H

#include "storage/embedded/log/window.h"

#define STORAGE_FRAME_HEAD_BYTES 32u
#define STORAGE_FRAME_ALIGN      32u
#define STORAGE_BATCH_BYTES_MAX  (1u << 30)

enum storage_frame_kind { STORAGE_FRAME_BATCH, STORAGE_FRAME_END };

struct storage_frame {
    enum storage_frame_kind kind;
    uint64_t position;
    uint64_t claim;
    uint32_t epoch;
    struct span body; /* from read: lives until the window's next call */
};

/* Bytes that a batch takes in the file. */
static inline uint64_t storage_frame_bytes(size_t body_bytes)
{
    return (STORAGE_FRAME_HEAD_BYTES + (uint64_t)body_bytes + STORAGE_FRAME_ALIGN - 1) &
           ~(uint64_t)(STORAGE_FRAME_ALIGN - 1);
}

/* The head of a frame around frame->body. */
void storage_frame_write_head(const struct storage_frame *frame,
                              uint8_t head[STORAGE_FRAME_HEAD_BYTES]);

/*
 * Reads the frame at `position` of a file that begins at position `base`.
 * Errors: RESULT_NOT_FOUND no frame of that position begins there; RESULT_CORRUPT one does, but it
 * is not sound; RESULT_IO, RESULT_LIMIT.
 */
MUST_USE enum result storage_frame_read(struct storage_window *window, uint64_t base,
                                        uint64_t position, struct storage_frame *out);
/* The first sound frame at or behind `from`. RESULT_NOT_FOUND, RESULT_IO, RESULT_LIMIT. */
MUST_USE enum result storage_frame_find(struct storage_window *window, uint64_t base, uint64_t from,
                                        struct storage_frame *out);

#endif
