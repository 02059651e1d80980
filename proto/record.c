/*
 * record.c: records as rows of a table: which fields a kind has, in which order. Writing and
 * reading both walk the row.
 */
#include "proto/record.h"

#include "proto/base/assert.h"
#include "proto/wire/reader.h"
#include "proto/wire/writer.h"

enum { RECORD_HEAD_BYTES = 5, RECORD_FIELDS_MAX = 5 };

enum field {
    FIELD_END = 0,
    FIELD_EXECUTION,
    FIELD_WORKSPACE,
    FIELD_PROJECT,
    FIELD_NAME,
    FIELD_NUMBER,
    FIELD_AT,
    FIELD_BINARY, /* the body as one binary */
    FIELD_VALUE,  /* the body is one value */
    FIELD_RUN,    /* the body is a run of values: all elements that are left */
};

struct layout {
    enum field fields[RECORD_FIELDS_MAX + 1];
};

static const struct layout layouts[] = {
    [PROTO_RECORD_EVENTS] = {{FIELD_EXECUTION, FIELD_NUMBER, FIELD_RUN}},
    [PROTO_RECORD_SNAPSHOT] = {{FIELD_EXECUTION, FIELD_WORKSPACE, FIELD_NUMBER, FIELD_BINARY}},
    [PROTO_RECORD_STEP] = {{FIELD_WORKSPACE, FIELD_EXECUTION, FIELD_NAME, FIELD_BINARY}},
    [PROTO_RECORD_AUDIT] = {{FIELD_EXECUTION, FIELD_NUMBER, FIELD_VALUE}},
    [PROTO_RECORD_REQUEST] = {{FIELD_WORKSPACE, FIELD_NAME, FIELD_NUMBER, FIELD_AT, FIELD_BINARY}},
    [PROTO_RECORD_DEFINITION] = {{FIELD_PROJECT, FIELD_NAME, FIELD_NUMBER, FIELD_AT, FIELD_BINARY}},
    [PROTO_RECORD_FORGET] = {{FIELD_EXECUTION, FIELD_WORKSPACE}},
    [PROTO_RECORD_MESSAGE] = {{FIELD_WORKSPACE, FIELD_PROJECT, FIELD_NAME, FIELD_AT, FIELD_VALUE}},
    [PROTO_RECORD_MESSAGE_TAKEN] = {{FIELD_NAME}},
    [PROTO_RECORD_TRIGGER] = {{FIELD_PROJECT, FIELD_NAME, FIELD_NUMBER, FIELD_AT, FIELD_VALUE}},
};

static uint32_t fields_count(const struct layout *layout)
{
    uint32_t count = 0;
    while (layout->fields[count] != FIELD_END) {
        count++;
    }
    return count;
}

static uint32_t values_count(struct span run)
{
    struct wire_cursor cursor = wire_cursor(run);
    uint32_t count = 0;
    while (cursor.next < cursor.end) {
        enum result result = wire_skip(&cursor);
        ASSERT(result == RESULT_OK);
        count++;
    }
    return count;
}

static void write_field(struct wire_writer *batch, enum field field,
                        const struct proto_record *record)
{
    switch (field) {
    case FIELD_EXECUTION:
        wire_write_string(batch, record->execution_id);
        return;
    case FIELD_WORKSPACE:
        wire_write_string(batch, record->workspace_id);
        return;
    case FIELD_PROJECT:
        wire_write_string(batch, record->project_id);
        return;
    case FIELD_NAME:
        wire_write_string(batch, record->name);
        return;
    case FIELD_NUMBER:
        wire_write_uint(batch, record->number);
        return;
    case FIELD_AT:
        wire_write_int(batch, record->at_ms);
        return;
    case FIELD_BINARY:
        wire_write_binary(batch, record->body);
        return;
    case FIELD_VALUE:
        wire_write_value(batch, record->body);
        return;
    case FIELD_RUN:
        wire_write_raw(batch, record->body);
        return;
    case FIELD_END:
        break;
    }
    ASSERT_UNREACHABLE();
}

void record_write(struct wire_writer *batch, const struct proto_record *record)
{
    ASSERT(record->kind > PROTO_RECORD_NONE && record->kind <= PROTO_RECORD_LAST);
    const struct layout *layout = &layouts[record->kind];
    size_t mark = batch->count;
    uint8_t head[RECORD_HEAD_BYTES] = {[4] = (uint8_t)record->kind};
    wire_write_raw(batch, span_of(head, sizeof head));
    uint32_t count = fields_count(layout);
    bool has_run = layout->fields[count - 1] == FIELD_RUN;
    wire_write_array(batch, has_run ? count - 1 + values_count(record->body) : count);
    for (const enum field *field = layout->fields; *field != FIELD_END; field++) {
        write_field(batch, *field, record);
    }
    size_t body_bytes = batch->count - mark - RECORD_HEAD_BYTES;
    if (body_bytes > UINT32_MAX) {
        batch->arena->overflowed = true;
    }
    if (batch->arena->overflowed) {
        return; /* the head may be missing, and the batch will not be used */
    }
    for (unsigned i = 0; i < 4; i++) {
        batch->bytes[mark + i] = (uint8_t)(body_bytes >> 8 * i);
    }
}

