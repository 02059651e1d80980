/*
 * metrics_page.h: what /metrics shows: the engine's series, the front's and the process's.
 */
#ifndef TOOLS_STRIDER_METRICS_PAGE_H
#define TOOLS_STRIDER_METRICS_PAGE_H

#include "proto/base/arena.h"
#include "transport/front.h"

/* Prometheus text in the arena, `engine` first. Any thread. */
struct span metrics_page(struct arena *arena, struct span engine,
                         const struct transport_front_stats *front);

#endif
