/*
 * hook.h: a webhook's request (POST /hooks/{path}) as the operation `hook`. Pure functions.
 */
#ifndef TRANSPORT_ADMIN_HOOK_H
#define TRANSPORT_ADMIN_HOOK_H

#include <stdbool.h>
#include <string.h>

#include "transport/admin/route.h"

/*
 * Headers that are read: X(symbol, "Name"). The first two steer the request, the next three show
 * that its sender knows a secret; the others, from CONTENT_TYPE on, are told to the process. None
 * of those changes when a sender tries again, or a repeat would be another request: so no
 * signature, date or trace.
 */
#define HOOK_HEADERS(X)                                                                            \
    X(IDEMPOTENCY_KEY, "Idempotency-Key")                                                          \
    X(PREFER, "Prefer")                                                                            \
    X(SIGNATURE, "X-Hub-Signature-256")                                                            \
    X(HOOK_TOKEN, "X-Hook-Token")                                                                  \
    X(GITLAB_TOKEN, "X-Gitlab-Token")                                                              \
    X(CONTENT_TYPE, "Content-Type")                                                                \
    X(USER_AGENT, "User-Agent")                                                                    \
    X(GITHUB_EVENT, "X-GitHub-Event")                                                              \
    X(GITLAB_EVENT, "X-Gitlab-Event")                                                              \
    X(EVENT_KEY, "X-Event-Key")                                                                    \
    X(CLOUD_EVENT_ID, "Ce-Id")                                                                     \
    X(CLOUD_EVENT_TYPE, "Ce-Type")                                                                 \
    X(CLOUD_EVENT_SOURCE, "Ce-Source")                                                             \
    X(CLOUD_EVENT_SUBJECT, "Ce-Subject")

enum hook_header {
#define X(symbol, name) HOOK_HEADER_##symbol,
    HOOK_HEADERS(X)
#undef X
        HOOK_HEADER_COUNT
};

extern const char *const hook_header_names[HOOK_HEADER_COUNT];

static inline bool hook_is_at(const char *uri)
{
    return strncmp(uri, "/hooks/", 7) == 0;
}

/* What follows /hooks/ in an address of a webhook, as it came. */
static inline struct span hook_path_of(const char *uri)
{
    return span_of(uri + 7, strcspn(uri + 7, "?"));
}

/* `path`: what follows /hooks/, as it came. Sets *out to an operation or a refusal. */
void hook_resolve(const struct route_request *request, struct span path, struct arena *arena,
                  struct route *out);

#endif
