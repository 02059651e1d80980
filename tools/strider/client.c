/*
 * client.c: one request to a running engine over NNG: built from the command line by the verb's
 * shape, sent, its reply shown.
 */
#include "tools/strider/client.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#include "proto/base/limits.h"
#include "proto/base/text.h"
#include "proto/wire/reader.h"
#include "proto/wire/writer.h"
#include "tools/strider/connection.h"
#include "tools/strider/input.h"
#include "tools/strider/print.h"

#define CLIENT_ARENA_BYTES (256u << 20)

/* ---- requests ---- */

/* One command line being carried out. */
struct session {
    const struct cli_arguments *arguments;
    const struct client_shape *shape;
    struct arena arena;
    struct client_connection connection;
    const char *path; /* the file that is deployed; else NULL */
};

static int complain(const struct session *session, int code, const char *message)
{
    return cli_complain(session->shape->operation, code, "%s", message);
}

static int write_pairs(struct session *session, struct wire_writer *writer,
                       const struct client_field *field)
{
    size_t mark = wire_open_map(writer);
    uint32_t count = 0;
    const char *text;
    for (; (text = cli_option_nth(session->arguments, field->option, count)) != NULL; count++) {
        struct span name;
        struct span value;
        int code =
            cli_read_pair(session->shape->operation, "--var", text, &session->arena, &name, &value);
        if (code != CLI_DONE) {
            return code;
        }
        wire_write_string(writer, name);
        wire_write_raw(writer, value);
    }
    wire_close_map(writer, mark, count);
    return CLI_DONE;
}

static int write_names(struct session *session, struct wire_writer *writer,
                       const struct client_field *field)
{
    size_t mark = wire_open_map(writer);
    uint32_t count = 0;
    const char *text;
    for (; (text = cli_option_nth(session->arguments, field->option, count)) != NULL; count++) {
        const char *equals = strchr(text, '=');
        if (equals == NULL || equals == text || equals[1] == '\0' ||
            text_utf8_valid_count(span_text(text)) < strlen(text)) {
            return cli_complain(session->shape->operation, CLI_USAGE,
                                "--%s wants FROM=TO, not \"%s\"", field->option, text);
        }
        wire_write_string(writer, span_of(text, (size_t)(equals - text)));
        wire_write_text(writer, equals + 1);
    }
    wire_close_map(writer, mark, count);
    return CLI_DONE;
}

static void write_words(struct wire_writer *writer, const char *text)
{
    size_t mark = wire_open_array(writer);
    uint32_t count = 0;
    for (const char *next = text; *next != '\0';) {
        size_t length = strcspn(next, ",");
        struct span word = span_trim(span_of(next, length));
        if (word.count > 0) {
            wire_write_string(writer, word);
            count++;
        }
        next += length + (next[length] == ',');
    }
    wire_close_array(writer, mark, count);
}

static int write_field(struct session *session, struct wire_writer *writer,
                       const struct client_field *field, const char *text)
{
    const char *verb = session->shape->operation;
    char option[64];
    snprintf(option, sizeof(option), "--%s", field->option);
    struct span value;
    char *end;
    int code = CLI_DONE;
    if (text_utf8_valid_count(span_text(text)) < strlen(text)) {
        return cli_complain(verb, CLI_USAGE, "%s is not UTF-8", option);
    }
    wire_write_text(writer, field->name);
    switch (field->kind) {
    case CLIENT_TEXT:
        wire_write_text(writer, text);
        return CLI_DONE;
    case CLIENT_INTEGER:
        wire_write_int(writer, strtoll(text, &end, 10));
        if (end == text || *end != '\0') {
            return cli_complain(verb, CLI_USAGE, "%s wants a whole number, not \"%s\"", option,
                                text);
        }
        return CLI_DONE;
    case CLIENT_JSON:
        code = cli_read_json(verb, option, text, &session->arena, &value);
        if (code == CLI_DONE) {
            wire_write_raw(writer, value);
        }
        return code;
    case CLIENT_FLAG:
        wire_write_bool(writer, true);
        return CLI_DONE;
    case CLIENT_PAIRS:
        return write_pairs(session, writer, field);
    case CLIENT_NAMES:
        return write_names(session, writer, field);
    case CLIENT_WORDS:
        write_words(writer, text);
        return CLI_DONE;
    }
    return CLI_USAGE;
}

