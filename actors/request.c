/*
 * request.c: pure functions, any thread.
 */
#include "actors/request.h"

#include "proto/base/assert.h"
#include "proto/base/hash.h"
#include "proto/base/id.h"
#include "proto/base/limits.h"
#include "proto/wire/reader.h"

static const struct {
    struct span name;
    enum actor_field_rule rule;
} fields[ACTOR_FIELD_COUNT] = {
#define X(symbol, name, rule) {{(const uint8_t *)name, sizeof name - 1}, ACTOR_RULE_##rule},
    ACTOR_REQUEST_FIELDS(X)
#undef X
};

static enum actor_field find_field(struct span key)
{
    enum actor_field field = 0;
    while (field < ACTOR_FIELD_COUNT &&
           (key.count != fields[field].name.count ||
            memcmp(key.bytes, fields[field].name.bytes, key.count) != 0)) {
        field++;
    }
    return field;
}

void actor_request_read(struct span body, struct actor_request *out)
{
    *out = (struct actor_request){0};
    struct wire_map_walk walk = wire_map_begin(body);
    struct span key;
    struct span value;
    while (wire_map_next(&walk, &key, &value)) {
        enum actor_field field = find_field(key);
        if (field < ACTOR_FIELD_COUNT) {
            out->at[field] = wire_is(value, WIRE_NIL) ? SPAN_EMPTY : value;
        }
    }
}

static bool is_one_of(struct span text, const char *const *words)
{
    while (*words != NULL && !span_is(text, *words)) {
        words++;
    }
    return *words != NULL;
}

/* An execution fails by it, so an object that says nothing, for its members are misspelt, is none.
 */
static bool is_error(struct span value)
{
    static const char *const texts[] = {"code", "message", "bpmnError"};
    bool tells = false;
    bool sound = wire_is(value, WIRE_MAP);
    for (size_t i = 0; sound && i < sizeof texts / sizeof texts[0]; i++) {
        struct span text = wire_find_text(value, texts[i]);
        sound = text.count == 0 || wire_is(text, WIRE_NIL) || wire_is(text, WIRE_STRING);
        tells |= wire_string_or(text, "").count > 0;
    }
    struct span transient = sound ? wire_find_text(value, "transient") : SPAN_EMPTY;
    return tells &&
           (transient.count == 0 || wire_is(transient, WIRE_NIL) || wire_is(transient, WIRE_BOOL));
}

/* One of the words, or nothing. */
static bool is_word(struct span value, const char *const *words)
{
    struct wire_value head = wire_head(value);
    return head.type == WIRE_STRING && (head.as.text.count == 0 || is_one_of(head.as.text, words));
}

/* A word of the list, or several in an array. */
static bool is_include(struct span value)
{
    static const char *const words[] = {"payloads", "map", "logs", "definition", "diagram", NULL};
    if (!wire_is(value, WIRE_ARRAY)) {
        return is_word(value, words);
    }
    struct wire_map_walk walk = wire_array_begin(value);
    struct span item;
    while (wire_array_next(&walk, &item)) {
        if (!is_one_of(wire_string_or(item, ""), words)) {
            return false;
        }
    }
    return true;
}

/* The words of engine.md 2. What a list is asked for and cannot find is a mistake, not "none". */
static const char *const statuses[] = {"Running", "Waiting", "Completed", "Stopped",
                                       "Error",   "Unknown", NULL};
static const char *const lifecycles[] = {"Pending",   "Running", "Suspended", "WaitingForHuman",
                                         "Completed", "Failed",  NULL};

