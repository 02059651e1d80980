/*
 * message.c: one malloc a message: the struct, then the room for its spans' bytes.
 */
#include "proto/message.h"

#include <stdlib.h>

#include "proto/base/assert.h"

struct proto_message *message_new(enum proto_message_type type, size_t bytes)
{
    ASSERT(type > PROTO_NONE && type < PROTO_MESSAGE_TYPE_COUNT);
    if (bytes > SIZE_MAX / 2) {
        return NULL;
    }
    struct proto_message *message = malloc(sizeof *message + bytes);
    if (message == NULL) {
        return NULL;
    }
    memset(message, 0, sizeof *message);
    message->magic = PROTO_MESSAGE_MAGIC;
    message->type = type;
    message->room = (uint8_t *)(message + 1);
    message->room_end = message->room + bytes;
    return message;
}

struct span message_keep(struct proto_message *message, struct span span)
{
    ASSERT(message->magic == PROTO_MESSAGE_MAGIC);
    ASSERT(span.count <= (size_t)(message->room_end - message->room));
    if (span.count == 0) {
        return SPAN_EMPTY;
    }
    uint8_t *copy = memcpy(message->room, span.bytes, span.count);
    message->room += span.count;
    return span_of(copy, span.count);
}

struct proto_message *message_of_definition(const struct proto_definition *definition)
{
    struct proto_message *message =
        message_new(PROTO_DEFINITION,
                    definition->project.count + definition->name.count + definition->content.count);
    if (message != NULL) {
        message->as.definition =
            (struct proto_definition){.project = message_keep(message, definition->project),
                                      .name = message_keep(message, definition->name),
                                      .content = message_keep(message, definition->content),
                                      .version = definition->version};
    }
    return message;
}

struct proto_message *message_of_project(const struct proto_project *project)
{
    struct proto_message *message =
        message_new(PROTO_PROJECT, project->project.count + project->workspace.count +
                                       project->environment.count + project->modules.count);
    if (message != NULL) {
        message->as.project =
            (struct proto_project){.project = message_keep(message, project->project),
                                   .workspace = message_keep(message, project->workspace),
                                   .environment = message_keep(message, project->environment),
                                   .modules = message_keep(message, project->modules)};
    }
    return message;
}

void message_free(struct proto_message *message)
{
    if (message == NULL) {
        return;
    }
    ASSERT(message->magic == PROTO_MESSAGE_MAGIC);
    message->magic = 0; /* a second free, or a use after it, trips the checks above */
    free(message);
}

void message_answer(struct proto_address to, struct proto_message *message)
{
    ASSERT(message != NULL);
    ASSERT(message->magic == PROTO_MESSAGE_MAGIC);
    if (to.sink == NULL) {
        message_free(message);
        return;
    }
    message->reply_to = (struct proto_address){.sink = NULL, .ticket = to.ticket};
    enum result result = to.sink->send(to.sink, &message);
    ASSERT(result != RESULT_AGAIN); /* sink.h: the request's admission reserved the answer's room */
    ASSERT((result == RESULT_OK) == (message == NULL));
    message_free(message);
}
