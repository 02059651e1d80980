/*
 * model.h: a definition, compiled: immutable graphs of nodes and flows, in one arena, shared by
 * every execution of a shard.
 *
 * All three notations (BPMN XML, JSON graph, block scheme) compile to this. Nodes and flows are
 * numbered in document order; everything refers to everything by index within its process, so the
 * graph is walked without pointers chasing names. Thread: built by one, then read-only.
 */
#ifndef ENGINE_MODEL_H
#define ENGINE_MODEL_H

#include "engine/expression/expression.h"
#include "proto/base/arena.h"
#include "proto/base/result.h"
#include "proto/base/span.h"

#define ENGINE_NONE UINT32_MAX /* no such index */

struct engine_dmn;
struct engine_zone;

enum engine_kind {
#define ENGINE_KIND(symbol, xml, trace, ops) ENGINE_##symbol,
#include "engine/element/kinds.def"
#undef ENGINE_KIND
    ENGINE_KIND_COUNT
};

enum engine_event_kind {
    ENGINE_ON_NONE,
    ENGINE_ON_MESSAGE,
    ENGINE_ON_TIMER,
    ENGINE_ON_SIGNAL,
    ENGINE_ON_ERROR,
    ENGINE_ON_ESCALATION,
    ENGINE_ON_COMPENSATION,
    ENGINE_ON_CONDITION,
    ENGINE_ON_LINK,
    ENGINE_ON_CANCEL,
    ENGINE_ON_TERMINATE,
    ENGINE_EVENT_KIND_COUNT
};

enum engine_timer_kind {
    ENGINE_TIMER_NONE,
    ENGINE_TIMER_DATE,
    ENGINE_TIMER_DURATION,
    ENGINE_TIMER_CYCLE
};

struct engine_indexes {
    const uint32_t *at;
    uint32_t count;
};

/* One event definition of an event (several: multiple). Expressions are NULL when not given. */
struct engine_event_definition {
    enum engine_event_kind kind;
    enum engine_timer_kind timer;
    const struct engine_expression *timer_value; /* ISO 8601 text by expression or literal */
    struct span name; /* message, signal or link name (may hold an expression's text) */
    const struct engine_expression *name_value;
    const struct engine_expression *correlation_key;
    struct span code;                           /* error or escalation code; empty: catches all */
    const struct engine_expression *code_value; /* throwing: the code by expression, or NULL */
    struct span code_variable; /* catching an error: variables that receive its code and message, */
    struct span message_variable; /* or empty */
    const struct engine_expression *condition;
    uint32_t activity; /* compensation: activityRef as a node, or ENGINE_NONE */
};

/* source -> target of an io mapping, an output or a call activity's in/out. */
struct engine_mapping {
    const struct engine_expression *source;
    struct span target; /* variable name or dotted path */
    uint32_t line;
};

struct engine_mappings {
    const struct engine_mapping *at;
    uint32_t count;
};

enum engine_loop_kind {
    ENGINE_LOOP_NONE,
    ENGINE_LOOP_STANDARD,
    ENGINE_LOOP_PARALLEL,
    ENGINE_LOOP_SEQUENTIAL
};

/* What an activity with instances throws when one of them has completed (BPMN 2.0.2 table 10.29,
 * behavior); a message, signal, escalation or error. */
struct engine_loop_throw {
    const struct engine_expression *condition; /* NULL: always */
    struct engine_event_definition event;
};

struct engine_loop {
    enum engine_loop_kind kind;
    bool test_before;
    const struct engine_expression *maximum; /* standard: loopMaximum */
    const struct engine_expression
        *condition; /* standard: loopCondition; multi-instance: completionCondition */
    const struct engine_expression *cardinality; /* multi-instance: loopCardinality */
    const struct engine_expression *collection;
    struct span element_variable;
    struct span output_collection;
    const struct engine_expression *output_element;
    const struct engine_loop_throw *throws; /* in document order */
    uint32_t throw_count;
};

/* What becomes of a decision's value (mapDecisionResult of Camunda 7, and how others do it). */
enum engine_rule_shape {
    ENGINE_RULE_VALUE,           /* the value itself (Zeebe) */
    ENGINE_RULE_RESULT_LIST,     /* a list of contexts by output, one a result */
    ENGINE_RULE_SINGLE_ENTRY,    /* the only output of the only result */
    ENGINE_RULE_SINGLE_RESULT,   /* the only result, as a context */
    ENGINE_RULE_COLLECT_ENTRIES, /* the only output of all results, as a list */
    ENGINE_RULE_VARIABLES,       /* each output is a variable of its name (Flowable) */
    ENGINE_RULE_SHAPE_COUNT
};

