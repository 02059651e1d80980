/* s3_test.c: the blob tier on a stand-in of S3 that checks signatures keeps its contract. */
#include <criterion/criterion.h>
#include <ev.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "proto/wire/reader.h"
#include "storage/s3/s3.h"
#include "tests/contract/blob_contract.h"
#include "tests/contract/support.h"
#include "tests/contract/waiting.h"
#include "tests/servers/s3_standin.h"

struct s3_subject {
    struct contract_blob subject; /* first */
    struct ev_loop *loop;
    const char *secret;
    const char *region;
    const char *token;
    uint32_t timeout_ms; /* 0: the usual one */
};

static struct s3_standin standin;

static struct storage_blob *s3_open(struct contract_blob *self)
{
    struct s3_subject *s3 = (struct s3_subject *)self;
    struct storage_blob *blob = NULL;
    char reason[STORAGE_S3_REASON_BYTES] = "";
    char endpoint[64];
    snprintf(endpoint, sizeof endpoint, "http://127.0.0.1:%u/", (unsigned)standin.server.port);
    struct storage_s3_options options = {
        .endpoint = endpoint,
        .region = s3->region,
        .bucket = "bucket-1",
        .access_key = standin.access_key,
        .secret_key = s3->secret,
        .session_token = s3->token,
        .http = {STORAGE_HTTP_OPTIONS_DEFAULT},
    };
    options.http.retry_ms_first = 1;
    options.http.retry_ms_max = 4;
    options.http.timeout_ms = s3->timeout_ms > 0 ? s3->timeout_ms : options.http.timeout_ms;
    enum result result = storage_s3_blob_open(s3->loop, &options, &blob, reason);
    cr_assert_eq(result, RESULT_OK, "%s", reason);
    return contract_blob_waiting(blob, s3->loop);
}

static void s3_end(struct contract_blob *self, struct storage_blob *blob, bool orderly)
{
    (void)self;
    (void)orderly; /* what was answered is the service's: there is no other end */
    blob->ops->close(blob);
}

static struct s3_subject subject_new(void)
{
    struct s3_subject s3 = {
        .subject = {.open = s3_open, .end = s3_end},
        .loop = ev_loop_new(EVFLAG_AUTO),
    };
    signal(SIGPIPE, SIG_IGN);
    cr_assert(s3_standin_start(&standin, s3.loop));
    s3.secret = standin.secret_key;
    s3.region = standin.region;
    return s3;
}

static void subject_release(struct s3_subject *s3)
{
    s3_standin_stop(&standin);
    ev_loop_destroy(s3->loop);
}

static void in_s3(void (*rule)(struct contract_blob *))
{
    struct s3_subject s3 = subject_new();
    rule(&s3.subject);
    cr_assert_str_eq(standin.refused, "");
    subject_release(&s3);
}

