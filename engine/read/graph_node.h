/*
 * graph_node.h: a JSON graph while it is being composed as a BPMN document; private to graph*.c.
 */
#ifndef ENGINE_READ_GRAPH_NODE_H
#define ENGINE_READ_GRAPH_NODE_H

#include "engine/read/compose.h"
#include "engine/read/ids.h"
#include "engine/read/numbering.h"
#include "engine/read/places.h"

/* A node whose type is missing: it is deployed, and stops every execution that comes there. */
struct graph_typeless {
    struct graph_typeless *next;
    struct span id;
};

enum { GRAPH_TYPE_BYTES_MAX = 40 };

struct graph {
    struct arena *arena; /* of the document */
    struct span value;   /* the file */
    struct engine_report *report;
    struct places places;
    struct xml_element *root; /* <definitions> */
    struct xml_element *process;
    struct xml_element *plane; /* of the drawing */
    struct numbering numbering;
    struct ids nodes; /* id to element, of all scopes */
    struct span version_tag;
    struct graph_typeless *typeless;
    struct engine_trigger *triggers; /* that name no node */
    uint32_t trigger_count;
};

struct graph_node {
    struct graph *graph;
    struct span map;
    struct span config; /* MAP value or empty */
    struct span id;
    enum engine_kind kind;
    struct xml_element *element;
    struct compose_place place;
};

/* ---- graph_document.c ---- */

/* `"approve": <message>` at the place of `map`. */
void engine_graph_problem(struct graph *graph, enum engine_severity severity, const char *rule,
                          struct span map, struct span id, const char *format, ...)
    __attribute__((format(printf, 6, 7)));
/* Text of a member: a string, or the digits of an integer (ids and versions may be numbers); an
 * empty span when absent, or, after a report, of another type. */
struct span engine_graph_text(struct graph *graph, struct span map, struct span id,
                              const char *member);

/* Places, numbers and room, before anything is composed; then the elements around all nodes.
 * `known`: members that the file may have. */
MUST_USE enum result engine_graph_prepare(struct graph *graph, struct span text, struct span value);
void engine_graph_compose_root(struct graph *graph, const char *const *known);
/* The element of a node whose id and kind are known, with its id and name; NULL: arena full. */
struct xml_element *engine_graph_compose_element(struct graph_node *node,
                                                 struct xml_element *scope);
void engine_graph_draw_node(struct graph_node *node);
void engine_graph_draw_edge(struct graph *graph, struct span map, struct span id);
/* An INFO for each member of an object that is not `known` (ends with NULL). */
void engine_graph_list_ignored(struct graph *graph, struct span map, struct span id,
                               const char *const *known);
/* On the linked process: version tag, counter, triggers, nodes without a type. */
struct draft;
void engine_graph_finish(struct draft *draft, const struct graph *graph);

/* ---- graph.c ---- */

/* The nodes and edges of a scope, into its element. */
void engine_graph_compose_scope(struct graph *graph, struct xml_element *scope, struct span map);

/* Is this member of config one of the node's own, for this kind, so that no module sees it? */
bool engine_graph_knows(enum engine_kind kind, struct span key);
/* Does the node's type read this member of config itself? */
bool engine_graph_takes(const struct graph_node *node, struct span key);
/* "boundaryEvent" as "boundary_event". */
void engine_graph_snake_case(const char *xml_name, char out[GRAPH_TYPE_BYTES_MAX]);

/* ---- graph_config.c ---- */

void engine_graph_compose_config(struct graph_node *node);
void engine_graph_compose_for_each(struct graph_node *node);
/* All members of config go to the module. */
void engine_graph_compose_headers(struct graph_node *node);

/* ---- graph_event.c ---- */

/* config.event or config.events: what an event waits for or throws. */
void engine_graph_compose_events(struct graph_node *node, struct span value);
/* The node types trigger_cron, trigger_webhook and delay. */
void engine_graph_compose_cron(struct graph_node *node);
void engine_graph_compose_webhook(struct graph_node *node);
void engine_graph_compose_delay(struct graph_node *node);
/* <message> at the root; its id. `correlation_key` may be empty. */
struct span engine_graph_compose_message(struct graph *graph, struct compose_place place,
                                         struct span name, struct span correlation_key);
/* "CRON_TZ=Europe/London 0 9 * * *" of cron and time_zone; an empty span after a report. */
struct span engine_graph_cron_text(struct graph *graph, struct span map, struct span id);
/* The path of a webhook, without a slash before it; an empty span after a report. */
struct span engine_graph_webhook_path(struct graph *graph, struct span map, struct span id);

/* ---- graph_value.c ---- */

/*
 * A JSON value as the text of an expression, as ENGINE_DIALECT_AUTO reads it: a text as it is, all
 * else as a FEEL literal ("=[1, 2]"). Expressions within a list or an object become part of it.
 * false, after a report: a text there that mixes words and expressions.
 */
bool engine_graph_spell(struct graph_node *node, struct span value, struct span *out);
/* The same under a name, by `add`; an object with expressions in it becomes one pair a leaf, under
 * dotted names. */
typedef void (*graph_pair_fn)(struct graph_node *node, struct span name, struct span text);
void engine_graph_spell_pair(struct graph_node *node, struct span name, struct span value,
                             graph_pair_fn add);

#endif