/* Writes the request's map: what every request has, the operand, the options that were given, and
 * `extra` pairs. */
static int write_request(struct session *session, struct span extra, uint32_t extra_count,
                         struct span *out)
{
    const struct client_shape *shape = session->shape;
    struct wire_writer writer;
    wire_writer_init(&writer, &session->arena, 1024 + extra.count);
    size_t mark = wire_open_map(&writer);
    uint32_t count = 3 + extra_count;
    wire_pair_int(&writer, "v", 1);
    wire_pair_text(&writer, "op", shape->operation);
    wire_pair_int(&writer, "timeoutMs", (int64_t)session->connection.timeout_ms);
    if (extra.count > 0) {
        wire_write_raw(&writer, extra);
    }
    if (session->connection.token != NULL) {
        wire_pair_text(&writer, "token", session->connection.token);
        count++;
    }
    if (shape->operand != NULL && session->arguments->operand_count > 0) {
        const char *operand = session->arguments->operands[0];
        if (text_utf8_valid_count(span_text(operand)) < strlen(operand)) {
            return complain(session, CLI_USAGE, "an argument is not UTF-8");
        }
        wire_pair_text(&writer, shape->operand, operand);
        count++;
    }
    for (const struct client_field *field = shape->fields; field->option != NULL; field++) {
        const char *text = cli_option_value(session->arguments, field->option);
        if (text == NULL) {
            continue;
        }
        int code = write_field(session, &writer, field, text);
        if (code != CLI_DONE) {
            return code;
        }
        count++;
    }
    wire_close_map(&writer, mark, count);
    *out = wire_writer_span(&writer);
    return out->count > 0 ? CLI_DONE : complain(session, CLI_FAILED, "the request is too large");
}

/* What a refused definition has, as `strider validate` says it. False: the reply lists nothing. */
static bool show_problems(const char *path, struct span reply, struct arena *arena)
{
    struct span details = wire_find_text(wire_find_text(reply, "error"), "details");
    struct span problems = wire_find_text(details, "problems");
    struct span problem;
    struct wire_map_walk walk = wire_array_begin(problems);
    while (wire_array_next(&walk, &problem)) {
        int64_t line = wire_int_or(wire_find_text(problem, "line"), 0);
        int64_t column = wire_int_or(wire_find_text(problem, "column"), 0);
        fprintf(stderr, "%s", path);
        if (line > 0) {
            fprintf(stderr, ":%" PRId64, line);
        }
        if (line > 0 && column > 0) {
            fprintf(stderr, ":%" PRId64, column);
        }
        fprintf(stderr, ": %.*s: %.*s [%.*s]\n",
                SPAN_ARG(cli_cell(wire_find_text(problem, "severity"), arena)),
                SPAN_ARG(cli_cell(wire_find_text(problem, "message"), arena)),
                SPAN_ARG(cli_cell(wire_find_text(problem, "rule"), arena)));
    }
    return wire_count(problems) > 0;
}

/* Error replies: the message for a person, the whole reply for a program. */
static int show_reply(struct session *session, struct span reply)
{
    bool ok = wire_bool_or(wire_find_text(reply, "ok"), false);
    if (cli_wants_json(session->arguments)) {
        cli_print_json(reply, &session->arena);
    } else if (ok) {
        session->shape->print(reply, &session->arena);
    }
    if (ok) {
        return CLI_DONE;
    }
    if (session->path != NULL && show_problems(session->path, reply, &session->arena)) {
        return cli_complain(session->shape->operation, CLI_FAILED,
                            "DefinitionInvalid: %s is refused", session->path);
    }
    return client_complain_refused(session->shape->operation, reply, &session->arena);
}

