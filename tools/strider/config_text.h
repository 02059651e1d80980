/*
 * config_text.h: the notation of the config file: UCL's everyday part, of which JSON is a subset.
 * Pure.
 *
 *   front {                                  # a section
 *       listen = ["tcp://127.0.0.1:7700"]    # "=" or ":"; a value without white space or ,;={}[]
 * needs no quotes maxRequestBytes = 1mb;
 *   }
 *   shutdownTimeout: 30s
 *
 * Comments: # and // to the end of the line, and slash-star. The whole may stand in braces.
 * (Debian 12 packages no UCL library; the subset is small, and reading it here gives each value its
 * line.)
 */
#ifndef TOOLS_STRIDER_CONFIG_TEXT_H
#define TOOLS_STRIDER_CONFIG_TEXT_H

#include "proto/base/arena.h"
#include "proto/base/result.h"
#include "proto/base/span.h"

/* One key with its value; a key that is given again is found again. All text lives in the arena,
 * NUL behind it. */
struct config_entry {
    const char *section; /* "" for a key outside of every section */
    const char *key;
    const char *const *values; /* one, or the items of a list */
    size_t value_count;
    bool list;
    unsigned line; /* of the key, from 1 */
};

struct config_text {
    struct config_entry *entries;
    size_t count;
};

#define CONFIG_ENTRIES_MAX 256u
#define CONFIG_LIST_MAX    256u

/* RESULT_INVALID: *line and *problem (in the arena) say where and why. RESULT_LIMIT: too many
 * entries, or no memory. */
MUST_USE enum result config_text_read(struct span text, struct arena *arena,
                                      struct config_text *out, unsigned *line,
                                      const char **problem);

#endif
