/*
 * put_spike.c: uploads by the blob adapter, signed as S3 and as Azure want it, beside a bare loop
 * of libcurl that PUTs the same bytes with as many in flight: all to one nginx of its own, which
 * takes any signature. In alternating rounds; docs/performance.md.
 *
 *   put_spike [BLOBS [ROUNDS]]           (6000, 3)
 */
#include <curl/curl.h>
#include <ev.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "perf/load.h"
#include "perf/spike.h"
#include "proto/message.h"
#include "storage/azure/azure.h"
#include "storage/s3/s3.h"
#include "tests/servers/nginx.h"

#define MEMORY "/dev/shm"

enum {
    IN_FLIGHT = 20, /* as shipped: blob.parallel */
    NAMES =
        200, /* the same of all sides: files are replaced, in memory where there is such a place */
    BATCH = 100,
    BATCHES = 2, /* under way: while one is answered the other is sent */
    BYTES_MAX = 1 << 20,
};

static struct server server;
static char *body;

static void must(bool holds, const char *what)
{
    spike_must("put_spike", &server, holds, what);
}

static void name_of(uint32_t number, char out[64])
{
    snprintf(out, 64, "default/01a22d01-ea59-7e02-900b-%012u/2.msgpack", number % NAMES);
}

/* What one side took for its blobs. */
struct cost {
    double seconds;
    double cpu_seconds;
};

static struct cost cost_since(uint64_t begin_us, double begin_cpu_s)
{
    return (struct cost){.seconds = (double)(load_now_us() - begin_us) / 1e6,
                         .cpu_seconds = spike_cpu_s() - begin_cpu_s};
}

/* ---- the bare loop ---- */

static size_t drop(char *bytes, size_t size, size_t count, void *owner)
{
    (void)bytes;
    (void)owner;
    return size * count;
}

static void bare_begin(CURLM *multi, CURL *easy, uint32_t number)
{
    char name[64];
    char url[160];
    name_of(number, name);
    snprintf(url, sizeof url, "http://127.0.0.1:%u/put-blobs/%s", (unsigned)server.port, name);
    curl_easy_setopt(easy, CURLOPT_URL, url);
    must(curl_multi_add_handle(multi, easy) == CURLM_OK, "libcurl takes nothing");
}

static CURL *bare_easy(uint32_t size, struct curl_slist *headers)
{
    CURL *easy = curl_easy_init();
    must(easy != NULL, "no memory");
    curl_easy_setopt(easy, CURLOPT_CUSTOMREQUEST, "PUT");
    curl_easy_setopt(easy, CURLOPT_POSTFIELDS, body);
    curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)size);
    curl_easy_setopt(easy, CURLOPT_HTTPHEADER, headers);
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, drop);
    curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    return easy;
}

/* Takes what has ended; starts others in its place. */
static void bare_take(CURLM *multi, uint32_t count, uint32_t *begun, uint32_t *done)
{
    int left = 0;
    for (CURLMsg *message; (message = curl_multi_info_read(multi, &left)) != NULL;) {
        CURL *easy = message->easy_handle;
        long status = 0;
        must(message->msg == CURLMSG_DONE && message->data.result == CURLE_OK, "a bare PUT failed");
        curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &status);
        must(status >= 200 && status < 300, "nginx refuses a bare PUT");
        curl_multi_remove_handle(multi, easy);
        ++*done;
        if (*begun < count) {
            bare_begin(multi, easy, (*begun)++);
        }
    }
}

