/* engine.c: see engine.h. */
#include "tests/torture/engine.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/servers/azurite.h"

enum { ARGUMENTS_MAX = 40, START_MS = 60000, STOP_MS = 120000, LOOK_MS = 20 };

static void doze(void)
{
    nanosleep(&(struct timespec){.tv_nsec = LOOK_MS * 1000000l}, NULL);
}

struct arguments {
    const char *list[ARGUMENTS_MAX];
    char texts[ARGUMENTS_MAX][512];
    size_t count;
};

static void add(struct arguments *arguments, const char *text)
{
    arguments->list[arguments->count++] = text;
    arguments->list[arguments->count] = NULL;
}

static void set(struct arguments *arguments, const char *key, const char *value)
{
    add(arguments, "--set");
    snprintf(arguments->texts[arguments->count], sizeof arguments->texts[0], "%s=%s", key, value);
    add(arguments, arguments->texts[arguments->count]);
}

static void write_arguments(const struct torture_engine *engine, struct arguments *arguments)
{
    char text[500];
    add(arguments, engine->program);
    add(arguments, "serve");
    snprintf(text, sizeof text, "%s/data", engine->directory);
    set(arguments, "data.dir", text);
    snprintf(text, sizeof text, "%s/project", engine->directory);
    set(arguments, "projects", text);
    set(arguments, "front.listen", engine->url);
    set(arguments, "admin.listen", "off");
    set(arguments, "engine.shards", "2");
    set(arguments, "engine.heavySessionThresholdBytes", "8kb");
    set(arguments, "log.level", "info");
    if (engine->redis_port != 0) {
        snprintf(text, sizeof text, "redis://127.0.0.1:%u/0", (unsigned)engine->redis_port);
        set(arguments, "hot.kind", "redis");
        set(arguments, "hot.url", text);
        set(arguments, "hot.timeout", "300ms");
    }
    if (engine->azurite_port != 0) {
        server_azurite_connection(engine->azurite_port, text);
        set(arguments, "blob.kind", "azure");
        set(arguments, "blob.connection", text);
        set(arguments, "blob.timeout", "2s");
        set(arguments, "blob.tries", "2");
    }
}

static void become_engine(const struct torture_engine *engine)
{
    static struct arguments arguments;
    char log[200];
    write_arguments(engine, &arguments);
    snprintf(log, sizeof log, "%s/log", engine->directory);
    int handle = open(log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    dup2(handle, STDERR_FILENO);
    dup2(handle, STDOUT_FILENO);
    execv(engine->program, (char *const *)arguments.list);
    _exit(127);
}

/* How often it has said so, all starts together. (A request by NNG would tell as much, but a socket
 * of version 1.5.2 that is opened while its peer comes and goes may wait for ever.) */
static uint32_t times_ready(const struct torture_engine *engine)
{
    static const char ready[] = "strider: ready in";
    char path[200];
    char line[8192];
    uint32_t count = 0;
    snprintf(path, sizeof path, "%s/log", engine->directory);
    FILE *file = fopen(path, "r");
    if (file == NULL) {
        return 0;
    }
    fseek(file, (long)engine->log_seen, SEEK_SET);
    while (fgets(line, sizeof line, file) != NULL) {
        count += strstr(line, ready) != NULL ? 1 : 0;
    }
    fclose(file);
    return count;
}

static void look_from_here(struct torture_engine *engine)
{
    char path[200];
    struct stat status;
    snprintf(path, sizeof path, "%s/log", engine->directory);
    engine->log_seen = stat(path, &status) == 0 ? (uint64_t)status.st_size : 0;
}

bool torture_engine_start(struct torture_engine *engine)
{
    look_from_here(engine);
    engine->pid = fork();
    if (engine->pid == 0) {
        become_engine(engine);
    }
    engine->starts++;
    for (int waited_ms = 0; waited_ms < START_MS; waited_ms += LOOK_MS) {
        int status;
        if (times_ready(engine) > 0) {
            return true;
        }
        if (waitpid(engine->pid, &status, WNOHANG) == engine->pid) {
            fprintf(stderr, "the engine ended with status %d at its start %u\n", status,
                    engine->starts);
            engine->pid = 0;
            return false;
        }
        doze();
    }
    return false;
}

void torture_engine_kill(struct torture_engine *engine)
{
    if (engine->pid > 0) {
        int status;
        kill(engine->pid, SIGKILL);
        waitpid(engine->pid, &status, 0);
        engine->pid = 0;
    }
}

int torture_engine_stop(struct torture_engine *engine)
{
    int status = 0;
    kill(engine->pid, SIGTERM);
    for (int waited_ms = 0; waited_ms < STOP_MS; waited_ms += LOOK_MS) {
        if (waitpid(engine->pid, &status, WNOHANG) == engine->pid) {
            engine->pid = 0;
            return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
        }
        doze();
    }
    torture_engine_kill(engine);
    return -1;
}
