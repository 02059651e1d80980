/*
 * accept.h: the inputs that engine_accept tells apart. Each is checked first, which only reads,
 * then acted on. Private to accept*.c.
 */
#ifndef ENGINE_ACCEPT_H
#define ENGINE_ACCEPT_H

#include "engine/advance.h"

/* Where an input goes; found by its check, used by its act. */
struct engine_accept {
    struct engine_execution *execution;
    const struct engine_input *input;
    struct engine_output *output;
    uint32_t token; /* id, or 0 */
};

/* Check: RESULT_OK: act; anything else is the answer. Act: RESULT_OK or RESULT_LIMIT. */
typedef enum result (*engine_accept_fn)(struct engine_accept *accept);

/* The answer of a check that refuses. */
enum result engine_accept_refuse(struct engine_accept *accept, enum proto_error error,
                                 struct span message);
#define ENGINE_SAY(accept, ...) arena_format((accept)->output->arena, __VA_ARGS__)

enum result engine_accept_check_callback(struct engine_accept *accept);
enum result engine_accept_callback(struct engine_accept *accept);
/* Everything that is due by now fires. */
enum result engine_accept_timer(struct engine_accept *accept);
enum result engine_accept_check_message(struct engine_accept *accept);
enum result engine_accept_message(struct engine_accept *accept);
enum result engine_accept_check_signal(struct engine_accept *accept);
enum result engine_accept_signal(struct engine_accept *accept);
enum result engine_accept_check_verb(struct engine_accept *accept);
enum result engine_accept_check_retry(struct engine_accept *accept);
enum result engine_accept_suspend(struct engine_accept *accept);
enum result engine_accept_resume(struct engine_accept *accept);
enum result engine_accept_abort(struct engine_accept *accept);
enum result engine_accept_retry(struct engine_accept *accept);
enum result engine_accept_check_import(struct engine_accept *accept);
enum result engine_accept_import(struct engine_accept *accept);
enum result engine_accept_check_migrate(struct engine_accept *accept);
enum result engine_accept_migrate(struct engine_accept *accept);

#endif
