/*
 * module_server.c: the modules of the order example: a small HTTP/1.1 server in plain C, no
 * library, loopback only.
 *
 * A module is any HTTP server that answers a POST. The engine sends the step's data as JSON and an
 * Idempotency-Key; the answer says what to change in the execution's data. Here:
 *
 *   /check     200  keeps the order's total as the process variable `total`
 *   /charge    503 at the first sight of an Idempotency-Key, then 200: the engine tries again by
 * itself /pack      200  a parcel number /deliver   202  accepted: the step waits until somebody
 * calls back (other)    404
 *
 * A module must do its work once for one Idempotency-Key, however often it is called with it:
 * /charge shows how.
 *
 *   example-modules [PORT]      default 7790; 0 takes any free port. It prints one line when ready,
 * and one for each call.
 *
 * One thread a connection. The table of keys is shared by them and guarded by a mutex.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

#define REQUEST_BYTES_MAX 65536u
#define KEYS_MAX          1024u /* remembered; the oldest is forgotten */
#define KEY_BYTES         128u

struct request {
    char bytes[REQUEST_BYTES_MAX + 1]; /* head and body, NUL-terminated */
    size_t count;                      /* read so far, perhaps beyond this request */
    char path[64];
    char key[KEY_BYTES];
    const char *body;
    size_t length; /* of head and body together */
};

struct answer {
    int status;
    char body[512]; /* JSON, may be empty */
};

/* ---- what the modules do ---- */

static pthread_mutex_t keys_mutex = PTHREAD_MUTEX_INITIALIZER;
static char keys[KEYS_MAX][KEY_BYTES];
static size_t keys_seen;

/* Has this key been here before? Remembers it. */
static bool seen_before(const char *key)
{
    bool found = false;
    pthread_mutex_lock(&keys_mutex);
    for (size_t i = 0; i < KEYS_MAX && !found; i++) {
        found = strcmp(keys[i], key) == 0;
    }
    if (!found) {
        snprintf(keys[keys_seen++ % KEYS_MAX], KEY_BYTES, "%s", key);
    }
    pthread_mutex_unlock(&keys_mutex);
    return found;
}

/* The number behind "name": in the step's config; a real module would use a JSON library. */
static double config_number(const char *body, const char *name)
{
    const char *config = strstr(body, "\"config\"");
    const char *found = config == NULL ? NULL : strstr(config, name);
    return found == NULL ? 0 : strtod(found + strlen(name), NULL);
}

static void check(const struct request *request, struct answer *answer)
{
    double total = config_number(request->body, "\"total\":");
    snprintf(answer->body, sizeof(answer->body), "{\"execution\":{\"total\":%g}}", total);
}

static void charge(const struct request *request, struct answer *answer)
{
    if (!seen_before(request->key)) {
        answer->status = 503; /* "come back later": a transient failure */
        return;
    }
    double amount = config_number(request->body, "\"amount\":");
    snprintf(answer->body, sizeof(answer->body),
             "{\"execution\":{\"charged\":%g},\"logs\":[{\"level\":\"info\",\"message\":\"card "
             "charged\"}]}",
             amount);
}

static void pack(const struct request *request, struct answer *answer)
{
    (void)request;
    snprintf(answer->body, sizeof(answer->body), "{\"execution\":{\"parcel\":\"P-1001\"}}");
}

static void deliver(const struct request *request, struct answer *answer)
{
    (void)request;
    answer->status = 202; /* the carrier has it; a callback tells when it arrived */
}

static const struct {
    const char *path;
    void (*work)(const struct request *request, struct answer *answer);
} modules[] = {{"/check", check}, {"/charge", charge}, {"/pack", pack}, {"/deliver", deliver}};

static void answer_request(const struct request *request, struct answer *answer)
{
    *answer = (struct answer){.status = 404};
    for (size_t i = 0; i < sizeof(modules) / sizeof(modules[0]); i++) {
        if (strcmp(modules[i].path, request->path) == 0) {
            answer->status = 200;
            modules[i].work(request, answer);
        }
    }
    printf("%-9s %-44s -> %d\n", request->path, request->key, answer->status);
    fflush(stdout);
}

/* ---- HTTP/1.1, as much as a POST with a Content-Length needs ---- */

/* Copies the value of a header, "" when it is not there. The head ends in an empty line, so every
 * line has its end. */
static void copy_header(const char *head, const char *name, char *out, size_t out_bytes)
{
    out[0] = '\0';
    for (const char *line = strstr(head, "\r\n"); line != NULL && line[2] != '\r';
         line = strstr(line + 2, "\r\n")) {
        size_t length = strlen(name);
        if (strncasecmp(line + 2, name, length) == 0 && line[2 + length] == ':') {
            const char *value = line + 2 + length + 1;
            value += strspn(value, " \t");
            snprintf(out, out_bytes, "%.*s", (int)strcspn(value, "\r"), value);
            return;
        }
    }
}

