/*
 * azure_test.c: the blob tier on Azurite keeps its contract, and does what it says when the service
 * is away, slow, or does not let it in. Faults that Azurite does not have come from a script.
 */
#include <ev.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "proto/log.h"
#include "proto/wire/reader.h"
#include "storage/azure/azure.h"
#include "storage/http/percent.h"
#include "tests/contract/blob_contract.h"
#include "tests/contract/servers_main.h"
#include "tests/contract/support.h"
#include "tests/contract/waiting.h"
#include "tests/servers/azurite.h"
#include "tests/servers/scripted.h"

#define AZURITE "azurite"

int main(int argc, char *argv[]);

int main(int argc, char *argv[])
{
    return contract_servers_main(argc, argv, AZURITE, server_azurite_installed,
                                 server_azurite_start);
}

/* ---- a tier ---- */

struct azure_subject {
    struct contract_blob subject; /* first */
    struct ev_loop *loop;
    char connection[400];
    char container[64];
    struct storage_http_options http;
};

static struct azure_subject subject_of(uint16_t port);

static struct storage_blob *azure_open(struct contract_blob *self)
{
    struct azure_subject *azure = (struct azure_subject *)self;
    struct storage_blob *blob = NULL;
    char reason[STORAGE_AZURE_REASON_BYTES] = "";
    const struct storage_azure_options options = {
        .connection = azure->connection, .container = azure->container, .http = azure->http};
    enum result result = storage_azure_blob_open(azure->loop, &options, &blob, reason);
    cr_assert_eq(result, RESULT_OK, "%s", reason);
    return contract_blob_waiting(blob, azure->loop);
}

static void azure_end(struct contract_blob *self, struct storage_blob *blob, bool orderly)
{
    (void)self;
    (void)orderly; /* what was answered is the service's: there is no other end */
    blob->ops->close(blob);
}

static struct azure_subject subject_of(uint16_t port)
{
    struct azure_subject azure = {
        .subject = {.open = azure_open, .end = azure_end},
        .loop = ev_loop_new(EVFLAG_AUTO),
        .http = {STORAGE_HTTP_OPTIONS_DEFAULT},
    };
    signal(SIGPIPE, SIG_IGN);
    azure.http.retry_ms_first = 1;
    azure.http.retry_ms_max = 4;
    server_azurite_connection(port, azure.connection);
    snprintf(azure.container, sizeof azure.container, "test-%d", (int)getpid());
    return azure;
}

static void in_azurite(void (*rule)(struct contract_blob *))
{
    CONTRACT_NEEDS(AZURITE);
    struct azure_subject azure = subject_of(server_published(AZURITE));
    rule(&azure.subject);
    ev_loop_destroy(azure.loop);
}

