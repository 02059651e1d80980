/*
 * writing.h: what the writers of this folder share; private to it.
 */
#ifndef ENGINE_WRITE_WRITING_H
#define ENGINE_WRITE_WRITING_H

#include "engine/read/numbering.h"
#include "engine/write/write.h"
#include "proto/wire/writer.h"

struct writing {
    const struct engine_process *process; /* at hand */
    struct arena *arena;
    struct engine_report *report;
    struct numbering numbering; /* past every id of all processes that are written */
};

/* An error of rule "cannot-say" about a node (or the process, when NULL). */
void engine_write_refuse(struct writing *writing, const struct engine_node *node,
                         const char *format, ...) __attribute__((format(printf, 3, 4)));
void engine_write_refuse_flow(struct writing *writing, const struct engine_flow *flow,
                              const char *format, ...) __attribute__((format(printf, 3, 4)));

/* Text of an expression under ENGINE_DIALECT_AUTO; empty for NULL. */
struct span engine_write_spell(struct writing *writing, const struct engine_expression *expression);
/* The same for places where text without a marker is FEEL anyway: "=a > 1" as "a > 1", where no
 * marker within says otherwise. */
struct span engine_write_spell_condition(struct writing *writing,
                                         const struct engine_expression *expression);

/* Ids of the process are not given to anything else. */
void engine_write_meet(struct writing *writing, const struct engine_process *process);

/* ---- the writers ---- */

MUST_USE enum result engine_write_bpmn(struct writing *writing,
                                       const struct engine_definition *definition,
                                       struct span *out);
MUST_USE enum result engine_write_graph(struct writing *writing, struct span *out);
MUST_USE enum result engine_write_scheme(struct writing *writing, struct span *out);

/*
 * plain.c: a process without joins and results of blocks: gateways and conditions do the same. The
 * process itself where there are none. NULL: the arena is full.
 */
const struct engine_process *engine_write_plain(struct writing *writing);

/* layout.c: the process, drawn anew; ids stay, its index of nodes too. NULL: the arena is full, or
 * it is too large to be drawn. */
const struct engine_process *engine_write_layout(const struct engine_process *process,
                                                 struct arena *arena);

/* JSON of a value that was written, with a line end. */
MUST_USE enum result engine_write_json(struct writing *writing, struct span value,
                                       struct span *out);
/* ,"position":…,"size":…,"expanded":…,"label_bounds":… of a node that is drawn; returns the number
 * of pairs. */
uint32_t engine_write_shape(struct wire_writer *out, const struct engine_node *node);
/* "waypoints":…,"label_bounds":… of a flow that is drawn; returns the number of pairs. */
uint32_t engine_write_edge(struct wire_writer *out, const struct engine_flow *flow);
/* A value of config: a number, truth value or null as such, all else as text. */
void engine_write_config_value(struct wire_writer *out, struct span spelled);
void engine_write_version(struct wire_writer *out, const struct engine_process *process);
void engine_write_number(struct wire_writer *out, double number);
/* The digits of a coordinate, as few as give the same number back. */
void engine_write_digits(double number, char digits[32]);

#endif
