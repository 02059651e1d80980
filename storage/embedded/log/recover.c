/*
 * recover.c: see recover.h.
 *
 * Walks frame by frame. Where no sound frame follows, either the log ends there, or what stood
 * there was hurt. The claims of the sound frames behind that place decide (frame.h): if one of them
 * says that this place was durable, it is damage to report and step over; if none does, everything
 * from here on was never acknowledged.
 */
#include "storage/embedded/log/recover.h"

#include "proto/base/assert.h"
#include "storage/embedded/log/frame.h"

/* What stands behind a place where the walk stopped. */
struct survey {
    uint64_t claim;   /* highest claim of a sound frame */
    uint64_t reached; /* behind the last sound frame */
    uint32_t epoch;   /* highest epoch of one */
};

static enum result walk(struct storage_window *window, uint64_t base, uint64_t *position,
                        struct storage_recovered *out, bool *closed);
static enum result survey_rest(struct storage_window *window, uint64_t base, uint64_t from,
                               struct survey *out);
static enum result next_of_chain(struct storage_window *window, uint64_t base, uint64_t *position,
                                 uint32_t epoch);
static enum result torn_reach(struct storage_window *window, uint64_t base, uint64_t position,
                              uint64_t *reached);

enum result storage_log_recover(struct storage_files *files, const struct storage_segment *segment,
                                struct storage_recovered *out)
{
    struct storage_window window;
    storage_window_init(&window, files);
    storage_window_point(&window, segment->handle, UINT64_MAX);
    *out = (struct storage_recovered){0};

    uint64_t position = segment->base;
    struct survey survey = {0};
    bool surveyed = false;
    bool closed = false;
    enum result result = walk(&window, segment->base, &position, out, &closed);
    while (result == RESULT_OK && !closed) {
        if (!surveyed) {
            result = survey_rest(&window, segment->base, position + STORAGE_FRAME_ALIGN, &survey);
            surveyed = true;
        }
        if (result != RESULT_OK || survey.claim <= position) {
            break;
        }
        out->corrupt_batches++;
        result = next_of_chain(&window, segment->base, &position, out->epoch);
        if (result == RESULT_OK) {
            result = walk(&window, segment->base, &position, out, &closed);
        }
    }
    uint64_t reached = position;
    if (result == RESULT_OK && !closed) {
        result = torn_reach(&window, segment->base, position, &reached);
        reached = survey.reached > reached ? survey.reached : reached;
    }
    out->end = position;
    out->epoch = survey.epoch > out->epoch ? survey.epoch : out->epoch;
    out->torn_bytes = reached - position;
    storage_window_release(&window);
    return result;
}

/* Moves *position behind the sound frames that follow one another from there on. */
static enum result walk(struct storage_window *window, uint64_t base, uint64_t *position,
                        struct storage_recovered *out, bool *closed)
{
    for (;;) {
        struct storage_frame frame;
        enum result result = storage_frame_read(window, base, *position, &frame);
        if (result == RESULT_NOT_FOUND || result == RESULT_CORRUPT ||
            (result == RESULT_OK && frame.epoch < out->epoch)) {
            return RESULT_OK;
        }
        if (result != RESULT_OK) {
            return result;
        }
        out->epoch = frame.epoch;
        if (frame.kind == STORAGE_FRAME_END) {
            *closed = true;
            return RESULT_OK;
        }
        *position += storage_frame_bytes(frame.body.count);
    }
}

static enum result survey_rest(struct storage_window *window, uint64_t base, uint64_t from,
                               struct survey *out)
{
    for (;;) {
        struct storage_frame frame;
        enum result result = storage_frame_find(window, base, from, &frame);
        if (result != RESULT_OK) {
            return result == RESULT_NOT_FOUND ? RESULT_OK : result;
        }
        from = frame.position + storage_frame_bytes(frame.body.count);
        out->reached = from;
        out->claim = frame.claim > out->claim ? frame.claim : out->claim;
        out->epoch = frame.epoch > out->epoch ? frame.epoch : out->epoch;
    }
}

/* The next sound frame that is not older than the chain. One is there: the survey has seen who made
 * the claim. */
static enum result next_of_chain(struct storage_window *window, uint64_t base, uint64_t *position,
                                 uint32_t epoch)
{
    uint64_t from = *position + STORAGE_FRAME_ALIGN;
    for (;;) {
        struct storage_frame frame;
        enum result result = storage_frame_find(window, base, from, &frame);
        if (result != RESULT_OK) {
            return result == RESULT_NOT_FOUND ? RESULT_CORRUPT : result;
        }
        if (frame.epoch >= epoch) {
            *position = frame.position;
            return RESULT_OK;
        }
        from = frame.position + storage_frame_bytes(frame.body.count);
    }
}

/* How far a frame was begun at the place where the log ends. One whose head is torn too cannot be
 * told from what a used file held before. */
static enum result torn_reach(struct storage_window *window, uint64_t base, uint64_t position,
                              uint64_t *reached)
{
    struct storage_frame frame;
    enum result result = storage_frame_read(window, base, position, &frame);
    if (result == RESULT_CORRUPT || result == RESULT_OK) {
        *reached = position + STORAGE_FRAME_ALIGN;
    }
    return result == RESULT_CORRUPT || result == RESULT_NOT_FOUND ? RESULT_OK : result;
}
