/* stray.c: see stray.h. */
#include "actors/stray.h"

#include "proto/base/assert.h"
#include "proto/base/text.h"
#include "proto/wire/reader.h"

#define FIELDS_MAX 20u /* of one operation, and the NULL behind them */
#define NAME_MAX   24u /* bytes of the longest one */
#define NAME_MIN   3u  /* what is shorter resembles too much */
#define SHORT_NAME 6u  /* below it one edit makes a misspelling, from it on two */
#define FAR        4u  /* more than any misspelling is from what is meant */

#define START_FIELDS                                                                               \
    "workspaceId", "projectId", "process", "version", "channel", "channelSessionId",               \
        "executionId", "request", "context", "execution", "isTest", "wait"
#define VERB_FIELDS "executionId", "wait", "reason"

static const char *const of_all[] = {"v",         "op",          "token", "requestId",
                                     "timeoutMs", "traceparent", NULL};

/* Who asks, by which channel, about which process: what gateways put into every request, beside the
 * point for some operations, but never wrong. */
static const char *const of_all_but_lists[] = {"workspaceId",      "projectId", "channel",
                                               "channelSessionId", "process",   NULL};

static const struct fields {
    bool is_list; /* nothing else may stand there */
    const char *names[FIELDS_MAX];
} operations[PROTO_OP_COUNT] = {
    [PROTO_OP_START] = {false, {START_FIELDS}},
    [PROTO_OP_IMPORT] = {false, {START_FIELDS, "active", "passed", "response", "module", "nodes"}},
    [PROTO_OP_CALLBACK] = {false,
                           {"workspaceId", "executionId", "channelSessionId", "taskId", "stepId",
                            "payload", "output", "error", "wait"}},
    [PROTO_OP_SUSPEND] = {false, {VERB_FIELDS}},
    [PROTO_OP_RESUME] = {false, {VERB_FIELDS}},
    [PROTO_OP_ABORT] = {false, {VERB_FIELDS}},
    [PROTO_OP_RESTART] = {false, {VERB_FIELDS}},
    [PROTO_OP_RETRY] = {false, {VERB_FIELDS, "taskId"}},
    [PROTO_OP_MIGRATE] = {false, {VERB_FIELDS, "toVersion", "mapping"}},
    [PROTO_OP_DELETE] = {false, {"executionId", "workspaceId", "ifEnded"}},
    [PROTO_OP_GET] = {false, {"executionId", "include", "process", "version"}},
    [PROTO_OP_STEPS] = {false, {"executionId", "from", "limit"}},
    [PROTO_OP_LIST] = {true,
                       {"status", "lifecycle", "process", "workspaceId", "projectId", "since",
                        "endedBefore", "limit", "cursor"}},
    [PROTO_OP_TASKS] = {true,
                        {"process", "assignee", "candidateGroup", "taskId", "executionId", "limit",
                         "cursor"}},
    [PROTO_OP_DEFINITIONS] = {true, {"projectId", "process"}},
    [PROTO_OP_DEPLOY] = {false, {"projectId", "name", "content"}},
    [PROTO_OP_MESSAGE] = {false,
                          {"name", "correlationKey", "payload", "ttlMs", "workspaceId",
                           "projectId"}},
    [PROTO_OP_SIGNAL] = {false, {"name", "payload", "workspaceId", "projectId"}},
    [PROTO_OP_HOOK] = {false, {"path", "request", "context", "wait"}},
    [PROTO_OP_BACKUP] = {false, {"directory"}},
};

static bool is_one_of(struct span name, const char *const *names)
{
    while (*names != NULL &&
           (name.count == 0 || (uint8_t) * *names != name.bytes[0] || !span_is(name, *names))) {
        names++;
    }
    return *names != NULL;
}

/* Does some operation have it? Then this engine knows what it means, and that it means nothing
 * here. */
static bool is_anywhere(struct span name)
{
    for (size_t i = 0; i < PROTO_OP_COUNT; i++) {
        if (is_one_of(name, operations[i].names)) {
            return true;
        }
    }
    return false;
}

static bool is_upper(uint8_t byte)
{
    return byte >= 'A' && byte <= 'Z';
}

/* In small letters and without what joins words: task_id, taskID and taskId are the same. */
static struct span fold(struct span name, uint8_t out[NAME_MAX])
{
    size_t count = 0;
    for (size_t i = 0; i < name.count && count < NAME_MAX; i++) {
        uint8_t byte = name.bytes[i];
        if (byte != '_' && byte != '-') {
            out[count++] = is_upper(byte) ? (uint8_t)(byte + ('a' - 'A')) : byte;
        }
    }
    return span_of(out, count);
}

/* Is it the field's first words, or its last: ttl of ttlMs, sessionId of channelSessionId? */
static bool is_part(struct span written, struct span known, const char *field)
{
    if (written.count >= known.count) {
        return false;
    }
    size_t left = known.count - written.count;
    return (is_upper((uint8_t)field[written.count]) &&
            memcmp(known.bytes, written.bytes, written.count) == 0) ||
           (is_upper((uint8_t)field[left]) &&
            memcmp(known.bytes + left, written.bytes, written.count) == 0);
}

/* How far the name is from the field that it may mean; FAR: it means something else. */
static size_t distance(struct span name, const char *field)
{
    uint8_t bytes[2][NAME_MAX];
    struct span written = fold(name, bytes[0]);
    struct span known = fold(span_text(field), bytes[1]);
    if (written.count < NAME_MIN || known.count < NAME_MIN) {
        return FAR;
    }
    size_t edits = text_distance(written, known);
    size_t edits_max = written.count < SHORT_NAME ? 1 : 2;
    return edits <= edits_max ? edits : is_part(written, known, field) ? FAR - 1 : FAR;
}

static void look_for_nearest(struct span name, const char *const *names, size_t *least,
                             const char **nearest)
{
    for (; *names != NULL; names++) {
        size_t found = distance(name, *names);
        if (found < *least) {
            *least = found;
            *nearest = *names;
        }
    }
}

static const char *find_nearest(struct span name, const struct fields *own)
{
    size_t least = FAR;
    const char *nearest = NULL;
    look_for_nearest(name, own->names, &least, &nearest);
    look_for_nearest(name, of_all, &least, &nearest);
    return nearest;
}

static bool is_known(struct span name, const struct fields *own)
{
    return is_one_of(name, own->names) || is_one_of(name, of_all) ||
           (!own->is_list && is_one_of(name, of_all_but_lists));
}

bool actor_request_stray(struct span body, enum proto_operation operation, struct actor_stray *out)
{
    ASSERT(operation < PROTO_OP_COUNT);
    const struct fields *own = &operations[operation];
    struct wire_map_walk walk = wire_map_begin(body);
    struct span key;
    struct span value;
    while (wire_map_next(&walk, &key, &value)) {
        if (is_known(key, own)) {
            continue;
        }
        const char *meant = find_nearest(key, own);
        meant = meant != NULL && wire_find_text(body, meant).count > 0 ? NULL : meant;
        if (own->is_list || meant != NULL || (is_anywhere(key) && !wire_is(value, WIRE_NIL))) {
            *out = (struct actor_stray){.name = key, .meant = meant, .is_filter = own->is_list};
            return true;
        }
    }
    return false;
}
