/* index_contract.c: see index_contract.h. */
#include "tests/contract/index_contract.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "proto/wire/json.h"
#include "proto/wire/reader.h"
#include "tests/contract/support.h"

#define ARENA_BYTES (64u << 20)
#define MANY        5000u
#define LARGE       (3u << 20)
#define LARGES      3u

/* An index under test, and an arena for what goes in and comes out. */
struct desk {
    struct contract_index *subject;
    struct storage_index *index;
    struct arena arena;
    uint64_t position;
};

static struct desk desk_open(struct contract_index *subject)
{
    struct desk desk = {.subject = subject, .index = subject->open(subject)};
    arena_init(&desk.arena, 65536, ARENA_BYTES);
    return desk;
}

static void desk_close(struct desk *desk)
{
    desk->index->ops->close(desk->index);
    arena_release(&desk->arena);
}

static struct span from_json(struct desk *desk, const char *text)
{
    struct span value;
    struct json_error error = {0};
    enum result result = json_to_wire(span_text(text), 16, &desk->arena, &value, &error);
    cr_assert_eq(result, RESULT_OK, "%s: %s", text, error.reason);
    return value;
}

static const char *to_json(struct desk *desk, struct span value)
{
    struct span text;
    cr_assert_eq(json_from_wire(value, JSON_COMPACT, &desk->arena, &text), RESULT_OK);
    return (const char *)arena_copy(&desk->arena, text).bytes;
}

/* Several messages in one apply; ends with NULL. */
static enum result apply_all(struct desk *desk, const char *const *messages)
{
    struct span values[16];
    size_t count = 0;
    for (; messages[count] != NULL; count++) {
        values[count] = from_json(desk, messages[count]);
    }
    desk->position += 100;
    return desk->index->ops->apply(desk->index, values, count, desk->position);
}

static void apply(struct desk *desk, const char *message)
{
    const char *messages[] = {message, NULL};
    cr_assert_eq(apply_all(desk, messages), RESULT_OK);
}

static void expect_field(struct desk *desk, const char *id, const char *field, const char *json)
{
    struct span row;
    cr_assert_eq(desk->index->ops->row(desk->index, span_text(id), &desk->arena, &row), RESULT_OK);
    struct span value = wire_find_text(row, field);
    cr_assert_gt(value.count, 0, "%s has no %s", id, field);
    cr_assert_str_eq(to_json(desk, value), json, "%s of %s", field, id);
}

static void expect_logs(struct desk *desk, const char *id, uint64_t first, uint32_t limit,
                        const char *json)
{
    struct span logs;
    cr_assert_eq(
        desk->index->ops->logs(desk->index, span_text(id), first, limit, &desk->arena, &logs),
        RESULT_OK);
    cr_assert_str_eq(to_json(desk, logs), json);
}

/* Asks for a page; returns its ids as "a b c" and its cursor ("" at the end). */
static const char *page(struct desk *desk, const char *query, const char **cursor)
{
    struct span out;
    struct span row;
    char text[512] = "";
    cr_assert_eq(desk->index->ops->list(desk->index, from_json(desk, query), &desk->arena, &out),
                 RESULT_OK, "%s", query);
    struct wire_map_walk walk = wire_array_begin(wire_find_text(out, "executions"));
    while (wire_array_next(&walk, &row)) {
        size_t used = strlen(text);
        snprintf(text + used, sizeof text - used, "%s%.*s", used > 0 ? " " : "",
                 SPAN_ARG(wire_string_or(wire_find_text(row, "executionId"), "?")));
    }
    struct span next = wire_string_or(wire_find_text(out, "cursor"), "");
    *cursor = (const char *)arena_copy(&desk->arena, next).bytes;
    return (const char *)arena_copy(&desk->arena, span_text(text)).bytes;
}

static void expect_list(struct desk *desk, const char *query, const char *ids)
{
    const char *cursor;
    cr_assert_str_eq(page(desk, query, &cursor), ids, "%s", query);
}

