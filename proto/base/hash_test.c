#include "proto/base/hash.h"

#include <criterion/criterion.h>

/* The reference implementation's vectors: key 00 01 … 0f, input 00 01 … of n bytes. */
static const uint64_t key_low = 0x0706050403020100u;
static const uint64_t key_high = 0x0f0e0d0c0b0a0908u;

static struct span ascending(size_t count)
{
    static uint8_t bytes[64];
    for (size_t i = 0; i < sizeof bytes; i++) {
        bytes[i] = (uint8_t)i;
    }
    return span_of(bytes, count);
}

Test(hash, siphash_64_gives_the_reference_vectors)
{
    static const uint64_t vectors[] = {
        0x726fdb47dd0e0e31u, 0x74f839c593dc67fdu, 0x0d6c8009d9a94f5au, 0x85676696d7fb7e2du,
        0xcf2794e0277187b7u, 0x18765564cd99a68du, 0xcbc9466e58fee3ceu, 0xab0200f58b01d137u,
        0x93f5f5799a932462u, 0x9e0082df0ba9e4b0u, 0x7a5dbbc594ddb9f3u, 0xf4b32f46226bada7u,
        0x751e8fbc860ee5fbu, 0x14ea5627c0843d90u, 0xf723ca908e7af2eeu, 0xa129ca6149be45e5u,
    };
    for (size_t count = 0; count < sizeof vectors / sizeof vectors[0]; count++) {
        cr_expect_eq(base_siphash(ascending(count), key_low, key_high), vectors[count], "%zu bytes",
                     count);
    }
}

Test(hash, siphash_128_gives_the_reference_vectors)
{
    static const struct {
        size_t count;
        uint8_t expected[16];
    } rows[] = {
        {0,
         {0xa3, 0x81, 0x7f, 0x04, 0xba, 0x25, 0xa8, 0xe6, 0x6d, 0xf6, 0x72, 0x14, 0xc7, 0x55, 0x02,
          0x93}},
        {1,
         {0xda, 0x87, 0xc1, 0xd8, 0x6b, 0x99, 0xaf, 0x44, 0x34, 0x76, 0x59, 0x11, 0x9b, 0x22, 0xfc,
          0x45}},
        {2,
         {0x81, 0x77, 0x22, 0x8d, 0xa4, 0xa4, 0x5d, 0xc7, 0xfc, 0xa3, 0x8b, 0xde, 0xf6, 0x0a, 0xff,
          0xe4}},
        {3,
         {0x9c, 0x70, 0xb6, 0x0c, 0x52, 0x67, 0xa9, 0x4e, 0x5f, 0x33, 0xb6, 0xb0, 0x29, 0x85, 0xed,
          0x51}},
        {15,
         {0x54, 0x93, 0xe9, 0x99, 0x33, 0xb0, 0xa8, 0x11, 0x7e, 0x08, 0xec, 0x0f, 0x97, 0xcf, 0xc3,
          0xd9}},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        uint8_t out[16];
        base_siphash_128(ascending(rows[i].count), key_low, key_high, out);
        cr_expect_arr_eq(out, rows[i].expected, 16, "row %zu", i);
    }
}

Test(hash, the_hash_that_picks_a_shard_never_changes)
{
    /* Executions would change owner: these values are for ever. */
    cr_expect_eq(base_hash(SPAN_EMPTY, 0), 0x1e924b9d737700d7u);
    cr_expect_eq(base_hash(span_text("order-1"), 0), base_siphash(span_text("order-1"), 0, 0));
    cr_expect_neq(base_hash(span_text("order-1"), 0), base_hash(span_text("order-1"), 1));
}

Test(hash, crc32c_gives_the_vectors_of_rfc_3720)
{
    uint8_t zeroes[32] = {0}, ones[32], up[32], down[32];
    for (unsigned i = 0; i < 32; i++) {
        ones[i] = 0xff;
        up[i] = (uint8_t)i;
        down[i] = (uint8_t)(31 - i);
    }
    const struct {
        struct span input;
        uint32_t expected;
    } rows[] = {
        {SPAN_EMPTY, 0},
        {span_text("123456789"), 0xe3069283u},
        {span_of(zeroes, 32), 0x8a9136aau},
        {span_of(ones, 32), 0x62a8ab43u},
        {span_of(up, 32), 0x46dd794eu},
        {span_of(down, 32), 0x113fdb5cu},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        cr_expect_eq(base_crc32c(0, rows[i].input), rows[i].expected, "row %zu", i);
        cr_expect_eq(base_crc32c_by_table(0, rows[i].input), rows[i].expected, "row %zu", i);
    }
}

Test(hash, crc32c_goes_on_from_an_earlier_result_at_any_split)
{
    struct span all = ascending(64);
    uint32_t expected = base_crc32c(0, all);
    for (size_t split = 0; split <= all.count; split++) {
        uint32_t head = base_crc32c(0, span_of(all.bytes, split));
        struct span tail = span_of(all.bytes + split, all.count - split);
        cr_expect_eq(base_crc32c(head, tail), expected, "split at %zu", split);
        cr_expect_eq(base_crc32c_by_table(head, tail), expected, "split at %zu", split);
    }
}

Test(hash, crc32c_by_instruction_and_by_table_agree_at_any_size)
{
    /* Blocks of three lanes, long and short, with every rest behind them; unaligned. */
    static uint8_t bytes[5000];
    uint32_t next = 1;
    for (size_t i = 0; i < sizeof bytes; i++) {
        next = next * 1664525u + 1013904223u;
        bytes[i] = (uint8_t)(next >> 24);
    }
    for (size_t count = 0; count < sizeof bytes; count++) {
        struct span span = span_of(bytes + count % 8, count - count % 8);
        cr_assert_eq(base_crc32c(7, span), base_crc32c_by_table(7, span), "%zu bytes", span.count);
    }
}
