/*
 * replay.c: runs every file of the folders named on the command line through a fuzz target, for
 * compilers that have no libFuzzer. A folder without files is a failure: nothing would have been
 * tested.
 */
#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/fuzz/fuzz.h"

enum { FILE_BYTES_MAX = 16 << 20, PATH_BYTES = 4096 };

static bool replay_file(const char *path)
{
    FILE *file = fopen(path, "rb");
    if (file == NULL) {
        perror(path);
        return false;
    }
    bool whole = false;
    uint8_t *bytes = malloc(FILE_BYTES_MAX);
    size_t count = bytes == NULL ? 0 : fread(bytes, 1, FILE_BYTES_MAX, file);
    if (bytes != NULL && ferror(file) == 0) {
        /* Exactly as long as the input, so that the sanitizer sees a read past its end. */
        uint8_t *exact = realloc(bytes, count + (count == 0));
        bytes = exact == NULL ? bytes : exact;
        LLVMFuzzerTestOneInput(bytes, count);
        whole = true;
    }
    free(bytes);
    fclose(file);
    return whole;
}

/* The number of files that ran; -1 when one could not be read. */
static int replay_folder(const char *folder)
{
    DIR *entries = opendir(folder);
    if (entries == NULL) {
        perror(folder);
        return -1;
    }
    int count = 0;
    for (struct dirent *entry; count >= 0 && (entry = readdir(entries)) != NULL;) {
        char path[PATH_BYTES];
        if (entry->d_name[0] == '.') {
            continue;
        }
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        count = replay_file(path) ? count + 1 : -1;
    }
    closedir(entries);
    return count;
}

int main(int argument_count, char **arguments)
{
    for (int i = 1; i < argument_count; i++) {
        int count = replay_folder(arguments[i]);
        if (count <= 0) {
            fprintf(stderr, "%s: no seed ran\n", arguments[i]);
            return 1;
        }
        printf("%s: %d seeds\n", arguments[i], count);
    }
    return argument_count < 2;
}
