/*
 * status.h: which HTTP status says what an error code says. Pure functions.
 */
#ifndef TRANSPORT_ADMIN_STATUS_H
#define TRANSPORT_ADMIN_STATUS_H

#include <stdint.h>

#include "proto/operation.h"

/* 200 for PROTO_ERROR_NONE. */
uint16_t admin_status_of(enum proto_error error);

#endif