static bool read_text(struct wire_cursor *cursor, enum wire_type type, struct span *out)
{
    struct wire_value value;
    if (wire_read(cursor, &value) != RESULT_OK || value.type != type) {
        return false;
    }
    *out = value.as.text;
    return true;
}

static bool read_number(struct wire_cursor *cursor, uint64_t *out)
{
    struct wire_value value;
    if (wire_read(cursor, &value) != RESULT_OK ||
        (value.type != WIRE_INT && value.type != WIRE_UINT)) {
        return false;
    }
    *out = value.as.unsigned_integer;
    return value.type == WIRE_UINT || value.as.integer >= 0;
}

static bool read_time(struct wire_cursor *cursor, int64_t *out)
{
    struct wire_value value;
    if (wire_read(cursor, &value) != RESULT_OK || value.type != WIRE_INT) {
        return false;
    }
    *out = value.as.integer;
    return true;
}

/* `count` whole values, as one span. */
static bool read_run(struct wire_cursor *cursor, uint32_t count, struct span *out)
{
    const uint8_t *start = cursor->next;
    for (; count > 0; count--) {
        if (wire_skip(cursor) != RESULT_OK) {
            return false;
        }
    }
    *out = span_of(start, (size_t)(cursor->next - start));
    return true;
}

static bool read_field(struct wire_cursor *cursor, enum field field, uint32_t left,
                       struct proto_record *out)
{
    switch (field) {
    case FIELD_EXECUTION:
        return read_text(cursor, WIRE_STRING, &out->execution_id);
    case FIELD_WORKSPACE:
        return read_text(cursor, WIRE_STRING, &out->workspace_id);
    case FIELD_PROJECT:
        return read_text(cursor, WIRE_STRING, &out->project_id);
    case FIELD_NAME:
        return read_text(cursor, WIRE_STRING, &out->name);
    case FIELD_NUMBER:
        return read_number(cursor, &out->number);
    case FIELD_AT:
        return read_time(cursor, &out->at_ms);
    case FIELD_BINARY:
        return read_text(cursor, WIRE_BINARY, &out->body);
    case FIELD_VALUE:
        return wire_take(cursor, &out->body) == RESULT_OK;
    case FIELD_RUN:
        return read_run(cursor, left, &out->body);
    case FIELD_END:
        break;
    }
    ASSERT_UNREACHABLE();
}

static bool read_body(struct span body, struct proto_record *out)
{
    const struct layout *layout = &layouts[out->kind];
    struct wire_cursor cursor = wire_cursor(body);
    struct wire_value head;
    uint32_t count = fields_count(layout);
    bool has_run = layout->fields[count - 1] == FIELD_RUN;
    if (wire_read(&cursor, &head) != RESULT_OK || head.type != WIRE_ARRAY ||
        (has_run ? head.as.count < count - 1 : head.as.count != count)) {
        return false;
    }
    for (uint32_t i = 0; i < count; i++) {
        if (!read_field(&cursor, layout->fields[i], head.as.count - i, out)) {
            return false;
        }
    }
    return cursor.next == cursor.end;
}

/* RESULT_OK: `kind` and the body of the batch's next record. */
static enum result read_head(struct span batch, enum proto_record_kind *kind, struct span *body)
{
    if (batch.count == 0) {
        return RESULT_NOT_FOUND;
    }
    if (batch.count < RECORD_HEAD_BYTES) {
        return RESULT_CORRUPT;
    }
    const uint8_t *head = batch.bytes;
    size_t body_bytes =
        head[0] | (size_t)head[1] << 8 | (size_t)head[2] << 16 | (size_t)head[3] << 24;
    if (body_bytes > batch.count - RECORD_HEAD_BYTES || head[4] == PROTO_RECORD_NONE ||
        head[4] > PROTO_RECORD_LAST) {
        return RESULT_CORRUPT;
    }
    *kind = (enum proto_record_kind)head[4];
    *body = span_of(head + RECORD_HEAD_BYTES, body_bytes);
    return RESULT_OK;
}

enum result record_read(struct span *batch, struct proto_record *out)
{
    return record_read_only(batch, UINT32_MAX, out);
}

enum result record_read_only(struct span *batch, uint32_t kinds, struct proto_record *out)
{
    *out = (struct proto_record){0};
    for (;;) {
        enum proto_record_kind kind = PROTO_RECORD_NONE;
        struct span body = SPAN_EMPTY;
        enum result result = read_head(*batch, &kind, &body);
        if (result != RESULT_OK) {
            return result;
        }
        out->kind = kind;
        bool wanted = (kinds & PROTO_RECORD_BIT(kind)) != 0;
        if (wanted && !read_body(body, out)) {
            *out = (struct proto_record){0};
            return RESULT_CORRUPT;
        }
        const uint8_t *behind = body.bytes + body.count;
        *batch = span_of(behind, batch->count - RECORD_HEAD_BYTES - body.count);
        if (wanted) {
            return RESULT_OK;
        }
        out->kind = PROTO_RECORD_NONE;
    }
}