/* A decision of a deployed decision model, which is the task's work. */
struct engine_rule {
    const struct engine_expression *decision; /* its id; NULL: the task names none */
    const struct engine_expression *version;  /* NULL: the newest */
    enum engine_rule_shape shape;
};

struct engine_assignment {
    const struct engine_expression *assignee;
    const struct engine_expression *candidate_groups; /* list or comma-separated text */
    const struct engine_expression *candidate_users;
    const struct engine_expression *due_date;
    struct span form_key;
};

/*
 * When a block of a block scheme (engine.md 5) is entered. Executed like this: a token that reaches
 * the block by a flow stays on that flow (the face is active).
 *   ANY: each active face enters the block at once, one step a face: what BPMN does at an activity
 *        with several incoming flows.
 *   ALL: the block is entered as soon as every incoming flow that is not a back face holds a token,
 *        and takes one from each (surplus stays for the next round, as at a parallel gateway); and
 *        it is entered by each token on a back face alone, which takes that token only. With less
 *        than two faces that are not back faces this is the same as ANY.
 * Entering is one step of the block; its path length is the largest of the tokens taken.
 */
enum engine_join_rule {
    ENGINE_JOIN_NONE, /* not a block: its kind decides */
    ENGINE_JOIN_ALL,
    ENGINE_JOIN_ANY
};

/* Where a diagram shows a node, in pixels; label_*: where its name stands, when has_label. */
struct engine_shape {
    double x;
    double y;
    double width; /* 0: the size that its kind usually has */
    double height;
    bool is_expanded; /* sub-process */
    bool has_label;
    double label_x;
    double label_y;
    double label_width;
    double label_height;
};

struct engine_point {
    double x;
    double y;
};

/* How a diagram leads a flow. */
struct engine_edge {
    const struct engine_point *points; /* from source to target */
    uint32_t point_count;
    bool has_label;
    double label_x;
    double label_y;
    double label_width;
    double label_height;
};

struct engine_node {
    uint32_t index;
    enum engine_kind kind;
    struct span id;
    struct span name;
    struct span task_type; /* explicit (Zeebe type, Camunda topic, strider:type), else the XML name;
                              empty: TasksHasNoType */
    bool task_type_explicit;
    const struct engine_expression
        *task_type_value; /* the type by expression; NULL: as it stands */
    uint32_t line;        /* in the source file; 0: unknown */

    uint32_t scope; /* the sub-process node that contains it; ENGINE_NONE: the process itself */
    uint32_t attached_to; /* boundary event: its host; else ENGINE_NONE */
    uint32_t default_flow;
    uint32_t compensation; /* the activity that compensates this one, once it has completed (by a
                              boundary event and its association); or ENGINE_NONE */
    struct engine_indexes incoming;   /* flows, document order */
    struct engine_indexes outgoing;   /* flows, document order */
    struct engine_indexes boundaries; /* boundary events attached to it */
    struct engine_indexes children;   /* nodes directly inside (sub-processes) */
    struct engine_indexes starts; /* children that get a token when the scope opens (engine.md 3) */
    struct engine_indexes handlers; /* children that are event sub-processes */

    const struct engine_event_definition *events;
    uint32_t event_count;
    bool parallel_multiple;
    bool interrupting; /* boundary cancelActivity, event sub-process start isInterrupting: TRUE by
                          default */
    bool triggered_by_event; /* event sub-process */
    bool for_compensation;
    bool instantiate;    /* receive task or event gateway that starts a process */
    bool exclusive_type; /* event gateway: false = parallel */
    const struct engine_expression *active; /* ad-hoc: ids of the activities to begin; NULL: all
                                               that no flow leads to */
    bool ordered;                           /* ad-hoc: Sequential */
    bool lets_finish;     /* ad-hoc: a true condition does not cancel what is under way */
    struct span gathered; /* ad-hoc: the variable that gets a list of what its activities come to,
                             or empty */
    const struct engine_expression *gathered_value; /* what each adds; NULL: its `output` */

    uint32_t start_quantity;      /* activity: so many tokens begin it, from any flow; 0: one */
    uint32_t completion_quantity; /* activity: it gives so many by each flow; 0: one */

