/*
 * modules.c: who executes a task type. The built-ins are there in every project; a project's own
 * modules come before them.
 */
#include <stdlib.h>

#include "engine/model.h"

enum { HTTP_TIMEOUT_MS = 30000, HTTP_CONCURRENT_MAX = 64, HTTP_ATTEMPTS_MAX = 3 };

#define TEXT(text)                                                                                 \
    {                                                                                              \
        (const uint8_t *)(text), sizeof(text) - 1                                                  \
    }

/* Of these only `http` acts on the world, so only it is left out of test runs (engine.md 8). */
static const struct engine_module builtins[] = {
    {.name = TEXT("log"), .builtin = ENGINE_BUILTIN_LOG, .attempts_max = 1},
    {.name = TEXT("set"), .builtin = ENGINE_BUILTIN_SET, .attempts_max = 1},
    {.name = TEXT("echo"), .builtin = ENGINE_BUILTIN_ECHO, .attempts_max = 1},
    {
        .name = TEXT("http"),
        .builtin = ENGINE_BUILTIN_HTTP,
        .timeout_ms = HTTP_TIMEOUT_MS,
        .concurrent_max = HTTP_CONCURRENT_MAX,
        .attempts_max = HTTP_ATTEMPTS_MAX,
        .side_effects = true,
    },
    {.name = TEXT("wait"), .builtin = ENGINE_BUILTIN_WAIT, .attempts_max = 1},
    {.name = TEXT("fail"), .builtin = ENGINE_BUILTIN_FAIL, .attempts_max = 1},
};

void engine_modules_free(struct engine_modules *modules)
{
    if (modules != NULL) {
        arena_release(&modules->arena);
        free(modules);
    }
}

static bool executes(const struct engine_module *module, struct span task_type)
{
    for (uint32_t i = 0; i < module->task_type_count; i++) {
        if (span_equal(module->task_types[i], task_type)) {
            return true;
        }
    }
    return false;
}

static const struct engine_module *find_own(const struct engine_modules *modules,
                                            struct span task_type, struct span channel)
{
    for (uint32_t i = 0; i < modules->module_count; i++) {
        const struct engine_module *module = &modules->modules[i];
        if (span_equal(module->channel, channel) && executes(module, task_type)) {
            return module;
        }
    }
    return NULL;
}

const struct engine_module *engine_modules_find(const struct engine_modules *modules,
                                                struct span task_type, struct span channel)
{
    const struct engine_module *found = find_own(modules, task_type, channel);
    if (found == NULL && channel.count > 0) {
        found = find_own(modules, task_type, SPAN_EMPTY);
    }
    for (size_t i = 0; found == NULL && i < sizeof builtins / sizeof builtins[0]; i++) {
        found = span_equal(builtins[i].name, task_type) ? &builtins[i] : NULL;
    }
    return found;
}
