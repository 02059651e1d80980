/*
 * input.c: see input.h.
 */
#include "tools/strider/input.h"

#include <errno.h>
#include <string.h>

#include "proto/base/limits.h"
#include "proto/wire/json.h"
#include "proto/wire/writer.h"
#include "tools/strider/verb.h"

#define READ_CHUNK_BYTES 65536u

static enum result translate_errno(int error)
{
    switch (error) {
    case ENOENT:
    case ENOTDIR:
        return RESULT_NOT_FOUND;
    case EACCES:
    case EPERM:
        return RESULT_DENIED;
    default:
        return RESULT_IO;
    }
}

/* The stream's rest into one growing allocation. */
static enum result read_stream(FILE *stream, size_t bytes_max, struct arena *arena,
                               struct span *out)
{
    size_t capacity = READ_CHUNK_BYTES;
    size_t count = 0;
    uint8_t *bytes = arena_alloc(arena, capacity);
    while (bytes != NULL) {
        count += fread(bytes + count, 1, capacity - count - 1, stream);
        if (count > bytes_max) {
            return RESULT_LIMIT;
        }
        if (count + 1 < capacity) {
            bytes[count] = '\0';
            *out = span_of(bytes, count);
            return ferror(stream) ? translate_errno(errno) : RESULT_OK;
        }
        bytes = arena_grow(arena, bytes, capacity, capacity * 2);
        capacity *= 2;
    }
    return RESULT_LIMIT;
}

enum result cli_read_file(const char *path, size_t bytes_max, struct arena *arena, struct span *out,
                          char problem[512])
{
    bool standard = strcmp(path, "-") == 0;
    errno = 0;
    FILE *stream = standard ? stdin : fopen(path, "rb");
    if (stream == NULL) {
        enum result result = translate_errno(errno);
        snprintf(problem, 512, "%s: %s", path, strerror(errno));
        return result;
    }
    enum result result = read_stream(stream, bytes_max, arena, out);
    if (result == RESULT_LIMIT) {
        snprintf(problem, 512, "%s: larger than %zu bytes", path, bytes_max);
    } else if (result != RESULT_OK) {
        snprintf(problem, 512, "%s: %s", path, strerror(errno));
    }
    if (!standard) {
        fclose(stream);
    }
    return result;
}

int cli_read_json(const char *verb, const char *what, const char *text, struct arena *arena,
                  struct span *value)
{
    struct span json = span_text(text);
    const char *file = text[0] == '@' ? text + 1 : NULL;
    char problem[512];
    if (file != NULL &&
        cli_read_file(file, LIMIT_FRAME_BYTES, arena, &json, problem) != RESULT_OK) {
        return cli_complain(verb, CLI_USAGE, "%s: %s", what, problem);
    }
    struct json_error error = {0};
    if (json_to_wire(json, LIMIT_DEPTH, arena, value, &error) == RESULT_OK) {
        return CLI_DONE;
    }
    if (file != NULL) {
        return cli_complain(verb, CLI_USAGE, "%s: %s:%u:%u: %s", what, file, error.line,
                            error.column, error.reason);
    }
    return cli_complain(verb, CLI_USAGE, "%s is not JSON (character %zu: %s)", what,
                        error.offset + 1, error.reason);
}

int cli_read_pair(const char *verb, const char *what, const char *text, struct arena *arena,
                  struct span *name, struct span *value)
{
    const char *equals = strchr(text, '=');
    if (equals == NULL || equals == text) {
        return cli_complain(verb, CLI_USAGE, "%s wants NAME=VALUE, not \"%s\"", what, text);
    }
    *name = span_of(text, (size_t)(equals - text));
    struct span written = span_text(equals + 1);
    struct json_error error;
    if (json_to_wire(written, LIMIT_DEPTH, arena, value, &error) == RESULT_OK) {
        return CLI_DONE;
    }
    struct wire_writer writer;
    wire_writer_init(&writer, arena, written.count + 8);
    wire_write_string(&writer, written);
    *value = wire_writer_span(&writer);
    return CLI_DONE;
}

struct unit {
    const char *name;
    uint64_t scale;
};

static const struct unit duration_units[] = {
    {"", 1000},   {"ms", 1},      {"s", 1000},     {"min", 60000},
    {"m", 60000}, {"h", 3600000}, {"d", 86400000}, {"w", 7ull * 86400000},
    {NULL, 0},
};

static const struct unit byte_units[] = {
    {"", 1},           {"b", 1},           {"k", 1u << 10}, {"kb", 1u << 10},
    {"m", 1u << 20},   {"mb", 1u << 20},   {"g", 1u << 30}, {"gb", 1u << 30},
    {"t", 1ull << 40}, {"tb", 1ull << 40}, {NULL, 0},
};

static bool unit_is(struct span written, const char *name)
{
    struct span unit = span_text(name);
    if (written.count != unit.count) {
        return false;
    }
    for (size_t i = 0; i < unit.count; i++) {
        if ((written.bytes[i] | 0x20) != unit.bytes[i]) {
            return false;
        }
    }
    return true;
}

/* Digits, perhaps a fraction, perhaps a unit; in thousandths first, so that "1.5h" stays exact. */
static enum result parse_quantity(struct span text, const struct unit *units, uint64_t *out)
{
    text = span_trim(text);
    uint64_t whole = 0;
    uint64_t thousandths = 0;
    size_t at = 0;
    for (; at < text.count && text.bytes[at] >= '0' && text.bytes[at] <= '9'; at++) {
        if (__builtin_mul_overflow(whole, 10, &whole) ||
            __builtin_add_overflow(whole, (uint64_t)(text.bytes[at] - '0'), &whole)) {
            return RESULT_LIMIT;
        }
    }
    if (at == 0) {
        return RESULT_INVALID;
    }
    if (at < text.count && text.bytes[at] == '.') {
        size_t begin = ++at;
        uint64_t place = 100;
        for (; at < text.count && text.bytes[at] >= '0' && text.bytes[at] <= '9'; at++) {
            thousandths += place * (uint64_t)(text.bytes[at] - '0');
            place /= 10;
        }
        if (at == begin || at - begin > 3) {
            return RESULT_INVALID;
        }
    }
    struct span written = span_trim(span_of(text.bytes + at, text.count - at));
    for (const struct unit *unit = units; unit->name != NULL; unit++) {
        if (unit_is(written, unit->name)) {
            uint64_t total;
            if (__builtin_mul_overflow(whole, unit->scale, &total) ||
                __builtin_add_overflow(total, thousandths * unit->scale / 1000, &total)) {
                return RESULT_LIMIT;
            }
            *out = total;
            return RESULT_OK;
        }
    }
    return RESULT_INVALID;
}

enum result cli_parse_duration(struct span text, uint64_t *ms)
{
    return parse_quantity(text, duration_units, ms);
}

enum result cli_parse_bytes(struct span text, uint64_t *bytes)
{
    return parse_quantity(text, byte_units, bytes);
}
