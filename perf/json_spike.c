/*
 * json_spike.c: which JSON library for module bodies? Our direct transcoder against yajl, json-c,
 * cJSON and Jansson, both ways between JSON text and MessagePack, on one payload of about 2 KB.
 * Decision: docs/decisions/0003-json.md.
 *
 *   ninja -C build/release json_spike && build/release/perf/json_spike
 *
 * Every round runs every candidate once, so that a busy machine slows all of them; the best round
 * of each counts. What the libraries lose (digits of decimals, 64-bit integers) is printed beside
 * the time.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#ifdef HAVE_YAJL
#include <yajl/yajl_gen.h>
#include <yajl/yajl_parse.h>
#endif
#ifdef HAVE_JSON_C
#include <json-c/json.h>
#endif
#ifdef HAVE_CJSON
#include <cjson/cJSON.h>
#endif
#ifdef HAVE_JANSSON
#include <jansson.h>
#endif

#include "proto/base/assert.h"
#include "proto/base/limits.h"
#include "proto/wire/json.h"
#include "proto/wire/reader.h"
#include "proto/wire/writer.h"

enum { ROUNDS = 15, TURNS = 2000, ARENA_BLOCK_BYTES = 256 << 10, ARENA_BYTES_MAX = 64 << 20 };

/* Writes the result into the arena; an empty span when it failed. */
typedef struct span (*transcode_fn)(struct span input, struct arena *arena);

struct candidate {
    const char *name;
    transcode_fn transcode;
    double best_ns;
};

static void write_digits(struct wire_writer *writer, const char *digits, size_t count)
{
    char *end;
    long long number = count < 19 ? strtoll(digits, &end, 10) : 0;
    if (count < 19 && end == digits + count) {
        wire_write_int(writer, number);
    } else {
        wire_write_decimal(writer, span_of(digits, count));
    }
}

/* memcpy: the bound that no transcoder passes */

static struct span copy_only(struct span input, struct arena *arena)
{
    return arena_copy(arena, input);
}

/* Ours */

static struct span ours_in(struct span input, struct arena *arena)
{
    struct span value;
    struct json_error error;
    return json_to_wire(input, LIMIT_DEPTH, arena, &value, &error) == RESULT_OK ? value
                                                                                : SPAN_EMPTY;
}

static struct span ours_out(struct span input, struct arena *arena)
{
    struct span text;
    return json_from_wire(input, JSON_COMPACT, arena, &text) == RESULT_OK ? text : SPAN_EMPTY;
}

#ifdef HAVE_YAJL

/* yajl calls back a token at a time: the fair rival of a direct transcoder, with no tree either. */
struct yajl_target {
    struct wire_writer writer;
    unsigned depth;
    size_t marks[LIMIT_DEPTH];
    uint32_t counts[LIMIT_DEPTH];
};

static void yajl_count(struct yajl_target *target)
{
    if (target->depth > 0) {
        target->counts[target->depth - 1]++;
    }
}

static int yajl_on_null(void *context)
{
    struct yajl_target *target = context;
    yajl_count(target);
    wire_write_nil(&target->writer);
    return 1;
}

static int yajl_on_boolean(void *context, int value)
{
    struct yajl_target *target = context;
    yajl_count(target);
    wire_write_bool(&target->writer, value != 0);
    return 1;
}

static int yajl_on_number(void *context, const char *digits, size_t count)
{
    struct yajl_target *target = context;
    yajl_count(target);
    write_digits(&target->writer, digits, count);
    return 1;
}

static int yajl_on_string(void *context, const unsigned char *text, size_t count)
{
    struct yajl_target *target = context;
    yajl_count(target);
    wire_write_string(&target->writer, span_of(text, count));
    return 1;
}

static int yajl_on_key(void *context, const unsigned char *text, size_t count)
{
    struct yajl_target *target = context;
    wire_write_string(&target->writer, span_of(text, count));
    return 1;
}

static int yajl_on_open(struct yajl_target *target, bool map)
{
    yajl_count(target);
    if (target->depth == LIMIT_DEPTH) {
        return 0;
    }
    target->counts[target->depth] = 0;
    target->marks[target->depth++] =
        map ? wire_open_map(&target->writer) : wire_open_array(&target->writer);
    return 1;
}

static int yajl_on_start_map(void *context)
{
    return yajl_on_open(context, true);
}

static int yajl_on_start_array(void *context)
{
    return yajl_on_open(context, false);
}

static int yajl_on_end_map(void *context)
{
    struct yajl_target *target = context;
    target->depth--;
    wire_close_map(&target->writer, target->marks[target->depth], target->counts[target->depth]);
    return 1;
}

