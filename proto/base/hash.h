/*
 * hash.h: SipHash-2-4 (Aumasson, Bernstein 2012) and CRC32C (RFC 3720 appendix B.4). Pure functions, any thread.
 */
#ifndef PROTO_BASE_HASH_H
#define PROTO_BASE_HASH_H

#include "proto/base/span.h"

/* Keyed 64-bit hash for tables and shard selection; the fixed key 0 gives the stable hash that picks a shard. */
uint64_t base_hash(struct span span, uint64_t key);
/* 128-bit variant. */
void base_hash_128(struct span span, uint64_t key, uint8_t out[16]);
/* CRC32C; pass 0 to begin, the previous result to go on. Uses SSE4.2 where the CPU has it. */
uint32_t base_crc32c(uint32_t crc, struct span span);

#endif
