/*
 * modules.c: modules.json (interfaces.md 3). One table says which reader takes each key, and into
 * which field.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include "engine/read/read.h"
#include "proto/base/limits.h"
#include "proto/base/text.h"
#include "proto/wire/reader.h"

enum {
    BLOCK_BYTES = 4096,
    MEMORY_BYTES_MAX = 32 << 20,
    MODULES_MAX = 10000,
    NAMES_MAX = 1000, /* task types, or outputs, of one module */
    NAME_BYTES_MAX = 512,
    URL_BYTES_MAX = 4096,
    DISTANCE_MAX = 3, /* a suggestion further away helps nobody */
};

struct reading {
    struct arena *arena;
    struct engine_report *report;
    char place[64]; /* where we are: `modules[2].timeoutMs` */
};

struct key;
typedef void (*key_fn)(struct reading *reading, const struct key *key, struct span value,
                       struct engine_module *module);

struct key {
    const char *name;
    key_fn read;
    size_t offset; /* of the field in struct engine_module */
    uint32_t least;
    uint32_t most;
};

__attribute__((format(printf, 3, 4))) static void
complain(struct reading *reading, const char *rule, const char *format, ...)
{
    char message[512];
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    engine_report_add(reading->report, ENGINE_ERROR, rule, SPAN_EMPTY, 0, 0, "%s%s%s",
                      reading->place, reading->place[0] == '\0' ? "" : ": ", message);
}

/* ---- readers of values ---- */

static void *field_of(struct engine_module *module, const struct key *key)
{
    return (uint8_t *)module + key->offset;
}

/* A string of 1 to `most` bytes without control characters, copied; an empty span after a
 * complaint. */
static struct span take_text(struct reading *reading, struct span value, size_t most)
{
    struct span text = wire_is(value, WIRE_STRING) ? wire_head(value).as.text : SPAN_EMPTY;
    bool is_clean = true;
    for (size_t i = 0; i < text.count; i++) {
        is_clean &= text.bytes[i] >= ' ' && text.bytes[i] != 0x7f;
    }
    if (text.count == 0 || text.count > most || !is_clean) {
        complain(reading, "module-value",
                 "must be text of 1 to %zu bytes without control characters", most);
        return SPAN_EMPTY;
    }
    return arena_copy(reading->arena, text);
}

static void read_text_or_null(struct reading *reading, const struct key *key, struct span value,
                              struct engine_module *module)
{
    if (!wire_is(value, WIRE_NIL)) {
        *(struct span *)field_of(module, key) = take_text(reading, value, NAME_BYTES_MAX);
    }
}

static bool is_http_url(struct span url)
{
    size_t scheme = span_starts_with(url, "http://")    ? strlen("http://")
                    : span_starts_with(url, "https://") ? strlen("https://")
                                                        : 0;
    if (scheme == 0 || url.count == scheme || strchr("/:?#@", url.bytes[scheme]) != NULL) {
        return false;
    }
    return memchr(url.bytes, ' ', url.count) == NULL;
}

static void read_url(struct reading *reading, const struct key *key, struct span value,
                     struct engine_module *module)
{
    (void)key;
    struct span url = take_text(reading, value, URL_BYTES_MAX);
    if (url.count > 0 && !is_http_url(url)) {
        complain(reading, "module-url", "must begin with http:// or https:// and name a host");
        return;
    }
    module->url = url;
}

static void read_count(struct reading *reading, const struct key *key, struct span value,
                       struct engine_module *module)
{
    int64_t number = wire_is(value, WIRE_INT) ? wire_head(value).as.integer : -1;
    if (number < key->least || number > key->most) {
        complain(reading, "module-value", "must be a whole number from %u to %u", key->least,
                 key->most);
        return;
    }
    *(uint32_t *)field_of(module, key) = (uint32_t)number;
}

static void read_count_or_null(struct reading *reading, const struct key *key, struct span value,
                               struct engine_module *module)
{
    if (!wire_is(value, WIRE_NIL)) {
        read_count(reading, key, value, module);
    }
}

static void read_bool(struct reading *reading, const struct key *key, struct span value,
                      struct engine_module *module)
{
    if (!wire_is(value, WIRE_BOOL)) {
        complain(reading, "module-value", "must be true or false");
        return;
    }
    *(bool *)field_of(module, key) = wire_bool_or(value, false);
}

/* What one item of a list of names is: empty after a complaint. */
typedef struct span (*item_fn)(struct reading *reading, struct span item);

