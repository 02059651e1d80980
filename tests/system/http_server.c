/*
 * http_server.c: the test server: one thread, poll, a list of connections.
 *
 * The mutex guards scripts, records and gates, which the test's threads read and set; the
 * connections are the server thread's alone. An eventfd wakes the thread for a release or the stop.
 */
#include "tests/system/http_server.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "proto/base/assert.h"

#define REQUEST_BYTES_MAX (32u << 20)
#define READ_BYTES        (64u << 10)
#define WRITE_BYTES       (64u << 10)
#define TICK_MS           10
#define SHORT_BY          100u

enum state { READING, WAITING_FOR_GATE, WRITING_HEAD, WRITING_BODY, SILENT };

struct connection {
    struct connection *next;
    int fd;
    uint32_t number;
    enum state state;
    uint8_t *in;
    size_t in_count;
    size_t in_capacity;
    struct script *script; /* of the request being answered; NULL: none */
    const struct test_http_reply *reply;
    bool counted; /* in the overlap */
    char head[1024];
    size_t head_count;
    size_t sent;       /* of head or body */
    size_t body_count; /* SIZE_MAX: endless */
    uint64_t gate_order;
    char *chunk; /* of an endless body, what is being written; WRITE_BYTES of room */
    size_t chunk_count;
    size_t chunk_sent;
};

struct script {
    struct script *next;
    char *path;
    const struct test_http_reply *replies;
    size_t reply_count;
    size_t received;
    size_t given; /* replies since the script was set */
    size_t active;
    size_t overlap;
};

struct record {
    uint8_t *bytes; /* head and body as they came */
    struct test_http_request request;
};

struct test_http {
    int listener;
    int wake;
    uint16_t port;
    pthread_t thread;
    struct connection *connections; /* the server thread's */

    pthread_mutex_t mutex;
    pthread_cond_t came; /* a request was recorded */
    bool stopping;
    struct script *scripts;
    struct record *records;
    size_t record_count;
    size_t record_capacity;
    size_t active;
    size_t overlap;
    size_t releases;
    uint64_t gates;
    size_t accepted;
    size_t open;
};

static void *serve(void *arg);
static bool one_turn(struct test_http *server);
static void accept_all(struct test_http *server);
static bool advance(struct test_http *server, struct connection *connection, short events);
static bool read_some(struct connection *connection);
static bool take_request(struct test_http *server, struct connection *connection);
static void record_request(struct test_http *server, struct connection *connection,
                           size_t head_count, size_t count);
static void choose_reply(struct test_http *server, struct connection *connection);
static void open_gates(struct test_http *server);
static bool begin_reply(struct connection *connection);
static bool write_some(struct test_http *server, struct connection *connection, bool tick);
static bool write_endless(struct connection *connection, const char *body, size_t unit, bool tick);
static bool end_reply(struct test_http *server, struct connection *connection);
static void uncount(struct test_http *server, struct connection *connection);
static void close_connection(struct test_http *server, struct connection *connection);
static struct script *script_of(struct test_http *server, const char *path, size_t count);
static size_t body_bytes(const struct test_http_reply *reply);
static struct span header_of(struct span headers, const char *name);
static void wake(struct test_http *server);

struct test_http *test_http_start(void)
{
    struct test_http *server = calloc(1, sizeof *server);
    ASSERT(server != NULL);
    pthread_mutex_init(&server->mutex, NULL);
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&server->came, &attributes);
    pthread_condattr_destroy(&attributes);

    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t address_bytes = sizeof address;
    server->listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    ASSERT(server->listener >= 0);
    ASSERT(bind(server->listener, (struct sockaddr *)&address, sizeof address) == 0);
    ASSERT(listen(server->listener, 1024) == 0);
    ASSERT(getsockname(server->listener, (struct sockaddr *)&address, &address_bytes) == 0);
    server->port = ntohs(address.sin_port);
    server->wake = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    ASSERT(server->wake >= 0);
    ASSERT(pthread_create(&server->thread, NULL, serve, server) == 0);
    return server;
}

