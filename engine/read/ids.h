/*
 * ids.h: what the ids of one file stand for. Made once, for a known number of ids; lives in the
 * arena given.
 */
#ifndef ENGINE_READ_IDS_H
#define ENGINE_READ_IDS_H

#include "proto/base/arena.h"
#include "proto/base/span.h"

struct xml_element;

enum id_kind {
    ID_OTHER, /* an element that is neither of the following */
    ID_PROCESS,
    ID_NODE,
    ID_FLOW,
};

struct id {
    struct span text;
    struct xml_element *element;
    enum id_kind kind;
    uint32_t process; /* index in the definition: of the process itself, or of the one that holds
                         the node or flow */
    uint32_t index;   /* of the node or flow in its process */
};

struct ids {
    struct id *slots;
    size_t mask;
    size_t count;
    size_t capacity;
};

/* RESULT_LIMIT when the arena is full. */
MUST_USE enum result engine_ids_init(struct ids *ids, size_t capacity, struct arena *arena);
/* The entry of `text`, new (kind ID_OTHER, *element as given) or the one that is there. At most
 * `capacity` different ones. */
struct id *engine_ids_put(struct ids *ids, struct span text, struct xml_element *element);
/* NULL when absent. A reference may be a QName: "tns:Message_1" finds Message_1 when nothing bears
 * the whole name. */
struct id *engine_ids_find(const struct ids *ids, struct span reference);

#endif