static struct span take_name(struct reading *reading, struct span item)
{
    return take_text(reading, item, NAME_BYTES_MAX);
}

static const struct span *take_names(struct reading *reading, struct span value, item_fn take,
                                     uint32_t *count)
{
    uint32_t room = wire_is(value, WIRE_ARRAY) ? wire_count(value) : 0;
    if (!wire_is(value, WIRE_ARRAY) || room > NAMES_MAX) {
        complain(reading, "module-value", "must be a list of at most %d names", NAMES_MAX);
        return NULL;
    }
    struct span *names = arena_alloc(reading->arena, room * sizeof *names);
    struct wire_map_walk walk = wire_array_begin(value);
    struct span item;
    *count = 0;
    while (names != NULL && wire_array_next(&walk, &item)) {
        struct span name = take(reading, item);
        if (name.count > 0) {
            names[(*count)++] = name;
        }
    }
    return names;
}

/* ---- the descriptor of a node (engine.md 11): what a tool that draws shows of it ---- */

static bool is_field_type(struct span type)
{
    static const char *const types[] = {"string", "number", "boolean", "date",
                                        "object", "array",  "any"};
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        if (span_is(type, types[i])) {
            return true;
        }
    }
    return false;
}

static void check_field(struct reading *reading, struct span name, struct span value)
{
    bool is_type = span_is(name, "type");
    if (is_type && !is_field_type(wire_string_or(value, ""))) {
        complain(reading, "module-value",
                 "type must be string, number, boolean, date, object, array or any");
    } else if (span_is(name, "required") && !wire_is(value, WIRE_BOOL)) {
        complain(reading, "module-value", "required must be true or false");
    } else if (span_is(name, "name") || span_is(name, "label")) {
        (void)take_name(reading, value);
    } else if (!is_type && !span_is(name, "required") && !span_is(name, "default")) {
        complain(reading, "unknown-key", "the key \"%.*s\" of a field is not known",
                 SPAN_ARG(name));
    }
}

/* `"total"`, or `{"name": "total", "label": "Total amount", "type": "number"}`. */
static struct span take_field(struct reading *reading, struct span item)
{
    if (!wire_is(item, WIRE_MAP)) {
        return take_name(reading, item);
    }
    struct wire_map_walk walk = wire_map_begin(item);
    struct span key;
    struct span value;
    while (wire_map_next(&walk, &key, &value)) {
        check_field(reading, key, value);
    }
    struct span name = wire_find_text(item, "name");
    if (name.count == 0) {
        complain(reading, "module-value", "a field needs a name");
    }
    return wire_is(name, WIRE_STRING) ? arena_copy(reading->arena, wire_head(name).as.text)
                                      : SPAN_EMPTY;
}

/* The engine has no use for a category and params: it checks that they can be shown. */
static void check_category(struct reading *reading, const struct key *key, struct span value,
                           struct engine_module *module)
{
    (void)key;
    (void)module;
    (void)take_name(reading, value);
}

static void check_params(struct reading *reading, const struct key *key, struct span value,
                         struct engine_module *module)
{
    (void)key;
    (void)module;
    uint32_t count;
    (void)take_names(reading, value, take_field, &count);
}

static void read_task_types(struct reading *reading, const struct key *key, struct span value,
                            struct engine_module *module)
{
    (void)key;
    module->task_types = take_names(reading, value, take_name, &module->task_type_count);
    if (module->task_type_count > 0) {
        module->name = module->task_types[0];
    }
}

static void read_outputs(struct reading *reading, const struct key *key, struct span value,
                         struct engine_module *module)
{
    (void)key;
    module->outputs = take_names(reading, value, take_field, &module->output_count);
}

static void read_map(struct reading *reading, const struct key *key, struct span value,
                     struct engine_module *module)
{
    if (!wire_is(value, WIRE_MAP)) {
        complain(reading, "module-value", "must be an object");
        return;
    }
    *(struct span *)field_of(module, key) = arena_copy(reading->arena, value);
}