void test_http_stop(struct test_http *server)
{
    pthread_mutex_lock(&server->mutex);
    server->stopping = true;
    pthread_mutex_unlock(&server->mutex);
    wake(server);
    pthread_join(server->thread, NULL);
    close(server->listener);
    close(server->wake);
    while (server->scripts != NULL) {
        struct script *script = server->scripts;
        server->scripts = script->next;
        free(script->path);
        free(script);
    }
    for (size_t index = 0; index < server->record_count; index++) {
        free(server->records[index].bytes);
    }
    free(server->records);
    pthread_cond_destroy(&server->came);
    pthread_mutex_destroy(&server->mutex);
    free(server);
}

uint16_t test_http_port(const struct test_http *server)
{
    return server->port;
}

void test_http_url(const struct test_http *server, const char *path, char url[TEST_HTTP_URL_BYTES])
{
    snprintf(url, TEST_HTTP_URL_BYTES, "http://127.0.0.1:%u%s", server->port, path);
}

void test_http_script(struct test_http *server, const char *path,
                      const struct test_http_reply *replies, size_t count)
{
    ASSERT(count > 0);
    pthread_mutex_lock(&server->mutex);
    struct script *script = script_of(server, path, strlen(path));
    if (script == NULL) {
        script = calloc(1, sizeof *script);
        ASSERT(script != NULL);
        script->path = strdup(path);
        script->next = server->scripts;
        server->scripts = script;
    }
    script->replies = replies;
    script->reply_count = count;
    script->given = 0;
    pthread_mutex_unlock(&server->mutex);
}

void test_http_release(struct test_http *server, size_t count)
{
    pthread_mutex_lock(&server->mutex);
    server->releases += count;
    pthread_mutex_unlock(&server->mutex);
    wake(server);
}

size_t test_http_count(struct test_http *server, const char *path)
{
    pthread_mutex_lock(&server->mutex);
    struct script *script = path == NULL ? NULL : script_of(server, path, strlen(path));
    size_t count = path == NULL ? server->record_count : script == NULL ? 0 : script->received;
    pthread_mutex_unlock(&server->mutex);
    return count;
}

bool test_http_wait(struct test_http *server, const char *path, size_t count, unsigned timeout_ms)
{
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += timeout_ms / 1000;
    until.tv_nsec += (long)(timeout_ms % 1000) * 1000000;
    if (until.tv_nsec >= 1000000000) {
        until.tv_nsec -= 1000000000;
        until.tv_sec++;
    }
    bool came = false;
    int code = 0;
    pthread_mutex_lock(&server->mutex);
    for (;;) {
        struct script *script = path == NULL ? NULL : script_of(server, path, strlen(path));
        came = (path == NULL     ? server->record_count
                : script == NULL ? 0
                                 : script->received) >= count;
        if (came || code != 0) {
            break;
        }
        code = pthread_cond_timedwait(&server->came, &server->mutex, &until);
    }
    pthread_mutex_unlock(&server->mutex);
    return came;
}

size_t test_http_overlap(struct test_http *server, const char *path)
{
    pthread_mutex_lock(&server->mutex);
    struct script *script = path == NULL ? NULL : script_of(server, path, strlen(path));
    size_t overlap = path == NULL ? server->overlap : script == NULL ? 0 : script->overlap;
    pthread_mutex_unlock(&server->mutex);
    return overlap;
}

bool test_http_request(struct test_http *server, size_t index, struct test_http_request *out)
{
    pthread_mutex_lock(&server->mutex);
    bool found = index < server->record_count;
    if (found) {
        *out = server->records[index].request;
    }
    pthread_mutex_unlock(&server->mutex);
    return found;
}

struct span test_http_header(const struct test_http_request *request, const char *name)
{
    return header_of(request->headers, name);
}

