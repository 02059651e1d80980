/*
 * eval.c: `strider eval`: one expression, or one decision of a model, its value as JSON, or its
 * error, of an expression with a caret under the place.
 */
#include <time.h>

#include "engine/dmn/dmn.h"
#include "engine/expression/expression.h"
#include "proto/base/limits.h"
#include "proto/wire/reader.h"
#include "tools/strider/input.h"
#include "tools/strider/print.h"
#include "tools/strider/verbs.h"
#include "tools/strider/zone.h"

#define EVAL_ARENA_BYTES (64u << 20)

/* Names are the members of --context. */
struct context_names {
    struct engine_names names;
    struct span map;
    int64_t now_ms;
};

static struct span find_in_context(const struct engine_names *self, struct span name)
{
    return wire_find(((const struct context_names *)self)->map, name);
}

static void find_all_in_context(const struct engine_names *self, const struct span *names,
                                struct span *values, size_t count)
{
    wire_find_all(((const struct context_names *)self)->map, names, values, count);
}

static const struct engine_zone *find_zone(const struct engine_names *self, struct span name,
                                           struct arena *arena)
{
    (void)self;
    return cli_zone_find(name, arena);
}

/* The moment at which the command was given. */
static bool read_clock(const struct engine_names *self, int64_t *unix_ms)
{
    *unix_ms = ((const struct context_names *)self)->now_ms;
    return true;
}

static int64_t unix_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static const struct {
    const char *name;
    enum engine_dialect dialect;
} dialects[] = {
    {"feel", ENGINE_DIALECT_FEEL},
    {"juel", ENGINE_DIALECT_JUEL},
    {"template", ENGINE_DIALECT_TEMPLATE},
};

static bool find_dialect(const char *name, enum engine_dialect *out)
{
    *out = ENGINE_DIALECT_CONDITION; /* by its marker; without one: FEEL */
    for (size_t i = 0; name != NULL && i < sizeof(dialects) / sizeof(dialects[0]); i++) {
        if (strcmp(dialects[i].name, name) == 0) {
            *out = dialects[i].dialect;
            return true;
        }
    }
    return name == NULL;
}

/* The line of the source that holds the offset, and a caret below the place. */
static int explain(struct span source, const struct engine_expression_error *error)
{
    const char *message = error->message == NULL ? "it cannot be evaluated" : error->message;
    cli_complain("eval", CLI_FAILED, "at character %u: %s", error->offset + 1, message);
    size_t at = error->offset < source.count ? error->offset : source.count;
    size_t begin = at;
    while (begin > 0 && source.bytes[begin - 1] != '\n') {
        begin--;
    }
    size_t end = at;
    while (end < source.count && source.bytes[end] != '\n') {
        end++;
    }
    fprintf(stderr, "  %.*s\n  ", (int)(end - begin), (const char *)source.bytes + begin);
    for (size_t i = begin; i < at; i++) {
        if ((source.bytes[i] & 0xc0) != 0x80) {
            fputc(source.bytes[i] == '\t' ? '\t' : ' ', stderr);
        }
    }
    fputs("^\n", stderr);
    return CLI_FAILED;
}

static struct context_names names_of(struct span context)
{
    return (struct context_names){.names = {.find = find_in_context,
                                            .find_all = find_all_in_context,
                                            .zone = find_zone,
                                            .clock = read_clock},
                                  .map = context,
                                  .now_ms = unix_ms()};
}

static int evaluate(struct span source, enum engine_dialect dialect, struct span context,
                    struct arena *arena)
{
    const struct engine_expression *expression;
    struct engine_expression_error error = {0};
    if (engine_expression_compile(source, dialect, arena, &expression, &error) != RESULT_OK) {
        return explain(source, &error);
    }
    struct context_names names = names_of(context);
    struct engine_evaluation evaluation = {0};
    enum result result = engine_expression_evaluate(expression, &names.names, arena, &evaluation);
    if (result == RESULT_LIMIT && evaluation.error.message == NULL) {
        return cli_complain("eval", CLI_FAILED,
                            "it takes more steps or memory than an expression may");
    }
    if (result != RESULT_OK) {
        return explain(source, &evaluation.error);
    }
    cli_print_json(evaluation.value, arena);
    if (evaluation.error.message != NULL) {
        cli_complain("eval", CLI_DONE, "warning at character %u: %s", evaluation.error.offset + 1,
                     evaluation.error.message);
    }
    return CLI_DONE;
}

