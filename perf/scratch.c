/*
 * scratch.c: see scratch.h.
 */
#include "perf/scratch.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <ftw.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "perf/histogram.h"

#define SYNC_ROUNDS 400u
#define SYNC_BYTES  2048u

enum result scratch_open(const char *parent, struct scratch *out)
{
    memset(out, 0, sizeof *out);
    int count = snprintf(out->root, sizeof out->root, "%s/strider-bench-XXXXXX", parent);
    if (count < 0 || (size_t)count >= sizeof out->root || mkdtemp(out->root) == NULL) {
        return RESULT_IO;
    }
    snprintf(out->data, sizeof out->data, "%s/data", out->root);
    snprintf(out->project, sizeof out->project, "%s/project", out->root);
    return mkdir(out->project, 0700) == 0 ? RESULT_OK : RESULT_IO;
}

static int remove_one(const char *path, const struct stat *status, int kind, struct FTW *place)
{
    (void)status;
    (void)kind;
    (void)place;
    remove(path);
    return 0;
}

void scratch_close(struct scratch *scratch)
{
    nftw(scratch->root, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

static uint32_t free_port(void)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t bytes = sizeof address;
    uint32_t port = 0;
    int socket_fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (socket_fd >= 0 && bind(socket_fd, (struct sockaddr *)&address, bytes) == 0 &&
        getsockname(socket_fd, (struct sockaddr *)&address, &bytes) == 0) {
        port = ntohs(address.sin_port);
    }
    if (socket_fd >= 0) {
        close(socket_fd);
    }
    return port;
}

void scratch_url(const struct scratch *scratch, const char *transport, const char *name,
                 char out[128])
{
    if (strcmp(transport, "tcp") == 0) {
        snprintf(out, 128, "tcp://127.0.0.1:%u", free_port());
    } else {
        snprintf(out, 128, "ipc://%s/%s.ipc", scratch->root, name);
    }
}

static enum result write_file(const char *directory, const char *name, struct span content)
{
    char path[160];
    snprintf(path, sizeof path, "%s/%s", directory, name);
    FILE *file = fopen(path, "we");
    if (file == NULL) {
        return RESULT_IO;
    }
    size_t written = fwrite(content.bytes, 1, content.count, file);
    return fclose(file) == 0 && written == content.count ? RESULT_OK : RESULT_IO;
}

enum result scratch_project(const struct scratch *scratch, const struct workload *workload,
                            struct arena *arena)
{
    char name[64];
    snprintf(name, sizeof name, "%s.bpmn", workload->process);
    enum result result =
        write_file(scratch->project, "project.json", span_text("{\"projectId\":\"default\"}\n"));
    if (result == RESULT_OK) {
        result = write_file(scratch->project, name, workload->definition(arena));
    }
    if (result == RESULT_OK && workload->module) {
        struct span modules = arena_format(
            arena,
            "{\"modules\":[{\"taskTypes\":[\"bench\"],\"url\":\"http://127.0.0.1:%u/bench\","
            "\"maxConcurrent\":256}]}\n",
            scratch->module_port);
        result = write_file(scratch->project, "modules.json", modules);
    }
    return result;
}

double scratch_sync_us(const struct scratch *scratch)
{
    static struct histogram histogram;
    static char block[1u << 20];
    char path[128];
    histogram_clear(&histogram);
    snprintf(path, sizeof path, "%s/sync", scratch->root);
    int file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (file < 0 || write(file, block, sizeof block) != (ssize_t)sizeof block || fsync(file) != 0) {
        return 0;
    }
    memset(block, 1, SYNC_BYTES);
    for (uint32_t i = 0; i < SYNC_ROUNDS; i++) {
        uint64_t begin = load_now_us();
        if (pwrite(file, block, SYNC_BYTES, (off_t)i * SYNC_BYTES) != (ssize_t)SYNC_BYTES ||
            fdatasync(file) != 0) {
            break;
        }
        histogram_add(&histogram, load_now_us() - begin);
    }
    close(file);
    unlink(path);
    return (double)histogram_at(&histogram, 0.5);
}
