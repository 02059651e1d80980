/* scripted.c: see scripted.h. */
#include "tests/servers/scripted.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define REQUEST_BYTES_MAX (6u << 20)

static void on_connection(struct ev_loop *loop, ev_io *io, int events);
static void on_bytes(struct ev_loop *loop, ev_io *io, int events);
static void take_request(struct scripted_connection *connection);
static void answer(struct scripted_connection *connection);
static void send_out(struct scripted_connection *connection);
static void drop(struct scripted_connection *connection);

bool scripted_start(struct scripted *server, struct ev_loop *loop,
                    const struct scripted_answer *answers, size_t answer_count)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    socklen_t count = sizeof address;
    *server = (struct scripted){.loop = loop, .answers = answers, .answer_count = answer_count};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (bind(fd, (struct sockaddr *)&address, sizeof address) != 0 || listen(fd, 64) != 0 ||
        getsockname(fd, (struct sockaddr *)&address, &count) != 0) {
        close(fd);
        return false;
    }
    server->port = ntohs(address.sin_port);
    ev_io_init(&server->io, on_connection, fd, EV_READ);
    server->io.data = server;
    ev_io_start(loop, &server->io);
    return true;
}

void scripted_stop(struct scripted *server)
{
    for (size_t i = 0; i < SCRIPTED_CONNECTIONS_MAX; i++) {
        if (server->connections[i].bytes != NULL) {
            drop(&server->connections[i]);
        }
    }
    ev_io_stop(server->loop, &server->io);
    close(server->io.fd);
}

static void on_connection(struct ev_loop *loop, ev_io *io, int events)
{
    (void)events;
    struct scripted *server = io->data;
    int fd = accept4(io->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    for (size_t i = 0; fd >= 0 && i < SCRIPTED_CONNECTIONS_MAX; i++) {
        struct scripted_connection *connection = &server->connections[i];
        if (connection->bytes == NULL) {
            *connection =
                (struct scripted_connection){.server = server, .bytes = malloc(REQUEST_BYTES_MAX)};
            ev_io_init(&connection->io, on_bytes, fd, EV_READ);
            ev_io_start(loop, &connection->io);
            return;
        }
    }
    if (fd >= 0) {
        close(fd);
    }
}

static void on_bytes(struct ev_loop *loop, ev_io *io, int events)
{
    (void)loop;
    struct scripted_connection *connection = (struct scripted_connection *)io;
    if (events & EV_WRITE) {
        send_out(connection);
        return;
    }
    ssize_t got = read(io->fd, connection->bytes + connection->count,
                       REQUEST_BYTES_MAX - 1 - connection->count);
    if (got <= 0) {
        drop(connection);
        return;
    }
    connection->count += (size_t)got;
    connection->bytes[connection->count] = '\0';
    const char *head_end = strstr(connection->bytes, "\r\n\r\n");
    const char *length = strcasestr(connection->bytes, "\r\nContent-Length:");
    if (head_end != NULL) {
        size_t body = length != NULL && length < head_end ? strtoul(length + 17, NULL, 10) : 0;
        size_t head = (size_t)(head_end - connection->bytes) + 4;
        connection->head_count = head;
        if (connection->count >= head + body && !connection->waits) {
            take_request(connection);
        }
    }
}

static void take_request(struct scripted_connection *connection)
{
    struct scripted *server = connection->server;
    if (server->requests < SCRIPTED_PATHS_MAX) {
        int count = (int)strcspn(strchr(connection->bytes, ' ') + 1, " ") +
                    (int)strcspn(connection->bytes, " ") + 1;
        snprintf(server->paths[server->requests], sizeof server->paths[0], "%.*s", count,
                 connection->bytes);
    }
    connection->waits = true;
    server->waiting++;
    server->waiting_max =
        server->waiting > server->waiting_max ? server->waiting : server->waiting_max;
    if (server->waiting >= server->hold) {
        scripted_release(server, server->hold);
    }
}

void scripted_release(struct scripted *server, size_t hold)
{
    server->hold = hold;
    for (size_t i = 0; i < SCRIPTED_CONNECTIONS_MAX; i++) {
        if (server->connections[i].bytes != NULL && server->connections[i].waits) {
            answer(&server->connections[i]);
        }
    }
}

static void answer(struct scripted_connection *connection)
{
    struct scripted *server = connection->server;
    size_t at =
        server->requests < server->answer_count ? server->requests : server->answer_count - 1;
    const struct scripted_answer *row = server->function == NULL ? &server->answers[at] : NULL;
    struct scripted_reply reply = {.status = row == NULL ? 0 : row->status};
    server->requests++;
    if (row != NULL && row->act == SCRIPTED_CLOSE) {
        drop(connection);
        return;
    }
    if (row != NULL && row->act == SCRIPTED_HANG) {
        return;
    }
    if (row == NULL) {
        connection->bytes[connection->head_count - 1] = '\0';
        const struct scripted_request request = {
            .head = connection->bytes,
            .body = connection->bytes + connection->head_count,
            .body_count = connection->count - connection->head_count,
        };
        reply = server->function(server->owner, &request);
        if (reply.status == 0) {
            return;
        }
    } else if (row->body != NULL) {
        reply.body = strdup(row->body);
        reply.body_count = strlen(row->body);
    }
    connection->out = malloc(reply.body_count + 4096);
    connection->out_sent = 0;
    connection->out_count = (size_t)snprintf(
        connection->out, 4096, "HTTP/1.1 %d Scripted\r\n%sContent-Length: %zu\r\n\r\n",
        reply.status, row == NULL || row->headers == NULL ? reply.headers : row->headers,
        reply.body_count);
    if (reply.body_count > 0) {
        memcpy(connection->out + connection->out_count, reply.body, reply.body_count);
    }
    connection->out_count += reply.body_count;
    free(reply.body);
    connection->waits = false;
    connection->count = 0;
    server->waiting--;
    send_out(connection);
}

/* As much as the socket takes; then waits for more room, or for the next request. */
static void send_out(struct scripted_connection *connection)
{
    ssize_t done = write(connection->io.fd, connection->out + connection->out_sent,
                         connection->out_count - connection->out_sent);
    if (done < 0 && errno != EAGAIN) {
        drop(connection);
        return;
    }
    connection->out_sent += done < 0 ? 0 : (size_t)done;
    bool whole = connection->out_sent == connection->out_count;
    if (whole) {
        free(connection->out);
        connection->out = NULL;
    }
    ev_io_stop(connection->server->loop, &connection->io);
    ev_io_set(&connection->io, connection->io.fd, whole ? EV_READ : EV_WRITE);
    ev_io_start(connection->server->loop, &connection->io);
}

static void drop(struct scripted_connection *connection)
{
    struct scripted *server = connection->server;
    server->waiting -= connection->waits;
    ev_io_stop(server->loop, &connection->io);
    close(connection->io.fd);
    free(connection->bytes);
    free(connection->out);
    connection->bytes = NULL;
    connection->out = NULL;
}
