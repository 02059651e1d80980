/*
 * print.h: results on stdout: JSON for programs, aligned text for people. Text from outside never
 * reaches a terminal with control characters in it.
 */
#ifndef TOOLS_STRIDER_PRINT_H
#define TOOLS_STRIDER_PRINT_H

#include "proto/base/arena.h"
#include "proto/base/span.h"
#include "tools/strider/verb.h"

/* JSON: asked for by --json, or stdout is no terminal. */
bool cli_wants_json(const struct cli_arguments *arguments);
/* One value and a newline: on one line, or laid out when stdout is a terminal. */
void cli_print_json(struct span value, struct arena *arena);

struct cli_column {
    const char *heading;
    const char *key; /* of the row's map */
};

#define CLI_COLUMNS_MAX 12u

/* Rows: an ARRAY value of maps. Columns end with a NULL heading; one that is empty in every row is
 * left out. */
void cli_print_table(const struct cli_column *columns, struct span rows, struct arena *arena);
/* "Name  value" lines of a MAP value's members, those that are empty left out; maps and lists as
 * JSON. */
void cli_print_members(struct span map, struct arena *arena);
/*
 * A value as a cell: text as it is, control characters replaced; a list of texts as "a, b"; a list
 * of waits as "approve (human), pay (retry)"; all else as JSON; nil as nothing.
 */
struct span cli_cell(struct span value, struct arena *arena);

#endif