void contract_index_gives_a_row_back_as_its_message(struct contract_index *subject)
{
    struct desk desk = desk_open(subject);
    static const char message[] =
        "{\"messageId\":\"m-1\",\"executionId\":\"e-1\",\"run\":1,\"revision\":7,"
        "\"workspaceId\":\"w\",\"projectId\":\"p\",\"process\":\"order\",\"version\":3,"
        "\"channel\":\"web\",\"channelSessionId\":\"s/ü 1\",\"event\":\"completed\","
        "\"state\":40,\"status\":\"Completed\",\"lifecycle\":\"Completed\",\"sequence\":12,"
        "\"taskId\":\"end\",\"startedAt\":\"2026-11-30T10:00:00.000Z\","
        "\"updatedAt\":\"2026-11-30T10:00:01.000Z\",\"endedAt\":\"2026-11-30T10:00:01.000Z\","
        "\"payloadSizeBytes\":512,\"errorCode\":null,\"errorMessage\":null,\"isTest\":true,"
        "\"lastPersistedLogIndex\":9007199254740993}";

    apply(&desk, message);

    struct span row;
    cr_assert_eq(desk.index->ops->row(desk.index, span_text("e-1"), &desk.arena, &row), RESULT_OK);
    cr_assert_str_eq(to_json(&desk, row), message);
    desk_close(&desk);
}

void contract_index_says_not_found(struct contract_index *subject)
{
    struct desk desk = desk_open(subject);
    struct span out;
    apply(&desk, "{\"executionId\":\"e-1\",\"revision\":1}");

    cr_assert_eq(desk.index->ops->row(desk.index, span_text("e-2"), &desk.arena, &out),
                 RESULT_NOT_FOUND);
    cr_assert_eq(desk.index->ops->row(desk.index, span_text(""), &desk.arena, &out),
                 RESULT_NOT_FOUND);
    expect_logs(&desk, "e-2", 0, 10, "[]");
    desk_close(&desk);
}

void contract_index_writes_a_row_only_if_its_revision_is_newer(struct contract_index *subject)
{
    struct desk desk = desk_open(subject);

    apply(&desk, "{\"executionId\":\"e\",\"revision\":5,\"status\":\"five\",\"taskId\":\"t\"}");
    apply(&desk, "{\"executionId\":\"e\",\"revision\":4,\"status\":\"four\"}");
    apply(&desk, "{\"executionId\":\"e\",\"revision\":5,\"status\":\"again\"}");
    expect_field(&desk, "e", "status", "\"five\"");
    apply(&desk, "{\"executionId\":\"e\",\"revision\":6,\"status\":\"six\"}");

    expect_field(&desk, "e", "status", "\"six\"");
    expect_field(&desk, "e", "revision", "6");
    expect_field(&desk, "e", "taskId", "null");
    desk_close(&desk);
}

void contract_index_folds_several_messages_of_one_apply(struct contract_index *subject)
{
    struct desk desk = desk_open(subject);
    static const char *const messages[] = {
        "{\"executionId\":\"a\",\"revision\":1,\"status\":\"a1\",\"logs\":[{\"index\":0,"
        "\"message\":\"x\"}]}",
        "{\"executionId\":\"b\",\"revision\":1,\"status\":\"b1\"}",
        "{\"executionId\":\"a\",\"revision\":3,\"status\":\"a3\",\"logs\":[{\"index\":1,"
        "\"message\":\"y\"}]}",
        "{\"executionId\":\"a\",\"revision\":2,\"status\":\"a2\",\"logs\":[{\"index\":2,"
        "\"message\":\"z\"}]}",
        NULL,
    };

    cr_assert_eq(apply_all(&desk, messages), RESULT_OK);

    expect_field(&desk, "a", "status", "\"a3\"");
    expect_field(&desk, "b", "status", "\"b1\"");
    struct span logs;
    cr_assert_eq(desk.index->ops->logs(desk.index, span_text("a"), 0, 10, &desk.arena, &logs),
                 RESULT_OK);
    cr_assert_eq(wire_count(logs), 3, "no log is folded away");
    desk_close(&desk);
}

