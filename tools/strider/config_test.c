#include <criterion/criterion.h>
#include <stdlib.h>

#include "tools/strider/config.h"

static struct config config;

static void setup(void)
{
    config_init(&config);
}

static void teardown(void)
{
    config_release(&config);
}

TestSuite(config, .init = setup, .fini = teardown);

static bool reads(const char *text)
{
    return config_read_text(&config, "s.conf", span_text(text)) == RESULT_OK;
}

Test(config, has_a_default_for_every_key)
{
    for (int key = 0; key < CONFIG_KEY_COUNT; key++) {
        cr_expect_str_eq(config.values[key].source, "default");
    }
    cr_expect_str_eq(config_text(&config, CONFIG_DATA_DIR), "strider-data");
    cr_expect_eq(config_number(&config, CONFIG_SHUTDOWN_TIMEOUT), 30000u);
    cr_expect_eq(config_number(&config, CONFIG_FRONT_MAX_REQUEST), 16u << 20);
    cr_expect_eq(config_number(&config, CONFIG_ENGINE_AUDIT), 1u);
    cr_expect_eq(config.values[CONFIG_AUTH_TOKENS].count, 0u);
}

Test(config, the_last_to_speak_wins_and_is_named)
{
    char *environment[] = {(char[]){"STRIDER_FRONT_MAX_PENDING=5"},
                           (char[]){"STRIDER_LOG_LEVEL=warn"}, NULL};

    cr_assert(reads("front {\n maxPending = 3\n}\nlog { level = debug; format = json }"));
    cr_assert_eq(config_read_environment(&config, environment), RESULT_OK);
    cr_assert_eq(config_set(&config, "front.maxPending", "9", "option --set"), RESULT_OK);

    cr_expect_eq(config_number(&config, CONFIG_FRONT_MAX_PENDING), 9u);
    cr_expect_str_eq(config.values[CONFIG_FRONT_MAX_PENDING].source, "option --set");
    cr_expect_eq(config_number(&config, CONFIG_LOG_LEVEL), 2u);
    cr_expect_str_eq(config.values[CONFIG_LOG_LEVEL].source, "environment STRIDER_LOG_LEVEL");
    cr_expect_eq(config_number(&config, CONFIG_LOG_FORMAT), 2u);
    cr_expect_str_eq(config.values[CONFIG_LOG_FORMAT].source, "s.conf:4");
}

Test(config, refuses_names_of_the_environment_that_are_meant_as_keys)
{
    static const struct {
        const char *entry;
        const char *problem; /* NULL: it is taken, or no business of ours */
    } rows[] = {
        {"STRIDER_FRONT_LISTN=x",
         "environment STRIDER_FRONT_LISTN: no such key; did you mean STRIDER_FRONT_LISTEN?"},
        {"STRIDER_AUTH_TOKEN=x",
         "environment STRIDER_AUTH_TOKEN: no such key; did you mean STRIDER_AUTH_TOKENS?"},
        {"STRIDER_PROJECT=x",
         "environment STRIDER_PROJECT: no such key; did you mean STRIDER_PROJECTS?"},
        {"STRIDER_ENGINE_COLOUR_OF_IT=x", "environment STRIDER_ENGINE_COLOUR_OF_IT: no such key "
                                          "(strider serve --keys lists them)"},
        {"STRIDER_TOKEN=x", NULL},
        {"STRIDER_CONNECT=x", NULL},
        {"STRIDER_CONSUMER_DATABASE=x", NULL},
        {"STRIDER_FRONT_SERVICE_HOST=10.0.0.1", NULL},
        {"STRIDER_FRONT_PORT=tcp://10.0.0.1:7700", NULL},
        {"STRIDER_FRONT_PORT_7700_TCP=tcp://10.0.0.1:7700", NULL},
        {"STRIDER_HOME=/srv", NULL},
        {"XSTRIDER_FRONT_LISTN=x", NULL},
        {"STRIDER_FRONT_MAX_PENDING=7", NULL},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char *environment[] = {(char *)rows[i].entry, NULL};
        enum result result = config_read_environment(&config, environment);
        cr_expect_eq(result, rows[i].problem == NULL ? RESULT_OK : RESULT_INVALID, "%s: %s",
                     rows[i].entry, config.problem);
        if (rows[i].problem != NULL) {
            cr_expect_str_eq(config.problem, rows[i].problem);
        }
    }
}

Test(config, reads_types_with_their_units)
{
    cr_assert(reads("front { maxRequestBytes = 64kb }\nshutdownTimeout = 1.5min\nengine { audit = "
                    "off\ndurability=off }\n"
                    "projects = [a, \"b c\"]"));

    cr_expect_eq(config_number(&config, CONFIG_FRONT_MAX_REQUEST), 65536u);
    cr_expect_eq(config_number(&config, CONFIG_SHUTDOWN_TIMEOUT), 90000u);
    cr_expect_eq(config_number(&config, CONFIG_ENGINE_AUDIT), 0u);
    cr_expect_eq(config_number(&config, CONFIG_ENGINE_DURABILITY), 1u);
    cr_assert_eq(config.values[CONFIG_PROJECTS].count, 2u);
    cr_expect_str_eq(config.values[CONFIG_PROJECTS].items[1], "b c");
}