size_t test_http_connections(struct test_http *server, size_t *open)
{
    pthread_mutex_lock(&server->mutex);
    size_t accepted = server->accepted;
    if (open != NULL) {
        *open = server->open;
    }
    pthread_mutex_unlock(&server->mutex);
    return accepted;
}

static void *serve(void *arg)
{
    struct test_http *server = arg;
    while (one_turn(server)) {
    }
    while (server->connections != NULL) {
        struct connection *connection = server->connections;
        server->connections = connection->next;
        close_connection(server, connection);
    }
    return NULL;
}

/* Waits for something to do and does it; false when the server shall stop. */
static bool one_turn(struct test_http *server)
{
    size_t count = 2;
    bool trickling = false;
    for (struct connection *connection = server->connections; connection != NULL;
         connection = connection->next) {
        count++;
        trickling |=
            connection->state == WRITING_BODY && connection->reply->manner == TEST_HTTP_TRICKLE;
    }
    struct pollfd *polled = calloc(count, sizeof *polled);
    ASSERT(polled != NULL);
    polled[0] = (struct pollfd){server->listener, POLLIN, 0};
    polled[1] = (struct pollfd){server->wake, POLLIN, 0};
    size_t index = 2;
    for (struct connection *connection = server->connections; connection != NULL;
         connection = connection->next) {
        bool tick =
            connection->state == WRITING_BODY && connection->reply->manner == TEST_HTTP_TRICKLE;
        bool writes =
            !tick && (connection->state == WRITING_HEAD || connection->state == WRITING_BODY);
        polled[index++] =
            (struct pollfd){connection->fd, (short)(POLLIN | (writes ? POLLOUT : 0)), 0};
    }
    (void)poll(polled, count, trickling ? TICK_MS : -1);

    uint64_t ignored;
    if (polled[1].revents != 0 && read(server->wake, &ignored, sizeof ignored) < 0) {
        ASSERT(errno == EAGAIN);
    }
    index = 2;
    for (struct connection **at = &server->connections; *at != NULL;) {
        struct connection *connection = *at;
        if (advance(server, connection, polled[index++].revents)) {
            at = &connection->next;
        } else {
            *at = connection->next;
            close_connection(server, connection);
        }
    }
    if (polled[0].revents != 0) {
        accept_all(server);
    }
    free(polled);
    open_gates(server);
    pthread_mutex_lock(&server->mutex);
    bool goes_on = !server->stopping;
    pthread_mutex_unlock(&server->mutex);
    return goes_on;
}

static void accept_all(struct test_http *server)
{
    for (int fd; (fd = accept4(server->listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC)) >= 0;) {
        struct connection *connection = calloc(1, sizeof *connection);
        ASSERT(connection != NULL);
        int on = 1;
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
        connection->fd = fd;
        connection->next = server->connections;
        server->connections = connection;
        pthread_mutex_lock(&server->mutex);
        connection->number = (uint32_t)++server->accepted;
        server->open++;
        pthread_mutex_unlock(&server->mutex);
    }
}

/* False: close it. */
static bool advance(struct test_http *server, struct connection *connection, short events)
{
    if ((events & (POLLIN | POLLHUP | POLLERR)) != 0 && !read_some(connection)) {
        return false;
    }
    if (connection->state == WRITING_HEAD || connection->state == WRITING_BODY) {
        if (!write_some(server, connection, true)) {
            return false;
        }
    }
    return connection->state != READING || take_request(server, connection);
}

static bool read_some(struct connection *connection)
{
    if (connection->in_capacity - connection->in_count < READ_BYTES) {
        connection->in_capacity = 2 * connection->in_capacity + READ_BYTES;
        connection->in = realloc(connection->in, connection->in_capacity);
        ASSERT(connection->in != NULL);
    }
    ssize_t count = read(connection->fd, connection->in + connection->in_count, READ_BYTES);
    if (count <= 0) {
        return count < 0 && errno == EAGAIN;
    }
    connection->in_count += (size_t)count;
    return connection->in_count <= REQUEST_BYTES_MAX;
}

