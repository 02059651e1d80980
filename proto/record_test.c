#include "proto/record.h"

#include <criterion/criterion.h>

#include "proto/wire/reader.h"
#include "proto/wire/writer.h"

static struct arena arena;
static struct wire_writer batch;

static void set_up(void)
{
    arena_init(&arena, 4096, 1u << 20);
    wire_writer_init(&batch, &arena, 0);
}

static void tear_down(void)
{
    arena_release(&arena);
}

TestSuite(record, .init = set_up, .fini = tear_down);

#define TEXT(literal)                                                                              \
    {                                                                                              \
        (const uint8_t *)(literal), sizeof(literal) - 1                                            \
    }

/* One of each kind; fields that a kind does not have are empty. */
static const struct proto_record samples[] = {
    {.kind = PROTO_RECORD_EVENTS,
     .execution_id = TEXT("e1"),
     .number = 7,
     .body = TEXT("\x92\x01\x02\xc3\xa1x")},
    {.kind = PROTO_RECORD_EVENTS, .execution_id = TEXT("e1"), .number = 8, .body = TEXT("")},
    {.kind = PROTO_RECORD_SNAPSHOT,
     .execution_id = TEXT("e1"),
     .workspace_id = TEXT("w"),
     .number = PROTO_SNAPSHOT_WAITING | PROTO_SNAPSHOT_INTERIM,
     .body = TEXT("\x00\xff raw")},
    {.kind = PROTO_RECORD_STEP,
     .execution_id = TEXT("e1"),
     .workspace_id = TEXT("w"),
     .name = TEXT("s1"),
     .body = TEXT("blob")},
    {.kind = PROTO_RECORD_AUDIT,
     .execution_id = TEXT("e1"),
     .number = UINT64_MAX,
     .body = TEXT("\x81\xa1k\x01")},
    {.kind = PROTO_RECORD_REQUEST,
     .workspace_id = TEXT("w"),
     .name = TEXT("r1"),
     .number = 0x8000000000000001u,
     .at_ms = 1234567890123,
     .body = TEXT("reply")},
    {.kind = PROTO_RECORD_DEFINITION,
     .project_id = TEXT("p"),
     .name = TEXT("order.bpmn"),
     .number = 3,
     .at_ms = -5,
     .body = TEXT("<definitions/>")},
    {.kind = PROTO_RECORD_FORGET, .execution_id = TEXT("e1"), .workspace_id = TEXT("w")},
    {.kind = PROTO_RECORD_MESSAGE,
     .workspace_id = TEXT("w"),
     .project_id = TEXT("p"),
     .name = TEXT("m1"),
     .at_ms = 5,
     .body = TEXT("\xc0")},
    {.kind = PROTO_RECORD_MESSAGE_TAKEN, .name = TEXT("m1")},
    {.kind = PROTO_RECORD_TRIGGER,
     .project_id = TEXT("p"),
     .name = TEXT("n"),
     .number = 1,
     .at_ms = 5,
     .body = TEXT("\xc0")},
};

enum { SAMPLES = sizeof samples / sizeof samples[0] };

static struct span write_all(void)
{
    for (size_t i = 0; i < SAMPLES; i++) {
        record_write(&batch, &samples[i]);
    }
    return wire_writer_span(&batch);
}

Test(record, every_kind_reads_back_as_written)
{
    struct span rest = write_all();
    for (size_t i = 0; i < SAMPLES; i++) {
        struct proto_record record;
        cr_assert_eq(record_read(&rest, &record), RESULT_OK, "sample %zu", i);
        cr_expect_eq(record.kind, samples[i].kind, "sample %zu", i);
        cr_expect(span_equal(record.execution_id, samples[i].execution_id), "sample %zu", i);
        cr_expect(span_equal(record.workspace_id, samples[i].workspace_id), "sample %zu", i);
        cr_expect(span_equal(record.project_id, samples[i].project_id), "sample %zu", i);
        cr_expect(span_equal(record.name, samples[i].name), "sample %zu", i);
        cr_expect(span_equal(record.body, samples[i].body), "sample %zu", i);
        cr_expect_eq(record.number, samples[i].number, "sample %zu", i);
        cr_expect_eq(record.at_ms, samples[i].at_ms, "sample %zu", i);
    }
    struct proto_record record;
    cr_expect_eq(record_read(&rest, &record), RESULT_NOT_FOUND);
}

