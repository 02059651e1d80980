/*
 * inspector.c: see inspector.h. Made once; every browser gets the same bytes.
 *
 * The policy names each script by its digest, so no other one runs, wherever it may come from, and
 * lets the page talk to its own origin alone. Styles need 'unsafe-inline': the diagram's viewer
 * writes style attributes.
 */
#include "tools/strider/inspector/inspector.h"

#include <openssl/evp.h>

#include "tools/strider/page/frame.h"

#define DIGEST_BYTES 32u
#define BASE64_BYTES 45u /* of a digest, with its NUL */
#define PAGE_BYTES   (512u << 10)

/* Everything but what a replay alone has. */
static bool is_script_of_page(int part)
{
    return part >= PAGE_SCRIPT_VIEWER && part < PAGE_PART_COUNT && part != PAGE_SCRIPT_EMBEDDED;
}

static void write_digest(struct wire_writer *policy, struct span script)
{
    uint8_t digest[EVP_MAX_MD_SIZE];
    unsigned char base64[BASE64_BYTES];
    unsigned count = 0;
    if (EVP_Digest(script.bytes, script.count, digest, &count, EVP_sha256(), NULL) != 1 ||
        count != DIGEST_BYTES) {
        return; /* the script does not run then; nothing less safe happens */
    }
    EVP_EncodeBlock(base64, digest, (int)count);
    page_write_text(policy, " 'sha256-");
    page_write_text(policy, (const char *)base64);
    page_write_text(policy, "'");
}

static const char *write_policy(struct arena *arena)
{
    struct wire_writer policy;
    wire_writer_init(&policy, arena, 2048);
    page_write_text(&policy, "default-src 'none'; script-src");
    for (int part = 0; part < PAGE_PART_COUNT; part++) {
        if (is_script_of_page(part)) {
            write_digest(&policy, page_part((enum page_part)part));
        }
    }
    page_write_text(&policy, "; style-src 'unsafe-inline'; img-src data:; connect-src 'self'; "
                             "base-uri 'none'; form-action 'none'; frame-ancestors 'none'");
    wire_write_raw(&policy, span_of("", 1));
    return (const char *)wire_writer_span(&policy).bytes;
}

static struct span write_page(struct arena *arena)
{
    struct span frame = page_part(PAGE_INSPECTOR);
    struct wire_writer page;
    wire_writer_init(&page, arena, PAGE_BYTES);
    page_write_up_to(&page, &frame, "<!--head-->");
    page_write_styles(&page, PAGE_STYLE_VIEWER, PAGE_STYLE_INSPECTOR);
    page_write_up_to(&page, &frame, "<!--board-->");
    wire_write_raw(&page, page_part(PAGE_BOARD));
    page_write_up_to(&page, &frame, "<!--tail-->");
    page_write_scripts(&page, PAGE_SCRIPT_VIEWER, PAGE_SCRIPT_REPLAY);
    page_write_scripts(&page, PAGE_SCRIPT_API, PAGE_SCRIPT_INSPECTOR);
    wire_write_raw(&page, frame);
    return wire_writer_span(&page);
}

enum result inspector_init(struct inspector *out)
{
    *out = (struct inspector){.html = SPAN_EMPTY};
    arena_init(&out->arena, 65536, 4 * PAGE_BYTES);
    out->policy = write_policy(&out->arena);
    out->html = write_page(&out->arena);
    if (out->arena.overflowed) {
        arena_release(&out->arena);
        out->html = SPAN_EMPTY;
        return RESULT_LIMIT;
    }
    return RESULT_OK;
}

void inspector_release(struct inspector *inspector)
{
    if (inspector->html.count > 0) {
        arena_release(&inspector->arena);
        inspector->html = SPAN_EMPTY;
    }
}