static int ask(struct session *session, struct span request)
{
    struct span reply;
    int code = client_ask(&session->connection, request, &session->arena, &reply);
    return code == CLI_DONE ? show_reply(session, reply) : code;
}

/* ---- deploy: one request a file ---- */

static int deploy_file(struct session *session, const char *path)
{
    struct span content;
    char problem[512];
    session->path = path;
    if (cli_read_file(path, LIMIT_DEFINITION_BYTES, &session->arena, &content, problem) !=
        RESULT_OK) {
        return complain(session, CLI_FAILED, problem);
    }
    const char *slash = strrchr(path, '/');
    struct wire_writer extra;
    wire_writer_init(&extra, &session->arena, content.count + 256);
    wire_pair_text(&extra, "name", slash == NULL ? path : slash + 1);
    wire_write_text(&extra, "content");
    if (text_utf8_valid_count(content) == content.count) {
        wire_write_string(&extra, content);
    } else {
        wire_write_binary(&extra, content); /* UTF-16, as some modelers save */
    }
    struct span request;
    int code = write_request(session, wire_writer_span(&extra), 2, &request);
    return code == CLI_DONE ? ask(session, request) : code;
}

static int deploy_files(struct session *session)
{
    int code = CLI_DONE;
    for (size_t i = 0; i < session->arguments->operand_count; i++) {
        int outcome = deploy_file(session, session->arguments->operands[i]);
        code = outcome > code ? outcome : code;
        if (outcome == CLI_USAGE) {
            break;
        }
    }
    return code;
}

/* ---- import: the file is the request, but for what every request has ---- */

static bool is_envelope(struct span key)
{
    return span_is(key, "v") || span_is(key, "op") || span_is(key, "token") ||
           span_is(key, "timeoutMs");
}

/* The file's pairs; options come behind them and win. */
static int write_import(struct session *session, struct span *request)
{
    const char *path = session->arguments->operands[0];
    char text[PATH_MAX + 1];
    struct span map;
    (void)snprintf(text, sizeof text, "@%s", path);
    int code =
        cli_read_json(session->shape->operation, "the execution", text, &session->arena, &map);
    if (code != CLI_DONE) {
        return code;
    }
    if (!wire_is(map, WIRE_MAP)) {
        return complain(session, CLI_USAGE, "the file holds no JSON object");
    }
    struct wire_writer extra;
    wire_writer_init(&extra, &session->arena, map.count);
    uint32_t count = 0;
    struct span key, value;
    for (struct wire_map_walk walk = wire_map_begin(map); wire_map_next(&walk, &key, &value);) {
        if (!is_envelope(key)) {
            wire_write_string(&extra, key);
            wire_write_raw(&extra, value);
            count++;
        }
    }
    return write_request(session, wire_writer_span(&extra), count, request);
}

/* ---- running ---- */

static int carry_out(struct session *session)
{
    int code = client_connect(session->arguments, &session->connection);
    bool deploy = strcmp(session->shape->operation, "deploy") == 0;
    bool import = strcmp(session->shape->operation, "import") == 0;
    struct span request = SPAN_EMPTY;
    if (code == CLI_DONE && !deploy) {
        code = import ? write_import(session, &request)
                      : write_request(session, SPAN_EMPTY, 0, &request);
    }
    if (code == CLI_DONE) {
        code = deploy ? deploy_files(session) : ask(session, request);
    }
    client_disconnect(&session->connection);
    return code;
}

int client_run(const struct cli_arguments *arguments)
{
    struct session session = {.arguments = arguments,
                              .shape = client_shape_of(arguments->verb->name)};
    arena_init(&session.arena, 65536, CLIENT_ARENA_BYTES);
    int code = carry_out(&session);
    arena_release(&session.arena);
    return code;
}
