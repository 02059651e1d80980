/* support.h: what the contract suites share: a directory of their own, answers of ports, seeded
 * bytes. */
#ifndef TESTS_CONTRACT_SUPPORT_H
#define TESTS_CONTRACT_SUPPORT_H

#include "proto/base/arena.h"
#include "proto/message.h"
#include "proto/sink.h"

/* A new empty directory below $TMPDIR (or /tmp), removed with all in it by
 * contract_directory_remove. */
struct contract_directory {
    char path[128];
};
struct contract_directory contract_directory_new(void);
void contract_directory_remove(struct contract_directory *directory);
/* "path/name"; lives until the next call. */
const char *contract_path(const struct contract_directory *directory, const char *name);

/* Takes the one PROTO_PORT_DONE that a port sends. */
struct contract_asker {
    struct proto_sink sink; /* first */
    struct proto_message *message;
    unsigned answers;
};
void contract_asker_init(struct contract_asker *asker);
/* Where the next answer goes; frees the one before. */
struct proto_address contract_ask(struct contract_asker *asker);
/* The answer; asserts that exactly one came. */
const struct proto_port_done *contract_answer(struct contract_asker *asker);
void contract_asker_release(struct contract_asker *asker);

/* Flips a bit of the first place in the file that holds these bytes; asserts that there is one. */
void contract_flip(const char *path, struct span bytes);

/* The next of a sequence of numbers below `below` that `state` determines. */
uint64_t contract_draw(uint64_t *state, uint64_t below);
/* Fills with bytes that follow from `seed`. */
void contract_fill(uint8_t *bytes, size_t count, uint64_t seed);

#endif