/* Takes one whole request off the buffer, if there is one, and begins its reply or waits for the
 * gate. */
static bool take_request(struct test_http *server, struct connection *connection)
{
    if (connection->in_count == 0) {
        return true;
    }
    uint8_t *end = memmem(connection->in, connection->in_count, "\r\n\r\n", 4);
    if (end == NULL) {
        return true;
    }
    size_t head_count = (size_t)(end - connection->in) + 4;
    struct span length = header_of(span_of(connection->in, head_count), "Content-Length");
    size_t body_count = length.count == 0 ? 0 : strtoull((const char *)length.bytes, NULL, 10);
    if (connection->in_count - head_count < body_count) {
        return true;
    }
    record_request(server, connection, head_count, head_count + body_count);
    connection->in_count -= head_count + body_count;
    memmove(connection->in, connection->in + head_count + body_count, connection->in_count);
    return connection->state == WAITING_FOR_GATE || begin_reply(connection);
}

static void record_request(struct test_http *server, struct connection *connection,
                           size_t head_count, size_t count)
{
    struct record record = {.bytes = malloc(count)};
    ASSERT(record.bytes != NULL);
    memcpy(record.bytes, connection->in, count);
    struct span head = span_of(record.bytes, head_count - 2);
    uint8_t *line_end = memmem(head.bytes, head.count, "\r\n", 2);
    uint8_t *first_space = memchr(head.bytes, ' ', head.count);
    uint8_t *second_space =
        first_space == NULL ? NULL
                            : memchr(first_space + 1, ' ', (size_t)(line_end - first_space - 1));
    ASSERT(line_end != NULL && second_space != NULL);
    record.request = (struct test_http_request){
        .method = span_of(head.bytes, (size_t)(first_space - head.bytes)),
        .path = span_of(first_space + 1, (size_t)(second_space - first_space - 1)),
        .headers = span_of(line_end + 2, (size_t)(head.bytes + head.count - line_end - 2)),
        .body = span_of(record.bytes + head_count, count - head_count),
        .connection = connection->number,
    };
    pthread_mutex_lock(&server->mutex);
    if (server->record_count == server->record_capacity) {
        server->record_capacity = 2 * server->record_capacity + 64;
        server->records =
            realloc(server->records, server->record_capacity * sizeof *server->records);
        ASSERT(server->records != NULL);
    }
    server->records[server->record_count++] = record;
    connection->script =
        script_of(server, (const char *)record.request.path.bytes, record.request.path.count);
    choose_reply(server, connection);
    pthread_cond_broadcast(&server->came);
    pthread_mutex_unlock(&server->mutex);
}

/* With the mutex held. */
static void choose_reply(struct test_http *server, struct connection *connection)
{
    static const struct test_http_reply unknown = {.status = 404, .body = "{}"};
    struct script *script = connection->script;
    connection->counted = true;
    connection->reply = &unknown;
    if (script != NULL) {
        size_t index =
            script->given < script->reply_count ? script->given : script->reply_count - 1;
        connection->reply = &script->replies[index];
        script->given++;
        script->received++;
        script->active++;
        script->overlap = script->active > script->overlap ? script->active : script->overlap;
    }
    server->active++;
    server->overlap = server->active > server->overlap ? server->active : server->overlap;
    if (connection->reply->gated) {
        connection->gate_order = server->gates++;
        connection->state = WAITING_FOR_GATE;
    }
}

