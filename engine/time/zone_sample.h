/*
 * zone_sample.h: for this folder's tests, which include criterion/criterion.h before it: zones made
 * in memory, without files.
 */
#ifndef ENGINE_TIME_ZONE_SAMPLE_H
#define ENGINE_TIME_ZONE_SAMPLE_H

#include "engine/time/iso8601.h"
#include "engine/time/zone.h"

/* As the zone database of 2025 has them. */
#define ZONE_LONDON    "GMT0BST,M3.5.0/1,M10.5.0"
#define ZONE_NEW_YORK  "EST5EDT,M3.2.0,M11.1.0"
#define ZONE_LORD_HOWE "<+1030>-10:30<+11>-11,M10.1.0,M4.1.0"

struct zone_bytes {
    uint8_t bytes[1024];
    size_t count;
};

static inline void zone_put(struct zone_bytes *file, const void *bytes, size_t count)
{
    cr_assert_leq(file->count + count, sizeof file->bytes);
    memcpy(file->bytes + file->count, bytes, count);
    file->count += count;
}

static inline void zone_put_number(struct zone_bytes *file, int64_t number, unsigned width)
{
    for (unsigned i = 0; i < width; i++) {
        uint8_t byte = (uint8_t)((uint64_t)number >> 8 * (width - 1 - i));
        zone_put(file, &byte, 1);
    }
}

/* A header and the block of it: changes[i] begins an offset; the offset before them is first_s. */
static inline void zone_put_block(struct zone_bytes *file, char version, unsigned width,
                                  int32_t first_s, const struct engine_zone_change *changes,
                                  uint32_t count)
{
    const uint8_t zeros[16] = {0};
    zone_put(file, "TZif", 4);
    zone_put(file, &version, 1);
    zone_put(file, zeros, 15);
    const uint32_t counts[6] = {0, 0, 0, count, count + 1, 4};
    for (unsigned i = 0; i < 6; i++) {
        zone_put_number(file, counts[i], 4);
    }
    for (uint32_t i = 0; i < count; i++) {
        zone_put_number(file, changes[i].at_s, width);
    }
    for (uint32_t i = 0; i < count; i++) {
        zone_put_number(file, i + 1, 1);
    }
    for (uint32_t i = 0; i <= count; i++) {
        zone_put_number(file, i == 0 ? first_s : changes[i - 1].offset_s, 4);
        zone_put(file, zeros, 2);
    }
    zone_put(file, "LMT", 4);
}

static inline struct zone_bytes zone_file(int32_t first_s, const struct engine_zone_change *changes,
                                          uint32_t count, const char *footer)
{
    struct zone_bytes file = {.count = 0};
    zone_put_block(&file, '2', 4, 0, NULL, 0);
    zone_put_block(&file, '2', 8, first_s, changes, count);
    zone_put(&file, "\n", 1);
    zone_put(&file, footer, strlen(footer));
    zone_put(&file, "\n", 1);
    return file;
}

/* A zone that has always had this rule. */
static inline struct engine_zone zone_sample(const char *footer)
{
    struct zone_bytes file = zone_file(0, NULL, 0, footer);
    struct arena arena;
    struct engine_zone zone;
    const char *reason;
    arena_init(&arena, 256, 4096);
    enum result result = engine_zone_parse(span_of(file.bytes, file.count), &arena, &zone, &reason);
    cr_assert_eq(result, RESULT_OK, "%s: %s", footer, reason);
    arena_release(&arena); /* there are no changes in it */
    return zone;
}

static inline int64_t zone_instant(const char *text)
{
    int64_t unix_ms;
    const char *reason;
    cr_assert_eq(engine_instant_parse(span_text(text), &unix_ms, &reason), RESULT_OK, "%s: %s",
                 text, reason);
    return unix_ms;
}

#endif
