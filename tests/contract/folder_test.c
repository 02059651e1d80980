/* folder_test.c: the blob tier on the file system keeps its contract, and its files are its own. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "proto/wire/reader.h"
#include "storage/folder/folder.h"
#include "tests/contract/blob_contract.h"
#include "tests/contract/file_limit.h"
#include "tests/contract/support.h"

struct folder_subject {
    struct contract_blob subject; /* first */
    struct contract_directory directory;
};

static struct storage_blob *folder_open(struct contract_blob *self)
{
    struct folder_subject *folder = (struct folder_subject *)self;
    struct storage_blob *blob = NULL;
    enum result result =
        storage_folder_blob_open(contract_path(&folder->directory, "blobs/"), &blob);
    cr_assert_eq(result, RESULT_OK, "%s", result_text(result));
    return blob;
}

static void folder_end(struct contract_blob *self, struct storage_blob *blob, bool orderly)
{
    (void)self;
    (void)orderly; /* what was answered is synced: there is no other end */
    blob->ops->close(blob);
}

static void folder_set_full(struct contract_blob *self, struct storage_blob *blob, bool full)
{
    (void)self;
    (void)blob;
    contract_file_limit(full ? 65536 : UINT64_MAX);
}

/* In memory where that can be: thousands of synced files take a disk half a minute. */
static struct folder_subject subject_new(void)
{
    if (access("/dev/shm", W_OK) == 0) {
        setenv("TMPDIR", "/dev/shm", 1);
    }
    return (struct folder_subject){
        .subject = {.open = folder_open, .end = folder_end, .set_full = folder_set_full},
        .directory = contract_directory_new(),
    };
}

static void in_folder(void (*rule)(struct contract_blob *))
{
    struct folder_subject folder = subject_new();
    rule(&folder.subject);
    contract_directory_remove(&folder.directory);
}

#define X(rule)                                                                                    \
    Test(blob_in_folder, rule)                                                                     \
    {                                                                                              \
        in_folder(contract_blob_##rule);                                                           \
    }
CONTRACT_BLOB_RULES(X)
#undef X

static const struct proto_address nobody;

static enum result put(struct storage_blob *blob, const char *name, const char *bytes)
{
    struct storage_blob_item item = {.name = span_text(name), .bytes = span_text(bytes)};
    return blob->ops->put(blob, &item, 1, nobody);
}

static void write_file(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    cr_assert_not_null(file, "%s", path);
    fputs(text, file);
    fclose(file);
}

Test(blob_in_folder, a_blob_is_a_plain_file_that_only_we_may_read)
{
    struct folder_subject folder = subject_new();
    struct storage_blob *blob = folder_open(&folder.subject);
    struct stat status;
    cr_assert_eq(put(blob, "w/e/1.msgpack", "bytes"), RESULT_OK);

    cr_assert_eq(stat(contract_path(&folder.directory, "blobs/w/e/1.msgpack"), &status), 0);

    cr_assert_eq(status.st_size, 5);
    cr_assert_eq(status.st_mode & 0777, 0600);
    blob->ops->close(blob);
    contract_directory_remove(&folder.directory);
}

Test(blob_in_folder, no_name_leads_out_of_it)
{
    static const char *const names[] = {"../out", "w/../../out", "/out", "w/./out", ".tmp/0"};
    struct folder_subject folder = subject_new();
    struct storage_blob *blob = folder_open(&folder.subject);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        struct contract_asker asker;
        contract_asker_init(&asker);
        cr_assert_eq(put(blob, names[i], names[i]), RESULT_OK);
        cr_assert_eq(blob->ops->get(blob, span_text(names[i]), contract_ask(&asker)), RESULT_OK);
        cr_assert(span_is(contract_answer(&asker)->bytes, names[i]));
        contract_asker_release(&asker);
    }

    cr_assert_neq(access(contract_path(&folder.directory, "out"), F_OK), 0);
    cr_assert_neq(access(contract_path(&folder.directory, "blobs/out"), F_OK), 0);
    cr_assert_neq(access("/out", F_OK), 0);
    blob->ops->close(blob);
    contract_directory_remove(&folder.directory);
}

Test(blob_in_folder, what_a_crash_left_half_done_is_cleared_away)
{
    struct folder_subject folder = subject_new();
    struct storage_blob *blob = folder_open(&folder.subject);
    struct contract_asker asker;
    contract_asker_init(&asker);
    cr_assert_eq(put(blob, "w/e/1.msgpack", "bytes"), RESULT_OK);
    blob->ops->close(blob);
    write_file(contract_path(&folder.directory, "blobs/.tmp/17"), "half");
    cr_assert_eq(mkdir(contract_path(&folder.directory, "blobs/.tmp/removed-3"), 0700), 0);
    write_file(contract_path(&folder.directory, "blobs/.tmp/removed-3/x"), "half");

    blob = folder_open(&folder.subject);

    cr_assert_neq(access(contract_path(&folder.directory, "blobs/.tmp/17"), F_OK), 0);
    cr_assert_neq(access(contract_path(&folder.directory, "blobs/.tmp/removed-3"), F_OK), 0);
    cr_assert_eq(blob->ops->list(blob, SPAN_EMPTY, 10, contract_ask(&asker)), RESULT_OK);
    cr_assert_eq(wire_count(contract_answer(&asker)->bytes), 1);
    contract_asker_release(&asker);
    blob->ops->close(blob);
    contract_directory_remove(&folder.directory);
}

Test(blob_in_folder, files_of_others_are_not_listed)
{
    struct folder_subject folder = subject_new();
    struct storage_blob *blob = folder_open(&folder.subject);
    struct contract_asker asker;
    contract_asker_init(&asker);
    cr_assert_eq(put(blob, "w/e/1.msgpack", "bytes"), RESULT_OK);
    write_file(contract_path(&folder.directory, "blobs/w/e/notes.txt"), "x");
    write_file(contract_path(&folder.directory, "blobs/w/.DS_Store"), "x");

    cr_assert_eq(blob->ops->list(blob, SPAN_EMPTY, 10, contract_ask(&asker)), RESULT_OK);

    cr_assert_eq(wire_count(contract_answer(&asker)->bytes), 1);
    contract_asker_release(&asker);
    blob->ops->close(blob);
    contract_directory_remove(&folder.directory);
}

Test(blob_in_folder, a_place_that_is_no_directory_is_refused)
{
    struct contract_directory directory = contract_directory_new();
    struct storage_blob *blob = NULL;
    write_file(contract_path(&directory, "file"), "x");

    cr_assert_eq(storage_folder_blob_open(contract_path(&directory, "file/blobs"), &blob),
                 RESULT_INVALID);
    cr_assert_eq(storage_folder_blob_open("", &blob), RESULT_INVALID);

    contract_directory_remove(&directory);
}
