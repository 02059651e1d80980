/*
 * serve_tiers_system.c: the real binary, as configured by environment variables, with its blobs in
 * S3 (a stand-in that checks every signature, behind a proxy) and its index in MariaDB. Both are
 * there, away and wrong; the engine is killed, and its data directory is lost.
 */
#include <ev.h>
#include <pthread.h>

#include "tests/servers/databases.h"
#include "tests/servers/proxy.h"
#include "tests/servers/s3_standin.h"
#include "tests/system/served.h"

enum { HEAVY_BYTES = 20000 };

static const char process[] =
    "<definitions xmlns=\"http://www.omg.org/spec/BPMN/20100524/MODEL\">"
    "<process id=\"twice\" isExecutable=\"true\"><startEvent id=\"s\"/><userTask id=\"a\"/>"
    "<userTask id=\"b\"/><endEvent id=\"e\"/>"
    "<sequenceFlow id=\"f1\" sourceRef=\"s\" targetRef=\"a\"/>"
    "<sequenceFlow id=\"f2\" sourceRef=\"a\" targetRef=\"b\"/>"
    "<sequenceFlow id=\"f3\" sourceRef=\"b\" targetRef=\"e\"/></process></definitions>";

/* ---- S3, on a loop in a thread of its own ---- */

static struct {
    struct s3_standin s3; /* the thread's, between start and stop */
    struct ev_loop *loop;
    ev_async stop;
    pthread_t thread;
} stand;

static void on_stop(struct ev_loop *loop, ev_async *watcher, int events)
{
    (void)watcher;
    (void)events;
    ev_break(loop, EVBREAK_ALL);
}

static void *run_stand(void *unused)
{
    (void)unused;
    ev_run(stand.loop, 0);
    return NULL;
}

static void start_stand(void)
{
    stand.loop = ev_loop_new(EVFLAG_AUTO);
    REQUIRE(stand.loop != NULL && s3_standin_start(&stand.s3, stand.loop));
    ev_async_init(&stand.stop, on_stop);
    ev_async_start(stand.loop, &stand.stop);
    REQUIRE(pthread_create(&stand.thread, NULL, run_stand, NULL) == 0);
}

static void stop_stand(void)
{
    ev_async_send(stand.loop, &stand.stop);
    REQUIRE(pthread_join(stand.thread, NULL) == 0);
    s3_standin_stop(&stand.s3);
    ev_loop_destroy(stand.loop);
}

/* ---- the engine ---- */

static struct proxy *proxy; /* before S3 */
static struct server database;

static void configure(const char *secret, const char *password)
{
    char text[300];
    snprintf(text, sizeof text, "http://127.0.0.1:%u", (unsigned)proxy_port(proxy));
    setenv("STRIDER_BLOB_KIND", "s3", 1);
    setenv("STRIDER_BLOB_S3_ENDPOINT", text, 1);
    setenv("STRIDER_BLOB_S3_REGION", stand.s3.region, 1);
    setenv("STRIDER_BLOB_S3_ACCESS_KEY", stand.s3.access_key, 1);
    setenv("STRIDER_BLOB_S3_SECRET_KEY", secret, 1);
    setenv("STRIDER_BLOB_TIMEOUT", "2s", 1);
    setenv("STRIDER_BLOB_TRIES", "2", 1);
    snprintf(text, sizeof text,
             "Driver=MariaDB Unicode;Server=127.0.0.1;Port=%u;Database=pipeline;UID=strider;PWD=%s",
             (unsigned)database.port, password);
    setenv("STRIDER_INDEX_KIND", "odbc", 1);
    setenv("STRIDER_INDEX_CONNECTION", text, 1);
    setenv("STRIDER_INDEX_TIMEOUT", "2s", 1);
    setenv("STRIDER_ENGINE_HEAVY_SESSION_THRESHOLD_BYTES", "8kb", 1);
}

/* ---- what must hold ---- */

static int64_t start(const char *id, const char *text)
{
    return served_state(
        served_ask("{\"v\":1,\"op\":\"start\",\"process\":\"twice\",\"executionId\":\"%s\","
                   "\"requestId\":\"r-%s\",\"request\":{\"text\":\"%s\"}}",
                   id, id, text));
}

static char heavy[HEAVY_BYTES + 1];