Test(record, bytes_on_disk_never_change)
{
    record_write(&batch, &samples[0]);
    for (size_t i = SAMPLES - 4; i < SAMPLES; i++) { /* FORGET, MESSAGE, MESSAGE_TAKEN, TRIGGER */
        record_write(&batch, &samples[i]);
    }
    static const char golden[] = "\x0b\0\0\0\x01\x95\xa2"
                                 "e1\x07\x92\x01\x02\xc3\xa1x"
                                 "\x06\0\0\0\x07\x92\xa2"
                                 "e1\xa1w"
                                 "\x0a\0\0\0\x08\x95\xa1w\xa1p\xa2m1\x05\xc0"
                                 "\x04\0\0\0\x09\x91\xa2m1"
                                 "\x08\0\0\0\x0a\x95\xa1p\xa1n\x01\x05\xc0";
    struct span written = wire_writer_span(&batch);
    cr_expect_eq(written.count, sizeof golden - 1);
    cr_expect(span_equal(written, span_of(golden, sizeof golden - 1)));
}

Test(record, a_batch_cut_at_any_byte_is_corrupt_or_ends_between_records)
{
    struct span whole = write_all();
    for (size_t count = 0; count < whole.count; count++) {
        struct span rest = span_of(whole.bytes, count);
        struct proto_record record;
        enum result result;
        size_t taken = 0;
        do {
            taken = rest.count;
            result = record_read(&rest, &record);
        } while (result == RESULT_OK);
        cr_expect_eq(result, taken == 0 ? RESULT_NOT_FOUND : RESULT_CORRUPT, "cut to %zu", count);
        cr_expect_eq(rest.count, taken, "a refused record is not consumed");
    }
}

Test(record, what_is_no_record_is_corrupt)
{
    static const struct {
        const char *bytes;
        size_t count;
    } rows[] = {
        {"\x01\0\0\0\x00\x90", 6}, /* no kind 0 */
        {"\x01\0\0\0\x08\x90", 6}, /* nor 8 */
        {"\x01\0\0\0\xff\x90", 6},
        {"\xff\xff\xff\xff\x01\x90", 6}, /* longer than there is */
        {"\x01\0\0\0\x07\x90", 6},       /* too few fields */
        {"\x07\0\0\0\x07\x93\xa2"
         "e1\xa1w\xc0",
         12}, /* too many */
        {"\x07\0\0\0\x07\x92\xa2"
         "e1\xa1w\xc0",
         12},                              /* bytes behind the body */
        {"\x03\0\0\0\x07\x92\x01\x02", 8}, /* wrong types */
        {"\x05\0\0\0\x01\x92\xa2"
         "e1\xff",
         10},                      /* a negative sequence */
        {"\x01\0\0\0\x01\xc0", 6}, /* no array */
        {"\0\0\0\0\x01", 5},       /* no body */
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct span batch_bytes = span_of(rows[i].bytes, rows[i].count);
        struct proto_record record;
        cr_expect_eq(record_read(&batch_bytes, &record), RESULT_CORRUPT, "row %zu", i);
        cr_expect_eq(record.kind, PROTO_RECORD_NONE, "row %zu", i);
    }
}

Test(record, of_some_kinds_only_the_others_are_stepped_over)
{
    static const char bytes[] = "\x01\0\0\0\x01\xc0" /* events, no array */
                                "\x06\0\0\0\x07\x92\xa2"
                                "e1\xa1w"             /* forget */
                                "\x01\0\0\0\x03\xc0"; /* a step, no array */
    struct span rest = span_of(bytes, sizeof bytes - 1);
    struct proto_record record;
    cr_expect_eq(record_read_only(&rest, PROTO_RECORD_BIT(PROTO_RECORD_FORGET), &record),
                 RESULT_OK);
    cr_expect_eq(record.kind, PROTO_RECORD_FORGET);
    cr_expect(span_equal(record.execution_id, span_text("e1")));
    cr_expect_eq(record_read_only(&rest, PROTO_RECORD_BIT(PROTO_RECORD_FORGET), &record),
                 RESULT_NOT_FOUND);
    cr_expect_eq(record.kind, PROTO_RECORD_NONE);
    rest = span_of(bytes, sizeof bytes - 2);
    cr_expect_eq(record_read_only(&rest, 0, &record), RESULT_CORRUPT, "cut");
    cr_expect_eq(record.kind, PROTO_RECORD_NONE);
}

Test(record, an_overflowed_arena_leaves_no_batch)
{
    struct arena small;
    arena_init(&small, 256, 300);
    struct wire_writer full;
    wire_writer_init(&full, &small, 64);
    for (int i = 0; i < 100; i++) {
        record_write(&full, &samples[i % SAMPLES]);
    }
    cr_expect(small.overflowed);
    cr_expect_eq(wire_writer_span(&full).count, 0u);
    arena_release(&small);
}
