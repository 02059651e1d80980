/*
 * diff.c: what differs between two snapshots, by payload path.
 */
#include "proto/base/limits.h"
#include "proto/wire/reader.h"
#include "proto/wire/writer.h"
#include "tools/strider/replay/replay.h"

enum { MEMBERS_COMPARED_MAX = 2000 }; /* of one map: looking them up costs their square */

static const char *const payloads[] = {"request", "response",  "context",
                                       "module",  "execution", "nodes",
                                       "output",  "__resume",  "conversationHistories"};

struct diff {
    struct arena *arena;
    struct replay_changes *out;
};

static void add(struct diff *diff, enum replay_change_kind kind, struct span path,
                struct span before, struct span after)
{
    if (diff->out->count == REPLAY_CHANGES_MAX) {
        diff->out->cut = true;
        return;
    }
    diff->out->at[diff->out->count++] =
        (struct replay_change){.kind = kind, .path = path, .before = before, .after = after};
}

static bool is_plain(struct span key)
{
    for (size_t i = 0; i < key.count; i++) {
        uint8_t byte = key.bytes[i];
        bool letter = (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') || byte == '_' ||
                      byte >= 0x80;
        if (!letter && (i == 0 || byte < '0' || byte > '9') && (i == 0 || byte != '-')) {
            return false;
        }
    }
    return key.count > 0;
}

static struct span member_path(struct diff *diff, struct span path, struct span key)
{
    return is_plain(key)
               ? arena_format(diff->arena, "%.*s.%.*s", SPAN_ARG(path), SPAN_ARG(key))
               : arena_format(diff->arena, "%.*s[\"%.*s\"]", SPAN_ARG(path), SPAN_ARG(key));
}

static void compare(struct diff *diff, struct span path, struct span before, struct span after,
                    unsigned depth);

static void compare_maps(struct diff *diff, struct span path, struct span before, struct span after,
                         unsigned depth)
{
    struct span key, value;
    for (struct wire_map_walk walk = wire_map_begin(before); wire_map_next(&walk, &key, &value);) {
        struct span now = wire_find(after, key);
        if (now.count == 0) {
            add(diff, REPLAY_REMOVED, member_path(diff, path, key), value, SPAN_EMPTY);
        } else if (!span_equal(value, now)) {
            compare(diff, member_path(diff, path, key), value, now, depth + 1);
        }
    }
    for (struct wire_map_walk walk = wire_map_begin(after); wire_map_next(&walk, &key, &value);) {
        if (wire_find(before, key).count == 0) {
            add(diff, REPLAY_ADDED, member_path(diff, path, key), SPAN_EMPTY, value);
        }
    }
}

static void compare_lists(struct diff *diff, struct span path, struct span before,
                          struct span after, unsigned depth)
{
    struct wire_map_walk of_before = wire_array_begin(before);
    struct wire_map_walk of_after = wire_array_begin(after);
    struct span was, is;
    for (unsigned index = 0; !diff->out->cut; index++) {
        bool had = wire_array_next(&of_before, &was);
        bool has = wire_array_next(&of_after, &is);
        if (!had && !has) {
            return;
        }
        if (had && has && span_equal(was, is)) {
            continue;
        }
        struct span at = arena_format(diff->arena, "%.*s[%u]", SPAN_ARG(path), index);
        if (had && has) {
            compare(diff, at, was, is, depth + 1);
        } else {
            add(diff, had ? REPLAY_REMOVED : REPLAY_ADDED, at, had ? was : SPAN_EMPTY,
                has ? is : SPAN_EMPTY);
        }
    }
}

/* Recursion is bounded by the depth that payloads may have. */
static void compare(struct diff *diff, struct span path, struct span before, struct span after,
                    unsigned depth)
{
    bool maps = wire_is(before, WIRE_MAP) && wire_is(after, WIRE_MAP);
    bool lists = wire_is(before, WIRE_ARRAY) && wire_is(after, WIRE_ARRAY);
    bool small = !maps || (wire_count(before) <= MEMBERS_COMPARED_MAX &&
                           wire_count(after) <= MEMBERS_COMPARED_MAX);
    if (span_equal(before, after)) {
        return;
    }
    if (maps && small && depth < LIMIT_DEPTH) {
        compare_maps(diff, path, before, after, depth);
    } else if (lists && depth < LIMIT_DEPTH) {
        compare_lists(diff, path, before, after, depth);
    } else {
        add(diff, REPLAY_CHANGED, path, before, after);
    }
}

void replay_diff(struct span before, struct span after, struct arena *arena,
                 struct replay_changes *out)
{
    struct diff diff = {.arena = arena, .out = out};
    out->count = 0;
    out->cut = false;
    for (size_t i = 0; i < sizeof payloads / sizeof payloads[0]; i++) {
        struct span path = span_text(payloads[i]);
        struct span was = wire_find(before, path);
        struct span is = wire_find(after, path);
        if (was.count > 0 && is.count > 0) {
            compare(&diff, path, was, is, 0);
        } else if (was.count > 0) {
            add(&diff, REPLAY_REMOVED, path, was, SPAN_EMPTY);
        } else if (is.count > 0) {
            add(&diff, REPLAY_ADDED, path, SPAN_EMPTY, is);
        }
    }
}