Test(config, splits_lists_of_the_environment_at_commas)
{
    char *environment[] = {(char[]){"STRIDER_FRONT_LISTEN=tcp://a:1, ipc:///x ,"}, NULL};

    cr_assert_eq(config_read_environment(&config, environment), RESULT_OK);

    cr_assert_eq(config.values[CONFIG_FRONT_LISTEN].count, 2u);
    cr_expect_str_eq(config.values[CONFIG_FRONT_LISTEN].items[0], "tcp://a:1");
    cr_expect_str_eq(config.values[CONFIG_FRONT_LISTEN].items[1], "ipc:///x");
}

Test(config, refuses_with_a_sentence_that_names_place_and_remedy)
{
    static const struct {
        const char *text;
        const char *says;
    } rows[] = {
        {"frnt { listen = x }",
         "s.conf:1: unknown key \"frnt.listen\"; did you mean \"front.listen\"?"},
        {"\nfront { listn = x }",
         "s.conf:2: unknown key \"front.listn\"; did you mean \"front.listen\"?"},
        {"maxPending = 1",
         "s.conf:1: unknown key \"maxPending\"; did you mean \"front.maxPending\"?"},
        {"entirely { different = 1 }",
         "s.conf:1: unknown key \"entirely.different\" (strider serve --keys lists them)"},
        {"front { maxPending = many }",
         "s.conf:1: front.maxPending wants a whole number, not \"many\""},
        {"front { maxPending = 0 }",
         "s.conf:1: front.maxPending = 0 is out of range (1 to 1000000)"},
        {"front { maxPending = [1] \n maxPending = 2 }",
         "s.conf:2: front.maxPending was already given at s.conf:1"},
        {"front { maxPending = [1, 2] }", "s.conf:1: front.maxPending wants one value, not a list"},
        {"front { maxRequestBytes = 1gb }",
         "s.conf:1: front.maxRequestBytes = 1gb is out of range (1024 to 16777216 bytes)"},
        {"front { maxRequestBytes = 99999999999999999999gb }",
         "s.conf:1: front.maxRequestBytes = 99999999999999999999gb is out of range (1024 to "
         "16777216 bytes)"},
        {"shutdownTimeout = soon",
         "s.conf:1: shutdownTimeout wants a duration like 500ms, 30s or 10min, not \"soon\""},
        {"engine { audit = maybe }", "s.conf:1: engine.audit wants true or false, not \"maybe\""},
        {"engine { durability = fast }",
         "s.conf:1: engine.durability is one of sync|off, not \"fast\""},
        {"engine { durability = \"\" }",
         "s.conf:1: engine.durability is one of sync|off, not \"\""},
        {"engine {", "s.conf:1: a section has no closing }"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        cr_expect_not(reads(rows[i].text));
        cr_expect_str_eq(config.problem, rows[i].says, "%s\nsays %s", rows[i].text, config.problem);
        config_release(&config);
        config_init(&config);
    }
}

Test(config, prints_nothing_that_may_hold_a_password)
{
    static const char *const secrets[] = {
        "bus.url",
        "hot.url",
        "blob.connection",
        "blob.s3SecretKey",
        "blob.s3SessionToken",
        "index.connection",
        "admin.hookSecrets",
    };
    enum { COUNT = sizeof secrets / sizeof secrets[0] };
    struct config config;
    char printed[16384] = "";
    size_t hidden = 0;
    config_init(&config);
    for (size_t i = 0; i < COUNT; i++) {
        cr_assert_eq(config_set(&config, secrets[i], "amqp://user:sesame@host", "test"), RESULT_OK);
    }

    FILE *out = fmemopen(printed, sizeof printed, "w");
    config_print(&config, out);
    fclose(out);

    for (const char *at = printed; (at = strstr(at, "\"***\"")) != NULL; at++) {
        hidden++;
    }
    cr_expect_eq(hidden, COUNT);
    cr_expect_null(strstr(printed, "sesame"));
    config_release(&config);
}

Test(config, prints_what_reads_back_as_itself_without_secrets)
{
    cr_assert(reads(
        "auth { tokens = [\"hush\"] }\ndata { dir = \"a\\\"b\\\\c\" }\nfront { maxPending = 12 }"));
    char *printed = NULL;
    size_t count = 0;
    FILE *stream = open_memstream(&printed, &count);
    config_print(&config, stream);
    fclose(stream);

    cr_expect_null(strstr(printed, "hush"));
    cr_expect_not_null(strstr(printed, "tokens = [\"***\"]"));
    struct config again;
    config_init(&again);
    cr_assert_eq(config_read_text(&again, "printed", span_of(printed, count)), RESULT_OK, "%s",
                 again.problem);
    cr_expect_str_eq(config_text(&again, CONFIG_DATA_DIR), "a\"b\\c");
    for (int key = 0; key < CONFIG_KEY_COUNT; key++) {
        cr_expect_eq(again.values[key].number, config.values[key].number);
        cr_expect_eq(again.values[key].count, config.values[key].count);
    }
    config_release(&again);
    free(printed);
}

Test(config, says_when_a_file_is_not_there)
{
    cr_expect_eq(config_read_file(&config, "/no/such/file"), RESULT_INVALID);
    cr_expect_str_eq(config.problem, "/no/such/file: No such file or directory");
}