#define X(rule)                                                                                    \
    Test(blob_in_azurite, rule)                                                                    \
    {                                                                                              \
        in_azurite(contract_blob_##rule);                                                          \
    }
CONTRACT_BLOB_RULES_OF_ALL(X)
#undef X

/* ---- asking ---- */

struct desk {
    struct azure_subject azure;
    struct storage_blob *blob;
    struct contract_asker asker;
};

static void desk_open(struct desk *desk, uint16_t port)
{
    *desk = (struct desk){.azure = subject_of(port)};
    contract_asker_init(&desk->asker);
}

static void desk_close(struct desk *desk)
{
    contract_asker_release(&desk->asker);
    desk->blob->ops->close(desk->blob);
    ev_loop_destroy(desk->azure.loop);
}

static enum result put(struct desk *desk, const char *name, const char *bytes)
{
    struct storage_blob_item item = {.name = span_text(name), .bytes = span_text(bytes)};
    if (desk->blob == NULL) {
        desk->blob = azure_open(&desk->azure.subject);
    }
    struct proto_address me = contract_ask(&desk->asker);
    cr_assert_eq(desk->blob->ops->put(desk->blob, &item, 1, me), RESULT_OK);
    cr_assert_eq(contract_answer(&desk->asker)->results.bytes[0],
                 contract_answer(&desk->asker)->result);
    return contract_answer(&desk->asker)->result;
}

static enum result get(struct desk *desk, const char *name)
{
    if (desk->blob == NULL) {
        desk->blob = azure_open(&desk->azure.subject);
    }
    struct proto_address me = contract_ask(&desk->asker);
    cr_assert_eq(desk->blob->ops->get(desk->blob, span_text(name), me), RESULT_OK);
    return contract_answer(&desk->asker)->result;
}

static const struct proto_port_done *list(struct desk *desk, const char *prefix, uint32_t limit)
{
    struct proto_address me = contract_ask(&desk->asker);
    cr_assert_eq(desk->blob->ops->list(desk->blob, span_text(prefix), limit, me), RESULT_OK);
    return contract_answer(&desk->asker);
}

/* ---- what Azure adds ---- */

Test(blob_in_azurite, names_of_all_that_ids_may_hold_are_kept)
{
    CONTRACT_NEEDS(AZURITE);
    static const char name[] = "w+1/e:2@x/-_.~.a%20b.msgpack";
    struct desk desk;
    desk_open(&desk, server_published(AZURITE));

    cr_assert_eq(put(&desk, name, "bytes"), RESULT_OK);

    cr_assert_eq(get(&desk, name), RESULT_OK);
    cr_assert(span_is(contract_answer(&desk.asker)->bytes, "bytes"));
    const struct proto_port_done *answer = list(&desk, "w+1/e:2@x/", 10);
    cr_assert(span_is(wire_string_or(wire_at(answer->bytes, 0), ""), name));
    desk_close(&desk);
}

Test(blob_in_azurite, reads_before_the_first_put_find_nothing)
{
    CONTRACT_NEEDS(AZURITE);
    struct desk desk;
    desk_open(&desk, server_published(AZURITE));

    cr_assert_eq(get(&desk, "w/e/1"), RESULT_NOT_FOUND);

    const struct proto_port_done *answer = list(&desk, "w/", 10);
    cr_assert_eq(answer->result, RESULT_OK);
    cr_assert_eq(wire_count(answer->bytes), 0);
    desk_close(&desk);
}

Test(blob_in_azurite, a_full_batch_is_stored_at_once)
{
    CONTRACT_NEEDS(AZURITE);
    struct desk desk;
    static char names[200][48];
    struct storage_blob_item items[200];
    desk_open(&desk, server_published(AZURITE));
    desk.blob = azure_open(&desk.azure.subject);
    for (size_t i = 0; i < 200; i++) {
        snprintf(names[i], sizeof names[i], "w/e/%03zu.msgpack", i);
        items[i] =
            (struct storage_blob_item){.name = span_text(names[i]), .bytes = span_text(names[i])};
    }

    struct proto_address me = contract_ask(&desk.asker);
    cr_assert_eq(desk.blob->ops->put(desk.blob, items, 200, me), RESULT_OK);

    cr_assert_eq(contract_answer(&desk.asker)->result, RESULT_OK);
    cr_assert_eq(wire_count(list(&desk, "w/e/", 500)->bytes), 200);
    me = contract_ask(&desk.asker);
    cr_assert_eq(desk.blob->ops->remove(desk.blob, span_text("w/e/"), me), RESULT_OK);
    cr_assert_eq(contract_answer(&desk.asker)->result, RESULT_OK);
    cr_assert_eq(wire_count(list(&desk, "w/e/", 500)->bytes), 0);
    desk_close(&desk);
}

/* A signature of the whole account by the emulator's key ("Create an account SAS"). */
static void sign_sas(const char *permissions, const char *connection, char *out, size_t capacity)
{
    struct storage_azure_account account;
    char reason[STORAGE_AZURE_REASON_BYTES];
    char text[400];
    uint8_t digest[32];
    unsigned char base64[64];
    unsigned count = 0;
    struct arena arena;
    arena_init(&arena, 1024, 65536);
    cr_assert_eq(storage_azure_account_read(connection, &account, reason), RESULT_OK);
    snprintf(text, sizeof text, "%s\n%s\nb\nsco\n\n2099-01-01T00:00:00Z\n\n\n2021-12-02\n\n",
             account.name, permissions);
    HMAC(EVP_sha256(), account.key, (int)account.key_count, (const unsigned char *)text,
         strlen(text), digest, &count);
    EVP_EncodeBlock(base64, digest, (int)count);
    struct span signature = storage_percent_encode(&arena, span_text((const char *)base64), false);
    int written = snprintf(out, capacity,
                           "BlobEndpoint=%s;SharedAccessSignature=sv=2021-12-02&ss=b&srt=sco&sp=%s"
                           "&se=2099-01-01T00%%3A00%%3A00Z&sig=%.*s",
                           account.endpoint, permissions, SPAN_ARG(signature));
    cr_assert_lt((size_t)written, capacity);
    arena_release(&arena);
}

Test(blob_in_azurite, a_shared_access_signature_lets_in_as_far_as_it_goes)
{
    CONTRACT_NEEDS(AZURITE);
    struct desk desk;
    char connection[400];
    desk_open(&desk, server_published(AZURITE));
    memcpy(connection, desk.azure.connection, sizeof connection);

    sign_sas("rwdlac", connection, desk.azure.connection, sizeof desk.azure.connection);
    cr_assert_eq(put(&desk, "w/e/1", "bytes"), RESULT_OK);
    cr_assert_eq(get(&desk, "w/e/1"), RESULT_OK);
    cr_assert_eq(wire_count(list(&desk, "w/", 10)->bytes), 1);
    desk.blob->ops->close(desk.blob);
    desk.blob = NULL;

    sign_sas("rl", connection, desk.azure.connection, sizeof desk.azure.connection);
    cr_assert_eq(get(&desk, "w/e/1"), RESULT_OK);
    cr_assert_eq(put(&desk, "w/e/1", "other"), RESULT_DENIED);
    desk_close(&desk);
}

/* ---- what goes wrong ---- */

static unsigned lines_up;
static unsigned lines_down;
static unsigned lines_denied;
static bool told_secret;

static void count_line(enum log_level level, const char *id, struct span fields)
{
    (void)level;
    lines_up += strcmp(id, "STORAGE-BLOB-UP") == 0;
    lines_down += strcmp(id, "STORAGE-BLOB-DOWN") == 0;
    lines_denied += strcmp(id, "STORAGE-BLOB-DENIED") == 0;
    told_secret = told_secret || memmem(fields.bytes, fields.count, "sig=", 4) != NULL;
}

Test(blob_in_azurite, a_wrong_key_is_denied_and_said_once)
{
    CONTRACT_NEEDS(AZURITE);
    struct desk desk;
    log_set_writer(count_line, LOG_DEBUG);
    desk_open(&desk, server_published(AZURITE));
    strstr(desk.azure.connection, "Eby8")[0] = 'F';

    cr_assert_eq(put(&desk, "w/e/1", "bytes"), RESULT_DENIED);
    cr_assert_eq(get(&desk, "w/e/1"), RESULT_DENIED);

    cr_assert_eq(lines_denied, 1);
    desk_close(&desk);
}

Test(blob_in_azurite, a_service_that_goes_away_and_comes_back_keeps_its_blobs)
{
    CONTRACT_NEEDS(AZURITE);
    struct server server = {0};
    struct desk desk;
    log_set_writer(count_line, LOG_DEBUG);
    cr_assert(server_azurite_start(&server));
    desk_open(&desk, server.port);
    desk.azure.http.timeout_ms = 20000;
    cr_assert_eq(put(&desk, "w/e/1", "bytes"), RESULT_OK);

    server_kill(&server);
    cr_assert_eq(put(&desk, "w/e/2", "bytes"), RESULT_IO);
    cr_assert_eq(get(&desk, "w/e/1"), RESULT_IO);
    cr_assert_eq(lines_down, 1);
    cr_assert(server_azurite_start(&server));

    cr_assert_eq(put(&desk, "w/e/2", "bytes"), RESULT_OK);
    cr_assert_eq(get(&desk, "w/e/2"), RESULT_OK);
    cr_assert_eq(lines_up, 1);
    desk_close(&desk);
    server_remove(&server);
}

/* ---- by script ---- */

static struct desk scripted_desk;
static struct scripted script;

static struct desk *by_script(const struct scripted_answer *answers, size_t count)
{
    struct desk *desk = &scripted_desk;
    desk_open(desk, 1);
    cr_assert(scripted_start(&script, desk->azure.loop, answers, count));
    server_azurite_connection(script.port, desk->azure.connection);
    return desk;
}

static void end_script(struct desk *desk)
{
    contract_asker_release(&desk->asker);
    desk->blob->ops->close(desk->blob);
    scripted_stop(&script);
    ev_loop_destroy(desk->azure.loop);
}

Test(blob_over_http, an_answer_counts_by_the_services_own_code)
{
    static const struct {
        struct scripted_answer answer;
        enum result put;
        enum result get;
        size_t tries; /* of each */
    } rows[] = {
        {{.status = 201}, RESULT_OK, RESULT_OK, 1},
        {{.status = 400}, RESULT_INVALID, RESULT_INVALID, 1},
        {{.status = 401}, RESULT_DENIED, RESULT_DENIED, 1},
        {{.status = 403}, RESULT_DENIED, RESULT_DENIED, 1},
        {{.status = 404, .headers = "x-ms-error-code: BlobNotFound\r\n"},
         RESULT_IO,
         RESULT_NOT_FOUND,
         1},
        {{.status = 404, .headers = "x-ms-error-code: ContainerNotFound\r\n"},
         RESULT_NOT_FOUND,
         RESULT_NOT_FOUND,
         0},
        {{.status = 409, .headers = "x-ms-error-code: BlobImmutableDueToPolicy\r\n"},
         RESULT_DENIED,
         RESULT_DENIED,
         1},
        {{.status = 409, .headers = "x-ms-error-code: ContainerBeingDeleted\r\n"},
         RESULT_IO,
         RESULT_IO,
         3},
        {{.status = 412}, RESULT_DENIED, RESULT_DENIED, 1},
        {{.status = 413}, RESULT_LIMIT, RESULT_LIMIT, 1},
        {{.status = 507}, RESULT_FULL, RESULT_FULL, 1},
        {{.status = 408}, RESULT_IO, RESULT_IO, 3},
        {{.status = 429}, RESULT_IO, RESULT_IO, 3},
        {{.status = 500}, RESULT_IO, RESULT_IO, 3},
        {{.status = 503, .headers = "x-ms-error-code: ServerBusy\r\n"}, RESULT_IO, RESULT_IO, 3},
        {{.status = 302, .headers = "Location: http://127.0.0.1:1/\r\n"}, RESULT_IO, RESULT_IO, 1},
        {{.act = SCRIPTED_CLOSE}, RESULT_IO, RESULT_IO, 3},
        {{.act = SCRIPTED_HANG}, RESULT_TIMEOUT, RESULT_TIMEOUT, 3},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct desk *desk = by_script(&rows[i].answer, 1);
        desk->azure.http.tries_max = 3;
        desk->azure.http.timeout_ms = rows[i].answer.act == SCRIPTED_HANG ? 50 : 20000;
        if (rows[i].tries > 0) { /* (a container that is missing: see below) */
            enum result result = put(desk, "w/e/1", "bytes");
            cr_assert_eq(result, rows[i].put, "put, row %zu: %s", i, result_text(result));
            /* (libcurl itself repeats on a connection that was used before and then broke) */
            cr_assert_geq(script.requests, rows[i].tries, "put, row %zu", i);
        }
        size_t before = script.requests;
        enum result result = get(desk, "w/e/1");
        cr_assert_eq(result, rows[i].get, "get, row %zu: %s", i, result_text(result));
        cr_assert_geq(script.requests - before, rows[i].tries, "get, row %zu", i);
        cr_assert_leq(script.requests, 8, "row %zu", i);
        end_script(desk);
    }
}

Test(blob_over_http, what_heals_in_time_is_stored)
{
    static const struct scripted_answer answers[] = {
        {.status = 503, .headers = "Retry-After: 0\r\n"},
        {.act = SCRIPTED_CLOSE},
        {.status = 429},
        {.status = 201},
    };
    struct desk *desk = by_script(answers, 4);

    cr_assert_eq(put(desk, "w/e/1", "bytes"), RESULT_OK);

    cr_assert_eq(script.requests, 4);
    end_script(desk);
}

Test(blob_over_http, a_missing_container_is_made_once_and_by_whoever_comes_first)
{
    static const struct scripted_answer answers[] = {
        {.status = 404, .headers = "x-ms-error-code: ContainerNotFound\r\n"},
        {.status = 409, .headers = "x-ms-error-code: ContainerBeingDeleted\r\n"},
        {.status = 409, .headers = "x-ms-error-code: ContainerAlreadyExists\r\n"},
        {.status = 201},
    };
    struct desk *desk = by_script(answers, 4);

    cr_assert_eq(put(desk, "w/e/1", "bytes"), RESULT_OK);

    cr_assert_eq(script.requests, 4);
    cr_assert_not_null(strstr(script.paths[1], "?restype=container"));
    cr_assert_not_null(strstr(script.paths[2], "?restype=container"));
    cr_assert_not_null(strstr(script.paths[3], "/w/e/1"));
    end_script(desk);
}

Test(blob_over_http, a_container_that_may_not_be_made_ends_the_put)
{
    static const struct scripted_answer answers[] = {
        {.status = 404, .headers = "x-ms-error-code: ContainerNotFound\r\n"},
        {.status = 403, .headers = "x-ms-error-code: AuthorizationFailure\r\n"},
    };
    struct desk *desk = by_script(answers, 2);

    cr_assert_eq(put(desk, "w/e/1", "bytes"), RESULT_DENIED);

    cr_assert_eq(script.requests, 2);
    end_script(desk);
}

Test(blob_over_http, a_listing_that_is_none_is_a_failure)
{
    static const struct scripted_answer answers[] = {{.status = 200, .body = "<html>proxy login"}};
    struct desk *desk = by_script(answers, 1);
    desk->blob = azure_open(&desk->azure.subject);

    cr_assert_eq(list(desk, "w/", 10)->result, RESULT_IO);

    end_script(desk);
}

Test(blob_over_http, a_listing_goes_on_at_its_marker_up_to_the_limit)
{
    static const struct scripted_answer answers[] = {
        {.status = 200,
         .body = "<EnumerationResults><Blobs><Blob><Name>w/1</Name></Blob><Blob><Name>w/2</Name>"
                 "</Blob></Blobs><NextMarker>a b</NextMarker></EnumerationResults>"},
        {.status = 200,
         .body = "<EnumerationResults><Blobs><Blob><Name>w/3</Name></Blob><Blob><Name>w/4</Name>"
                 "</Blob></Blobs><NextMarker>c</NextMarker></EnumerationResults>"},
    };
    struct desk *desk = by_script(answers, 2);
    desk->blob = azure_open(&desk->azure.subject);

    const struct proto_port_done *answer = list(desk, "w/", 3);

    cr_assert_eq(wire_count(answer->bytes), 3);
    cr_assert(span_is(wire_string_or(wire_at(answer->bytes, 2), ""), "w/3"));
    cr_assert_eq(script.requests, 2);
    cr_assert_not_null(strstr(script.paths[0], "comp=list&maxresults=3&prefix=w%2F"));
    cr_assert_not_null(strstr(script.paths[1], "comp=list&marker=a%20b&maxresults=1"));
    end_script(desk);
}

Test(blob_over_http, a_reply_larger_than_the_bound_is_refused)
{
    static const struct scripted_answer answers[] = {{.status = 200, .body = "12345678"}};
    struct desk *desk = by_script(answers, 1);
    desk->azure.http.reply_bytes_max = 7;

    cr_assert_eq(get(desk, "w/e/1"), RESULT_LIMIT);

    end_script(desk);
}

/* ---- many at once, without the wrapper that waits ---- */

struct counter {
    struct proto_sink sink; /* first */
    unsigned answers;
    unsigned by_result[RESULT_UNSUPPORTED + 1];
};

static enum result count_answer(struct proto_sink *sink, struct proto_message **message)
{
    struct counter *counter = (struct counter *)sink;
    counter->by_result[(*message)->as.port_done.result]++;
    counter->answers++;
    message_free(*message);
    *message = NULL;
    return RESULT_OK;
}

static struct storage_blob *bare_tier(struct desk *desk)
{
    struct storage_blob *blob = NULL;
    char reason[STORAGE_AZURE_REASON_BYTES] = "";
    const struct storage_azure_options options = {.connection = desk->azure.connection,
                                                  .container = desk->azure.container,
                                                  .http = desk->azure.http};
    cr_assert_eq(storage_azure_blob_open(desk->azure.loop, &options, &blob, reason), RESULT_OK);
    return blob;
}

Test(blob_over_http, uploads_run_twenty_at_once_and_no_more)
{
    static const struct scripted_answer answers[] = {{.status = 201}};
    static char names[60][16];
    struct storage_blob_item items[60];
    struct counter counter = {.sink = {.send = count_answer}};
    struct desk *desk = by_script(answers, 1);
    desk->blob = bare_tier(desk);
    for (size_t i = 0; i < 60; i++) {
        snprintf(names[i], sizeof names[i], "w/e/%zu", i);
        items[i] =
            (struct storage_blob_item){.name = span_text(names[i]), .bytes = span_text("bytes")};
    }
    script.hold = 20; /* no answer before twenty have come */

    struct proto_address me = {&counter.sink, 0};
    cr_assert_eq(desk->blob->ops->put(desk->blob, items, 60, me), RESULT_OK);
    while (counter.answers == 0) {
        ev_run(desk->azure.loop, EVRUN_ONCE);
    }

    cr_assert_eq(counter.by_result[RESULT_OK], 1);
    cr_assert_eq(script.requests, 60);
    cr_assert_eq(script.waiting_max, 20);
    end_script(desk);
}

/* Sixty uploads that nobody waits for, twenty at once; then a read and a save that somebody does.
 */
Test(blob_over_http, what_is_waited_for_goes_before_the_rest_and_a_read_waits_for_no_upload)
{
    static const struct scripted_answer answers[] = {{.status = 201}};
    static char names[60][32];
    struct storage_blob_item items[60];
    struct counter counter = {.sink = {.send = count_answer}};
    struct desk *desk = by_script(answers, 1);
    desk->blob = bare_tier(desk);
    for (size_t i = 0; i < 60; i++) {
        snprintf(names[i], sizeof names[i], "w/e/%zu", i);
        items[i] =
            (struct storage_blob_item){.name = span_text(names[i]), .bytes = span_text("bytes")};
    }
    struct storage_blob_item save = {
        .name = span_text("w/save"), .bytes = span_text("bytes"), .awaited = true};
    struct proto_address me = {&counter.sink, 0};
    script.hold = 21; /* no answer before twenty uploads and the read have come */

    cr_assert_eq(desk->blob->ops->put(desk->blob, items, 60, me), RESULT_OK);
    cr_assert_eq(desk->blob->ops->put(desk->blob, &save, 1, me), RESULT_OK);
    cr_assert_eq(desk->blob->ops->get(desk->blob, span_text("w/read"), me), RESULT_OK);

    while (script.requests < 21 || script.waiting < 20) {
        ev_run(desk->azure.loop, EVRUN_ONCE);
    }
    cr_assert_eq(counter.answers, 1, "the read alone");
    scripted_release(&script, 21);
    while (script.requests < 41 || script.waiting < 20) {
        ev_run(desk->azure.loop, EVRUN_ONCE);
    }
    cr_assert_eq(counter.answers, 2, "the save was in the next twenty");
    scripted_release(&script, 0);
    while (counter.answers < 3) {
        ev_run(desk->azure.loop, EVRUN_ONCE);
    }
    cr_assert_eq(script.requests, 62);
    end_script(desk);
}

Test(blob_over_http, an_awaited_put_takes_the_older_ones_of_its_name_along)
{
    static const struct scripted_answer answers[] = {{.status = 201}};
    static char names[60][32];
    struct storage_blob_item items[60];
    struct counter counter = {.sink = {.send = count_answer}};
    struct desk *desk = by_script(answers, 1);
    desk->blob = bare_tier(desk);
    for (size_t i = 0; i < 60; i++) {
        snprintf(names[i], sizeof names[i], "w/e/%zu", i);
        items[i] =
            (struct storage_blob_item){.name = span_text(names[i]), .bytes = span_text("bytes")};
    }
    struct storage_blob_item save = {
        .name = span_text("w/e/59"), .bytes = span_text("newer"), .awaited = true};
    struct proto_address me = {&counter.sink, 0};
    script.hold = 21; /* until they are released, each twenty that are there */

    cr_assert_eq(desk->blob->ops->put(desk->blob, items, 60, me), RESULT_OK);
    cr_assert_eq(desk->blob->ops->put(desk->blob, &save, 1, me), RESULT_OK);
    for (size_t wave = 0; wave < 3; wave++) {
        while (script.requests < wave * 20 || script.waiting < 20) {
            ev_run(desk->azure.loop, EVRUN_ONCE);
        }
        cr_assert_eq(counter.answers, 0, "the older one goes with the second twenty");
        scripted_release(&script, 21);
    }
    while (script.waiting < 1) {
        ev_run(desk->azure.loop, EVRUN_ONCE);
    }

    cr_assert_eq(counter.answers, 1, "the newer one with the third; one is left of the sixty");
    scripted_release(&script, 0);
    while (counter.answers < 2) {
        ev_run(desk->azure.loop, EVRUN_ONCE);
    }
    cr_assert_eq(counter.by_result[RESULT_OK], 2);
    end_script(desk);
}

Test(blob_over_http, a_put_never_overtakes_an_older_one_of_its_name)
{
    static const struct scripted_answer answers[] = {
        {.status = 503}, {.status = 503}, {.status = 201}};
    struct counter counter = {.sink = {.send = count_answer}};
    struct desk *desk = by_script(answers, 3);
    desk->blob = bare_tier(desk);
    struct storage_blob_item first = {.name = span_text("w/same"), .bytes = span_text("first")};
    struct storage_blob_item second = {.name = span_text("w/same"), .bytes = span_text("second")};
    struct storage_blob_item other = {.name = span_text("w/other"), .bytes = span_text("other")};
    struct proto_address me = {&counter.sink, 0};
    script.hold = 2; /* the first and the other; the second must not come */

    cr_assert_eq(desk->blob->ops->put(desk->blob, &first, 1, me), RESULT_OK);
    cr_assert_eq(desk->blob->ops->put(desk->blob, &second, 1, me), RESULT_OK);
    cr_assert_eq(desk->blob->ops->put(desk->blob, &other, 1, me), RESULT_OK);
    while (script.requests < 2) {
        ev_run(desk->azure.loop, EVRUN_ONCE);
    }
    cr_assert_eq(script.waiting_max, 2);
    scripted_release(&script, 0);
    while (counter.answers < 3) {
        ev_run(desk->azure.loop, EVRUN_ONCE);
    }

    cr_assert_eq(counter.by_result[RESULT_OK], 3);
    cr_assert_eq(script.requests, 5, "first twice, other twice, second once, last");
    cr_assert_not_null(strstr(script.paths[4], "/w/same"));
    end_script(desk);
}

Test(blob_over_http, too_many_are_refused_and_closing_answers_the_rest)
{
    static const struct scripted_answer answers[] = {{.act = SCRIPTED_HANG}};
    struct counter counter = {.sink = {.send = count_answer}};
    struct desk *desk = by_script(answers, 1);
    desk->azure.http.parallel_max = 2;
    desk->azure.http.waiting_max = 3;
    desk->blob = bare_tier(desk);
    struct proto_address me = {&counter.sink, 0};
    for (int i = 0; i < 5; i++) {
        cr_assert_eq(desk->blob->ops->get(desk->blob, span_text("w/1"), me), RESULT_OK);
    }

    cr_assert_eq(desk->blob->ops->get(desk->blob, span_text("w/1"), me), RESULT_AGAIN);
    cr_assert_eq(desk->blob->ops->remove(desk->blob, span_text("w/"), me), RESULT_AGAIN);
    while (script.requests < 2) {
        ev_run(desk->azure.loop, EVRUN_ONCE);
    }
    end_script(desk);

    cr_assert_eq(counter.answers, 5);
    cr_assert_eq(counter.by_result[RESULT_CLOSED], 5);
}

Test(blob_over_http, bad_options_are_refused_with_a_reason)
{
    struct ev_loop *loop = ev_loop_new(EVFLAG_AUTO);
    struct storage_blob *blob = NULL;
    char reason[STORAGE_AZURE_REASON_BYTES] = "";
    struct storage_azure_options options = {.connection = "UseDevelopmentStorage=true",
                                            .container = "No Name",
                                            .http = {STORAGE_HTTP_OPTIONS_DEFAULT}};

    cr_assert_eq(storage_azure_blob_open(loop, &options, &blob, reason), RESULT_INVALID);
    cr_assert_not_null(strstr(reason, "container"));
    options.container = "abc";
    options.connection = "AccountName=a";
    cr_assert_eq(storage_azure_blob_open(loop, &options, &blob, reason), RESULT_INVALID);
    cr_assert_not_null(strstr(reason, "AccountKey"));
    ev_loop_destroy(loop);
}
