/* support.c: see support.h. */
#include "tests/contract/support.h"

#include <criterion/criterion.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "proto/base/assert.h"

#define REMOVE_HANDLES 16

struct contract_directory contract_directory_new(void)
{
    struct contract_directory directory;
    const char *parent = getenv("TMPDIR");
    snprintf(directory.path, sizeof directory.path, "%s/strider-contract-XXXXXX",
             parent != NULL ? parent : "/tmp");
    cr_assert_not_null(mkdtemp(directory.path));
    return directory;
}

static int remove_one(const char *path, const struct stat *status, int kind, struct FTW *place)
{
    (void)status;
    (void)kind;
    (void)place;
    return remove(path);
}

void contract_directory_remove(struct contract_directory *directory)
{
    cr_assert_eq(nftw(directory->path, remove_one, REMOVE_HANDLES, FTW_DEPTH | FTW_PHYS), 0);
}

const char *contract_path(const struct contract_directory *directory, const char *name)
{
    static char path[256];
    snprintf(path, sizeof path, "%s/%s", directory->path, name);
    return path;
}

static enum result take_answer(struct proto_sink *self, struct proto_message **message)
{
    struct contract_asker *asker = (struct contract_asker *)self;
    message_free(asker->message);
    asker->message = *message;
    asker->answers++;
    *message = NULL;
    return RESULT_OK;
}

void contract_asker_init(struct contract_asker *asker)
{
    *asker = (struct contract_asker){.sink = {.send = take_answer}};
}

struct proto_address contract_ask(struct contract_asker *asker)
{
    contract_asker_release(asker);
    return (struct proto_address){&asker->sink, 77};
}

const struct proto_port_done *contract_answer(struct contract_asker *asker)
{
    cr_assert_eq(asker->answers, 1, "%u answers", asker->answers);
    cr_assert_eq(asker->message->type, PROTO_PORT_DONE);
    cr_assert_eq(asker->message->reply_to.ticket, 77);
    return &asker->message->as.port_done;
}

void contract_asker_release(struct contract_asker *asker)
{
    message_free(asker->message);
    asker->message = NULL;
    asker->answers = 0;
}

void contract_flip(const char *path, struct span bytes)
{
    FILE *file = fopen(path, "r+b");
    cr_assert_not_null(file);
    cr_assert_eq(fseek(file, 0, SEEK_END), 0);
    size_t count = (size_t)ftell(file);
    rewind(file);
    uint8_t *content = malloc(count);
    cr_assert_eq(fread(content, 1, count, file), count);
    uint8_t *place = memmem(content, count, bytes.bytes, bytes.count);
    cr_assert_not_null(place, "the bytes are in the file");
    *place ^= 1;
    rewind(file);
    cr_assert_eq(fwrite(content, 1, count, file), count);
    free(content);
    fclose(file);
}

uint64_t contract_draw(uint64_t *state, uint64_t below)
{
    *state = *state * 6364136223846793005ull + 1442695040888963407ull;
    return (*state >> 33) % below;
}

void contract_fill(uint8_t *bytes, size_t count, uint64_t seed)
{
    for (size_t i = 0; i < count; i++) {
        bytes[i] = (uint8_t)contract_draw(&seed, 256);
    }
}
