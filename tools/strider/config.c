/*
 * config.c: see config.h. A value goes through one door, `assign`, whoever says it.
 */
#include "tools/strider/config.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>

#include "proto/base/assert.h"
#include "proto/base/limits.h"
#include "tools/strider/config_text.h"
#include "tools/strider/input.h"
#include "tools/strider/verb.h"

#define CONFIG_ARENA_BYTES (4u << 20)
#define CONFIG_FILE_BYTES  (1u << 20)
#define NAME_BYTES         64u
#define PREFIX             "STRIDER_"

enum key_type { KEY_TEXT, KEY_LIST, KEY_BOOL, KEY_NUMBER, KEY_BYTES, KEY_DURATION, KEY_CHOICE };

struct key {
    char name[NAME_BYTES]; /* "section.key" */
    const char *section;
    const char *key;
    enum key_type type;
    const char *fallback;
    uint64_t least;
    uint64_t most;
    const char *help;
};

static const struct key keys[CONFIG_KEY_COUNT] = {
#define CONFIG_KEY(symbol, in, called, of, otherwise, lowest, highest, meaning)                    \
    [CONFIG_##symbol] = {.name = in "." called,                                                    \
                         .section = in,                                                            \
                         .key = called,                                                            \
                         .type = KEY_##of,                                                         \
                         .fallback = otherwise,                                                    \
                         .least = lowest,                                                          \
                         .most = highest,                                                          \
                         .help = meaning},
#include "tools/strider/config_keys.def"
#undef CONFIG_KEY
};

/* "shutdownTimeout" has no section: its name in the table begins with the dot. */
static const char *key_name(const struct key *key)
{
    return key->name[0] == '.' ? key->name + 1 : key->name;
}

/* front.maxRequestBytes -> STRIDER_FRONT_MAX_REQUEST_BYTES */
static void key_twin(const struct key *key, char out[2 * NAME_BYTES])
{
    char *next = stpcpy(out, PREFIX);
    for (const char *name = key_name(key); *name != '\0'; name++) {
        if (isupper((unsigned char)*name)) {
            *next++ = '_';
        }
        *next++ = *name == '.' ? '_' : (char)toupper((unsigned char)*name);
    }
    *next = '\0';
}

static enum result refuse(struct config *config, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static enum result refuse(struct config *config, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    vsnprintf(config->problem, sizeof(config->problem), format, list);
    va_end(list);
    return RESULT_INVALID;
}

/* ---- one value ---- */

/* Which of "a|b|c: …" the text is, or -1. */
static int choice_of(const char *choices, const char *text)
{
    size_t count = strlen(text);
    int index = 0;
    for (const char *next = choices; count > 0; index++) {
        size_t length = strcspn(next, "|:");
        if (length == count && memcmp(next, text, count) == 0) {
            return index;
        }
        if (next[length] != '|') {
            break;
        }
        next += length + 1;
    }
    return -1;
}

static bool parse_bool(const char *text, uint64_t *out)
{
    static const char *const words[] = {"false", "no", "off", "0", "true", "yes", "on", "1"};
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        if (strcmp(text, words[i]) == 0) {
            *out = i >= 4;
            return true;
        }
    }
    return false;
}

static enum result parse_number(const char *text, uint64_t *out)
{
    if (text[0] == '\0' || text[strspn(text, "0123456789")] != '\0') {
        return RESULT_INVALID;
    }
    return cli_parse_bytes(span_text(text), out);
}

static enum result check_range(struct config *config, const struct key *key, const char *text,
                               uint64_t number, enum result parsed, const char *wanted,
                               const char *source)
{
    if (parsed == RESULT_INVALID) {
        return refuse(config, "%s: %s wants %s, not \"%s\"", source, key_name(key), wanted, text);
    }
    if (parsed == RESULT_LIMIT || number < key->least || number > key->most) {
        const char *unit = key->type == KEY_DURATION ? " ms"
                           : key->type == KEY_BYTES  ? " bytes"
                                                     : "";
        return refuse(config, "%s: %s = %s is out of range (%" PRIu64 " to %" PRIu64 "%s)", source,
                      key_name(key), text, key->least, key->most, unit);
    }
    return RESULT_OK;
}

