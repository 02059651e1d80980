/*
 * replay.c: `strider replay` and `strider get --steps`.
 */
#include "tools/strider/replay/replay.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proto/wire/reader.h"
#include "tools/strider/client.h"
#include "tools/strider/print.h"
#include "tools/strider/verbs.h"

#define REPLAY_ARENA_BYTES ((size_t)1 << 30)

static const struct cli_option options[] = {
    {"step", "N", "this step alone"},
    {"from", "N", "from this step on (1)"},
    {"limit", "N", "at most so many steps (2000)"},
    {"html", "FILE", "write one HTML page that shows it all on the diagram"},
    CLIENT_CONNECTION_OPTIONS,
};

/* ---- output ---- */

static int write_page(const struct cli_arguments *arguments, const char *path, struct span page)
{
    const char *verb = arguments->verb->name;
    if (page.count == 0) {
        return cli_complain(verb, CLI_FAILED, "the page is too large: fewer steps with --limit");
    }
    FILE *file = fopen(path, "wb");
    if (file == NULL) {
        return cli_complain(verb, CLI_FAILED, "%s: %s", path, strerror(errno));
    }
    bool written = fwrite(page.bytes, 1, page.count, file) == page.count;
    if (fclose(file) != 0 || !written) {
        return cli_complain(verb, CLI_FAILED, "%s: %s", path, strerror(errno));
    }
    return CLI_DONE;
}

static int show(const struct cli_arguments *arguments, const struct replay *replay, bool list,
                struct arena *arena)
{
    if (cli_wants_json(arguments)) {
        struct span value = replay_value(replay, arena);
        if (value.count == 0) {
            return cli_complain(arguments->verb->name, CLI_FAILED, "too large: use --limit");
        }
        cli_print_json(value, arena);
        return CLI_DONE;
    }
    if (list) {
        replay_print_list(replay, arena);
    }
    for (uint32_t i = 0; !list && i < replay->count; i++) {
        replay_print_step(replay, &replay->steps[i], arena);
    }
    return CLI_DONE;
}

/* ---- running ---- */

/* One step is read with the one before it, so that it can be compared. */
static void keep_one(struct replay *replay, uint32_t step)
{
    for (uint32_t i = 0; i < replay->count; i++) {
        if (replay->steps[i].sequence == step) {
            replay->steps[0] = replay->steps[i];
            replay->count = 1;
            replay->cut = false;
            return;
        }
    }
    replay->count = 0;
}

static int fetch(const struct cli_arguments *arguments, bool with_diagram, uint32_t from,
                 uint32_t limit, struct arena *arena, struct replay *replay)
{
    struct client_connection connection;
    int code = client_connect(arguments, &connection);
    if (code == CLI_DONE) {
        code = replay_fetch(&connection, arguments->operands[0], from, limit, with_diagram, arena,
                            replay);
    }
    client_disconnect(&connection);
    return code;
}

static int run_in(const struct cli_arguments *arguments, struct arena *arena)
{
    enum { STEPS_BEFORE = 50 }; /* among which the one that was made before it surely is */
    const char *html = cli_option_value(arguments, "html");
    uint32_t from = 1, limit = REPLAY_STEPS_DEFAULT, step = 0;
    struct replay replay;
    int code = cli_option_number(arguments, "from", UINT32_MAX, &from);
    code =
        code == CLI_DONE ? cli_option_number(arguments, "limit", REPLAY_STEPS_MAX, &limit) : code;
    code = code == CLI_DONE ? cli_option_number(arguments, "step", UINT32_MAX, &step) : code;
    if (code == CLI_DONE && step > 0 && html != NULL) {
        return cli_complain("replay", CLI_USAGE, "--step and --html exclude each other");
    }
    if (step > 0) {
        from = step > STEPS_BEFORE ? step - STEPS_BEFORE : 1;
        limit = step - from + 1;
    }
    code = code == CLI_DONE ? fetch(arguments, html != NULL, from, limit, arena, &replay) : code;
    if (code != CLI_DONE) {
        return code;
    }
    if (step > 0) {
        keep_one(&replay, step);
        if (replay.count == 0) {
            return cli_complain("replay", CLI_FAILED, "there is no step %u", step);
        }
    }
    code = html == NULL ? show(arguments, &replay, false, arena)
                        : write_page(arguments, html, replay_html(&replay, arena));
    replay_print_missing(&replay);
    return code;
}

static int run(const struct cli_arguments *arguments)
{
    struct arena arena;
    arena_init(&arena, 65536, REPLAY_ARENA_BYTES);
    int code = run_in(arguments, &arena);
    arena_release(&arena);
    return code;
}

int replay_list(const struct cli_arguments *arguments)
{
    struct arena arena;
    struct replay replay;
    arena_init(&arena, 65536, REPLAY_ARENA_BYTES);
    int code = fetch(arguments, false, 1, REPLAY_STEPS_DEFAULT, &arena, &replay);
    if (code == CLI_DONE) {
        code = show(arguments, &replay, true, &arena);
        replay_print_missing(&replay);
    }
    arena_release(&arena);
    return code;
}

const struct cli_verb cli_replay = {
    .name = "replay",
    .summary = "Shows an execution step by step, and what each step changed",
    .operands = "EXECUTION",
    .operands_min = 1,
    .operands_max = 1,
    .options = options,
    .details = "Each step is shown with its node, its time, how long its module took, and the "
               "payload paths\n"
               "that it added (+), changed (~) or removed (-), told from the step blobs "
               "(engine.stepBlobs).\n"
               "\n"
               "Example:\n"
               "  strider replay 0197… --html order.html",
    .run = run,
};