void contract_index_keeps_each_log_index_once_and_in_order(struct contract_index *subject)
{
    struct desk desk = desk_open(subject);
    apply(&desk, "{\"executionId\":\"e\",\"revision\":1,\"logs\":[{\"index\":2,\"message\":\"c\"},"
                 "{\"index\":0,\"message\":\"a\"}]}");
    apply(&desk, "{\"executionId\":\"e\",\"revision\":2,\"logs\":[{\"index\":1,\"message\":\"b\"},"
                 "{\"index\":2,\"message\":\"twice\"}]}");
    /* Fed again, as after a crash: an old revision, and all its logs once more. */
    apply(&desk, "{\"executionId\":\"e\",\"revision\":1,\"logs\":[{\"index\":2,\"message\":\"c\"},"
                 "{\"index\":0,\"message\":\"a\"},{\"index\":10,\"message\":\"late\"}]}");
    apply(&desk,
          "{\"executionId\":\"f\",\"revision\":1,\"logs\":[{\"index\":0,\"message\":\"f\"}]}");

    struct span logs;
    struct span entry;
    char text[100] = "";
    cr_assert_eq(desk.index->ops->logs(desk.index, span_text("e"), 0, 100, &desk.arena, &logs),
                 RESULT_OK);
    struct wire_map_walk walk = wire_array_begin(logs);
    while (wire_array_next(&walk, &entry)) {
        size_t used = strlen(text);
        snprintf(text + used, sizeof text - used, "%ld%.*s ",
                 (long)wire_int_or(wire_find_text(entry, "index"), -1),
                 SPAN_ARG(wire_string_or(wire_find_text(entry, "message"), "?")));
    }
    cr_assert_str_eq(text, "0a 1b 2c 10late ");
    cr_assert_eq(desk.index->ops->logs(desk.index, span_text("e"), 1, 2, &desk.arena, &logs),
                 RESULT_OK);
    cr_assert_eq(wire_count(logs), 2);
    cr_assert_eq(wire_int_or(wire_find_text(wire_at(logs, 0), "index"), -1), 1);
    desk_close(&desk);
}

void contract_index_gives_the_value_of_a_log_entry_back(struct contract_index *subject)
{
    struct desk desk = desk_open(subject);
    static const char entry[] =
        "{\"index\":0,\"at\":\"2026-11-30T10:00:00.000Z\",\"level\":\"INFO\","
        "\"message\":\"paid\",\"taskId\":\"pay\","
        "\"data\":{\"amount\":12.50,\"tags\":[\"a\",null,true]}}";
    char message[400];
    snprintf(message, sizeof message, "{\"executionId\":\"e\",\"revision\":1,\"logs\":[%s]}",
             entry);

    apply(&desk, message);

    char expected[400];
    snprintf(expected, sizeof expected, "[%s]", entry);
    expect_logs(&desk, "e", 0, 10, expected);
    desk_close(&desk);
}

void contract_index_keeps_position_and_rows_over_a_restart(struct contract_index *subject)
{
    struct desk desk = desk_open(subject);
    uint64_t position = 99;
    cr_assert_eq(desk.index->ops->position(desk.index, &position), RESULT_OK);
    cr_assert_eq(position, 0);
    apply(&desk, "{\"executionId\":\"e\",\"revision\":1,\"status\":\"Running\"}");
    cr_assert_eq(desk.index->ops->apply(desk.index, NULL, 0, (uint64_t)1 << 62), RESULT_OK);
    cr_assert_eq(desk.index->ops->flush(desk.index), RESULT_OK);

    desk.index->ops->close(desk.index);
    desk.index = subject->open(subject);

    cr_assert_eq(desk.index->ops->position(desk.index, &position), RESULT_OK);
    cr_assert_eq(position, (uint64_t)1 << 62);
    expect_field(&desk, "e", "status", "\"Running\"");
    cr_assert_eq(desk.index->ops->flush(desk.index), RESULT_OK);
    desk_close(&desk);
}

void contract_index_leaves_the_position_alone_where_there_is_none(struct contract_index *subject)
{
    struct desk desk = desk_open(subject);
    apply(&desk, "{\"executionId\":\"e\",\"revision\":1,\"status\":\"Running\"}");
    uint64_t before = 0;
    cr_assert_eq(desk.index->ops->position(desk.index, &before), RESULT_OK);

    desk.position = STORAGE_NO_POSITION - 100;
    apply(&desk, "{\"executionId\":\"e\",\"revision\":2,\"status\":\"Completed\"}");

    uint64_t after = 0;
    cr_assert_eq(desk.index->ops->position(desk.index, &after), RESULT_OK);
    cr_expect_eq(after, before);
    expect_field(&desk, "e", "status", "\"Completed\"");
    desk_close(&desk);
}