static int yajl_on_end_array(void *context)
{
    struct yajl_target *target = context;
    target->depth--;
    wire_close_array(&target->writer, target->marks[target->depth], target->counts[target->depth]);
    return 1;
}

static struct span yajl_in(struct span input, struct arena *arena)
{
    static const yajl_callbacks callbacks = {
        .yajl_null = yajl_on_null,
        .yajl_boolean = yajl_on_boolean,
        .yajl_number = yajl_on_number,
        .yajl_string = yajl_on_string,
        .yajl_map_key = yajl_on_key,
        .yajl_start_map = yajl_on_start_map,
        .yajl_end_map = yajl_on_end_map,
        .yajl_start_array = yajl_on_start_array,
        .yajl_end_array = yajl_on_end_array,
    };
    struct yajl_target target = {.depth = 0};
    wire_writer_init(&target.writer, arena, input.count);
    yajl_handle parser = yajl_alloc(&callbacks, NULL, &target);
    bool whole = yajl_parse(parser, input.bytes, input.count) == yajl_status_ok &&
                 yajl_complete_parse(parser) == yajl_status_ok;
    yajl_free(parser);
    return whole ? wire_writer_span(&target.writer) : SPAN_EMPTY;
}

static void yajl_put(yajl_gen generator, const struct wire_value *value)
{
    char digits[32];
    switch (value->type) {
    case WIRE_BOOL:
        yajl_gen_bool(generator, value->as.boolean);
        return;
    case WIRE_INT:
        yajl_gen_integer(generator, value->as.integer);
        return;
    case WIRE_UINT:
        snprintf(digits, sizeof digits, "%llu", (unsigned long long)value->as.unsigned_integer);
        yajl_gen_number(generator, digits, strlen(digits));
        return;
    case WIRE_FLOAT:
        yajl_gen_double(generator, value->as.real);
        return;
    case WIRE_DECIMAL:
        yajl_gen_number(generator, (const char *)value->as.text.bytes, value->as.text.count);
        return;
    case WIRE_STRING:
        yajl_gen_string(generator, value->as.text.bytes, value->as.text.count);
        return;
    case WIRE_NIL:
    case WIRE_BINARY:
    case WIRE_EXT:
    case WIRE_ARRAY:
    case WIRE_MAP:
        break;
    }
    yajl_gen_null(generator);
}

static struct span yajl_out(struct span input, struct arena *arena)
{
    yajl_gen generator = yajl_gen_alloc(NULL);
    struct wire_cursor cursor = wire_cursor(input);
    struct {
        uint64_t left;
        bool map;
    } levels[LIMIT_DEPTH + 1];
    unsigned depth = 0;
    struct wire_value value;
    do {
        if (wire_read(&cursor, &value) != RESULT_OK) {
            yajl_gen_free(generator);
            return SPAN_EMPTY;
        }
        if (depth > 0) {
            levels[depth - 1].left--;
        }
        if (value.type == WIRE_MAP) {
            yajl_gen_map_open(generator);
            levels[depth].left = 2 * (uint64_t)value.as.count;
            levels[depth++].map = true;
        } else if (value.type == WIRE_ARRAY) {
            yajl_gen_array_open(generator);
            levels[depth].left = value.as.count;
            levels[depth++].map = false;
        } else {
            yajl_put(generator, &value);
        }
        while (depth > 0 && levels[depth - 1].left == 0) {
            depth--;
            if (levels[depth].map) {
                yajl_gen_map_close(generator);
            } else {
                yajl_gen_array_close(generator);
            }
        }
    } while (depth > 0);
    const unsigned char *text;
    size_t count;
    yajl_gen_get_buf(generator, &text, &count);
    struct span copy = arena_copy(arena, span_of(text, count));
    yajl_gen_free(generator);
    return copy;
}

#endif

#ifdef HAVE_JSON_C

static void json_c_write(struct wire_writer *writer, struct json_object *node)
{
    switch (json_object_get_type(node)) {
    case json_type_null:
        wire_write_nil(writer);
        return;
    case json_type_boolean:
        wire_write_bool(writer, json_object_get_boolean(node));
        return;
    case json_type_double:
        wire_write_text(writer, json_object_get_string(node));
        return;
    case json_type_int:
        wire_write_int(writer, json_object_get_int64(node));
        return;
    case json_type_string:
        wire_write_string(writer, span_of(json_object_get_string(node),
                                          (size_t)json_object_get_string_len(node)));
        return;
    case json_type_array:
        wire_write_array(writer, (uint32_t)json_object_array_length(node));
        for (size_t i = 0; i < json_object_array_length(node); i++) {
            json_c_write(writer, json_object_array_get_idx(node, i));
        }
        return;
    case json_type_object:
        wire_write_map(writer, (uint32_t)json_object_object_length(node));
        json_object_object_foreach(node, key, member)
        {
            wire_write_text(writer, key);
            json_c_write(writer, member);
        }
        return;
    }
}