/* What the rule wants; NULL: it holds. */
static const char *breach(enum actor_field_rule rule, struct span value)
{
    struct wire_value head = wire_head(value);
    bool text = head.type == WIRE_STRING;
    switch (rule) {
    case ACTOR_RULE_ANY:
        return NULL;
    case ACTOR_RULE_TEXT:
        return text ? NULL : "a string";
    case ACTOR_RULE_ID:
        return text && id_is_valid(head.as.text)
                   ? NULL
                   : "1 to 128 of A-Z a-z 0-9 . _ : @ + -, neither starting nor ending with a dot";
    case ACTOR_RULE_SESSION:
        return text && channel_session_id_is_valid(head.as.text)
                   ? NULL
                   : "1 to 512 bytes of UTF-8 without control characters";
    case ACTOR_RULE_REQUEST_ID:
        return text && head.as.text.count > 0 && head.as.text.count <= LIMIT_REQUEST_ID_BYTES
                   ? NULL
                   : "a string of 1 to 512 bytes";
    case ACTOR_RULE_MAP:
        return head.type == WIRE_MAP ? NULL : "an object";
    case ACTOR_RULE_BOOL:
        return head.type == WIRE_BOOL ? NULL : "true or false";
    case ACTOR_RULE_COUNT:
        return head.type == WIRE_INT && head.as.integer >= 0 && head.as.integer <= UINT32_MAX
                   ? NULL
                   : "a whole number from 0";
    case ACTOR_RULE_WAIT:
        return text && (span_is(head.as.text, "segment") || span_is(head.as.text, "accepted"))
                   ? NULL
                   : "\"segment\" or \"accepted\"";
    case ACTOR_RULE_INCLUDE:
        return is_include(value) ? NULL
                                 : "a list of \"payloads\", \"map\", \"logs\", \"definition\" or "
                                   "\"diagram\"";
    case ACTOR_RULE_STATUS:
        return is_word(value, statuses)
                   ? NULL
                   : "\"Running\", \"Waiting\", \"Completed\", \"Stopped\" or \"Error\"";
    case ACTOR_RULE_LIFECYCLE:
        return is_word(value, lifecycles) ? NULL
                                          : "\"Pending\", \"Running\", \"Suspended\", "
                                            "\"WaitingForHuman\", \"Completed\" or \"Failed\"";
    case ACTOR_RULE_ERROR:
        return is_error(value)
                   ? NULL
                   : "an object whose code, message or bpmnError says something, each a "
                     "string, and transient true or false";
    }
    ASSERT_UNREACHABLE();
}

enum actor_field actor_request_check(const struct actor_request *request, const char **wanted)
{
    for (enum actor_field field = 0; field < ACTOR_FIELD_COUNT; field++) {
        if (request->at[field].count == 0) {
            continue;
        }
        *wanted = breach(fields[field].rule, request->at[field]);
        if (*wanted != NULL) {
            return field;
        }
    }
    return ACTOR_FIELD_COUNT;
}

const char *actor_field_name(enum actor_field field)
{
    ASSERT(field < ACTOR_FIELD_COUNT);
    return (const char *)fields[field].name.bytes;
}

struct span actor_request_text(const struct actor_request *request, enum actor_field field,
                               const char *fallback)
{
    return request->at[field].count == 0 ? span_text(fallback)
                                         : wire_head(request->at[field]).as.text;
}

int64_t actor_request_count(const struct actor_request *request, enum actor_field field,
                            int64_t fallback)
{
    return request->at[field].count == 0 ? fallback : wire_head(request->at[field]).as.integer;
}

struct actor_page actor_request_page(enum proto_operation operation)
{
    static const struct actor_page pages[PROTO_OP_COUNT] = {
        [PROTO_OP_LIST] = {100, 1000},
        [PROTO_OP_TASKS] = {100, 1000},
        [PROTO_OP_STEPS] = {50, 200},
    };
    ASSERT(operation < PROTO_OP_COUNT);
    return pages[operation];
}

uint32_t actor_request_limit(const struct actor_request *request, enum proto_operation operation)
{
    struct actor_page page = actor_request_page(operation);
    int64_t limit = actor_request_count(request, ACTOR_FIELD_LIMIT, page.usual);
    ASSERT(limit >= 1 && limit <= page.most); /* the router refuses any other */
    return (uint32_t)limit;
}

uint64_t actor_request_hash(struct span body)
{
    uint64_t hash = 0;
    struct wire_map_walk walk = wire_map_begin(body);
    struct span key;
    struct span value;
    while (wire_map_next(&walk, &key, &value)) {
        if (!span_is(key, "token") && !span_is(key, "timeoutMs")) {
            hash = base_hash(value, base_hash(key, hash));
        }
    }
    return hash;
}

bool actor_operation_changes(enum proto_operation operation)
{
    static const bool changes[PROTO_OP_COUNT] = {
        [PROTO_OP_START] = true,   [PROTO_OP_CALLBACK] = true, [PROTO_OP_DEPLOY] = true,
        [PROTO_OP_MESSAGE] = true, [PROTO_OP_SIGNAL] = true,   [PROTO_OP_SUSPEND] = true,
        [PROTO_OP_RESUME] = true,  [PROTO_OP_ABORT] = true,    [PROTO_OP_RESTART] = true,
        [PROTO_OP_DELETE] = true,  [PROTO_OP_MIGRATE] = true,  [PROTO_OP_IMPORT] = true,
        [PROTO_OP_RETRY] = true,   [PROTO_OP_HOOK] = true,
    };
    ASSERT(operation < PROTO_OP_COUNT);
    return changes[operation];
}