void contract_index_leaves_out_a_message_without_id_or_revision(struct contract_index *subject)
{
    struct desk desk = desk_open(subject);
    static const char *const messages[] = {
        "{\"executionId\":\"a\",\"status\":\"no revision\"}",
        "{\"revision\":1,\"status\":\"no id\"}",
        "[1,2,3]",
        "null",
        "{\"executionId\":5,\"revision\":1}",
        "{\"executionId\":\"b\",\"revision\":1,\"unknown\":{\"x\":1},\"status\":\"sound\","
        "\"logs\":[{\"message\":\"no index\"},7]}",
        NULL,
    };

    cr_assert_eq(apply_all(&desk, messages), RESULT_OK);

    expect_list(&desk, "{}", "b");
    expect_field(&desk, "b", "status", "\"sound\"");
    expect_logs(&desk, "b", 0, 10, "[]");
    desk_close(&desk);
}

static void apply_row(struct desk *desk, const char *id, int minute, const char *status,
                      const char *process)
{
    char message[400];
    snprintf(message, sizeof message,
             "{\"executionId\":\"%s\",\"revision\":1,\"workspaceId\":\"w\",\"projectId\":\"p\","
             "\"process\":\"%s\",\"status\":\"%s\",\"lifecycle\":\"Running\","
             "\"startedAt\":\"2026-11-30T10:%02d:00.000Z\"}",
             id, process, status, minute);
    apply(desk, message);
}

void contract_index_lists_the_newest_start_first_page_by_page(struct contract_index *subject)
{
    struct desk desk = desk_open(subject);
    const char *cursor;
    apply_row(&desk, "c", 2, "Running", "x");
    apply_row(&desk, "a", 1, "Running", "x");
    apply_row(&desk, "d", 2, "Running", "x");
    apply_row(&desk, "b", 2, "Running", "x");
    apply_row(&desk, "e", 0, "Running", "x");

    cr_assert_str_eq(page(&desk, "{}", &cursor), "d c b a e");
    cr_assert_str_eq(cursor, "");
    cr_assert_str_eq(page(&desk, "{\"limit\":2}", &cursor), "d c");
    char query[200];
    snprintf(query, sizeof query, "{\"limit\":2,\"cursor\":\"%s\"}", cursor);
    apply_row(&desk, "f", 9, "Running", "x"); /* begun meanwhile: before the page that was seen */
    cr_assert_str_eq(page(&desk, query, &cursor), "b a");
    snprintf(query, sizeof query, "{\"limit\":2,\"cursor\":\"%s\"}", cursor);
    cr_assert_str_eq(page(&desk, query, &cursor), "e");
    cr_assert_str_eq(cursor, "");
    desk_close(&desk);
}

void contract_index_filters_a_list(struct contract_index *subject)
{
    struct desk desk = desk_open(subject);
    apply_row(&desk, "a", 1, "Running", "order");
    apply_row(&desk, "b", 2, "Completed", "order");
    apply_row(&desk, "c", 3, "Running", "it's \\\"quoted\\\" --");
    apply_row(&desk, "d", 4, "Completed", "order");

    expect_list(&desk, "{\"status\":\"Running\"}", "c a");
    expect_list(&desk, "{\"status\":\"Completed\",\"process\":\"order\"}", "d b");
    expect_list(&desk, "{\"process\":\"it's \\\"quoted\\\" --\"}", "c");
    expect_list(&desk, "{\"lifecycle\":\"Running\",\"workspaceId\":\"w\",\"projectId\":\"p\"}",
                "d c b a");
    expect_list(&desk, "{\"workspaceId\":\"other\"}", "");
    expect_list(&desk, "{\"projectId\":\"other\"}", "");
    expect_list(&desk, "{\"lifecycle\":\"Failed\"}", "");
    expect_list(&desk, "{\"since\":\"2026-11-30T10:03:00Z\"}", "d c");
    expect_list(&desk, "{\"since\":\"2026-11-30T11:03:00.000+01:00\",\"status\":null}", "d c");
    expect_list(&desk, "{\"status\":\"Completed\",\"limit\":1}", "d");
    desk_close(&desk);
}

void contract_index_refuses_a_bad_query(struct contract_index *subject)
{
    struct desk desk = desk_open(subject);
    static const char *const queries[] = {
        "{\"limit\":0}",         "{\"limit\":1001}",       "{\"limit\":-1}",
        "{\"limit\":\"10\"}",    "{\"status\":1}",         "{\"since\":\"yesterday\"}",
        "{\"cursor\":\"abc\"}",  "{\"cursor\":7}",         "{\"cursor\":\"2026/\"}",
        "{\"process\":[\"x\"]}", "{\"workspaceId\":true}", "{\"cursor\":\"../x\"}",
    };

    for (size_t i = 0; i < sizeof queries / sizeof queries[0]; i++) {
        struct span out;
        cr_assert_eq(
            desk.index->ops->list(desk.index, from_json(&desk, queries[i]), &desk.arena, &out),
            RESULT_INVALID, "%s", queries[i]);
    }
    desk_close(&desk);
}

