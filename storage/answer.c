/* answer.c: see answer.h. */
#include "storage/answer.h"

#include "proto/message.h"

enum result storage_answer(struct proto_address reply_to, struct storage_answer answer)
{
    if (reply_to.sink == NULL) {
        return answer.result;
    }
    struct proto_message *message =
        message_new(PROTO_PORT_DONE, answer.results.count + answer.bytes.count);
    if (message == NULL) {
        return RESULT_LIMIT;
    }
    message->as.port_done.result = answer.result;
    message->as.port_done.results = message_keep(message, answer.results);
    message->as.port_done.bytes = message_keep(message, answer.bytes);
    message_answer(reply_to, message);
    return RESULT_OK;
}
