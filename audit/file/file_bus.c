/* file_bus.c: see file.h. Writes on the caller's thread: what is set aside is rare. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "audit/file/file.h"
#include "proto/base/arena.h"
#include "proto/base/assert.h"
#include "proto/log.h"
#include "proto/message.h"
#include "proto/wire/json.h"
#include "proto/wire/reader.h"
#include "proto/wire/writer.h"

#define FILE_BUS_MAGIC 0x41465342u

struct file_bus {
    struct audit_bus bus; /* first: the port points here */
    uint32_t magic;
    struct audit_bus_options options;
    struct audit_bus_counters counters;
    struct arena arena;
    int file;
    uint64_t settled;
    bool told_full;
};

static struct file_bus *file_cast(struct audit_bus *port)
{
    struct file_bus *bus = (struct file_bus *)port;
    ASSERT(bus->magic == FILE_BUS_MAGIC);
    return bus;
}

static int64_t unix_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* Bytes that are no UTF-8 are shown as '?': the line must stay JSON, and a person reads it. */
static struct span as_text(struct arena *arena, struct span bytes)
{
    struct wire_writer writer;
    size_t offset;
    const char *why;
    wire_writer_init(&writer, arena, bytes.count + 16);
    wire_write_string(&writer, bytes);
    if (wire_validate(wire_writer_span(&writer), 1, &offset, &why) == RESULT_OK) {
        return bytes;
    }
    uint8_t *copy = arena_alloc(arena, bytes.count + 1);
    for (size_t i = 0; copy != NULL && i < bytes.count; i++) {
        copy[i] = bytes.bytes[i] < 0x80 ? bytes.bytes[i] : '?';
    }
    return span_of(copy, copy == NULL ? 0 : bytes.count);
}

static enum result spell(struct file_bus *bus, const struct audit_bus_message *message,
                         struct span *line)
{
    struct wire_writer writer;
    struct span id = as_text(&bus->arena, message->id);
    struct span body = as_text(&bus->arena, message->body);
    wire_writer_init(&writer, &bus->arena, body.count + 512);
    wire_write_map(&writer, 4);
    wire_pair_time(&writer, "at", unix_ms());
    wire_pair_string(&writer, "id", id);
    wire_pair_string(&writer, "reason", as_text(&bus->arena, message->reason));
    wire_pair_string(&writer, "body", body);
    enum result result = json_from_wire(wire_writer_span(&writer), JSON_COMPACT, &bus->arena, line);
    return bus->arena.overflowed ? RESULT_LIMIT : result;
}

/* All of it, durably, or nothing: a part of a line would spoil the next. */
static enum result append(struct file_bus *bus, struct span line)
{
    struct stat before;
    if (fstat(bus->file, &before) != 0) {
        return RESULT_IO;
    }
    if ((uint64_t)before.st_size + line.count > AUDIT_FILE_BYTES_MAX) {
        return RESULT_FULL;
    }
    size_t written = 0;
    while (written < line.count) {
        ssize_t count = write(bus->file, line.bytes + written, line.count - written);
        if (count < 0 && errno == EINTR) {
            continue;
        }
        if (count <= 0) {
            break;
        }
        written += (size_t)count;
    }
    if (written == line.count && fdatasync(bus->file) == 0) {
        return RESULT_OK;
    }
    return ftruncate(bus->file, before.st_size) == 0 ? RESULT_FULL : RESULT_IO;
}

static enum result file_send(struct audit_bus *port, const struct audit_bus_message *message)
{
    struct file_bus *bus = file_cast(port);
    struct span line = SPAN_EMPTY;
    struct proto_message *settled = message_new(PROTO_BUS_SETTLED, 0);
    if (settled == NULL) {
        return RESULT_LIMIT;
    }
    enum result result = spell(bus, message, &line);
    if (result == RESULT_OK) {
        struct span whole = arena_format(&bus->arena, "%.*s\n", SPAN_ARG(line));
        result = whole.count == line.count + 1 ? append(bus, whole) : RESULT_LIMIT;
    }
    arena_clear(&bus->arena);
    if (result != RESULT_OK) {
        if (!bus->told_full) {
            log_line(LOG_ERROR, "BUS-FILE-NOT-WRITTEN", "reason=\"%s\"", result_text(result));
        }
        bus->told_full = true;
        message_free(settled);
        return result == RESULT_LIMIT ? RESULT_LIMIT : RESULT_AGAIN;
    }
    bus->told_full = false;
    bus->settled++;
    atomic_fetch_add(&bus->counters.sent, 1);
    atomic_fetch_add(&bus->counters.settled, 1);
    settled->as.position = bus->settled;
    message_answer(bus->options.owner, settled);
    return RESULT_OK;
}

static const struct audit_bus_counters *file_counters(const struct audit_bus *port)
{
    return &((const struct file_bus *)port)->counters;
}

static void file_close(struct audit_bus *port)
{
    struct file_bus *bus = file_cast(port);
    close(bus->file);
    arena_release(&bus->arena);
    bus->magic = 0;
    free(bus);
}

static const struct audit_bus_ops file_ops = {
    .send = file_send,
    .counters = file_counters,
    .close = file_close,
};

enum result audit_file_bus_open(const char *path, const struct audit_bus_options *options,
                                struct audit_bus **out, char reason[AUDIT_REASON_BYTES])
{
    struct file_bus *bus = calloc(1, sizeof *bus);
    if (bus == NULL) {
        snprintf(reason, AUDIT_REASON_BYTES, "no memory");
        return RESULT_LIMIT;
    }
    bus->bus.ops = &file_ops;
    bus->magic = FILE_BUS_MAGIC;
    bus->options = *options;
    bus->counters.connected = 1;
    arena_init(&bus->arena, 64u << 10, (size_t)AUDIT_MESSAGE_BYTES_MAX * 8);
    bus->file = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (bus->file < 0) {
        snprintf(reason, AUDIT_REASON_BYTES, "%.120s: %s", path, strerrordesc_np(errno));
        enum result result = errno == EACCES || errno == EPERM ? RESULT_DENIED : RESULT_IO;
        arena_release(&bus->arena);
        free(bus);
        return result;
    }
    *out = &bus->bus;
    return RESULT_OK;
}