void contract_index_follows_a_restart_to_its_new_start(struct contract_index *subject)
{
    struct desk desk = desk_open(subject);
    apply_row(&desk, "a", 1, "Completed", "x");
    apply_row(&desk, "b", 2, "Completed", "x");

    apply(&desk, "{\"executionId\":\"a\",\"run\":2,\"revision\":9,"
                 "\"startedAt\":\"2026-11-30T11:00:00.000Z\"}");
    expect_list(&desk, "{}", "a b");
    expect_field(&desk, "a", "startedAt", "\"2026-11-30T11:00:00.000Z\"");
    apply(&desk, "{\"executionId\":\"a\",\"run\":2,\"revision\":8,"
                 "\"startedAt\":\"2026-11-30T09:00:00.000Z\"}");

    expect_list(&desk, "{}", "a b");
    expect_field(&desk, "a", "startedAt", "\"2026-11-30T11:00:00.000Z\"");
    desk_close(&desk);
}

void contract_index_removes_row_and_logs(struct contract_index *subject)
{
    struct desk desk = desk_open(subject);
    struct span row;
    apply(&desk,
          "{\"executionId\":\"a\",\"revision\":1,\"logs\":[{\"index\":0,\"message\":\"x\"}]}");
    apply(&desk,
          "{\"executionId\":\"b\",\"revision\":1,\"logs\":[{\"index\":0,\"message\":\"x\"}]}");

    cr_assert_eq(desk.index->ops->remove(desk.index, span_text("a")), RESULT_OK);
    cr_assert_eq(desk.index->ops->remove(desk.index, span_text("none")), RESULT_OK);

    cr_assert_eq(desk.index->ops->row(desk.index, span_text("a"), &desk.arena, &row),
                 RESULT_NOT_FOUND);
    expect_logs(&desk, "a", 0, 10, "[]");
    expect_list(&desk, "{}", "b");
    desk_close(&desk);
}

void contract_index_says_full_and_changes_nothing(struct contract_index *subject)
{
    struct desk desk = desk_open(subject);
    static char message[70000];
    uint64_t before = 0;
    uint64_t after = 0;
    apply(&desk, "{\"executionId\":\"a\",\"revision\":1,\"status\":\"before\"}");
    subject->set_full(subject, true);

    enum result result = RESULT_OK;
    for (int i = 2; i < 2000 && result == RESULT_OK; i++) {
        const char *messages[] = {message, NULL};
        int used = snprintf(message, sizeof message,
                            "{\"executionId\":\"a\",\"revision\":%d,\"status\":\"%d\",\"logs\":["
                            "{\"index\":%d,\"message\":\"%060000d\"}]}",
                            i, i, i, i);
        cr_assert_lt(used, (int)sizeof message);
        cr_assert_eq(desk.index->ops->position(desk.index, &before), RESULT_OK);
        result = apply_all(&desk, messages);
        arena_clear(&desk.arena);
    }

    cr_assert_eq(result, RESULT_FULL, "%s", result_text(result));
    cr_assert_eq(desk.index->ops->position(desk.index, &after), RESULT_OK);
    cr_assert_eq(after, before, "the position of a failed apply is not kept");
    subject->set_full(subject, false);
    apply(&desk, "{\"executionId\":\"a\",\"revision\":5000,\"status\":\"after\"}");
    expect_field(&desk, "a", "status", "\"after\"");
    desk_close(&desk);
}

void contract_index_applies_many_messages_at_once(struct contract_index *subject)
{
    struct desk desk = desk_open(subject);
    static struct span messages[MANY];
    char message[300];
    for (uint32_t i = 0; i < MANY; i++) {
        snprintf(message, sizeof message,
                 "{\"executionId\":\"e-%05u\",\"revision\":%u,\"status\":\"%s\","
                 "\"startedAt\":\"2026-11-30T10:00:00.%03uZ\"}",
                 i / 2, i % 2 + 1, i % 2 == 0 ? "Running" : "Completed", i / 10);
        messages[i] = from_json(&desk, message);
    }

    cr_assert_eq(desk.index->ops->apply(desk.index, messages, MANY, 1), RESULT_OK);

    for (uint32_t i = 0; i < MANY / 2; i += 50) {
        char id[16];
        snprintf(id, sizeof id, "e-%05u", i);
        expect_field(&desk, id, "status", "\"Completed\"");
    }
    expect_list(&desk, "{\"limit\":3}", "e-02499 e-02498 e-02497");
    desk_close(&desk);
}

