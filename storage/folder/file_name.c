/* file_name.c: see file_name.h. */
#include "storage/folder/file_name.h"

#include <stdio.h>
#include <string.h>

#define ENDING     ".msgpack"
#define PART_BYTES 200u /* of one part of a path before its ending; file systems allow 255 */

static bool is_plain(uint8_t byte)
{
    return (byte >= 'A' && byte <= 'Z') || (byte >= 'a' && byte <= 'z') ||
           (byte >= '0' && byte <= '9') || (byte != '\0' && strchr("._:@+-", byte) != NULL);
}

static bool ends_in(struct span part, const char *ending)
{
    size_t count = strlen(ending);
    return part.count >= count && memcmp(part.bytes + part.count - count, ending, count) == 0;
}

/* One part between slashes; returns the end of what it wrote. */
static char *write_part(struct span part, bool is_folder, char *out)
{
    char *begin = out;
    for (size_t i = 0; i < part.count; i++) {
        if ((size_t)(out - begin) > PART_BYTES) {
            memcpy(out, "%+/", 3);
            out += 3;
            begin = out;
        }
        bool hidden = part.bytes[i] == '.' && out == begin;
        if (is_plain(part.bytes[i]) && !hidden) {
            *out++ = (char)part.bytes[i];
        } else {
            out += snprintf(out, 4, "%%%02X", part.bytes[i]);
        }
    }
    /* (An empty part, as in "a//b", is "%" as a folder too.) */
    if (ends_in(part, ENDING) == is_folder || part.count == 0) {
        *out++ = '%';
    }
    return out;
}

enum result storage_folder_path(struct span name, char out[STORAGE_FOLDER_PATH_MAX])
{
    _Static_assert(STORAGE_FOLDER_NAME_MAX * 4 + 32 < STORAGE_FOLDER_PATH_MAX,
                   "three bytes for one, a mark a part, three a long part");
    if (name.count == 0 || name.count > STORAGE_FOLDER_NAME_MAX) {
        return RESULT_INVALID;
    }
    bool of_folder = name.bytes[name.count - 1] == '/';
    name.count -= of_folder;
    const uint8_t *slash = NULL;
    do {
        slash = name.count == 0 ? NULL : memchr(name.bytes, '/', name.count);
        size_t count = slash == NULL ? name.count : (size_t)(slash - name.bytes);
        out = write_part(span_of(name.bytes, count), slash != NULL || of_folder, out);
        if (slash != NULL) {
            *out++ = '/';
            name = span_of(slash + 1, name.count - count - 1);
        }
    } while (slash != NULL);
    *out = '\0';
    return RESULT_OK;
}

static int digit_of(char hex)
{
    return hex >= '0' && hex <= '9' ? hex - '0' : hex >= 'A' && hex <= 'F' ? hex - 'A' + 10 : -1;
}

/* Decodes what stands before a '/', the end, or a mark at the end; false for what is no escape. */
static bool read_part(const char *part, size_t part_count, uint8_t *out, size_t *count)
{
    for (size_t i = 0; i < part_count; i++) {
        int byte = (uint8_t)part[i];
        if (byte == '%') {
            int high = i + 2 < part_count ? digit_of(part[i + 1]) : -1;
            int low = high < 0 ? -1 : digit_of(part[i + 2]);
            byte = low < 0 ? -1 : high * 16 + low;
            i += 2;
        }
        if (byte < 0 || *count == STORAGE_FOLDER_NAME_MAX) {
            return false;
        }
        out[(*count)++] = (uint8_t)byte;
    }
    return true;
}

bool storage_folder_name(const char *path, uint8_t *out, size_t *count)
{
    char again[STORAGE_FOLDER_PATH_MAX];
    const char *at = path;
    *count = 0;
    while (*at != '\0') {
        size_t whole = strcspn(at, "/");
        size_t part = whole;
        bool goes_on = part >= 2 && memcmp(at + part - 2, "%+", 2) == 0;
        if (goes_on) {
            part -= 2;
        } else if (part >= 1 && at[part - 1] == '%') {
            part -= 1;
        }
        if (!read_part(at, part, out, count)) {
            return false;
        }
        at += whole;
        if (*at == '/') {
            at++;
            if (!goes_on && *count < STORAGE_FOLDER_NAME_MAX) {
                out[(*count)++] = '/';
            }
        }
    }
    /* One name has one path: all others are somebody else's files. */
    return storage_folder_path(span_of(out, *count), again) == RESULT_OK &&
           strcmp(path, again) == 0;
}