/* Begins as many waiting replies as were released, oldest first. */
static void open_gates(struct test_http *server)
{
    for (;;) {
        struct connection *oldest = NULL;
        for (struct connection *connection = server->connections; connection != NULL;
             connection = connection->next) {
            if (connection->state == WAITING_FOR_GATE &&
                (oldest == NULL || connection->gate_order < oldest->gate_order)) {
                oldest = connection;
            }
        }
        pthread_mutex_lock(&server->mutex);
        bool go = oldest != NULL && server->releases > 0;
        if (go) {
            server->releases--;
        }
        pthread_mutex_unlock(&server->mutex);
        if (!go) {
            return;
        }
        if (!begin_reply(oldest) || !write_some(server, oldest, false)) {
            shutdown(oldest->fd, SHUT_RDWR); /* the next turn closes it */
        }
    }
}

/* False: the reply is to close the connection. */
static bool begin_reply(struct connection *connection)
{
    const struct test_http_reply *reply = connection->reply;
    connection->sent = 0;
    connection->head_count = 0;
    connection->body_count = body_bytes(reply);
    connection->state = WRITING_HEAD;
    switch (reply->manner) {
    case TEST_HTTP_CLOSE:
        return false;
    case TEST_HTTP_RESET: {
        struct linger linger = {.l_onoff = 1, .l_linger = 0};
        setsockopt(connection->fd, SOL_SOCKET, SO_LINGER, &linger, sizeof linger);
        return false;
    }
    case TEST_HTTP_SILENT:
        connection->state = SILENT;
        return true;
    case TEST_HTTP_RAW:
        return true;
    case TEST_HTTP_TRICKLE:
    case TEST_HTTP_ENDLESS:
        connection->body_count = SIZE_MAX;
        break;
    case TEST_HTTP_WHOLE:
    case TEST_HTTP_SHORT:
        break;
    }
    int status = reply->status == 0 ? 200 : reply->status;
    char framing[64] = "";
    if (connection->body_count == SIZE_MAX) {
        snprintf(framing, sizeof framing, "Transfer-Encoding: chunked\r\n");
    } else if (status != 204) {
        size_t claimed = connection->body_count + (reply->manner == TEST_HTTP_SHORT ? SHORT_BY : 0);
        snprintf(framing, sizeof framing, "Content-Length: %zu\r\n", claimed);
    }
    int count = snprintf(connection->head, sizeof connection->head,
                         "HTTP/1.1 %d Scripted\r\nContent-Type: %s\r\n%s%s\r\n", status,
                         reply->content_type == NULL ? "application/json" : reply->content_type,
                         framing, reply->headers == NULL ? "" : reply->headers);
    ASSERT(count > 0 && (size_t)count < sizeof connection->head);
    connection->head_count = (size_t)count;
    return true;
}

/* Writes what the peer takes. A trickling body gets one byte a tick; an endless one goes in chunks.
 */
static bool write_some(struct test_http *server, struct connection *connection, bool tick)
{
    const struct test_http_reply *reply = connection->reply;
    if (connection->state == WRITING_HEAD) {
        ssize_t count = send(connection->fd, connection->head + connection->sent,
                             connection->head_count - connection->sent, MSG_NOSIGNAL);
        if (count < 0) {
            return errno == EAGAIN;
        }
        connection->sent += (size_t)count;
        if (connection->sent < connection->head_count) {
            return true;
        }
        connection->state = WRITING_BODY;
        connection->sent = 0;
    }
    static const char nothing[] = " ";
    const char *body = reply->body == NULL ? nothing : reply->body;
    size_t unit = reply->body == NULL      ? 1
                  : reply->body_bytes != 0 ? reply->body_bytes
                                           : strlen(reply->body);
    if (connection->body_count == SIZE_MAX) {
        return write_endless(connection, body, unit, tick);
    }
    while (connection->sent < connection->body_count) {
        char buffer[WRITE_BYTES];
        size_t bytes = connection->body_count - connection->sent;
        bytes = bytes > sizeof buffer ? sizeof buffer : bytes;
        for (size_t index = 0; index < bytes; index++) {
            buffer[index] = body[(connection->sent + index) % unit];
        }
        ssize_t count = send(connection->fd, buffer, bytes, MSG_NOSIGNAL);
        if (count < 0) {
            return errno == EAGAIN;
        }
        connection->sent += (size_t)count;
    }
    return end_reply(server, connection);
}