void contract_index_keeps_texts_as_they_are(struct contract_index *subject)
{
    /* As JSON, which is how they come and go. */
    static const char *const texts[] = {"\"\"",
                                        "\"NULL\"",
                                        "\"null\"",
                                        "\"{}\"",
                                        "\"{a,b}\"",
                                        "\"a,b\"",
                                        "\"\\\"\"",
                                        "\"\\\\\"",
                                        "\"\\\\N\"",
                                        "\"' ; --\"",
                                        "\" two  blanks \"",
                                        "\"?\"",
                                        "\"a\\nb\\tc\"",
                                        "\"\\\\\\\"\\\\\"",
                                        "\"$1\"",
                                        "\"%s\"",
                                        "\"\xf0\x9f\x98\x80 \xc3\xbc\""};
    enum { TEXTS = sizeof texts / sizeof texts[0] };
    struct desk desk = desk_open(subject);
    struct span messages[TEXTS];
    char message[400];
    for (size_t i = 0; i < TEXTS; i++) {
        snprintf(message, sizeof message,
                 "{\"executionId\":\"e-%02zu\",\"revision\":1,\"status\":%s,\"logs\":[{\"index\":1,"
                 "\"message\":%s},{\"index\":2,\"level\":%s,\"data\":[%s]}]}",
                 i, texts[i], texts[i], texts[i], texts[i]);
        messages[i] = from_json(&desk, message);
    }

    cr_assert_eq(desk.index->ops->apply(desk.index, messages, TEXTS, 1), RESULT_OK);

    for (size_t i = 0; i < TEXTS; i++) {
        char id[16];
        char logs[400];
        snprintf(id, sizeof id, "e-%02zu", i);
        snprintf(logs, sizeof logs,
                 "[{\"index\":1,\"at\":null,\"level\":null,\"message\":%s,\"taskId\":null,\"data\":"
                 "null},{\"index\":2,\"at\":null,\"level\":%s,\"message\":null,\"taskId\":null,"
                 "\"data\":[%s]}]",
                 texts[i], texts[i], texts[i]);
        expect_field(&desk, id, "status", texts[i]);
        expect_field(&desk, id, "errorMessage", "null");
        expect_logs(&desk, id, 0, 10, logs);
    }
    desk_close(&desk);
}

void contract_index_keeps_large_texts_beside_small_ones(struct contract_index *subject)
{
    struct desk desk = desk_open(subject);
    static char large[LARGE + 200];
    struct span messages[LARGES + 1];
    for (uint32_t i = 0; i < LARGES; i++) {
        int head = snprintf(large, sizeof large,
                            "{\"executionId\":\"l-%u\",\"revision\":1,\"logs\":[{\"index\":1,"
                            "\"message\":\"",
                            (unsigned)i);
        memset(large + head, 'a' + (int)i, LARGE);
        snprintf(large + head + LARGE, 10, "\"}]}");
        messages[i] = from_json(&desk, large);
    }
    messages[LARGES] =
        from_json(&desk, "{\"executionId\":\"s\",\"revision\":1,\"status\":\"Running\"}");

    cr_assert_eq(desk.index->ops->apply(desk.index, messages, LARGES + 1, 1), RESULT_OK);

    expect_field(&desk, "s", "status", "\"Running\"");
    for (uint32_t i = 0; i < LARGES; i++) {
        char id[16];
        struct span logs;
        snprintf(id, sizeof id, "l-%u", (unsigned)i);
        cr_assert_eq(desk.index->ops->logs(desk.index, span_text(id), 0, 10, &desk.arena, &logs),
                     RESULT_OK);
        struct span text = wire_string_or(wire_find_text(wire_at(logs, 0), "message"), "");
        cr_assert_eq(text.count, LARGE);
        cr_expect_eq(text.bytes[0], 'a' + i);
        cr_expect_eq(text.bytes[LARGE - 1], 'a' + i);
    }
    desk_close(&desk);
}