/* By its id, else by its name; empty: the model has no such decision. */
static struct span find_decision(const struct engine_dmn *dmn, struct span wanted)
{
    if (engine_dmn_has_decision(dmn, wanted)) {
        return wanted;
    }
    for (uint32_t i = 0; i < engine_dmn_decision_count(dmn); i++) {
        if (span_equal(engine_dmn_decision_name(dmn, i), wanted)) {
            return engine_dmn_decision_id(dmn, i);
        }
    }
    return SPAN_EMPTY;
}

static int decide(const struct engine_dmn *dmn, const char *path, struct span wanted,
                  struct span context, struct arena *arena)
{
    struct context_names names = names_of(context);
    struct engine_dmn_outcome outcome = {0};
    struct span id = find_decision(dmn, wanted);
    if (id.count == 0) {
        return cli_complain("eval", CLI_FAILED, "%s has no decision \"%.*s\"", path,
                            SPAN_ARG(wanted));
    }
    enum result result = engine_dmn_evaluate(dmn, id, &names.names, arena, &outcome);
    const char *message = outcome.error.message;
    if (result != RESULT_OK) {
        return cli_complain("eval", CLI_FAILED, "%s",
                            message == NULL ? result_text(result) : message);
    }
    cli_print_json(outcome.value, arena);
    if (message != NULL) {
        cli_complain("eval", CLI_DONE, "warning: %s", message);
    }
    return CLI_DONE;
}

static int evaluate_model(const char *path, struct span wanted, struct span context,
                          struct arena *arena)
{
    struct engine_report report;
    const struct engine_dmn *dmn;
    struct span content;
    char problem[512];
    if (cli_read_file(path, LIMIT_DEFINITION_BYTES, arena, &content, problem) != RESULT_OK) {
        return cli_complain("eval", CLI_FAILED, "%s", problem);
    }
    engine_report_init(&report, span_text(path));
    enum result result = engine_dmn_read(content, arena, &report, &dmn);
    int code = CLI_FAILED;
    if (result == RESULT_OK) {
        code = decide(dmn, path, wanted, context, arena);
    } else if (report.errors > 0) {
        struct span problems = engine_report_text(&report, ENGINE_ERROR, arena);
        fprintf(stderr, "%.*s", SPAN_ARG(problems));
    } else {
        cli_complain("eval", CLI_FAILED, "%s cannot be read: %s", path, result_text(result));
    }
    engine_report_release(&report);
    return code;
}

static int run_eval(const struct cli_arguments *arguments)
{
    enum engine_dialect dialect;
    const char *wanted = cli_option_value(arguments, "dialect");
    if (!find_dialect(wanted, &dialect)) {
        return cli_complain("eval", CLI_USAGE, "--dialect is feel, juel or template, not \"%s\"",
                            wanted);
    }
    struct arena arena;
    arena_init(&arena, 65536, EVAL_ARENA_BYTES);
    struct span context = SPAN_EMPTY;
    const char *json = cli_option_value(arguments, "context");
    int code = json == NULL ? CLI_DONE : cli_read_json("eval", "--context", json, &arena, &context);
    if (code == CLI_DONE && context.count > 0 && !wire_is(context, WIRE_MAP)) {
        code = cli_complain("eval", CLI_USAGE, "--context wants an object");
    }
    struct span operand = span_text(arguments->operands[0]);
    const char *model = cli_option_value(arguments, "model");
    if (code == CLI_DONE && model != NULL && wanted != NULL) {
        code = cli_complain("eval", CLI_USAGE, "--dialect goes with an expression, not --model");
    }
    if (code == CLI_DONE) {
        code = model == NULL ? evaluate(operand, dialect, context, &arena)
                             : evaluate_model(model, operand, context, &arena);
    }
    arena_release(&arena);
    return code;
}

static const struct cli_option eval_options[] = {
    {"context", "JSON|@FILE", "an object whose members are the names in the expression"},
    {"dialect", "NAME",
     "feel, juel or template; else told by the marker\n(=…, ${…}, {{…}}), and FEEL without one"},
    {"model", "FILE.dmn", "EXPR is the id or name of a decision of that model"},
    {0},
};

const struct cli_verb cli_eval = {
    .name = "eval",
    .summary = "Evaluates one expression or decision and prints its value as JSON",
    .operands = "EXPR",
    .operands_min = 1,
    .operands_max = 1,
    .options = eval_options,
    .details = "Examples:\n"
               "  strider eval '0.1 + 0.2'\n"
               "  strider eval 'total > 100' --context '{\"total\": 120}'\n"
               "  strider eval '${total * 2}' --context @order.json\n"
               "  strider eval Discount --model discount.dmn --context '{\"total\": 120}'\n"
               "\n"
               "Exit code: 0 with a value, 1 when it is malformed or fails (the place is shown).",
    .run = run_eval,
};
