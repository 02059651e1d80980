/*
 * http_client.c: the bare client loop, and the ceiling of `bench modules` made of it.
 */
#include "perf/http_client.h"

#include <stdio.h>
#include <stdlib.h>

#include "http/loop.h"
#include "perf/server.h"
#include "proto/base/assert.h"

#define CLIENT_MAGIC 0x48545450u

struct lane {
    CURL *easy;
    uint64_t began_us;
    size_t reply_bytes;
};

struct client {
    uint32_t magic;
    struct ev_loop *loop;
    struct http_loop curl;
    struct lane *lanes;
    uint32_t lane_count;
    uint32_t running;
    bool stopping;
    struct curl_slist *headers;
    struct load_result *result;
};

static enum result lanes_open(struct client *client, const struct http_client_options *options);
static void lanes_close(struct client *client);
static bool lane_start(struct client *client, struct lane *lane);
static size_t count_bytes(char *bytes, size_t one, size_t count, void *owner);
static void on_done(void *owner, CURL *easy, CURLcode code);
static void on_time(struct ev_loop *loop, ev_timer *timer, int events);

struct span http_client_body(void)
{
    return span_text(
        "{\"phase\":\"execute\",\"executionId\":\"01936f5e-7d3c-7c5a-9d2e-4f6a8b0c2d4e\","
        "\"stepId\":\"8b1f0c6e-52d1-8f3a-a1c2-90b7d4e6f813\",\"sequence\":2,\"attempt\":1,"
        "\"workspaceId\":\"default\",\"projectId\":\"default\",\"process\":\"modules\",\"version\":"
        "1,"
        "\"taskId\":\"call\",\"taskName\":\"Call\",\"taskType\":\"bench\",\"channel\":null,"
        "\"isTest\":false,"
        "\"config\":{},\"request\":{\"customer\":\"c-1042\",\"amount\":129.90},\"context\":{},"
        "\"module\":{},"
        "\"execution\":{}}");
}

enum result http_client_run(const struct http_client_options *options, struct load_result *out)
{
    *out = (struct load_result){0};
    struct client client = {.magic = CLIENT_MAGIC, .lane_count = options->in_flight, .result = out};
    client.loop = ev_loop_new(EVFLAG_AUTO);
    if (client.loop == NULL) {
        return RESULT_LIMIT;
    }
    enum result result =
        http_loop_init(&client.curl, client.loop, options->in_flight, on_done, &client);
    if (result == RESULT_OK) {
        result = lanes_open(&client, options);
        if (result == RESULT_OK) {
            ev_timer end;
            ev_timer_init(&end, on_time, options->seconds, 0.);
            end.data = &client;
            uint64_t began_us = load_now_us();
            ev_timer_start(client.loop, &end);
            ev_run(client.loop, 0);
            out->seconds = (double)(load_now_us() - began_us) * 1e-6;
            out->throughput = out->seconds > 0 ? (double)out->units / out->seconds : 0;
            ev_timer_stop(client.loop, &end);
        }
        lanes_close(&client);
        http_loop_release(&client.curl);
    }
    ev_loop_destroy(client.loop);
    return result;
}

static enum result lanes_open(struct client *client, const struct http_client_options *options)
{
    client->headers = curl_slist_append(NULL, "Content-Type: application/json");
    struct curl_slist *expect =
        client->headers == NULL ? NULL : curl_slist_append(client->headers, "Expect:");
    client->lanes = calloc(client->lane_count, sizeof *client->lanes);
    if (expect == NULL || client->lanes == NULL) {
        return RESULT_LIMIT;
    }
    for (uint32_t index = 0; index < client->lane_count; index++) {
        struct lane *lane = &client->lanes[index];
        lane->easy = curl_easy_init();
        if (lane->easy == NULL) {
            return RESULT_LIMIT;
        }
        http_loop_prepare(&client->curl, lane->easy);
        curl_easy_setopt(lane->easy, CURLOPT_PRIVATE, lane);
        curl_easy_setopt(lane->easy, CURLOPT_URL, options->url);
        curl_easy_setopt(lane->easy, CURLOPT_HTTPHEADER, client->headers);
        curl_easy_setopt(lane->easy, CURLOPT_WRITEFUNCTION, count_bytes);
        curl_easy_setopt(lane->easy, CURLOPT_WRITEDATA, lane);
        curl_easy_setopt(lane->easy, CURLOPT_POSTFIELDSIZE, (long)options->body.count);
        curl_easy_setopt(lane->easy, CURLOPT_POSTFIELDS, options->body.bytes);
        if (!lane_start(client, lane)) {
            return RESULT_LIMIT;
        }
    }
    return RESULT_OK;
}

static void lanes_close(struct client *client)
{
    for (uint32_t index = 0; client->lanes != NULL && index < client->lane_count; index++) {
        if (client->lanes[index].easy != NULL) {
            http_loop_remove(&client->curl, client->lanes[index].easy);
            curl_easy_cleanup(client->lanes[index].easy);
        }
    }
    free(client->lanes);
    curl_slist_free_all(client->headers);
}

static bool lane_start(struct client *client, struct lane *lane)
{
    lane->began_us = load_now_us();
    lane->reply_bytes = 0;
    if (http_loop_add(&client->curl, lane->easy) != RESULT_OK) {
        return false;
    }
    client->running++;
    return true;
}

static size_t count_bytes(char *bytes, size_t one, size_t count, void *owner)
{
    (void)bytes;
    struct lane *lane = owner;
    lane->reply_bytes += one * count;
    return one * count;
}

static void on_done(void *owner, CURL *easy, CURLcode code)
{
    struct client *client = BASE_CAST(client, owner, CLIENT_MAGIC);
    char *tag = NULL;
    curl_easy_getinfo(easy, CURLINFO_PRIVATE, &tag);
    struct lane *lane = (struct lane *)(void *)tag;
    long status = 0;
    curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &status);
    if (code == CURLE_OK && status == 200 && lane->reply_bytes > 0) {
        client->result->units++;
        histogram_add(&client->result->latency, load_now_us() - lane->began_us);
    } else if (client->result->errors++ == 0) {
        snprintf(client->result->first_error, sizeof client->result->first_error, "status %ld: %s",
                 status, curl_easy_strerror(code));
    }
    client->running--;
    if (!client->stopping) {
        client->stopping = !lane_start(client, lane);
    }
    if (client->running == 0) {
        ev_break(client->loop, EVBREAK_ALL);
    }
}

/* What is under way may end. */
static void on_time(struct ev_loop *loop, ev_timer *timer, int events)
{
    (void)events;
    struct client *client = BASE_CAST(client, timer->data, CLIENT_MAGIC);
    client->stopping = true;
    if (client->running == 0) {
        ev_break(loop, EVBREAK_ALL);
    }
}

enum result server_client_run(const struct scratch *scratch, uint32_t in_flight, double seconds,
                              struct load_result *out)
{
    char url[64];
    snprintf(url, sizeof url, "http://127.0.0.1:%u/", scratch->module_port);
    struct http_client_options options = {
        .url = url, .in_flight = in_flight, .seconds = seconds, .body = http_client_body()};
    return http_client_run(&options, out);
}
