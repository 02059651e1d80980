/*
 * limits.h: every bound in the program that a config key does not set. Units are in the names.
 */
#ifndef PROTO_BASE_LIMITS_H
#define PROTO_BASE_LIMITS_H

/* Ids and keys */
#define LIMIT_ID_BYTES              128u /* workspaceId, projectId, executionId, stepId */
#define LIMIT_CHANNEL_SESSION_BYTES 512u /* channelSessionId */
#define LIMIT_MESSAGE_ID_BYTES      128u /* messageId */
#define LIMIT_REQUEST_ID_BYTES      512u /* requestId */

/* What comes in */
#define LIMIT_DEPTH            64u         /* nesting of a JSON or MessagePack value from outside */
#define LIMIT_WIRE_DEPTH       128u        /* nesting of any value: the above, in our own maps */
#define LIMIT_FRAME_BYTES      (16u << 20) /* an NNG request; front.maxRequestBytes may lower it */
#define LIMIT_REPLY_BYTES      (16u << 20) /* a module reply, decompressed (maxReplyBytes) */
#define LIMIT_DEFINITION_BYTES (16u << 20) /* one definition file */
#define LIMIT_XML_DEPTH        128u        /* element nesting in a definition file */
#define LIMIT_XML_ELEMENTS     200000u     /* elements in a definition file */
#define LIMIT_PROBLEMS         1000u       /* problems kept of one file */

/* Executions (engine.md 3 and 6) */
#define LIMIT_EXECUTION_BYTES (256u << 20) /* all memory of one live execution */
#define LIMIT_TOKENS          100000u      /* live tokens of one execution (maxTokens) */
#define LIMIT_STEPS           200u         /* steps on one token's path in a segment (maxSteps) */
#define LIMIT_STEPS_MAX       1000000u     /* that it may be set to */
#define LIMIT_HISTORY         1000u        /* executionMap entries and shipped logs (historyMax) */
#define LIMIT_TOKEN_MOVES     256u         /* moves per slice before a segment yields its shard */

/* Expressions */
#define LIMIT_EXPRESSION_BYTES (64u << 10) /* source text of one expression */
#define LIMIT_EXPRESSION_DEPTH 200u        /* nesting of an expression's syntax tree */
#define LIMIT_EXPRESSION_STEPS 1000000u    /* evaluation steps of one expression */

/* Actors */
#define LIMIT_ACTOR_BATCH         256u              /* messages handled per turn of a mailbox */
#define LIMIT_REQUESTS_REMEMBERED 100000u           /* requestIds a shard keeps, newest win */
#define LIMIT_MESSAGES            1000000u          /* messages kept that nobody took */
#define LIMIT_REQUEST_KEPT_MS     (10u * 60 * 1000) /* ...and for how long (interfaces.md 2) */

#endif