static struct cost run_bare(uint32_t size, uint32_t count)
{
    CURL *easies[IN_FLIGHT];
    CURLM *multi = curl_multi_init();
    struct curl_slist *headers = curl_slist_append(NULL, "Expect:");
    headers = curl_slist_append(headers, "Content-Type: application/octet-stream");
    curl_multi_setopt(multi, CURLMOPT_MAXCONNECTS, (long)IN_FLIGHT);
    uint32_t begun = 0;
    uint32_t done = 0;
    uint64_t begin_us = load_now_us();
    double begin_cpu_s = spike_cpu_s();
    for (int i = 0; i < IN_FLIGHT; i++) {
        easies[i] = bare_easy(size, headers);
        if (begun < count) {
            bare_begin(multi, easies[i], begun++);
        }
    }
    while (done < count) {
        int running = 0;
        must(curl_multi_perform(multi, &running) == CURLM_OK, "libcurl stops");
        bare_take(multi, count, &begun, &done);
        must(curl_multi_poll(multi, NULL, 0, done < count ? 1000 : 0, NULL) == CURLM_OK,
             "libcurl stops");
    }
    struct cost cost = cost_since(begin_us, begin_cpu_s);
    for (int i = 0; i < IN_FLIGHT; i++) {
        curl_easy_cleanup(easies[i]);
    }
    curl_multi_cleanup(multi);
    curl_slist_free_all(headers);
    return cost;
}

/* ---- ours ---- */

struct batch {
    struct proto_sink sink; /* first */
    struct uploads *uploads;
    struct storage_blob_item items[BATCH];
    char names[BATCH][64];
};

struct uploads {
    struct ev_loop *loop;
    struct storage_blob *blob;
    uint32_t size;
    uint32_t begun;
    uint32_t done;
    uint32_t count; /* in all: whole batches */
    struct batch batches[BATCHES];
};

static void send_batch(struct batch *batch)
{
    struct uploads *uploads = batch->uploads;
    if (uploads->begun == uploads->count) {
        return;
    }
    for (int i = 0; i < BATCH; i++) {
        name_of(uploads->begun++, batch->names[i]);
        batch->items[i] = (struct storage_blob_item){.name = span_text(batch->names[i]),
                                                     .bytes = span_of(body, uploads->size)};
    }
    must(uploads->blob->ops->put(uploads->blob, batch->items, BATCH,
                                 (struct proto_address){.sink = &batch->sink}) == RESULT_OK,
         "the adapter takes nothing");
}

static enum result on_stored(struct proto_sink *sink, struct proto_message **message)
{
    struct batch *batch = (struct batch *)sink;
    struct uploads *uploads = batch->uploads;
    must((*message)->as.port_done.result == RESULT_OK, "a batch was not stored");
    message_free(*message);
    *message = NULL;
    uploads->done += BATCH;
    send_batch(batch);
    if (uploads->done == uploads->count) {
        ev_break(uploads->loop, EVBREAK_ALL);
    }
    return RESULT_OK;
}

static struct cost run_ours(struct storage_blob *blob, struct ev_loop *loop, uint32_t size,
                            uint32_t count)
{
    static struct uploads uploads;
    uploads = (struct uploads){.loop = loop, .blob = blob, .size = size, .count = count};
    uint64_t begin_us = load_now_us();
    double begin_cpu_s = spike_cpu_s();
    for (int i = 0; i < BATCHES; i++) {
        uploads.batches[i].sink.send = on_stored;
        uploads.batches[i].uploads = &uploads;
        send_batch(&uploads.batches[i]);
    }
    ev_run(loop, 0);
    return cost_since(begin_us, begin_cpu_s);
}

static struct storage_blob *open_s3(struct ev_loop *loop)
{
    char endpoint[64];
    char reason[STORAGE_S3_REASON_BYTES] = "";
    struct storage_blob *blob = NULL;
    snprintf(endpoint, sizeof endpoint, "http://127.0.0.1:%u", (unsigned)server.port);
    const struct storage_s3_options options = {.endpoint = endpoint,
                                               .region = "us-east-1",
                                               .bucket = "put-blobs",
                                               .access_key = "AKIDEXAMPLE",
                                               .secret_key = "secret",
                                               .http = {STORAGE_HTTP_OPTIONS_DEFAULT}};
    must(storage_s3_blob_open(loop, &options, &blob, reason) == RESULT_OK, reason);
    return blob;
}

