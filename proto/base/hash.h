/*
 * hash.h: SipHash-2-4 (Aumasson, Bernstein 2012) and CRC32C (RFC 3720 appendix B.4). Pure
 * functions, any thread.
 */
#ifndef PROTO_BASE_HASH_H
#define PROTO_BASE_HASH_H

#include "proto/base/span.h"

/* SipHash-2-4 under the 128-bit key whose little-endian halves these are. */
uint64_t base_siphash(struct span span, uint64_t key_low, uint64_t key_high);
/* The 128-bit variant of the reference implementation. */
void base_siphash_128(struct span span, uint64_t key_low, uint64_t key_high, uint8_t out[16]);

/*
 * Keyed 64-bit hash for tables and shard selection; the fixed key 0 gives the stable hash that
 * picks a shard.
 */
static inline uint64_t base_hash(struct span span, uint64_t key)
{
    return base_siphash(span, key, 0);
}
/* 128-bit variant. */
static inline void base_hash_128(struct span span, uint64_t key, uint8_t out[16])
{
    base_siphash_128(span, key, 0, out);
}

/* CRC32C; pass 0 to begin, the previous result to go on. By instructions (SSE4.2, PCLMULQDQ) where
 * the CPU has them. */
uint32_t base_crc32c(uint32_t crc, struct span span);
/* The same by a table: for CPUs without the instruction, and for the test that both agree. */
uint32_t base_crc32c_by_table(uint32_t crc, struct span span);

#endif