/* Reads until one whole request is there. False: the peer is gone or speaks something else. */
static bool read_request(int connection, struct request *request)
{
    size_t head_bytes = 0;
    size_t body_bytes = 0;
    for (;;) {
        request->bytes[request->count] = '\0';
        const char *head_end = strstr(request->bytes, "\r\n\r\n");
        if (head_end != NULL) {
            char length[24];
            copy_header(request->bytes, "Content-Length", length, sizeof(length));
            head_bytes = (size_t)(head_end - request->bytes) + 4;
            body_bytes = strtoul(length, NULL, 10);
            if (body_bytes > REQUEST_BYTES_MAX || head_bytes + body_bytes > REQUEST_BYTES_MAX) {
                return false;
            }
            if (request->count >= head_bytes + body_bytes) {
                break;
            }
        }
        ssize_t got = recv(connection, request->bytes + request->count,
                           REQUEST_BYTES_MAX - request->count, 0);
        if (got <= 0) {
            return false;
        }
        request->count += (size_t)got;
    }
    request->body = request->bytes + head_bytes;
    request->length = head_bytes + body_bytes;
    copy_header(request->bytes, "Idempotency-Key", request->key, sizeof(request->key));
    return sscanf(request->bytes, "POST %63s HTTP/1.1", request->path) == 1;
}

static bool send_answer(int connection, const struct answer *answer)
{
    const char *reason = answer->status == 200   ? "OK"
                         : answer->status == 202 ? "Accepted"
                         : answer->status == 503 ? "Service Unavailable"
                                                 : "Not Found";
    char bytes[1024];
    int count = snprintf(
        bytes, sizeof(bytes),
        "HTTP/1.1 %d %s\r\nContent-Type: application/json\r\nContent-Length: %zu\r\n\r\n%s",
        answer->status, reason, strlen(answer->body), answer->body);
    return send(connection, bytes, (size_t)count, MSG_NOSIGNAL) == count;
}

static void *serve_connection(void *argument)
{
    int connection = (int)(intptr_t)argument;
    struct request *request = calloc(1, sizeof(*request));
    while (request != NULL && read_request(connection, request)) {
        struct answer answer;
        answer_request(request, &answer);
        if (!send_answer(connection, &answer)) {
            break;
        }
        request->count -= request->length; /* the next request may have come with this one */
        memmove(request->bytes, request->bytes + request->length, request->count);
    }
    free(request);
    close(connection);
    return NULL;
}

/* ---- listening ---- */

static int listen_on(unsigned short *port)
{
    struct sockaddr_in address = {
        .sin_family = AF_INET, .sin_port = htons(*port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t address_bytes = sizeof(address);
    int listener = socket(AF_INET, SOCK_STREAM, 0);
    int on = 1;
    setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
    if (listener < 0 || bind(listener, (struct sockaddr *)&address, sizeof(address)) != 0 ||
        listen(listener, 128) != 0 ||
        getsockname(listener, (struct sockaddr *)&address, &address_bytes) != 0) {
        return -1;
    }
    *port = ntohs(address.sin_port);
    return listener;
}

/* A word that is no port must not become port 0, which is any. */
static bool read_port(const char *text, unsigned short *port)
{
    char *end = NULL;
    errno = 0;
    unsigned long number = strtoul(text, &end, 10);
    *port = (unsigned short)number;
    return text[0] >= '0' && text[0] <= '9' && *end == '\0' && errno == 0 && number <= 65535;
}

int main(int argc, char **argv)
{
    unsigned short port = 7790;
    bool help = argc == 2 && strcmp(argv[1], "--help") == 0;
    if (help || argc > 2 || (argc == 2 && !read_port(argv[1], &port))) {
        fprintf(help ? stdout : stderr,
                "usage: example-modules [PORT]\n\nThe modules of the order example, on 127.0.0.1: "
                "PORT is 7790 without it, any free one with 0.\n");
        return help ? 0 : 2;
    }
    int listener = listen_on(&port);
    if (listener < 0) {
        fprintf(stderr, "example-modules: port %u: %s\n", port, strerror(errno));
        return 1;
    }
    printf("modules ready on http://127.0.0.1:%u\n", port);
    fflush(stdout);
    for (;;) {
        int connection = accept(listener, NULL, NULL);
        if (connection < 0) {
            continue;
        }
        int on = 1;
        setsockopt(connection, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
        pthread_t thread;
        if (pthread_create(&thread, NULL, serve_connection, (void *)(intptr_t)connection) == 0) {
            pthread_detach(thread);
        } else {
            close(connection);
        }
    }
}