static struct storage_blob *open_azure(struct ev_loop *loop)
{
    char connection[160];
    char reason[STORAGE_AZURE_REASON_BYTES] = "";
    struct storage_blob *blob = NULL;
    snprintf(connection, sizeof connection,
             "AccountName=account;AccountKey=c2VjcmV0LWtleS1vZi1ub2JvZHk=;"
             "BlobEndpoint=http://127.0.0.1:%u",
             (unsigned)server.port);
    const struct storage_azure_options options = {
        .connection = connection, .container = "put-blobs", .http = {STORAGE_HTTP_OPTIONS_DEFAULT}};
    must(storage_azure_blob_open(loop, &options, &blob, reason) == RESULT_OK, reason);
    return blob;
}

/* ---- all of it ---- */

static void add(struct cost *sum, struct cost cost)
{
    sum->seconds += cost.seconds;
    sum->cpu_seconds += cost.cpu_seconds;
}

static void print(const char *flavour, uint32_t size, struct cost ours, struct cost bare,
                  double count)
{
    printf("{\"what\":\"blob adapter beside a bare loop of PUTs\",\"flavour\":\"%s\",\"bytes\":%u,"
           "\"inFlight\":%d,\"throughput\":%.0f,\"ceiling\":%.0f,\"ratio\":%.2f,"
           "\"cpuUsEach\":%.0f,\"ceilingCpuUsEach\":%.0f}\n",
           flavour, size, IN_FLIGHT, count / ours.seconds, count / bare.seconds,
           bare.seconds / ours.seconds, ours.cpu_seconds * 1e6 / count,
           bare.cpu_seconds * 1e6 / count);
    fflush(stdout);
}

static void measure(uint32_t size, uint32_t count, uint32_t rounds)
{
    struct ev_loop *loop = ev_loop_new(EVFLAG_AUTO);
    struct storage_blob *s3 = open_s3(loop);
    struct storage_blob *azure = open_azure(loop);
    struct cost bare_cost = {0};
    struct cost s3_cost = {0};
    struct cost azure_cost = {0};
    (void)run_ours(azure, loop, size, BATCH); /* the files are there, connections are made */
    (void)run_ours(s3, loop, size, BATCH);
    (void)run_bare(size, BATCH);
    for (uint32_t i = 0; i < rounds; i++) {
        add(&bare_cost, run_bare(size, count));
        add(&s3_cost, run_ours(s3, loop, size, count));
        add(&azure_cost, run_ours(azure, loop, size, count));
    }
    print("s3", size, s3_cost, bare_cost, (double)count * rounds);
    print("azure", size, azure_cost, bare_cost, (double)count * rounds);
    s3->ops->close(s3);
    azure->ops->close(azure);
    ev_loop_destroy(loop);
}

int main(int argc, char **argv)
{
    uint32_t blobs = argc > 1 ? (uint32_t)strtoul(argv[1], NULL, 10) : 6000;
    uint32_t rounds = argc > 2 ? (uint32_t)strtoul(argv[2], NULL, 10) : 3;
    must(server_nginx_installed(), "nginx is needed (tools/install-dependencies --servers)");
    must(blobs >= 2000 && rounds > 0, "at least 2000 BLOBS, and 1 of the ROUNDS");
    if (access(MEMORY, W_OK) == 0) {
        setenv("TMPDIR", MEMORY, 0); /* else the disk is what all sides wait for */
    }
    must(server_nginx_start(&server), "nginx did not start");
    signal(SIGPIPE, SIG_IGN);
    body = malloc(BYTES_MAX);
    must(body != NULL, "no memory");
    memset(body, 'x', BYTES_MAX);
    measure(2048, blobs / BATCH * BATCH, rounds);
    measure(64u << 10, blobs / 2 / BATCH * BATCH, rounds);
    measure(BYTES_MAX, blobs / 20 / BATCH * BATCH, rounds);
    free(body);
    server_remove(&server);
    return 0;
}