static bool write_endless(struct connection *connection, const char *body, size_t unit, bool tick)
{
    if (connection->chunk_sent == connection->chunk_count) {
        bool trickle = connection->reply->manner == TEST_HTTP_TRICKLE;
        if (trickle && !tick) {
            return true;
        }
        if (connection->chunk == NULL) {
            connection->chunk = malloc(WRITE_BYTES);
            ASSERT(connection->chunk != NULL);
        }
        size_t bytes = trickle ? 1 : WRITE_BYTES / 2;
        size_t head = (size_t)snprintf(connection->chunk, WRITE_BYTES, "%zx\r\n", bytes);
        for (size_t index = 0; index < bytes; index++) {
            connection->chunk[head + index] = body[(connection->sent + index) % unit];
        }
        memcpy(connection->chunk + head + bytes, "\r\n", 2);
        connection->sent += bytes;
        connection->chunk_count = head + bytes + 2;
        connection->chunk_sent = 0;
    }
    ssize_t count = send(connection->fd, connection->chunk + connection->chunk_sent,
                         connection->chunk_count - connection->chunk_sent, MSG_NOSIGNAL);
    if (count < 0) {
        return errno == EAGAIN;
    }
    connection->chunk_sent += (size_t)count;
    return true;
}

static bool end_reply(struct test_http *server, struct connection *connection)
{
    enum test_http_manner manner = connection->reply->manner;
    uncount(server, connection);
    connection->state = READING;
    if (manner == TEST_HTTP_SHORT || manner == TEST_HTTP_RAW) {
        return false;
    }
    return take_request(server, connection);
}

static void uncount(struct test_http *server, struct connection *connection)
{
    if (!connection->counted) {
        return;
    }
    connection->counted = false;
    pthread_mutex_lock(&server->mutex);
    server->active--;
    if (connection->script != NULL) {
        connection->script->active--;
    }
    pthread_mutex_unlock(&server->mutex);
}

static void close_connection(struct test_http *server, struct connection *connection)
{
    uncount(server, connection);
    pthread_mutex_lock(&server->mutex);
    server->open--;
    pthread_mutex_unlock(&server->mutex);
    close(connection->fd);
    free(connection->chunk);
    free(connection->in);
    free(connection);
}

static struct script *script_of(struct test_http *server, const char *path, size_t count)
{
    for (struct script *script = server->scripts; script != NULL; script = script->next) {
        if (span_equal(span_text(script->path), span_of(path, count))) {
            return script;
        }
    }
    return NULL;
}

static size_t body_bytes(const struct test_http_reply *reply)
{
    if (reply->repeat_bytes > 0) {
        return reply->repeat_bytes;
    }
    return reply->body_bytes > 0 ? reply->body_bytes
           : reply->body == NULL ? 0
                                 : strlen(reply->body);
}

static struct span header_of(struct span headers, const char *name)
{
    size_t name_count = strlen(name);
    size_t start = 0;
    while (start < headers.count) {
        const uint8_t *line = headers.bytes + start;
        const uint8_t *end = memmem(line, headers.count - start, "\r\n", 2);
        size_t count = end == NULL ? headers.count - start : (size_t)(end - line);
        if (count > name_count && line[name_count] == ':' &&
            strncasecmp((const char *)line, name, name_count) == 0) {
            return span_trim(span_of(line + name_count + 1, count - name_count - 1));
        }
        start += count + 2;
    }
    return SPAN_EMPTY;
}

static void wake(struct test_http *server)
{
    uint64_t one = 1;
    ASSERT(write(server->wake, &one, sizeof one) == sizeof one);
}