static enum result parse_value(struct config *config, const struct key *key, const char *text,
                               const char *source, uint64_t *number)
{
    int choice;
    enum result parsed;
    switch (key->type) {
    case KEY_TEXT:
    case KEY_LIST:
        return RESULT_OK;
    case KEY_BOOL:
        if (!parse_bool(text, number)) {
            return refuse(config, "%s: %s wants true or false, not \"%s\"", source, key_name(key),
                          text);
        }
        return RESULT_OK;
    case KEY_CHOICE:
        choice = choice_of(key->help, text);
        if (choice < 0) {
            return refuse(config, "%s: %s is one of %.*s, not \"%s\"", source, key_name(key),
                          (int)strcspn(key->help, ":"), key->help, text);
        }
        *number = (uint64_t)choice;
        return RESULT_OK;
    case KEY_NUMBER:
        parsed = parse_number(text, number);
        return check_range(config, key, text, *number, parsed, "a whole number", source);
    case KEY_BYTES:
        parsed = cli_parse_bytes(span_text(text), number);
        return check_range(config, key, text, *number, parsed, "a size like 64kb or 16mb", source);
    case KEY_DURATION:
        parsed = cli_parse_duration(span_text(text), number);
        return check_range(config, key, text, *number, parsed,
                           "a duration like 500ms, 30s or 10min", source);
    }
    ASSERT_UNREACHABLE();
}

/* The one door: checks and keeps what somebody said. */
static enum result assign(struct config *config, enum config_key index, const char *const *items,
                          size_t count, const char *source)
{
    const struct key *key = &keys[index];
    if (key->type != KEY_LIST && count != 1) {
        return refuse(config, "%s: %s wants one value, not a list", source, key_name(key));
    }
    uint64_t number = 0;
    if (key->type != KEY_LIST) {
        enum result result = parse_value(config, key, items[0], source, &number);
        if (result != RESULT_OK) {
            return result;
        }
    }
    const char **kept = arena_alloc(&config->arena, (count + 1) * sizeof(*kept));
    struct span from = arena_format(&config->arena, "%s", source);
    for (size_t i = 0; kept != NULL && i < count; i++) {
        kept[i] = (const char *)arena_format(&config->arena, "%s", items[i]).bytes;
    }
    if (config->arena.overflowed) {
        return refuse(config, "%s: the configuration is too large", source);
    }
    config->values[index] = (struct config_value){
        .items = kept, .count = count, .number = number, .source = (const char *)from.bytes};
    return RESULT_OK;
}

/* A text as some say it who have no lists: environment, --set, the defaults. */
static enum result assign_text(struct config *config, enum config_key index, const char *text,
                               const char *source)
{
    if (keys[index].type != KEY_LIST) {
        return assign(config, index, &text, 1, source);
    }
    const char *items[CONFIG_LIST_MAX];
    size_t count = 0;
    for (const char *next = text; *next != '\0';) {
        size_t length = strcspn(next, ",");
        struct span item = span_trim(span_of(next, length));
        if (item.count > 0 && count == CONFIG_LIST_MAX) {
            return refuse(config, "%s: a list of more than %u items", source, CONFIG_LIST_MAX);
        }
        if (item.count > 0) {
            struct span copy = arena_copy(&config->arena, item);
            items[count++] = copy.count > 0 ? (const char *)copy.bytes : "";
        }
        next += length + (next[length] == ',');
    }
    return assign(config, index, items, count, source);
}

/* ---- layers ---- */

void config_init(struct config *config)
{
    *config = (struct config){0};
    arena_init(&config->arena, 16384, CONFIG_ARENA_BYTES);
    for (enum config_key index = 0; index < CONFIG_KEY_COUNT; index++) {
        enum result result = assign_text(config, index, keys[index].fallback, "default");
        ASSERT(result == RESULT_OK);
    }
}

void config_release(struct config *config)
{
    arena_release(&config->arena);
}

static int find_key(const char *name)
{
    for (int index = 0; index < CONFIG_KEY_COUNT; index++) {
        if (strcmp(key_name(&keys[index]), name) == 0) {
            return index;
        }
    }
    return -1;
}

static enum result refuse_unknown(struct config *config, const char *name, const char *source)
{
    const char *names[CONFIG_KEY_COUNT];
    for (size_t i = 0; i < CONFIG_KEY_COUNT; i++) {
        names[i] = key_name(&keys[i]);
    }
    const char *near = cli_nearest(name, names, CONFIG_KEY_COUNT, sizeof(names[0]));
    for (size_t i = 0; near == NULL && i < CONFIG_KEY_COUNT; i++) {
        /* The right key in the wrong section, or without one. */
        const char *dot = strrchr(name, '.');
        if (strcmp(keys[i].key, dot == NULL ? name : dot + 1) == 0) {
            near = names[i];
        }
    }
    if (near == NULL) {
        return refuse(config, "%s: unknown key \"%s\" (strider serve --keys lists them)", source,
                      name);
    }
    return refuse(config, "%s: unknown key \"%s\"; did you mean \"%s\"?", source, name, near);
}

