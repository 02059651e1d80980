/*
 * limits.h: every bound in the program that a config key does not set. Units are in the names.
 */
#ifndef PROTO_BASE_LIMITS_H
#define PROTO_BASE_LIMITS_H

#define LIMIT_ID_BYTES              128u /* workspaceId, projectId, executionId, stepId (interfaces.md) */
#define LIMIT_CHANNEL_SESSION_BYTES 512u /* channelSessionId */
#define LIMIT_REQUEST_ID_BYTES      512u /* requestId */
#define LIMIT_DEPTH                 64u  /* nesting of any JSON or MessagePack value from outside */
#define LIMIT_WIRE_DEPTH                                                                           \
    128u /* nesting of any value at all: what comes in, wrapped in our own maps */
#define LIMIT_FRAME_BYTES                                                                          \
    (16u << 20) /* one NNG request; config front.maxRequestBytes may lower it */
#define LIMIT_REPLY_BYTES                                                                          \
    (16u << 20) /* one module reply, after decompression (config maxReplyBytes) */
#define LIMIT_EXECUTION_BYTES  (256u << 20) /* all memory of one live execution */
#define LIMIT_DEFINITION_BYTES (16u << 20)  /* one definition file */
#define LIMIT_XML_DEPTH        128u         /* element nesting in a definition file */
#define LIMIT_XML_ELEMENTS     200000u      /* elements in a definition file */
#define LIMIT_PROBLEMS         1000u        /* problems kept of one file */
#define LIMIT_TOKENS           100000u /* live tokens of one execution (engine.md 3, maxTokens) */
#define LIMIT_STEPS            200u /* steps on one token's path in one segment (engine.md 3, maxSteps) */
#define LIMIT_HISTORY                                                                              \
    1000u /* executionMap entries and shipped logs kept (engine.md 6, historyMax) */
#define LIMIT_TOKEN_MOVES         256u /* moves per slice before a long segment yields its shard */
#define LIMIT_EXPRESSION_BYTES    (64u << 10) /* source text of one expression */
#define LIMIT_EXPRESSION_DEPTH    200u        /* nesting of an expression's syntax tree */
#define LIMIT_EXPRESSION_STEPS    1000000u    /* evaluation steps of one expression */
#define LIMIT_ACTOR_BATCH         256u        /* messages handled per turn of a mailbox */
#define LIMIT_REQUESTS_REMEMBERED 100000u /* requestIds a shard keeps for idempotency, newest win  \
                                           */
#define LIMIT_REQUEST_KEPT_MS (10u * 60 * 1000) /* ...and for how long (interfaces.md 2) */

#endif