/* RFC 9110 §5.6.2: the characters of a field name. */
static bool is_header_name(struct span name)
{
    static const char marks[] = "!#$%&'*+-.^_`|~";
    for (size_t i = 0; i < name.count; i++) {
        uint8_t byte = name.bytes[i];
        bool is_letter = (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z');
        bool is_digit = byte >= '0' && byte <= '9';
        if (!is_letter && !is_digit && (byte == 0 || strchr(marks, byte) == NULL)) {
            return false;
        }
    }
    return name.count > 0;
}

/* A line break in a value would let it add headers of its own. */
static bool is_header_value(struct span value)
{
    struct span text = wire_is(value, WIRE_STRING) ? wire_head(value).as.text : SPAN_EMPTY;
    for (size_t i = 0; i < text.count; i++) {
        if ((text.bytes[i] < ' ' && text.bytes[i] != '\t') || text.bytes[i] == 0x7f) {
            return false;
        }
    }
    return wire_is(value, WIRE_STRING) && text.count <= URL_BYTES_MAX;
}

static void read_headers(struct reading *reading, const struct key *key, struct span value,
                         struct engine_module *module)
{
    read_map(reading, key, value, module);
    struct wire_map_walk walk = wire_map_begin(value);
    struct span name;
    struct span text;
    while (wire_map_next(&walk, &name, &text)) {
        if (!is_header_name(name) || !is_header_value(text)) {
            complain(reading, "module-value", "\"%.*s\" is no HTTP header with a text value",
                     SPAN_ARG(name));
        }
    }
}

static void read_encoding(struct reading *reading, const struct key *key, struct span value,
                          struct engine_module *module)
{
    struct span text = wire_string_or(value, "");
    bool is_message_pack = span_is(text, "msgpack");
    if (!is_message_pack && !span_is(text, "json")) {
        complain(reading, "module-value", "must be \"json\" or \"msgpack\"");
    }
    *(bool *)field_of(module, key) = is_message_pack;
}

#define FIELD(field) offsetof(struct engine_module, field)

static const struct key keys[] = {
    {.name = "taskTypes", .read = read_task_types},
    {.name = "channel", .read = read_text_or_null, .offset = FIELD(channel)},
    {.name = "url", .read = read_url},
    {"timeoutMs", read_count, FIELD(timeout_ms), 1, 86400000},
    {"maxConcurrent", read_count, FIELD(concurrent_max), 1, 100000},
    {"maxAttempts", read_count, FIELD(attempts_max), 1, 1000000},
    {.name = "callback", .read = read_bool, .offset = FIELD(callback)},
    {"callbackTimeoutMs", read_count_or_null, FIELD(callback_timeout_ms), 1, UINT32_MAX},
    {.name = "cancel", .read = read_bool, .offset = FIELD(cancel)},
    {.name = "sideEffects", .read = read_bool, .offset = FIELD(side_effects)},
    {.name = "category", .read = check_category},
    {.name = "params", .read = check_params},
    {.name = "outputs", .read = read_outputs},
    {.name = "strictOutputs", .read = read_bool, .offset = FIELD(strict_outputs)},
    {.name = "testOutputs", .read = read_map, .offset = FIELD(test_outputs)},
    {.name = "encoding", .read = read_encoding, .offset = FIELD(message_pack)},
    {.name = "headers", .read = read_headers, .offset = FIELD(headers)},
};
enum { KEY_COUNT = sizeof keys / sizeof keys[0] };

/* ---- one module ---- */

static const char *nearest_key(struct span name)
{
    const char *nearest = NULL;
    size_t least = DISTANCE_MAX + 1;
    for (size_t i = 0; i < KEY_COUNT; i++) {
        size_t distance = text_distance(name, span_text(keys[i].name));
        if (distance < least) {
            least = distance;
            nearest = keys[i].name;
        }
    }
    return nearest;
}

static void refuse_key(struct reading *reading, struct span name)
{
    const char *nearest = nearest_key(name);
    if (nearest == NULL) {
        complain(reading, "unknown-key", "the key \"%.*s\" is not known", SPAN_ARG(name));
    } else {
        complain(reading, "unknown-key", "the key \"%.*s\" is not known; did you mean \"%s\"?",
                 SPAN_ARG(name), nearest);
    }
}

static void read_pair(struct reading *reading, uint32_t index, struct span name, struct span value,
                      struct engine_module *module)
{
    size_t at = 0;
    while (at < KEY_COUNT && !span_is(name, keys[at].name)) {
        at++;
    }
    if (at == KEY_COUNT) {
        (void)snprintf(reading->place, sizeof reading->place, "modules[%u]", index);
        refuse_key(reading, name);
        return;
    }
    (void)snprintf(reading->place, sizeof reading->place, "modules[%u].%s", index, keys[at].name);
    keys[at].read(reading, &keys[at], value, module);
}

static void read_module(struct reading *reading, uint32_t index, struct span value,
                        struct engine_module *module)
{
    *module = (struct engine_module){
        .timeout_ms = 30000, .concurrent_max = 64, .attempts_max = 3, .side_effects = true};
    (void)snprintf(reading->place, sizeof reading->place, "modules[%u]", index);
    if (!wire_is(value, WIRE_MAP)) {
        complain(reading, "module-value", "must be an object");
        return;
    }
    struct wire_map_walk walk = wire_map_begin(value);
    struct span name;
    struct span item;
    while (wire_map_next(&walk, &name, &item)) {
        read_pair(reading, index, name, item, module);
    }
    (void)snprintf(reading->place, sizeof reading->place, "modules[%u]", index);
    if (wire_find_text(value, "taskTypes").count == 0 || module->task_type_count == 0) {
        complain(reading, "module-value", "needs taskTypes: which tasks does it execute?");
    }
    if (wire_find_text(value, "url").count == 0) {
        complain(reading, "module-value", "needs a url: where is it called?");
    }
}

/* ---- the file ---- */

static bool shares_task_type(const struct engine_module *a, const struct engine_module *b,
                             struct span *shared)
{
    for (uint32_t i = 0; i < a->task_type_count; i++) {
        for (uint32_t j = 0; j < b->task_type_count; j++) {
            if (span_equal(a->task_types[i], b->task_types[j])) {
                *shared = a->task_types[i];
                return true;
            }
        }
    }
    return false;
}

/* (taskType, channel) is a key: two modules with the same one leave open which is meant. */
static void check_keys(struct reading *reading, const struct engine_modules *modules)
{
    reading->place[0] = '\0';
    for (uint32_t i = 0; i < modules->module_count; i++) {
        for (uint32_t j = i + 1; j < modules->module_count; j++) {
            const struct engine_module *a = &modules->modules[i];
            const struct engine_module *b = &modules->modules[j];
            struct span shared;
            if (span_equal(a->channel, b->channel) && shares_task_type(a, b, &shared)) {
                complain(reading, "duplicate-module",
                         "modules[%u] and modules[%u] both execute \"%.*s\" for the same channel",
                         i, j, SPAN_ARG(shared));
            }
        }
    }
}

static void read_list(struct reading *reading, struct span list, struct engine_modules *modules)
{
    uint32_t count = wire_count(list);
    if (!wire_is(list, WIRE_ARRAY) || count > MODULES_MAX) {
        complain(reading, "module-value", "\"modules\" must be a list of at most %d modules",
                 MODULES_MAX);
        return;
    }
    struct engine_module *at = arena_alloc(reading->arena, count * sizeof *at);
    struct wire_map_walk walk = wire_array_begin(list);
    struct span value;
    while (at != NULL && wire_array_next(&walk, &value)) {
        read_module(reading, modules->module_count, value, &at[modules->module_count]);
        modules->module_count++;
    }
    modules->modules = at;
    check_keys(reading, modules);
}

static void read_root(struct reading *reading, struct span value, struct engine_modules *modules)
{
    if (!wire_is(value, WIRE_MAP)) {
        complain(reading, "module-value", "the file must hold an object: {\"modules\": [...]}");
        return;
    }
    struct wire_map_walk walk = wire_map_begin(value);
    struct span name;
    struct span item;
    while (wire_map_next(&walk, &name, &item)) {
        if (span_is(name, "modules")) {
            read_list(reading, item, modules);
        } else {
            complain(reading, "unknown-key", "the key \"%.*s\" is not known; only \"modules\" is",
                     SPAN_ARG(name));
        }
        reading->place[0] = '\0';
    }
}

enum result engine_read_modules(struct span file, struct span value, struct span project,
                                struct span environment, struct engine_report *report,
                                struct engine_modules **out)
{
    (void)file; /* the report bears it */
    *out = NULL;
    struct engine_modules *modules = calloc(1, sizeof *modules);
    if (modules == NULL) {
        return RESULT_LIMIT;
    }
    arena_init(&modules->arena, BLOCK_BYTES, MEMORY_BYTES_MAX);
    struct reading reading = {.arena = &modules->arena, .report = report};
    modules->project = arena_copy(&modules->arena, project);
    modules->environment = arena_copy(&modules->arena, environment);
    if (environment.count > 0 && !wire_is(environment, WIRE_MAP)) {
        complain(&reading, "module-value", "the environment must be an object");
    }
    if (value.count > 0) {
        read_root(&reading, value, modules);
    }
    enum result result = modules->arena.overflowed ? RESULT_LIMIT
                         : report->errors > 0      ? RESULT_INVALID
                                                   : RESULT_OK;
    if (result != RESULT_OK) {
        engine_modules_free(modules);
        return result;
    }
    *out = modules;
    return RESULT_OK;
}
