/*
 * project.c: see project.h.
 */
#include "tools/strider/project.h"

#include <dirent.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "proto/base/limits.h"
#include "proto/log.h"
#include "proto/wire/json.h"
#include "proto/wire/reader.h"
#include "tools/strider/input.h"
#include "tools/strider/verb.h"

#define PROJECTS_ARENA_BYTES (1u << 30)
#define PATH_BYTES           4096u

void cli_projects_init(struct cli_projects *projects)
{
    *projects = (struct cli_projects){0};
    arena_init(&projects->arena, 1u << 16, PROJECTS_ARENA_BYTES);
    projects->projects =
        arena_zero(&projects->arena, CLI_PROJECTS_MAX * sizeof(struct actor_project));
}

void cli_projects_release(struct cli_projects *projects)
{
    arena_release(&projects->arena);
}

static enum result refuse(struct cli_projects *projects, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static enum result refuse(struct cli_projects *projects, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    vsnprintf(projects->problem, sizeof(projects->problem), format, list);
    va_end(list);
    return RESULT_INVALID;
}

/* ---- project.json ---- */

static enum result read_json(struct cli_projects *projects, const char *file, struct span text,
                             struct span *value)
{
    struct json_error error = {0};
    if (json_to_wire(text, LIMIT_DEPTH, &projects->arena, value, &error) != RESULT_OK) {
        return refuse(projects, "%s:%u:%u: %s", file, error.line, error.column, error.reason);
    }
    return RESULT_OK;
}

static enum result describe_id(struct cli_projects *projects, const char *file, const char *key,
                               struct span value, struct span *out)
{
    struct span text = wire_is(value, WIRE_STRING) ? wire_head(value).as.text : SPAN_EMPTY;
    if (!id_is_valid(text)) {
        return refuse(projects, "%s: %s is no id (1 to %u of A-Za-z0-9._:@+-, no dot at an end)",
                      file, key, LIMIT_ID_BYTES);
    }
    *out = text;
    return RESULT_OK;
}

static enum result describe_pair(struct cli_projects *projects, const char *file, struct span key,
                                 struct span value, struct actor_project *out)
{
    static const char *const known[] = {"projectId", "workspaceId", "env"};
    if (span_is(key, known[0])) {
        return describe_id(projects, file, known[0], value, &out->project);
    }
    if (span_is(key, known[1])) {
        return describe_id(projects, file, known[1], value, &out->workspace);
    }
    if (span_is(key, known[2])) {
        if (!wire_is(value, WIRE_MAP)) {
            return refuse(projects, "%s: env is no object", file);
        }
        out->environment = value;
        return RESULT_OK;
    }
    struct span name = arena_copy(&projects->arena, key);
    const char *near = name.count == 0
                           ? NULL
                           : cli_nearest((const char *)name.bytes, known,
                                         sizeof(known) / sizeof(known[0]), sizeof(known[0]));
    if (near != NULL) {
        return refuse(projects, "%s: unknown key \"%.*s\"; did you mean \"%s\"?", file,
                      SPAN_ARG(key), near);
    }
    return refuse(projects, "%s: unknown key \"%.*s\" (projectId, workspaceId and env are known)",
                  file, SPAN_ARG(key));
}

enum result cli_project_describe(struct cli_projects *projects, const char *file, struct span text,
                                 struct actor_project *out)
{
    struct span value;
    enum result result = read_json(projects, file, text, &value);
    if (result != RESULT_OK) {
        return result;
    }
    if (!wire_is(value, WIRE_MAP)) {
        return refuse(projects, "%s: not an object", file);
    }
    struct wire_map_walk walk = wire_map_begin(value);
    struct span key;
    struct span member;
    while (result == RESULT_OK && wire_map_next(&walk, &key, &member)) {
        result = describe_pair(projects, file, key, member, out);
    }
    return result;
}

/* ---- a folder ---- */

static bool ends_with(const char *name, const char *ending)
{
    size_t count = strlen(name);
    size_t tail = strlen(ending);
    return count > tail && strcmp(name + count - tail, ending) == 0;
}

static int is_project_file(const struct dirent *entry)
{
    const char *name = entry->d_name;
    return name[0] != '.' &&
           (ends_with(name, ".bpmn") || ends_with(name, ".json") || ends_with(name, ".dmn"));
}

static int is_visible(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

static void free_names(struct dirent **names, int count)
{
    for (int i = 0; i < count; i++) {
        free(names[i]);
    }
    free(names);
}

static enum result add_file(struct cli_projects *projects, const char *folder, const char *name,
                            struct actor_project *project, struct actor_project_file *definitions)
{
    char path[PATH_BYTES];
    char problem[512];
    struct span content;
    snprintf(path, sizeof(path), "%s/%s", folder, name);
    if (cli_read_file(path, LIMIT_DEFINITION_BYTES, &projects->arena, &content, problem) !=
        RESULT_OK) {
        return refuse(projects, "%s", problem);
    }
    if (strcmp(name, "project.json") == 0) {
        return cli_project_describe(projects, path, content, project);
    }
    if (strcmp(name, "modules.json") == 0) {
        return read_json(projects, path, content, &project->modules);
    }
    struct span kept = arena_copy(&projects->arena, span_text(name));
    definitions[project->definition_count++] =
        (struct actor_project_file){.name = kept, .content = content};
    projects->definition_count++;
    return RESULT_OK;
}

static enum result add_project(struct cli_projects *projects, const char *folder,
                               struct dirent **names, int count)
{
    if (projects->count == CLI_PROJECTS_MAX || count > (int)CLI_DEFINITIONS_MAX) {
        return refuse(projects, "%s: more than %u projects, or %u files in one", folder,
                      CLI_PROJECTS_MAX, CLI_DEFINITIONS_MAX);
    }
    struct actor_project *project = &projects->projects[projects->count];
    *project =
        (struct actor_project){.project = span_text("default"), .workspace = span_text("default")};
    struct actor_project_file *definitions =
        arena_zero(&projects->arena, (size_t)count * sizeof(*definitions));
    if (definitions == NULL) {
        return refuse(projects, "%s: projects need more than %u bytes", folder,
                      PROJECTS_ARENA_BYTES);
    }
    project->definitions = definitions;
    projects->folders[projects->count] = arena_copy(&projects->arena, span_text(folder));
    enum result result = RESULT_OK;
    for (int i = 0; i < count && result == RESULT_OK; i++) {
        result = add_file(projects, folder, names[i]->d_name, project, definitions);
    }
    if (result != RESULT_OK) {
        return result;
    }
    for (size_t i = 0; i < projects->count; i++) {
        if (span_equal(projects->projects[i].project, project->project)) {
            return refuse(projects, "%s: a second project with projectId \"%.*s\"", folder,
                          SPAN_ARG(project->project));
        }
    }
    projects->count++;
    return RESULT_OK;
}

/* The project files of one folder, sorted; a negative count when it cannot be listed. */
static int list_project_files(const char *folder, struct dirent ***names)
{
    return scandir(folder, names, is_project_file, alphasort);
}

static enum result add_subfolders(struct cli_projects *projects, const char *folder)
{
    struct dirent **names;
    int count = scandir(folder, &names, is_visible, alphasort);
    size_t before = projects->count;
    size_t length = strlen(folder);
    length -= length > 1 && folder[length - 1] == '/';
    enum result result = RESULT_OK;
    for (int i = 0; i < count && result == RESULT_OK; i++) {
        char path[PATH_BYTES];
        struct stat status;
        snprintf(path, sizeof(path), "%.*s/%s", (int)length, folder, names[i]->d_name);
        if (stat(path, &status) != 0 || !S_ISDIR(status.st_mode)) {
            continue;
        }
        struct dirent **files;
        int file_count = list_project_files(path, &files);
        if (file_count > 0) {
            result = add_project(projects, path, files, file_count);
        }
        if (file_count >= 0) {
            free_names(files, file_count);
        }
    }
    if (count >= 0) {
        free_names(names, count);
    }
    if (result == RESULT_OK && count == 0) {
        /* As a container's or a package's folder is at first; one with other files is a mistake. */
        log_line(LOG_WARN, "SERVE-NO-PROJECT", "folder=\"%s\"", folder);
    } else if (result == RESULT_OK && projects->count == before) {
        return refuse(projects, "%s: no project here (project.json, modules.json or *.bpmn)",
                      folder);
    }
    return result;
}

enum result cli_projects_add(struct cli_projects *projects, const char *folder)
{
    struct dirent **names;
    int count = list_project_files(folder, &names);
    if (count < 0) {
        return refuse(projects, "%s: %s", folder, strerror(errno));
    }
    enum result result =
        count > 0 ? add_project(projects, folder, names, count) : add_subfolders(projects, folder);
    free_names(names, count);
    return result;
}