enum result config_set(struct config *config, const char *name, const char *value,
                       const char *source)
{
    int index = find_key(name);
    if (index < 0) {
        return refuse_unknown(config, name, source);
    }
    return assign_text(config, (enum config_key)index, value, source);
}

enum result config_set_list(struct config *config, enum config_key key, const char *const *items,
                            size_t count, const char *source)
{
    return assign(config, key, items, count, source);
}

static enum result read_entry(struct config *config, const char *file,
                              const struct config_entry *entry)
{
    char source[512];
    char name[2 * NAME_BYTES];
    snprintf(source, sizeof(source), "%s:%u", file, entry->line);
    snprintf(name, sizeof(name), "%s%s%s", entry->section, entry->section[0] == '\0' ? "" : ".",
             entry->key);
    int index = find_key(name);
    if (index < 0) {
        return refuse_unknown(config, name, source);
    }
    const struct config_value *value = &config->values[index];
    if (strncmp(value->source, file, strlen(file)) == 0 && value->source[strlen(file)] == ':') {
        return refuse(config, "%s: %s was already given at %s", source, name, value->source);
    }
    return assign(config, (enum config_key)index, entry->values, entry->value_count, source);
}

enum result config_read_text(struct config *config, const char *file, struct span text)
{
    struct config_text entries;
    unsigned line;
    const char *problem;
    if (config_text_read(text, &config->arena, &entries, &line, &problem) != RESULT_OK) {
        return refuse(config, "%s:%u: %s", file, line, problem);
    }
    for (size_t i = 0; i < entries.count; i++) {
        enum result result = read_entry(config, file, &entries.entries[i]);
        if (result != RESULT_OK) {
            return result;
        }
    }
    return RESULT_OK;
}

enum result config_read_file(struct config *config, const char *path)
{
    struct span text;
    if (cli_read_file(path, CONFIG_FILE_BYTES, &config->arena, &text, config->problem) !=
        RESULT_OK) {
        return RESULT_INVALID;
    }
    return config_read_text(config, path, text);
}

/* Names below STRIDER_ that are no keys: the client's own, and what container platforms make of a
 * service that is called so (STRIDER_FRONT_SERVICE_HOST, STRIDER_FRONT_PORT_7700_TCP). */
static bool is_foreign(const char *name)
{
    static const char *const known[] = {"STRIDER_CONNECT", "STRIDER_TOKEN",
                                        "STRIDER_CONSUMER_DATABASE", "STRIDER_TLS_AUTHORITIES",
                                        "STRIDER_TLS_CERTIFICATE"};
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
        if (strcmp(name, known[i]) == 0) {
            return true;
        }
    }
    const char *port = strstr(name, "_PORT");
    return strstr(name, "_SERVICE_") != NULL ||
           (port != NULL && (port[5] == '\0' || port[5] == '_'));
}

static bool is_of_a_section(const char *name)
{
    char begin[2 * NAME_BYTES];
    for (size_t i = 0; i < CONFIG_KEY_COUNT; i++) {
        if (keys[i].section[0] != '\0') {
            char *next = stpcpy(begin, PREFIX);
            for (const char *at = keys[i].section; *at != '\0'; at++) {
                *next++ = (char)toupper((unsigned char)*at);
            }
            next[0] = '_';
            next[1] = '\0';
            if (strncmp(name, begin, strlen(begin)) == 0) {
                return true;
            }
        }
    }
    return false;
}

/* A name that is none, but is meant as one: it has a section, or is near a key's twin. */
static enum result check_name(struct config *config, const char *name)
{
    static char twins[CONFIG_KEY_COUNT][2 * NAME_BYTES];
    const char *names[CONFIG_KEY_COUNT];
    for (enum config_key index = 0; index < CONFIG_KEY_COUNT; index++) {
        key_twin(&keys[index], twins[index]);
        names[index] = twins[index] + strlen(PREFIX); /* what all have makes none near */
        if (strcmp(name, twins[index]) == 0) {
            return RESULT_OK;
        }
    }
    const char *near =
        cli_nearest(name + strlen(PREFIX), names, CONFIG_KEY_COUNT, sizeof(names[0]));
    if (is_foreign(name) || (near == NULL && !is_of_a_section(name))) {
        return RESULT_OK;
    }
    return near == NULL
               ? refuse(config, "environment %s: no such key (strider serve --keys lists them)",
                        name)
               : refuse(config, "environment %s: no such key; did you mean " PREFIX "%s?", name,
                        near);
}