    struct engine_loop loop;        /* kind NONE: no marker */
    struct engine_mappings inputs;  /* into the task's local scope / config */
    struct engine_mappings outputs; /* out of it */
    struct engine_mappings
        headers; /* static configuration (task headers, fields) for the module's `config` */
    struct engine_assignment assignment;
    struct engine_rule rule;
    const struct engine_expression *script; /* script, or Camunda `expression` */
    struct span script_format;
    struct span result_variable;
    const struct engine_expression *called; /* call activity: process id */
    uint32_t called_version;                /* call activity: that version; 0: the newest */
    bool called_here; /* call activity: the process of its own file, whatever is newer */
    const struct engine_expression *called_tag; /* call activity: the newest version that its file
                                                   calls so; NULL: as above */
    bool propagate_all; /* call activity: all variables in both directions, = propagate_in &&
                           propagate_out */
    bool propagate_in;  /* call activity: all variables of the caller go in, before `inputs` */
    bool propagate_out; /* call activity: all variables of the called process come back, before
                           `outputs` */
    const struct engine_expression *retries; /* attempts in all, when the file says so */
    const struct engine_expression
        *condition;           /* complex gateway activationCondition, ad-hoc completionCondition */
    struct span message_name; /* receive/send task */
    const struct engine_expression *correlation_key;
    enum engine_join_rule join;
    uint32_t link_target; /* link throw event: the catch event that it leads to, or ENGINE_NONE */
    /*
     * Inclusive and complex gateway with several incoming flows, or with an activation condition:
     * for each of them, in order, one bit a node of the process (engine_node_leads_to); else NULL.
     */
    const uint8_t *reach;
    const struct engine_shape *shape; /* NULL: not drawn */
};

struct engine_flow {
    uint32_t index;
    uint32_t source;
    uint32_t target;
    struct span id;
    struct span name;
    const struct engine_expression *condition; /* NULL: none */
    bool is_default;
    uint32_t line;
    /*
     * Block scheme: the face's "execution result". When a block has completed, it activates its
     * outgoing flows without a result, and those whose result is the `output` of its module: the
     * text itself, or, of an output that is no text, its JSON (true, 7). Where none is activated
     * the token ends there (a dead end, no error). A start event activates all, whatever their
     * results. Empty: none.
     */
    struct span result;
    bool is_back; /* block scheme: its target dominates its source (see engine_join_rule) */
    const struct engine_edge *edge; /* NULL: not drawn */
};

enum engine_notation { ENGINE_NOTATION_BPMN, ENGINE_NOTATION_GRAPH, ENGINE_NOTATION_SCHEME };

/*
 * A trigger that a JSON graph names beside its nodes: it starts the process as one by hand. (A node
 * trigger_cron is a timer start event with a cron text as its cycle; a node trigger_webhook a
 * message start event whose message is called "webhook:<path>".)
 */
struct engine_trigger {
    enum { ENGINE_TRIGGER_MANUAL, ENGINE_TRIGGER_CRON, ENGINE_TRIGGER_WEBHOOK } kind;
    struct span id;
    struct span text; /* cron text ("CRON_TZ=Europe/London 0 9 * * *"), or path below /hooks/ */
};

struct engine_process {
    struct span id;
    struct span name;
    struct span project;
    uint32_t version; /* set by the registry when it is deployed; 0 before */
    bool executable;
    bool is_global_task; /* a task at the root of the file, which call activities call: its one
                            node, which has the same id */
    uint32_t line;
    const struct engine_node *nodes;
    uint32_t node_count;
    const struct engine_flow *flows;
    uint32_t flow_count;
    struct engine_indexes children; /* nodes at process level */
    /*
     * Those that get a token from a plain start: all none start events; where there is none, the
     * first other start event (message, timer, signal: its trigger is left out, so that a process
     * can be started by hand); where there is no start event at all, every node without incoming
     * flow (engine.md 3). Empty: StartTaskNotFound.
     */
    struct engine_indexes starts;
    struct engine_indexes handlers; /* event sub-processes at process level */
    /* private to model.c: nodes by id (engine_process_index); NULL: searched one by one */
    const uint32_t *slots;
    uint32_t slot_count;

    enum engine_notation notation; /* that it was read from */
    struct span version_tag; /* what the file calls its version; the registry counts its own */
    const struct engine_trigger *triggers;
    uint32_t trigger_count;
    uint64_t id_next; /* greater than every number that an id of the file ends in (S3) */
};

/* A compiled file. */
struct engine_definition {
    struct arena arena;               /* holds everything below */
    struct span name;                 /* file name, as messages show it */
    struct engine_process *processes; /* none in a file of decisions */
    uint32_t process_count;
    const struct engine_dmn *decisions; /* of a `.dmn` file; else NULL */
};

/*
 * Can a token in `node` still reach the join's incoming flow number `place` without first passing
 * the join? Ways are sequence flows, link events, and the boundary events of a node that the token
 * is in (traps.md 1).
 */
static inline bool engine_node_leads_to(const struct engine_process *process,
                                        const struct engine_node *join, uint32_t place,
                                        uint32_t node)
{
    const uint8_t *row = join->reach + (size_t)place * ((process->node_count + 7) / 8);
    return (row[node / 8] >> (node % 8) & 1) != 0;
}

/* Is it a block that waits for several faces (engine_join_rule)? */
bool engine_node_joins(const struct engine_process *process, const struct engine_node *node);

