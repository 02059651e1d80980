/*
 * print.c: see print.h.
 */
#include "tools/strider/print.h"

#include <stdio.h>
#include <unistd.h>

#include "proto/base/assert.h"
#include "proto/wire/json.h"
#include "proto/wire/reader.h"

#define CELL_WIDTH_MAX 64u
#define GAP            "  "

bool cli_wants_json(const struct cli_arguments *arguments)
{
    return cli_option_flag(arguments, "json") || !isatty(STDOUT_FILENO);
}

void cli_print_json(struct span value, struct arena *arena)
{
    struct span text;
    enum json_style style = isatty(STDOUT_FILENO) ? JSON_PRETTY : JSON_COMPACT;
    if (json_from_wire(value, style, arena, &text) == RESULT_OK) {
        printf("%.*s\n", SPAN_ARG(text));
    }
}

/* ---- cells ---- */

static struct span clean(struct span text, struct arena *arena)
{
    uint8_t *bytes = arena_alloc(arena, text.count + 1);
    if (bytes == NULL) {
        return SPAN_EMPTY;
    }
    for (size_t i = 0; i < text.count; i++) {
        bytes[i] = text.bytes[i] < 0x20 || text.bytes[i] == 0x7f ? ' ' : text.bytes[i];
    }
    return span_of(bytes, text.count);
}

static struct span cell_of_waits(struct span waits, struct arena *arena)
{
    struct span text = SPAN_EMPTY;
    struct wire_map_walk walk = wire_array_begin(waits);
    struct span wait;
    while (wire_array_next(&walk, &wait)) {
        struct span task = wire_string_or(wire_find_text(wait, "taskId"), "");
        struct span kind = wire_string_or(wire_find_text(wait, "kind"), "");
        text = arena_format(arena, "%.*s%s%.*s (%.*s)", SPAN_ARG(text), text.count == 0 ? "" : ", ",
                            SPAN_ARG(task), SPAN_ARG(kind));
    }
    return clean(text, arena);
}

static struct span cell_of_texts(struct span texts, struct arena *arena)
{
    struct span text = SPAN_EMPTY;
    struct wire_map_walk walk = wire_array_begin(texts);
    struct span item;
    while (wire_array_next(&walk, &item)) {
        struct span word = wire_string_or(item, "?");
        text = arena_format(arena, "%.*s%s%.*s", SPAN_ARG(text), text.count == 0 ? "" : ", ",
                            SPAN_ARG(word));
    }
    return clean(text, arena);
}

struct span cli_cell(struct span value, struct arena *arena)
{
    struct span text = SPAN_EMPTY;
    if (value.count == 0 || wire_is(value, WIRE_NIL)) {
        return text;
    }
    if (wire_is(value, WIRE_STRING)) {
        return clean(wire_head(value).as.text, arena);
    }
    if (wire_count(value) == 0 && (wire_is(value, WIRE_MAP) || wire_is(value, WIRE_ARRAY))) {
        return text;
    }
    if (wire_is(value, WIRE_ARRAY) && wire_find_text(wire_at(value, 0), "kind").count > 0) {
        return cell_of_waits(value, arena);
    }
    if (wire_is(wire_at(value, 0), WIRE_STRING)) {
        return cell_of_texts(value, arena);
    }
    if (json_from_wire(value, JSON_COMPACT, arena, &text) != RESULT_OK) {
        return SPAN_EMPTY;
    }
    return text;
}

/* Columns on a terminal, about: one for each code point. */
static size_t width_of(struct span text)
{
    size_t width = 0;
    for (size_t i = 0; i < text.count; i++) {
        width += (text.bytes[i] & 0xc0) != 0x80;
    }
    return width;
}

/* The text in `width` columns, cut with an ellipsis when it is longer; nothing behind it when
 * `last`. */
static void print_cell(struct span text, size_t width, bool last)
{
    size_t columns = 0;
    size_t bytes = 0;
    size_t room = width_of(text) > width ? width - 1 : width;
    while (bytes < text.count) {
        columns += (text.bytes[bytes] & 0xc0) != 0x80;
        if (columns > room) {
            break;
        }
        bytes++;
    }
    printf("%.*s%s", (int)bytes, (const char *)text.bytes, bytes < text.count ? "…" : "");
    size_t used = bytes < text.count ? width : width_of(text);
    if (!last) {
        printf("%*s" GAP, (int)(width - used), "");
    }
}

/* ---- tables ---- */

void cli_print_table(const struct cli_column *columns, struct span rows, struct arena *arena)
{
    size_t column_count = 0;
    while (columns[column_count].heading != NULL) {
        column_count++;
    }
    ASSERT(column_count <= CLI_COLUMNS_MAX);
    uint32_t row_count = wire_count(rows);
    struct span *cells = arena_zero(arena, row_count * column_count * sizeof(*cells) + 1);
    if (cells == NULL) {
        return;
    }
    size_t widths[CLI_COLUMNS_MAX] = {0};
    size_t last = 0;
    struct wire_map_walk walk = wire_array_begin(rows);
    struct span row;
    for (struct span *cell = cells; wire_array_next(&walk, &row);) {
        for (size_t i = 0; i < column_count; i++, cell++) {
            *cell = cli_cell(wire_find_text(row, columns[i].key), arena);
            size_t width = width_of(*cell) < CELL_WIDTH_MAX ? width_of(*cell) : CELL_WIDTH_MAX;
            widths[i] = width > widths[i] ? width : widths[i];
            last = width > 0 && i > last ? i : last;
        }
    }
    for (size_t i = 0; i < column_count; i++) {
        size_t heading = strlen(columns[i].heading);
        if (widths[i] > 0) {
            widths[i] = heading > widths[i] ? heading : widths[i];
            print_cell(span_text(columns[i].heading), widths[i], i == last);
        }
    }
    printf("%s", row_count == 0 ? "" : "\n");
    for (uint32_t at = 0; at < row_count; at++) {
        for (size_t i = 0; i < column_count; i++) {
            if (widths[i] > 0) {
                print_cell(cells[at * column_count + i], widths[i], i == last);
            }
        }
        printf("\n");
    }
}

void cli_print_members(struct span map, struct arena *arena)
{
    size_t width = 0;
    struct span key;
    struct span value;
    for (struct wire_map_walk walk = wire_map_begin(map); wire_map_next(&walk, &key, &value);) {
        width = width_of(key) > width && cli_cell(value, arena).count > 0 ? width_of(key) : width;
    }
    for (struct wire_map_walk walk = wire_map_begin(map); wire_map_next(&walk, &key, &value);) {
        struct span cell = cli_cell(value, arena);
        if (cell.count > 0) {
            print_cell(clean(key, arena), width, false);
            printf("%.*s\n", SPAN_ARG(cell));
        }
    }
}
