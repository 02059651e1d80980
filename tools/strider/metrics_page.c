/* metrics_page.c: see metrics_page.h. */
#include "tools/strider/metrics_page.h"

#include <inttypes.h>

#include "tools/strider/process.h"

struct span metrics_page(struct arena *arena, struct span engine,
                         const struct transport_front_stats *front)
{
    struct span process = process_metrics(arena);
    return arena_format(
        arena,
        "%.*s"
        "# HELP strider_front_requests_total Requests that arrived over NNG.\n"
        "# TYPE strider_front_requests_total counter\n"
        "strider_front_requests_total %" PRIu64 "\n"
        "# HELP strider_front_replies_total Replies that went out over NNG.\n"
        "# TYPE strider_front_replies_total counter\n"
        "strider_front_replies_total %" PRIu64 "\n"
        "# HELP strider_front_replies_unsent_total Replies whose peer had gone.\n"
        "# TYPE strider_front_replies_unsent_total counter\n"
        "strider_front_replies_unsent_total %" PRIu64 "\n"
        "# HELP strider_front_refused_total Requests refused by the front, by reason.\n"
        "# TYPE strider_front_refused_total counter\n"
        "strider_front_refused_total{reason=\"invalid\"} %" PRIu64 "\n"
        "strider_front_refused_total{reason=\"unauthorized\"} %" PRIu64 "\n"
        "strider_front_refused_total{reason=\"overloaded\"} %" PRIu64 "\n"
        "strider_front_refused_total{reason=\"oversized\"} %" PRIu64 "\n"
        "# HELP strider_front_connections NNG connections.\n"
        "# TYPE strider_front_connections gauge\n"
        "strider_front_connections %" PRIu32 "\n"
        "# HELP strider_front_connections_refused_total NNG connections beyond "
        "front.maxConnections.\n"
        "# TYPE strider_front_connections_refused_total counter\n"
        "strider_front_connections_refused_total %" PRIu64 "\n"
        "# HELP strider_front_pending Requests in flight.\n"
        "# TYPE strider_front_pending gauge\n"
        "strider_front_pending %" PRIu32 "\n"
        "# HELP strider_front_contexts Requests that there is room for, made as load asks.\n"
        "# TYPE strider_front_contexts gauge\n"
        "strider_front_contexts %" PRIu32 "\n"
        "%.*s",
        SPAN_ARG(engine), front->requests, front->replies, front->unsent, front->invalid,
        front->unauthorized, front->overloaded, front->oversized, front->connections,
        front->crowded, front->pending, front->contexts, SPAN_ARG(process));
}