static struct span json_c_in(struct span input, struct arena *arena)
{
    struct json_tokener *tokener = json_tokener_new();
    struct json_object *root =
        json_tokener_parse_ex(tokener, (const char *)input.bytes, (int)input.count);
    struct wire_writer writer;
    wire_writer_init(&writer, arena, input.count);
    json_c_write(&writer, root);
    json_object_put(root);
    json_tokener_free(tokener);
    return wire_writer_span(&writer);
}

static struct json_object *json_c_tree(struct wire_cursor *cursor)
{
    struct wire_value value, key;
    if (wire_read(cursor, &value) != RESULT_OK) {
        return NULL;
    }
    switch (value.type) {
    case WIRE_BOOL:
        return json_object_new_boolean(value.as.boolean);
    case WIRE_INT:
        return json_object_new_int64(value.as.integer);
    case WIRE_UINT:
        return json_object_new_uint64(value.as.unsigned_integer);
    case WIRE_FLOAT:
        return json_object_new_double(value.as.real);
    case WIRE_DECIMAL:
    case WIRE_STRING:
        return json_object_new_string_len((const char *)value.as.text.bytes,
                                          (int)value.as.text.count);
    case WIRE_ARRAY: {
        struct json_object *list = json_object_new_array_ext((int)value.as.count);
        for (uint32_t i = 0; i < value.as.count; i++) {
            json_object_array_add(list, json_c_tree(cursor));
        }
        return list;
    }
    case WIRE_MAP: {
        struct json_object *map = json_object_new_object();
        for (uint32_t i = 0; i < value.as.count; i++) {
            if (wire_read(cursor, &key) != RESULT_OK) {
                return map;
            }
            char name[LIMIT_ID_BYTES + 1];
            snprintf(name, sizeof name, "%.*s", SPAN_ARG(key.as.text));
            json_object_object_add(map, name, json_c_tree(cursor));
        }
        return map;
    }
    case WIRE_NIL:
    case WIRE_BINARY:
    case WIRE_EXT:
        break;
    }
    return NULL;
}

static struct span json_c_out(struct span input, struct arena *arena)
{
    struct wire_cursor cursor = wire_cursor(input);
    struct json_object *root = json_c_tree(&cursor);
    size_t count;
    const char *text = json_object_to_json_string_length(root, JSON_C_TO_STRING_PLAIN, &count);
    struct span copy = arena_copy(arena, span_of(text, count));
    json_object_put(root);
    return copy;
}

#endif

#ifdef HAVE_CJSON

static void cjson_write(struct wire_writer *writer, const cJSON *node)
{
    const cJSON *child;
    if (cJSON_IsObject(node) || cJSON_IsArray(node)) {
        bool map = cJSON_IsObject(node);
        size_t mark = map ? wire_open_map(writer) : wire_open_array(writer);
        uint32_t count = 0;
        cJSON_ArrayForEach(child, node)
        {
            if (map) {
                wire_write_text(writer, child->string);
            }
            cjson_write(writer, child);
            count++;
        }
        (map ? wire_close_map : wire_close_array)(writer, mark, count);
    } else if (cJSON_IsString(node)) {
        wire_write_text(writer, node->valuestring);
    } else if (cJSON_IsNumber(node)) {
        wire_write_float(writer, node->valuedouble);
    } else if (cJSON_IsBool(node)) {
        wire_write_bool(writer, cJSON_IsTrue(node));
    } else {
        wire_write_nil(writer);
    }
}

static struct span cjson_in(struct span input, struct arena *arena)
{
    cJSON *root = cJSON_ParseWithLength((const char *)input.bytes, input.count);
    struct wire_writer writer;
    wire_writer_init(&writer, arena, input.count);
    cjson_write(&writer, root);
    cJSON_Delete(root);
    return wire_writer_span(&writer);
}

#endif

#ifdef HAVE_JANSSON

static void jansson_write(struct wire_writer *writer, json_t *node)
{
    const char *key;
    json_t *child;
    size_t i;
    switch (json_typeof(node)) {
    case JSON_OBJECT:
        wire_write_map(writer, (uint32_t)json_object_size(node));
        json_object_foreach(node, key, child)
        {
            wire_write_text(writer, key);
            jansson_write(writer, child);
        }
        return;
    case JSON_ARRAY:
        wire_write_array(writer, (uint32_t)json_array_size(node));
        json_array_foreach(node, i, child)
        {
            jansson_write(writer, child);
        }
        return;
    case JSON_STRING:
        wire_write_string(writer, span_of(json_string_value(node), json_string_length(node)));
        return;
    case JSON_INTEGER:
        wire_write_int(writer, json_integer_value(node));
        return;
    case JSON_REAL:
        wire_write_float(writer, json_real_value(node));
        return;
    case JSON_TRUE:
    case JSON_FALSE:
        wire_write_bool(writer, json_is_true(node));
        return;
    case JSON_NULL:
        wire_write_nil(writer);
        return;
    }
}

