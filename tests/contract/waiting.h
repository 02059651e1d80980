/*
 * waiting.h: lets the contract suites, which want their answer at once, run on an adapter that
 * answers from a libev loop: each call of the port runs the loop until its answer is there.
 */
#ifndef TESTS_CONTRACT_WAITING_H
#define TESTS_CONTRACT_WAITING_H

#include "storage/blob.h"
#include "storage/hot.h"

struct ev_loop;

/* Own nothing of `inner` until they are closed: that closes it too. */
struct storage_hot *contract_hot_waiting(struct storage_hot *inner, struct ev_loop *loop);
struct storage_blob *contract_blob_waiting(struct storage_blob *inner, struct ev_loop *loop);

#endif