static enum result check_names(struct config *config, char *const *environment)
{
    enum result result = RESULT_OK;
    for (char *const *entry = environment; *entry != NULL && result == RESULT_OK; entry++) {
        char name[2 * NAME_BYTES];
        size_t count = strcspn(*entry, "=");
        if (strncmp(*entry, PREFIX, strlen(PREFIX)) == 0 && count < sizeof(name)) {
            snprintf(name, sizeof(name), "%.*s", (int)count, *entry);
            result = check_name(config, name);
        }
    }
    return result;
}

enum result config_read_environment(struct config *config, char *const *environment)
{
    for (enum config_key index = 0; index < CONFIG_KEY_COUNT; index++) {
        char twin[2 * NAME_BYTES];
        key_twin(&keys[index], twin);
        size_t count = strlen(twin);
        for (char *const *entry = environment; *entry != NULL; entry++) {
            if (strncmp(*entry, twin, count) != 0 || (*entry)[count] != '=') {
                continue;
            }
            char source[3 * NAME_BYTES];
            snprintf(source, sizeof(source), "environment %s", twin);
            enum result result = assign_text(config, index, *entry + count + 1, source);
            if (result != RESULT_OK) {
                return result;
            }
        }
    }
    return check_names(config, environment);
}

/* ---- reading and printing ---- */

const char *config_text(const struct config *config, enum config_key key)
{
    ASSERT(keys[key].type == KEY_TEXT || keys[key].type == KEY_CHOICE);
    return config->values[key].items[0];
}

static int print_quoted(FILE *out, const char *text)
{
    int width = 2;
    fputc('"', out);
    for (; *text != '\0'; text++) {
        const char *escaped = *text == '"'    ? "\\\""
                              : *text == '\\' ? "\\\\"
                              : *text == '\n' ? "\\n"
                                              : NULL;
        width += escaped == NULL ? fputc(*text, out) != EOF : fprintf(out, "%s", escaped);
    }
    fputc('"', out);
    return width;
}

/* What may hold a password or a key is never shown. */
static bool is_secret(enum config_key index)
{
    static const enum config_key secrets[] = {
        CONFIG_AUTH_TOKENS,
        CONFIG_ADMIN_HOOK_SECRETS,
        CONFIG_HOT_URL,
        CONFIG_BLOB_CONNECTION,
        CONFIG_BLOB_S3_SECRET_KEY,
        CONFIG_BLOB_S3_SESSION_TOKEN,
        CONFIG_INDEX_CONNECTION,
        CONFIG_BUS_URL,
    };
    for (size_t i = 0; i < sizeof(secrets) / sizeof(secrets[0]); i++) {
        if (secrets[i] == index) {
            return true;
        }
    }
    return false;
}

static int print_value(const struct config *config, enum config_key index, FILE *out)
{
    const struct config_value *value = &config->values[index];
    bool secret = is_secret(index);
    if (keys[index].type == KEY_TEXT) {
        return print_quoted(out, secret && value->items[0][0] != '\0' ? "***" : value->items[0]);
    }
    if (keys[index].type != KEY_LIST) {
        return fprintf(out, "%s", value->items[0]);
    }
    int width = fprintf(out, "[");
    for (size_t i = 0; i < value->count; i++) {
        width += fprintf(out, "%s", i == 0 ? "" : ", ");
        width += print_quoted(out, secret ? "***" : value->items[i]);
    }
    return width + fprintf(out, "]");
}

void config_print(const struct config *config, FILE *out)
{
    const char *section = "";
    for (enum config_key index = 0; index < CONFIG_KEY_COUNT; index++) {
        const struct key *key = &keys[index];
        if (strcmp(section, key->section) != 0) {
            fprintf(out, "%s", section[0] == '\0' ? "" : "}\n");
            section = key->section;
            if (section[0] != '\0') {
                fprintf(out, "%s {\n", section);
            }
        }
        int width = fprintf(out, "%s%s = ", section[0] == '\0' ? "" : "    ", key->key);
        width += print_value(config, index, out);
        fprintf(out, "%*s # %s\n", width < 56 ? 56 - width : 0, "", config->values[index].source);
    }
    fprintf(out, "%s", section[0] == '\0' ? "" : "}\n");
}

void config_print_keys(FILE *out)
{
    for (enum config_key index = 0; index < CONFIG_KEY_COUNT; index++) {
        const struct key *key = &keys[index];
        fprintf(out, "  %-34s %-22s %s\n", key_name(key),
                key->fallback[0] == '\0' ? "-" : key->fallback, key->help);
    }
}
