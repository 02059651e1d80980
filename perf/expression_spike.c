/*
 * expression_spike.c: nanoseconds per evaluation of FEEL expressions on a payload of 2 KB whose
 * interesting keys stand at its end, and how often all the evaluations took memory from the C
 * library (the linker leads malloc and its kin here first).
 *
 *   ninja -C build/release expression_spike && build/release/perf/expression_spike
 *
 * `--cases` prints payload and expressions as JSON, for perf/expression_feelin.mjs, which measures
 * the npm package feelin on the same ones in the same run. Every round runs every case, so that a
 * busy machine slows all of them; the best round of each counts.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "engine/expression/expression.h"
#include "proto/base/assert.h"
#include "proto/base/limits.h"
#include "proto/wire/json.h"
#include "proto/wire/reader.h"

enum { ROUNDS = 25, TURNS = 4000, ARENA_BLOCK_BYTES = 64 << 10, ARENA_BYTES_MAX = 16 << 20 };

void *__real_malloc(size_t bytes);
void *__real_calloc(size_t count, size_t bytes);
void *__real_realloc(void *memory, size_t bytes);
void *__wrap_malloc(size_t bytes);
void *__wrap_calloc(size_t count, size_t bytes);
void *__wrap_realloc(void *memory, size_t bytes);

static uint64_t allocations; /* in all */
static uint64_t allocations_evaluating;

void *__wrap_malloc(size_t bytes)
{
    allocations++;
    return __real_malloc(bytes);
}

void *__wrap_calloc(size_t count, size_t bytes)
{
    allocations++;
    return __real_calloc(count, bytes);
}

void *__wrap_realloc(void *memory, size_t bytes)
{
    allocations++;
    return __real_realloc(memory, bytes);
}

static const char *const sources[] = {
    "amount > 100 and customer.tier = \"gold\"",
    "if amount > 1000 then \"large\" else \"small\"",
    "amount * 1.19 + 4.95",
    "sum(items.price)",
    "items[price > 10].name",
    "some i in items satisfies i.quantity > 5",
    "{vat: amount * 0.19, total: amount + vat}.total",
    "upper case(customer.name) + \", \" + customer.city",
    "date(\"2024-01-31\") + duration(\"P1M\")",
};

#define CASES (sizeof sources / sizeof *sources)

static const char filler[] = "\"field%02d\": \"the value of field %02d is a text, about as long as "
                             "one line of an address\", "
                             "\"number%02d\": %d, \"flag%02d\": %s, ";
static const char tail[] =
    "\"items\": [{\"name\": \"bolt\", \"price\": 4.5, \"quantity\": 100}, {\"name\": \"saw\", "
    "\"price\": 39.95, \"quantity\": 1}, {\"name\": \"nail\", \"price\": 0.05, \"quantity\": 2000},"
    " {\"name\": \"drill\", \"price\": 119, \"quantity\": 2}], \"amount\": 250, \"customer\": "
    "{\"name\": \"Ada Lovelace\", \"city\": \"London\", \"tier\": \"gold\"}}";

/* 2 KB as MessagePack: 18 groups of a text, a number and a flag, then what is looked for. */
static struct span payload_text(struct arena *arena)
{
    enum { GROUPS = 18, TEXT_BYTES = 8192 };
    char *text = arena_alloc(arena, TEXT_BYTES);
    size_t count = 1;
    ASSERT(text != NULL);
    text[0] = '{';
    for (int i = 0; i < GROUPS; i++) {
        count += (size_t)snprintf(text + count, TEXT_BYTES - count, filler, i, i, i, i * 77, i,
                                  i % 2 == 0 ? "true" : "false");
    }
    memcpy(text + count, tail, sizeof tail);
    return span_text(text);
}

struct payload_names {
    struct engine_names names;
    struct span map;
};

static struct span find(const struct engine_names *names, struct span name)
{
    return wire_find(((const struct payload_names *)(const void *)names)->map, name);
}

static void find_all(const struct engine_names *names, const struct span *keys, struct span *values,
                     size_t count)
{
    wire_find_all(((const struct payload_names *)(const void *)names)->map, keys, values, count);
}

