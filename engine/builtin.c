/*
 * builtin.c: see builtin.h. Each built-in makes the reply body that a module over HTTP would send.
 */
#include "engine/builtin.h"

#include "engine/pack.h"
#include "proto/base/assert.h"
#include "proto/wire/reader.h"

typedef void (*write_fn)(struct wire_writer *writer, struct span config);

static void write_config(struct wire_writer *writer, struct span config)
{
    if (config.count > 0) {
        engine_pack_raw(writer, config);
    } else {
        wire_write_map(writer, 0);
    }
}

/* log: config.message, config.level, config.data. */
static void write_log(struct wire_writer *writer, struct span config)
{
    struct span data = wire_find_text(config, "data");
    struct span message = wire_find_text(config, "message");
    wire_write_map(writer, 1);
    ENGINE_PACK(writer, "logs");
    wire_write_array(writer, 1);
    wire_write_map(writer, 2u + (data.count > 0));
    ENGINE_PACK_STRING(writer, "level", wire_string_or(wire_find_text(config, "level"), "INFO"));
    ENGINE_PACK_STRING(writer, "message", wire_string_or(message, ""));
    if (data.count > 0) {
        ENGINE_PACK_VALUE(writer, "data", data);
    }
}

/* set: every entry of config becomes a variable. */
static void write_set(struct wire_writer *writer, struct span config)
{
    wire_write_map(writer, 1);
    ENGINE_PACK(writer, "execution");
    write_config(writer, config);
}

/* echo: config comes back as outputs; its `output`, if any, as output. */
static void write_echo(struct wire_writer *writer, struct span config)
{
    struct span output = wire_find_text(config, "output");
    wire_write_map(writer, 1u + (output.count > 0));
    ENGINE_PACK(writer, "outputs");
    write_config(writer, config);
    if (output.count > 0) {
        ENGINE_PACK_VALUE(writer, "output", output);
    }
}

/* wait: for a callback; config is what whoever lists the wait sees. */
static void write_wait(struct wire_writer *writer, struct span config)
{
    wire_write_map(writer, 1);
    ENGINE_PACK(writer, "wait");
    write_config(writer, config);
}

/* fail: config.code, config.message, config.bpmnError, config.transient. */
static void write_fail(struct wire_writer *writer, struct span config)
{
    wire_write_map(writer, 1);
    ENGINE_PACK(writer, "error");
    write_config(writer, config);
}

static const write_fn writers[] = {
    [ENGINE_BUILTIN_NONE] = NULL,       [ENGINE_BUILTIN_LOG] = write_log,
    [ENGINE_BUILTIN_SET] = write_set,   [ENGINE_BUILTIN_ECHO] = write_echo,
    [ENGINE_BUILTIN_HTTP] = NULL,       [ENGINE_BUILTIN_WAIT] = write_wait,
    [ENGINE_BUILTIN_FAIL] = write_fail,
};

bool engine_builtin_is_internal(enum engine_builtin builtin)
{
    ASSERT(builtin < sizeof writers / sizeof writers[0]);
    return writers[builtin] != NULL;
}

struct span engine_builtin_run(struct engine_decision *decision, enum engine_builtin builtin,
                               struct span config)
{
    ASSERT(engine_builtin_is_internal(builtin));
    struct wire_writer writer;
    wire_writer_init(&writer, decision->arena, config.count + 64);
    writers[builtin](&writer, config);
    return wire_writer_span(&writer);
}
