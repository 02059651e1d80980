/*
 * served.h: the real binary serving a project of the test's own, configured by the environment and
 * asked over NNG; what it logged can be asked, too. One at a time.
 */
#ifndef TESTS_SYSTEM_SERVED_H
#define TESTS_SYSTEM_SERVED_H

#include <poll.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>

#include "proto/base/arena.h"
#include "proto/wire/json.h"
#include "proto/wire/reader.h"
#include "tests/system/program.h"
#include "transport/client.h"

enum {
    SERVED_CALL_MS = 60000,
    SERVED_PATIENCE_MS = 120000,
    SERVED_LOOK_MS = 20,
    SERVED_REQUEST_BYTES = 32 << 10,
};

struct served {
    char directory[64];
    char data[96]; /* of the engine that runs */
    char listen[96];
    char log[96];
    pid_t engine;
    struct transport_client *client;
    struct arena arena; /* of the newest request and reply */
};

static struct served served;

static inline void served_begin(void)
{
    char path[160];
    snprintf(served.directory, sizeof served.directory, "/tmp/strider-served-XXXXXX");
    REQUIRE(mkdtemp(served.directory) != NULL);
    snprintf(served.listen, sizeof served.listen, "ipc://%s/front", served.directory);
    snprintf(served.log, sizeof served.log, "%s/log", served.directory);
    arena_init(&served.arena, 64 << 10, 64 << 20);
    snprintf(path, sizeof path, "%s/project", served.directory);
    REQUIRE(mkdir(path, 0700) == 0);
}

static inline void served_end(void)
{
    char command[160];
    arena_release(&served.arena);
    snprintf(command, sizeof command, "rm -rf '%s'", served.directory);
    CHECK_INT(system(command), 0);
}

/* A file of the project. */
static inline void served_write(const char *name, const char *content)
{
    char path[160];
    snprintf(path, sizeof path, "%s/project/%s", served.directory, name);
    FILE *file = fopen(path, "w");
    REQUIRE(file != NULL && fputs(content, file) >= 0 && fclose(file) == 0);
}

static inline uint64_t served_now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

static inline void served_start(const char *data)
{
    char error[256] = "";
    char project[96];
    snprintf(served.data, sizeof served.data, "%s/%s", served.directory, data);
    snprintf(project, sizeof project, "%s/project", served.directory);
    const char *const arguments[] = {"strider",   "serve", "--data",   served.data,
                                     "--project", project, "--listen", served.listen,
                                     "--admin",   "off",   NULL};
    served.engine = program_spawn(served.log, arguments);
    REQUIRE(transport_client_open(served.listen, &served.client, error) == RESULT_OK);
}

static inline void served_stop(int number)
{
    int status = program_end(&served.engine, number);
    CHECK(number == SIGKILL ? WIFSIGNALED(status) : WIFEXITED(status) && WEXITSTATUS(status) == 0);
    transport_client_close(served.client);
}

static inline size_t served_logged(const char *text)
{
    char line[2000];
    size_t count = 0;
    FILE *file = fopen(served.log, "r");
    while (file != NULL && fgets(line, sizeof line, file) != NULL) {
        count += strstr(line, text) != NULL;
    }
    if (file != NULL) {
        fclose(file);
    }
    return count;
}

__attribute__((format(printf, 1, 2))) static inline struct span served_ask(const char *format, ...)
{
    static char json[SERVED_REQUEST_BYTES];
    struct span request;
    struct span reply = SPAN_EMPTY;
    struct json_error error;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(json, sizeof json, format, arguments);
    va_end(arguments);
    arena_clear(&served.arena);
    REQUIRE(json_to_wire(span_text(json), 64, &served.arena, &request, &error) == RESULT_OK);
    CHECK_INT(transport_client_call(served.client, request, SERVED_CALL_MS, &served.arena, &reply),
              RESULT_OK);
    return reply;
}

static inline int64_t served_state(struct span reply)
{
    return wire_int_or(wire_find_text(reply, "state"), -1);
}

static inline struct span served_error(struct span reply)
{
    return wire_string_or(wire_find_text(wire_find_text(reply, "error"), "code"), "");
}

static inline struct span served_call_back(const char *id)
{
    return served_ask("{\"v\":1,\"op\":\"callback\",\"executionId\":\"%s\",\"payload\":{}}", id);
}

static inline struct span served_get(const char *id)
{
    return served_ask("{\"v\":1,\"op\":\"get\",\"executionId\":\"%s\"}", id);
}

static inline bool served_is_listed(const char *id)
{
    struct span reply = served_ask("{\"v\":1,\"op\":\"list\",\"limit\":1000}");
    struct wire_map_walk walk = wire_array_begin(wire_find_text(reply, "executions"));
    for (struct span row; wire_array_next(&walk, &row);) {
        if (span_is(wire_string_or(wire_find_text(row, "executionId"), ""), id)) {
            return true;
        }
    }
    return false;
}

#define SERVED_UNTIL(condition)                                                                    \
    do {                                                                                           \
        uint64_t until_ms = served_now_ms() + SERVED_PATIENCE_MS;                                  \
        bool met = false;                                                                          \
        while (!(met = (condition)) && served_now_ms() < until_ms) {                               \
            poll(NULL, 0, SERVED_LOOK_MS);                                                         \
        }                                                                                          \
        (void)check_one(met, #condition, __FILE__, __LINE__);                                      \
    } while (0)

#endif
