/*
 * run_input.h: what `strider run` was told to run: definitions, who executes their tasks, payloads.
 * All of it is read and checked before anything is started.
 */
#ifndef TOOLS_STRIDER_RUN_INPUT_H
#define TOOLS_STRIDER_RUN_INPUT_H

#include "actors/runtime.h"
#include "proto/base/arena.h"
#include "proto/base/span.h"
#include "tools/strider/verb.h"

#define RUN_DEFINITIONS_MAX 64u

struct run_input {
    const struct cli_arguments *arguments;
    struct arena *arena; /* holds all that follows */
    struct actor_project_file definitions[RUN_DEFINITIONS_MAX];
    size_t definition_count;
    bool wants_decisions; /* one of them has a task that is a decision */
    struct span process;
    struct span modules; /* MAP values, or empty */
    struct span environment;
    struct span request;
    struct span context;
    struct span variables;
};

/* Complains in the verb's name: CLI_DONE, CLI_FAILED (a file's content is refused), CLI_USAGE. */
int run_input_read(const struct cli_arguments *arguments, struct arena *arena,
                   struct run_input *out);

#endif
