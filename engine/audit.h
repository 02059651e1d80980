/*
 * audit.h: audit messages (interfaces.md 5).
 */
#ifndef ENGINE_AUDIT_H
#define ENGINE_AUDIT_H

#include "engine/decision.h"

/*
 * Writes the message that leaves with revision `execution->revision`, which the AUDITED event has
 * just made. `logs`: the entries that it ships, `log_count` of them; snapshot_bytes: size of the
 * execution, 0: not known (first message).
 */
struct engine_audit_content {
    const char *event;
    struct span logs;
    uint32_t log_count;
    size_t snapshot_bytes;
};
void engine_audit_write(const struct engine_execution *execution,
                        const struct engine_audit_content *content, struct wire_writer *writer);

#endif