void engine_definition_free(struct engine_definition *definition);
/* NULL when absent. An empty id: the only executable process, or the first one. */
const struct engine_process *engine_definition_find(const struct engine_definition *definition,
                                                    struct span process_id);
/* Node by id; NULL when absent. */
const struct engine_node *engine_process_node(const struct engine_process *process, struct span id);
/* For readers of any notation, once the nodes are there: makes engine_process_node fast. The table
 * lives in the arena. */
void engine_process_index(struct engine_process *process, struct arena *arena);
/* Is one of the event's definitions of that kind? */
bool engine_node_bears(const struct engine_node *node, enum engine_event_kind kind);
/* What a compensation boundary event leads to; NULL: the node is none, or has none. */
const struct engine_node *engine_compensation_handler(const struct engine_process *process,
                                                      const struct engine_node *node);
/*
 * Where a message or signal of that name starts the process: a start event, an instantiating
 * receive task, or a catch event behind an instantiating event gateway; NULL: nowhere. Names by
 * expression do not count.
 */
const struct engine_node *engine_process_started_by(const struct engine_process *process,
                                                    enum engine_event_kind kind, struct span name);
const char *engine_kind_xml_name(enum engine_kind kind);
const char *engine_kind_trace_name(enum engine_kind kind);
/* Of the global task that a task of this kind is at the root of a file; NULL: BPMN has none. */
const char *engine_kind_global_name(enum engine_kind kind);
const char *engine_event_kind_name(enum engine_event_kind kind);
/* As files spell it: "singleEntry". */
const char *engine_rule_shape_name(enum engine_rule_shape shape);

/* ---- modules: who executes a task type (modules.json, interfaces.md 3) ---- */

enum engine_builtin {
    ENGINE_BUILTIN_NONE, /* a URL */
    ENGINE_BUILTIN_LOG,
    ENGINE_BUILTIN_SET,
    ENGINE_BUILTIN_ECHO,
    ENGINE_BUILTIN_HTTP, /* calls config.url through the dispatcher */
    ENGINE_BUILTIN_WAIT, /* waits for a callback */
    ENGINE_BUILTIN_FAIL,
};

struct engine_module {
    struct span name; /* first task type, for logs */
    enum engine_builtin builtin;
    const struct span *task_types;
    uint32_t task_type_count;
    struct span channel; /* empty: any */
    struct span url;
    struct span headers; /* MAP value of strings, or empty */
    uint32_t timeout_ms;
    uint32_t concurrent_max;
    uint32_t attempts_max;
    uint32_t callback_timeout_ms; /* 0: none */
    bool callback;                /* is called again with phase "callback" */
    bool cancel;                  /* wants phase "cancel" */
    bool side_effects;
    bool strict_outputs;
    bool message_pack;
    const struct span *outputs; /* declared keys */
    uint32_t output_count;
    struct span test_outputs; /* MAP value or empty */
};

/* The modules of one project, immutable, in its own arena; the built-ins are always there. */
struct engine_modules {
    struct arena arena;
    struct span project;
    struct span environment; /* MAP value: `env` */
    const struct engine_module *modules;
    uint32_t module_count;
};

void engine_modules_free(struct engine_modules *modules);
/* (type, channel), then (type, none), then the built-ins; NULL when nobody does it. */
const struct engine_module *engine_modules_find(const struct engine_modules *modules,
                                                struct span task_type, struct span channel);

/* ---- what an execution may look things up in; the caller (shard, run, tests) owns what is found
 * ---- */
struct engine_catalog {
    /* version 0: the newest. NULL when absent. */
    const struct engine_process *(*process)(const struct engine_catalog *self, struct span project,
                                            struct span process_id, uint32_t version);
    /* The newest version whose file says that versionTag. NULL when absent; the pointer may be NULL
     * too: nothing has a tag. */
    const struct engine_process *(*tagged)(const struct engine_catalog *self, struct span project,
                                           struct span process_id, struct span tag);
    /* Never NULL: a project without modules.json has the built-ins. */
    const struct engine_modules *(*modules)(const struct engine_catalog *self, struct span project);
    /*
     * The decision model that holds the newest version of a decision, or that version where it is
     * not 0. NULL when absent; the pointer may be NULL too: then nothing is decided here. It is
     * asked for when a task is decided on, never when events are applied, so recovery needs none.
     */
    const struct engine_dmn *(*decision)(const struct engine_catalog *self, struct span project,
                                         struct span decision_id, uint32_t version);
    /* The time zone of an IANA name, which outlives all calls or lives in `arena`. NULL as above.
     */
    const struct engine_zone *(*zone)(const struct engine_catalog *self, struct span name,
                                      struct arena *arena);
    /* Steps on one token's path in a segment; 0: LIMIT_STEPS. Only decisions ask, so it may differ
     * from one start of the engine to the next. */
    uint32_t max_steps;
};

#endif
