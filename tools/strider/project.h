/*
 * project.h: project folders: project.json, modules.json and definitions (*.bpmn *.json *.dmn) as
 * the runtime loads them.
 */
#ifndef TOOLS_STRIDER_PROJECT_H
#define TOOLS_STRIDER_PROJECT_H

#include "actors/runtime.h"

#define CLI_PROJECTS_MAX    256u
#define CLI_DEFINITIONS_MAX 4096u /* files of one project */

struct cli_projects {
    struct arena arena; /* holds all below */
    struct actor_project *projects;
    struct span folders[CLI_PROJECTS_MAX]; /* where each was read */
    size_t count;
    size_t definition_count; /* of all */
    char problem[512];
};

/* Pair: cli_projects_release, also after a failed read. */
void cli_projects_init(struct cli_projects *projects);
void cli_projects_release(struct cli_projects *projects);

/*
 * Adds the project in a folder, or the projects in its subfolders, in the order of their names.
 * Reads the files, compiles nothing. RESULT_INVALID with `problem` ("PATH:LINE:COLUMN: …" where a
 * file has a line to blame); what was added before stays.
 */
MUST_USE enum result cli_projects_add(struct cli_projects *projects, const char *folder);

/* Private to project.c and its test: project.json's text into a project. `file` is its name for
 * messages. */
MUST_USE enum result cli_project_describe(struct cli_projects *projects, const char *file,
                                          struct span text, struct actor_project *out);

#endif