#define X(rule)                                                                                    \
    Test(blob_in_s3, rule)                                                                         \
    {                                                                                              \
        in_s3(contract_blob_##rule);                                                               \
    }
CONTRACT_BLOB_RULES_OF_ALL(X)
#undef X

static enum result put(struct s3_subject *s3, struct contract_asker *asker, const char *name)
{
    struct storage_blob *blob = s3_open(&s3->subject);
    struct storage_blob_item item = {.name = span_text(name), .bytes = span_text("bytes")};
    cr_assert_eq(blob->ops->put(blob, &item, 1, contract_ask(asker)), RESULT_OK);
    enum result result = contract_answer(asker)->result;
    if (result == RESULT_OK) {
        cr_assert_eq(blob->ops->get(blob, span_text(name), contract_ask(asker)), RESULT_OK);
        result = contract_answer(asker)->result;
    }
    blob->ops->close(blob);
    return result;
}

Test(blob_in_s3, names_of_all_that_ids_may_hold_are_signed_as_they_are_sent)
{
    struct s3_subject s3 = subject_new();
    struct contract_asker asker;
    contract_asker_init(&asker);

    cr_assert_eq(put(&s3, &asker, "w+1/e:2@x/-_.~ a%20b.msgpack"), RESULT_OK, "%s",
                 standin.refused);

    contract_asker_release(&asker);
    subject_release(&s3);
}

Test(blob_in_s3, a_wrong_secret_is_denied)
{
    struct s3_subject s3 = subject_new();
    struct contract_asker asker;
    contract_asker_init(&asker);
    s3.secret = "wrong";

    cr_assert_eq(put(&s3, &asker, "w/e/1"), RESULT_DENIED);

    cr_assert_str_eq(standin.refused, "the signature does not match");

    contract_asker_release(&asker);
    subject_release(&s3);
}

/* ---- puts that nobody waits for any more ---- */

#define STATE_NAME "w/e/execution.msgpack"

struct late_world {
    struct s3_subject s3;
    struct storage_blob *blob;
    struct contract_asker asker;
};

static void late_open(struct late_world *world)
{
    world->s3 = subject_new();
    world->s3.timeout_ms = 300; /* what is late takes longer than that: for ever */
    contract_asker_init(&world->asker);
    world->blob = s3_open(&world->s3.subject);
}

static void late_close(struct late_world *world)
{
    cr_assert_str_eq(standin.refused, "");
    contract_asker_release(&world->asker);
    world->blob->ops->close(world->blob);
    subject_release(&world->s3);
}

static void write_state(struct late_world *world, const char *bytes)
{
    struct storage_blob_item item = {
        .name = span_text(STATE_NAME), .bytes = span_text(bytes), .rewritten = true};
    cr_assert_eq(world->blob->ops->put(world->blob, &item, 1, contract_ask(&world->asker)),
                 RESULT_OK);
    cr_assert_eq(contract_answer(&world->asker)->result, RESULT_OK, "%s", bytes);
}

static void expect_state(struct late_world *world, const char *bytes)
{
    cr_assert_eq(
        world->blob->ops->get(world->blob, span_text(STATE_NAME), contract_ask(&world->asker)),
        RESULT_OK);
    cr_assert(span_equal(contract_answer(&world->asker)->bytes, span_text(bytes)), "%.*s, not %s",
              SPAN_ARG(contract_answer(&world->asker)->bytes), bytes);
}

Test(blob_in_s3, the_first_put_of_a_state_does_not_overwrite_a_newer_one_when_it_runs_late)
{
    struct late_world world;
    late_open(&world);
    standin.next_put = S3_LATE;
    write_state(&world, "one"); /* by its second try */
    write_state(&world, "two");

    cr_assert_eq(s3_standin_run_late(&standin), 412);

    expect_state(&world, "two");
    late_close(&world);
}

Test(blob_in_s3, a_put_of_a_state_does_not_overwrite_a_newer_one_when_it_runs_late)
{
    struct late_world world;
    late_open(&world);
    write_state(&world, "one");
    standin.next_put = S3_LATE;
    write_state(&world, "two");
    cr_assert_eq(s3_standin_run_late(&standin), 412, "the second try has done it");
    standin.next_put = S3_LATE;
    write_state(&world, "three");
    write_state(&world, "four");

    cr_assert_eq(s3_standin_run_late(&standin), 412);

    expect_state(&world, "four");
    late_close(&world);
}

Test(blob_in_s3, a_late_put_of_a_dead_process_does_not_overwrite_that_of_the_next_one)
{
    struct late_world world;
    late_open(&world);
    write_state(&world, "one");
    standin.next_put = S3_LATE;
    write_state(&world, "two");
    world.blob->ops->close(world.blob);
    world.blob = s3_open(&world.s3.subject); /* it knows no version */
    write_state(&world, "three");

    cr_assert_eq(s3_standin_run_late(&standin), 412);

    expect_state(&world, "three");
    late_close(&world);
}

Test(blob_in_s3, a_put_of_a_state_whose_answer_is_lost_is_done_all_the_same)
{
    struct late_world world;
    late_open(&world);
    standin.next_put = S3_ANSWER_LOST;
    write_state(&world, "one");
    standin.next_put = S3_ANSWER_LOST;
    write_state(&world, "two");
    expect_state(&world, "two");
    late_close(&world);
}

Test(blob_in_s3, a_service_without_conditions_stores_all_the_same)
{
    struct late_world world;
    late_open(&world);
    standin.knows_no_conditions = true;
    write_state(&world, "one");
    size_t before = standin.server.requests;
    write_state(&world, "two");
    cr_assert_eq(standin.server.requests, before + 1, "it is not asked for them again");
    expect_state(&world, "two");
    late_close(&world);
}

Test(blob_in_s3, a_session_token_is_sent_and_signed)
{
    struct s3_subject s3 = subject_new();
    struct contract_asker asker;
    contract_asker_init(&asker);
    s3.token = "FwoGZXIvYXdzE/+=";

    cr_assert_eq(put(&s3, &asker, "w/e/1"), RESULT_OK, "%s", standin.refused);

    contract_asker_release(&asker);
    subject_release(&s3);
}

Test(blob_in_s3, a_removal_goes_on_page_by_page)
{
    struct s3_subject s3 = subject_new();
    struct contract_asker asker;
    static char names[200][16];
    struct storage_blob_item items[200];
    contract_asker_init(&asker);
    struct storage_blob *blob = s3_open(&s3.subject);
    for (size_t i = 0; i < 200; i++) {
        snprintf(names[i], sizeof names[i], "w/e/%03zu", i);
        items[i] =
            (struct storage_blob_item){.name = span_text(names[i]), .bytes = span_text("bytes")};
    }
    cr_assert_eq(blob->ops->put(blob, items, 200, contract_ask(&asker)), RESULT_OK);
    cr_assert_eq(contract_answer(&asker)->result, RESULT_OK, "%s", standin.refused);
    standin.page_max = 30;

    cr_assert_eq(blob->ops->list(blob, span_text("w/"), 100, contract_ask(&asker)), RESULT_OK);
    cr_assert_eq(wire_count(contract_answer(&asker)->bytes), 100);
    cr_assert_eq(blob->ops->remove(blob, span_text("w/e/"), contract_ask(&asker)), RESULT_OK);

    cr_assert_eq(contract_answer(&asker)->result, RESULT_OK, "%s", standin.refused);
    cr_assert_eq(standin.object_count, 1, "the bucket itself");
    contract_asker_release(&asker);
    blob->ops->close(blob);
    subject_release(&s3);
}

Test(blob_in_s3, a_bucket_of_another_region_is_made_there)
{
    struct s3_subject s3 = subject_new();
    struct contract_asker asker;
    contract_asker_init(&asker);
    s3.region = "eu-central-1";
    standin.region = s3.region;

    cr_assert_eq(put(&s3, &asker, "w/e/1"), RESULT_OK, "%s", standin.refused);

    cr_assert_str_eq(standin.objects[0].name, "bucket-1");
    cr_assert_not_null(memmem(standin.objects[0].bytes, standin.objects[0].count,
                              "<LocationConstraint>eu-central-1<", 33));

    contract_asker_release(&asker);
    subject_release(&s3);
}

Test(blob_in_s3, bad_options_are_refused_with_a_reason_that_tells_no_secret)
{
    static const struct {
        struct storage_s3_options options;
        const char *reason; /* a part of it */
    } rows[] = {
        {{.endpoint = "s3.amazonaws.com"}, "endpoint"},
        {{.endpoint = "https://h/path"}, "path"},
        {{.endpoint = "https://h?x"}, "endpoint"},
        {{.endpoint = "https://u:hunter2@h"}, "endpoint"},
        {{.endpoint = "https://h", .region = ""}, "region"},
        {{.endpoint = "https://h", .region = "a:b"}, "region"},
        {{.endpoint = "https://h", .region = "r", .bucket = "x/y"}, "bucket"},
        {{.endpoint = "https://h", .region = "r", .bucket = "abc", .access_key = "a:b"},
         "access key"},
        {{.endpoint = "https://h",
          .region = "r",
          .bucket = "abc",
          .access_key = "A",
          .secret_key = ""},
         "secret"},
    };
    struct ev_loop *loop = ev_loop_new(EVFLAG_AUTO);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct storage_blob *blob = NULL;
        char reason[STORAGE_S3_REASON_BYTES] = "";

        cr_assert_eq(storage_s3_blob_open(loop, &rows[i].options, &blob, reason), RESULT_INVALID);

        cr_assert_not_null(strstr(reason, rows[i].reason), "row %zu: %s", i, reason);
        cr_assert_null(strstr(reason, "hunter2"));
    }
    ev_loop_destroy(loop);
}
