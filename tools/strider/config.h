/*
 * config.h: the configuration of `strider serve`: defaults, then the file, then the environment,
 * then options; the last to speak wins, and --print-config says who that was. config_keys.def is
 * the one table of keys.
 */
#ifndef TOOLS_STRIDER_CONFIG_H
#define TOOLS_STRIDER_CONFIG_H

#include <stdio.h>

#include "proto/base/arena.h"
#include "proto/base/result.h"
#include "proto/base/span.h"

enum config_key {
#define CONFIG_KEY(symbol, section, key, type, fallback, least, most, help) CONFIG_##symbol,
#include "tools/strider/config_keys.def"
#undef CONFIG_KEY
    CONFIG_KEY_COUNT
};

struct config_value {
    const char *const *items; /* as written; one, or those of a list */
    size_t count;
    uint64_t number;    /* NUMBER, BYTES, DURATION; BOOL: 0 or 1; CHOICE: which, from 0 */
    const char *source; /* "default", "FILE:LINE", "environment STRIDER_…", "option --…" */
};

struct config {
    struct arena arena;
    struct config_value values[CONFIG_KEY_COUNT];
    char problem[512]; /* after a refusal: one sentence, source first */
};

/* Defaults. Pair: config_release. */
void config_init(struct config *config);
void config_release(struct config *config);

/*
 * Each layer refuses unknown keys (with the nearest known one), values of the wrong type and values
 * out of range: RESULT_INVALID, `problem` set. config_read_text's `file` is its name for messages.
 */
MUST_USE enum result config_read_file(struct config *config, const char *path);
MUST_USE enum result config_read_text(struct config *config, const char *file, struct span text);
/* Entries "STRIDER_SECTION_KEY=value" of an environment block; other names that begin with STRIDER_
 * are left alone. */
MUST_USE enum result config_read_environment(struct config *config, char *const *environment);
/* "front.listen" and its value, a list's items separated by commas. */
MUST_USE enum result config_set(struct config *config, const char *name, const char *value,
                                const char *source);
/* A list given item by item (options that repeat). */
MUST_USE enum result config_set_list(struct config *config, enum config_key key,
                                     const char *const *items, size_t count, const char *source);

const char *config_text(const struct config *config, enum config_key key);
static inline uint64_t config_number(const struct config *config, enum config_key key)
{
    return config->values[key].number;
}

/* The effective configuration as a config file that reads back as itself, the source of each value
 * beside it. */
void config_print(const struct config *config, FILE *out);
/* All keys with default, twin and meaning, for --help. */
void config_print_keys(FILE *out);

#endif
