/*
 * fuzz.h: what a fuzz target defines and how it says that something is wrong.
 */
#ifndef TESTS_FUZZ_FUZZ_H
#define TESTS_FUZZ_FUZZ_H

#include <stddef.h>
#include <stdint.h>

#include "proto/base/assert.h"

/* A fault of ours: aborts, and the fuzzer keeps the input. */
#define MUST(condition) ASSERT(condition)

/* libFuzzer's entry. Returns 0. */
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count);

#endif