static uint64_t now_ns(void)
{
    struct timespec now;
    int result = clock_gettime(CLOCK_MONOTONIC, &now);
    ASSERT(result == 0);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static double round_ns(const struct engine_expression *expression,
                       const struct payload_names *names, struct arena *arena)
{
    uint64_t allocations_before = allocations;
    uint64_t begin = now_ns();
    for (int i = 0; i < TURNS; i++) {
        struct engine_evaluation evaluation;
        arena_clear(arena);
        enum result result =
            engine_expression_evaluate(expression, &names->names, arena, &evaluation);
        ASSERT(result == RESULT_OK && evaluation.error.message == NULL);
    }
    uint64_t end = now_ns();
    allocations_evaluating += allocations - allocations_before;
    return (double)(end - begin) / TURNS;
}

/* The same with the text parsed each time. */
static double compiling_round_ns(const char *source, const struct payload_names *names,
                                 struct arena *arena)
{
    uint64_t begin = now_ns();
    for (int i = 0; i < TURNS; i++) {
        const struct engine_expression *expression;
        struct engine_expression_error error;
        struct engine_evaluation evaluation;
        arena_clear(arena);
        enum result result = engine_expression_compile(span_text(source), ENGINE_DIALECT_FEEL,
                                                       arena, &expression, &error);
        ASSERT(result == RESULT_OK);
        result = engine_expression_evaluate(expression, &names->names, arena, &evaluation);
        ASSERT(result == RESULT_OK);
    }
    return (double)(now_ns() - begin) / TURNS;
}

static void print_quoted(const char *text)
{
    putchar('"');
    for (; *text != '\0'; text++) {
        if (*text == '"' || *text == '\\') {
            putchar('\\');
        }
        putchar(*text);
    }
    putchar('"');
}

static int print_cases(struct span text)
{
    printf("{\"context\": %.*s,\n \"expressions\": [", SPAN_ARG(text));
    for (size_t i = 0; i < CASES; i++) {
        fputs(i == 0 ? "" : ", ", stdout);
        print_quoted(sources[i]);
    }
    puts("]}");
    return 0;
}

int main(int argc, char **argv)
{
    const struct engine_expression *expressions[CASES];
    struct payload_names names = {.names = {.find = find, .find_all = find_all}};
    double best_ns[CASES];
    double best_compiling_ns[CASES];
    struct arena kept, arena;
    struct json_error json_error;
    arena_init(&kept, ARENA_BLOCK_BYTES, ARENA_BYTES_MAX);
    arena_init(&arena, ARENA_BLOCK_BYTES, ARENA_BYTES_MAX);
    struct span text = payload_text(&kept);
    if (argc > 1 && strcmp(argv[1], "--cases") == 0) {
        return print_cases(text);
    }
    ASSERT(json_to_wire(text, LIMIT_DEPTH, &kept, &names.map, &json_error) == RESULT_OK);
    for (size_t i = 0; i < CASES; i++) {
        struct engine_expression_error error;
        ASSERT(engine_expression_compile(span_text(sources[i]), ENGINE_DIALECT_FEEL, &kept,
                                         &expressions[i], &error) == RESULT_OK);
        best_ns[i] = best_compiling_ns[i] = 1e9;
    }
    for (int round = 0; round < ROUNDS; round++) {
        for (size_t i = 0; i < CASES; i++) {
            double ns = round_ns(expressions[i], &names, &arena);
            best_ns[i] = ns < best_ns[i] ? ns : best_ns[i];
            ns = compiling_round_ns(sources[i], &names, &arena);
            best_compiling_ns[i] = ns < best_compiling_ns[i] ? ns : best_compiling_ns[i];
        }
    }
    fprintf(stderr, "payload: %zu bytes, %u keys\n", names.map.count, wire_count(names.map));
    for (size_t i = 0; i < CASES; i++) {
        printf("%8.0f ns %8.0f ns  %s\n", best_ns[i], best_compiling_ns[i], sources[i]);
    }
    ASSERT(allocations > 0); /* reading the payload took some: they are counted */
    fprintf(stderr, "%llu allocations in %llu evaluations\n",
            (unsigned long long)allocations_evaluating,
            (unsigned long long)(CASES * (uint64_t)ROUNDS * TURNS));
    arena_release(&arena);
    arena_release(&kept);
    return 0;
}