static struct span jansson_in(struct span input, struct arena *arena)
{
    json_t *root = json_loadb((const char *)input.bytes, input.count, 0, NULL);
    struct wire_writer writer;
    wire_writer_init(&writer, arena, input.count);
    jansson_write(&writer, root);
    json_decref(root);
    return wire_writer_span(&writer);
}

#endif

/* Measuring */

static double now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

/* An order as a shop's module answers it. */
static struct span make_payload(struct arena *arena)
{
    struct wire_writer text; /* as a buffer of bytes */
    wire_writer_init(&text, arena, 4096);
    wire_write_raw(&text, span_text("{\"orderId\":\"A-2024-000123\",\"customer\":{\"name\":"
                                    "\"J\\u00fcrgen M\xc3\xbcller\",\"vip\":false,\"score\":17},"
                                    "\"lines\":["));
    for (int i = 0; i < 14; i++) {
        struct span line = arena_format(
            arena,
            "%s{\"sku\":\"SKU-%05d\",\"quantity\":%d,\"price\":%d.%02d,"
            "\"description\":\"A well made thing of kind %d\",\"tags\":[\"red\",\"large\",null]}",
            i == 0 ? "" : ",", i * 37, i + 1, i * 13, i * 7 % 100, i);
        wire_write_raw(&text, line);
    }
    wire_write_raw(&text, span_text("],\"total\":1234.50,\"currency\":\"EUR\",\"note\":"
                                    "\"Line one\\nline two\",\"reference\":9223372036854775807,"
                                    "\"createdAt\":\"2026-11-30T10:27:33.123Z\"}"));
    return wire_writer_span(&text);
}

static void measure(struct candidate *candidates, size_t count, struct span input,
                    struct arena *arena)
{
    for (int round = 0; round < ROUNDS; round++) {
        for (struct candidate *row = candidates; row < candidates + count; row++) {
            double start = now_ns();
            for (int turn = 0; turn < TURNS; turn++) {
                arena_clear(arena);
                ASSERT(row->transcode(input, arena).count > 0);
            }
            double spent_ns = (now_ns() - start) / TURNS;
            if (round == 0 || spent_ns < row->best_ns) {
                row->best_ns = spent_ns;
            }
        }
    }
}

static void report(const char *title, const struct candidate *candidates, size_t count,
                   struct span input)
{
    printf("%s, %zu bytes\n  %-10s %10s %8s %8s\n", title, input.count, "", "us", "MB/s", "/ ours");
    for (const struct candidate *row = candidates; row < candidates + count; row++) {
        printf("  %-10s %10.2f %8.0f %8.2f\n", row->name, row->best_ns / 1000,
               (double)input.count * 1000 / row->best_ns, row->best_ns / candidates[0].best_ns);
    }
}

int main(void)
{
    struct arena keep, arena;
    arena_init(&keep, ARENA_BLOCK_BYTES, ARENA_BYTES_MAX);
    arena_init(&arena, ARENA_BLOCK_BYTES, ARENA_BYTES_MAX);
    struct span text = make_payload(&keep);
    struct span value = ours_in(text, &keep);
    ASSERT(text.count > 0 && value.count > 0);

    struct candidate in[] = {
        {.name = "ours", .transcode = ours_in},       {.name = "memcpy", .transcode = copy_only},
#ifdef HAVE_YAJL
        {.name = "yajl", .transcode = yajl_in},
#endif
#ifdef HAVE_JSON_C
        {.name = "json-c", .transcode = json_c_in},
#endif
#ifdef HAVE_CJSON
        {.name = "cJSON", .transcode = cjson_in},
#endif
#ifdef HAVE_JANSSON
        {.name = "Jansson", .transcode = jansson_in},
#endif
    };
    struct candidate out[] = {
        {.name = "ours", .transcode = ours_out},
        {.name = "memcpy", .transcode = copy_only},
#ifdef HAVE_YAJL
        {.name = "yajl", .transcode = yajl_out},
#endif
#ifdef HAVE_JSON_C
        {.name = "json-c", .transcode = json_c_out},
#endif
    };
    measure(in, sizeof in / sizeof in[0], text, &arena);
    measure(out, sizeof out / sizeof out[0], value, &arena);
    report("JSON to MessagePack", in, sizeof in / sizeof in[0], text);
    report("MessagePack to JSON", out, sizeof out / sizeof out[0], value);
    arena_release(&arena);
    arena_release(&keep);
    return 0;
}