static void data_directory_is_lost(void)
{
    CHECK_CASE("S3 and MariaDB: executions wait and end; the engine is killed and its data "
               "directory lost: what ended is shown, what waits goes on, a heavy one too");
    configure(stand.s3.secret_key, "secret");
    served_start("one");
    CHECK_INT(start("ended-1", "x"), 3);
    CHECK_INT(start("light-1", "x"), 3);
    CHECK_INT(served_state(served_call_back("ended-1")), 3);
    CHECK_INT(served_state(served_call_back("ended-1")), 40);
    CHECK(served_is_listed("ended-1") && served_is_listed("light-1"));
    served_stop(SIGTERM); /* light blobs follow by themselves: until then the directory has them */
    served_start("one");
    CHECK_INT(start("heavy-1", heavy), 3); /* its blob is there when this is answered */
    CHECK(served_is_listed("heavy-1"));    /* (and its row when that is) */
    served_stop(SIGKILL);

    served_start("two");
    CHECK_INT(served_state(served_get("ended-1")), 40);
    CHECK_TEXT(served_error(served_call_back("ended-1")), "AlreadyFinished");
    CHECK_INT(served_state(served_call_back("light-1")), 3);
    CHECK_INT(served_state(served_call_back("heavy-1")), 3);
    CHECK_INT(served_state(served_call_back("heavy-1")), 40);
    CHECK(served_logged("EXECUTION-TAKEN-OVER") >= 2);
    CHECK_TEXT(served_error(served_get("never-1")), "SessionNotFound");
}

static void services_go_and_come_back(void)
{
    CHECK_CASE("S3 is cut off, then MariaDB killed: all is served, each is named once; they come "
               "back: blobs and rows are there");
    CHECK_INT(start("before-1", "x"), 3);
    proxy_cut(proxy, true);
    CHECK_INT(start("cut-1", heavy), 3);
    CHECK_INT(served_logged("HEAVY-SESSION-NOT-STORED"), 1);
    CHECK_INT(served_state(served_call_back("cut-1")), 3);
    CHECK_INT(served_state(served_call_back("cut-1")), 40);
    CHECK_INT(served_state(served_get("cut-1")), 40); /* from the journal */
    CHECK(served_logged("\"STORAGE-BLOB-DOWN\"") >= 1);
    proxy_cut(proxy, false);
    SERVED_UNTIL(served_logged("BLOBS-WORK-AGAIN") >= 1);
    server_kill(&database);
    CHECK_INT(served_state(served_call_back("before-1")), 3);
    CHECK_INT(start("dark-1", "x"), 3);
    CHECK_TEXT(served_error(served_ask("{\"v\":1,\"op\":\"list\"}")), "StorageFailed");
    REQUIRE(server_mariadb_start(&database));
    SERVED_UNTIL(served_is_listed("dark-1"));
    CHECK_INT(served_state(served_call_back("before-1")), 40);
    served_stop(SIGTERM);
}

static void credentials_are_wrong(void)
{
    CHECK_CASE("both refuse our credentials: what needs neither is served, secrets are in no line; "
               "with the right ones nothing is missing");
    char id[140];
    configure("wrong-hunter2-secret", "wrong-hunter2-password");
    served_start("two");
    struct span started = served_ask("{\"v\":1,\"op\":\"start\",\"process\":\"twice\",\"request\":{"
                                     "\"text\":\"%s\"}}",
                                     heavy);
    CHECK_INT(served_state(started), 3);
    snprintf(id, sizeof id, "%.*s",
             SPAN_ARG(wire_string_or(wire_find_text(started, "executionId"), "")));
    CHECK_INT(served_state(served_call_back(id)), 3);
    /* Whether a given id is taken nobody can tell now. */
    CHECK_TEXT(served_error(served_ask("{\"v\":1,\"op\":\"start\",\"process\":\"twice\","
                                       "\"executionId\":\"denied-1\"}")),
               "StorageFailed");
    SERVED_UNTIL(served_logged("STORAGE-BLOB-DENIED") >= 1);
    served_stop(SIGKILL);
    CHECK_INT(served_logged("hunter2"), 0);
    CHECK_INT(served_logged(stand.s3.secret_key), 0);
    configure(stand.s3.secret_key, "secret");
    served_start("two");
    SERVED_UNTIL(served_is_listed(id));
    CHECK_INT(served_state(served_call_back(id)), 40);
    served_stop(SIGTERM);
    served_start("three");
    CHECK_INT(served_state(served_get(id)), 40);
    served_stop(SIGTERM);
}

int main(void)
{
    if (!server_mariadb_installed() || !server_odbc_driver_installed("MariaDB Unicode")) {
        printf("skipped: mariadb or its ODBC driver is not installed\n");
        return 0;
    }
    signal(SIGPIPE, SIG_IGN);
    memset(heavy, 'x', HEAVY_BYTES);
    served_begin();
    served_write("twice.bpmn", process);
    REQUIRE(server_mariadb_start(&database));
    start_stand();
    proxy = proxy_start(stand.s3.server.port);
    REQUIRE(proxy != NULL);

    data_directory_is_lost();
    services_go_and_come_back();
    credentials_are_wrong();

    proxy_stop(proxy);
    stop_stand();
    server_remove(&database);
    served_end();
    return check_report();
}
