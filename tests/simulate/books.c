/*
 * books.c: see books.h. One row of `entries` a kind of event that moves tokens; all others leave
 * the books alone.
 */
#include "tests/simulate/books.h"

#include "proto/base/assert.h"
#include "proto/wire/reader.h"

struct taking {
    struct sim_books *books;
    const struct engine_catalog *catalog;
    struct span project;
    const struct engine_event *event;
};

typedef const char *(*taking_fn)(const struct taking *taking);

/* ---- lists ---- */

static struct books_token *token_of(struct sim_books *books, uint32_t id)
{
    for (uint32_t i = 0; i < books->token_count; i++) {
        if (books->tokens[i].id == id) {
            return &books->tokens[i];
        }
    }
    return NULL;
}

static struct books_scope *scope_of(struct sim_books *books, uint32_t id)
{
    for (uint32_t i = 0; i < books->scope_count; i++) {
        if (books->scopes[i].id == id) {
            return &books->scopes[i];
        }
    }
    return NULL;
}

static struct books_join *join_of(struct sim_books *books, uint32_t scope, uint32_t flow)
{
    for (uint32_t i = 0; i < books->join_count; i++) {
        if (books->joins[i].scope == scope && books->joins[i].flow == flow) {
            return &books->joins[i];
        }
    }
    return NULL;
}

static void drop_token(struct sim_books *books, struct books_token *token)
{
    *token = books->tokens[--books->token_count];
}

static void drop_join(struct sim_books *books, struct books_join *join)
{
    *join = books->joins[--books->join_count];
}

/* What keeps the scope alive. */
static uint32_t held_in(const struct sim_books *books, uint32_t scope)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < books->token_count; i++) {
        count += books->tokens[i].scope == scope && !books->tokens[i].guard;
    }
    for (uint32_t i = 0; i < books->join_count; i++) {
        count += books->joins[i].scope == scope ? books->joins[i].count : 0;
    }
    return count;
}

/* All that is in the scope, and below it; the scope stays. Inner scopes follow their hosts. */
static void clear(struct sim_books *books, uint32_t scope)
{
    for (uint32_t i = 0; i < books->join_count; i++) {
        if (books->joins[i].scope == scope) {
            drop_join(books, &books->joins[i--]);
        }
    }
    for (uint32_t i = 0; i < books->token_count; i++) {
        if (books->tokens[i].scope == scope) {
            drop_token(books, &books->tokens[i--]);
        }
    }
}

static void clear_below(struct sim_books *books)
{
    bool more = true;
    while (more) {
        more = false;
        for (uint32_t i = 0; i < books->scope_count; i++) {
            struct books_scope *scope = &books->scopes[i];
            if (scope->host != 0 && token_of(books, scope->host) == NULL) {
                clear(books, scope->id);
                *scope = books->scopes[--books->scope_count];
                more = true;
            }
        }
    }
}

/* ---- entries ---- */

/* Which process it runs stands in its start. */
static const char *created(const struct taking *taking)
{
    struct span start = taking->event->value;
    taking->books->root = taking->catalog->process(
        taking->catalog, taking->project, wire_string_or(wire_find_text(start, "process"), ""),
        (uint32_t)wire_int_or(wire_find_text(start, "version"), 0));
    return taking->books->root == NULL ? "it begins in a process that is not there" : NULL;
}

static uint32_t moved_flow(const struct engine_process *from, const struct engine_process *to,
                           uint32_t flow)
{
    for (uint32_t i = 0; flow != ENGINE_NONE && i < to->flow_count; i++) {
        if (span_equal(to->flows[i].id, from->flows[flow].id)) {
            return i;
        }
    }
    return ENGINE_NONE;
}

/* Flows go by their ids; what a called process runs stays. */
static const char *migrated(const struct taking *taking)
{
    struct sim_books *books = taking->books;
    const struct engine_process *from = books->root;
    const struct engine_process *to =
        taking->catalog->process(taking->catalog, taking->project, from->id, taking->event->count);
    if (to == NULL || to->version == from->version) {
        return "it migrates to a version that is not there, or to its own";
    }
    for (uint32_t i = 0; i < books->token_count; i++) {
        struct books_token *token = &books->tokens[i];
        if (scope_of(books, token->scope)->process == from) {
            token->flow = moved_flow(from, to, token->flow);
        }
    }
    for (uint32_t i = 0; i < books->join_count; i++) {
        struct books_join *join = &books->joins[i];
        if (scope_of(books, join->scope)->process == from) {
            join->flow = moved_flow(from, to, join->flow);
        }
    }
    for (uint32_t i = 0; i < books->scope_count; i++) {
        if (books->scopes[i].process == from) {
            books->scopes[i].process = to;
        }
    }
    books->root = to;
    return NULL;
}

static const char *started(const struct taking *taking)
{
    struct sim_books *books = taking->books;
    books->token_count = books->join_count = 0;
    books->scope_count = 1;
    books->scopes[0] = (struct books_scope){.id = ENGINE_SCOPE_ROOT, .process = books->root};
    return NULL;
}

static const char *add_token(struct sim_books *books, uint32_t id, uint32_t scope, uint32_t flow)
{
    ASSERT(books->token_count < BOOKS_TOKENS_MAX);
    if (token_of(books, id) != NULL) {
        return "a token is created that is there already";
    }
    if (scope_of(books, scope) == NULL) {
        return "a token is created in a scope that is not there";
    }
    books->tokens[books->token_count++] =
        (struct books_token){.id = id, .scope = scope, .flow = flow};
    return NULL;
}

static const char *token_created(const struct taking *taking)
{
    const struct engine_event *event = taking->event;
    const char *wrong = add_token(taking->books, event->token, event->scope, event->flow);
    if (wrong == NULL) {
        token_of(taking->books, event->token)->guard = event->flags != 0;
    }
    return wrong;
}

static const char *left(const struct taking *taking)
{
    struct books_token *token = token_of(taking->books, taking->event->token);
    if (token == NULL) {
        return "a token leaves that is not there";
    }
    token->flow = taking->event->flow;
    return NULL;
}

/* Over a link it comes by no flow. */
static const char *linked(const struct taking *taking)
{
    struct books_token *token = token_of(taking->books, taking->event->token);
    if (token == NULL) {
        return "a token goes over a link that is not there";
    }
    token->flow = ENGINE_NONE;
    return NULL;
}

static const char *instance_created(const struct taking *taking)
{
    return add_token(taking->books, taking->event->token, taking->event->scope, ENGINE_NONE);
}

static const char *consumed(const struct taking *taking)
{
    struct books_token *token = token_of(taking->books, taking->event->token);
    if (token == NULL) {
        return "a token is consumed that is not there";
    }
    drop_token(taking->books, token);
    return NULL;
}

static const char *cancelled(const struct taking *taking)
{
    const char *wrong = consumed(taking);
    clear_below(taking->books);
    return wrong == NULL ? NULL : "a token is cancelled that is not there";
}

static const char *joined(const struct taking *taking)
{
    struct sim_books *books = taking->books;
    struct books_token *token = token_of(books, taking->event->token);
    if (token == NULL || token->flow == ENGINE_NONE) {
        return "a token joins that is not there, or came by no flow";
    }
    struct books_join *join = join_of(books, token->scope, token->flow);
    if (join == NULL) {
        ASSERT(books->join_count < BOOKS_JOINS_MAX);
        join = &books->joins[books->join_count++];
        *join = (struct books_join){.scope = token->scope, .flow = token->flow};
    }
    join->count++;
    drop_token(books, token);
    return NULL;
}

/* traps.md 2: a parallel gateway takes exactly one token from every incoming flow; so does a block
 * that joins (no scheme here has a face back). */
static const char *join_fired(const struct taking *taking)
{
    struct sim_books *books = taking->books;
    const struct engine_event *event = taking->event;
    struct books_scope *scope = scope_of(books, event->scope);
    if (scope == NULL || event->node >= scope->process->node_count) {
        return "a join fires in a scope or node that is not there";
    }
    const struct engine_node *node = &scope->process->nodes[event->node];
    uint32_t taken = 0;
    for (uint32_t i = 0; i < node->incoming.count; i++) {
        struct books_join *join = join_of(books, event->scope, node->incoming.at[i]);
        if (join == NULL) {
            continue;
        }
        taken++;
        if (--join->count == 0) {
            drop_join(books, join);
        }
    }
    bool resets = node->kind == ENGINE_COMPLEX_GATEWAY && event->flags == ENGINE_JOIN_RESET;
    bool takes_all = node->kind == ENGINE_PARALLEL_GATEWAY || node->join == ENGINE_JOIN_ALL;
    if ((taken == 0 && !resets) || (takes_all && taken < node->incoming.count)) {
        return "a join fires though a flow into it holds no token";
    }
    return add_token(books, event->token, event->scope, ENGINE_NONE);
}

static const char *scope_opened(const struct taking *taking)
{
    struct sim_books *books = taking->books;
    const struct engine_event *event = taking->event;
    struct books_token *host = token_of(books, event->token);
    if (host == NULL || scope_of(books, event->scope) != NULL) {
        return "a scope opens in a token that is not there, or twice";
    }
    const struct engine_process *process = scope_of(books, host->scope)->process;
    if (event->flags == ENGINE_SCOPE_CALLED) {
        process =
            taking->catalog->process(taking->catalog, taking->project, event->text, event->count);
    }
    ASSERT(books->scope_count < BOOKS_SCOPES_MAX && process != NULL);
    books->scopes[books->scope_count++] =
        (struct books_scope){.id = event->scope, .host = event->token, .process = process};
    return NULL;
}

static const char *scope_spent(const struct taking *taking)
{
    if (scope_of(taking->books, taking->event->scope) == NULL) {
        return "a scope is spent that is not there";
    }
    return held_in(taking->books, taking->event->scope) == 0
               ? NULL
               : "a scope is spent while it holds tokens";
}

static const char *scope_closed(const struct taking *taking)
{
    const char *wrong = scope_spent(taking);
    struct books_scope *scope = scope_of(taking->books, taking->event->scope);
    if (scope != NULL) {
        *scope = taking->books->scopes[--taking->books->scope_count];
    }
    return wrong == NULL ? NULL : "a scope is closed that is not there, or holds tokens";
}

static const char *scope_cleared(const struct taking *taking)
{
    clear(taking->books, taking->event->scope);
    clear_below(taking->books);
    return NULL;
}

/* All but one are taken away: an interrupting event sub-process begins. */
static const char *scope_interrupted(const struct taking *taking)
{
    const struct books_token *token = token_of(taking->books, taking->event->token);
    if (token == NULL || token->scope != taking->event->scope) {
        return "a scope is interrupted by a token that is not in it";
    }
    struct books_token kept = *token;
    clear(taking->books, taking->event->scope);
    taking->books->tokens[taking->books->token_count++] = kept;
    clear_below(taking->books);
    return NULL;
}

static const char *ended(const struct taking *taking)
{
    bool completed = taking->event->flags == ENGINE_END_COMPLETED;
    bool empty = held_in(taking->books, ENGINE_SCOPE_ROOT) == 0 && taking->books->join_count == 0;
    return completed && !empty ? "a run completes while it holds tokens" : NULL;
}

static const char *called(const struct taking *taking)
{
    struct books_token *token = token_of(taking->books, taking->event->token);
    if (token == NULL || taking->event->count <= taking->books->call_last) {
        return "a call is made by a token that is not there, or under a number that was used";
    }
    token->call = taking->books->call_last = taking->event->count;
    return NULL;
}

/* Each call is answered once; a repeat must not be taken for an answer to another one. */
static const char *answered(const struct taking *taking)
{
    struct books_token *token = token_of(taking->books, taking->event->token);
    if (token == NULL || token->call == 0) {
        return "an answer is taken that no call waits for";
    }
    token->call = 0;
    return NULL;
}

/* A handler is one more token, in the scope of its compensation. */
static const char *compensated(const struct taking *taking)
{
    return add_token(taking->books, taking->event->token, taking->event->scope, ENGINE_NONE);
}

/* One from the inbox was counted when it was kept. */
static const char *callback(const struct taking *taking)
{
    taking->books->callbacks += taking->event->other == 0;
    return token_of(taking->books, taking->event->token) == NULL
               ? "a callback is taken by a token that is not there"
               : NULL;
}

static const char *callback_kept(const struct taking *taking)
{
    taking->books->callbacks++;
    return NULL;
}

static const taking_fn entries[ENGINE_EVENT_TYPE_COUNT] = {
    [ENGINE_EVENT_STARTED] = started,
    [ENGINE_EVENT_TOKEN_CREATED] = token_created,
    [ENGINE_EVENT_LEFT] = left,
    [ENGINE_EVENT_LINKED] = linked,
    [ENGINE_EVENT_INSTANCE_CREATED] = instance_created,
    [ENGINE_EVENT_INSTANCE_DONE] = consumed,
    [ENGINE_EVENT_CONSUMED] = consumed,
    [ENGINE_EVENT_CANCELLED] = cancelled,
    [ENGINE_EVENT_JOINED] = joined,
    [ENGINE_EVENT_JOIN_FIRED] = join_fired,
    [ENGINE_EVENT_SCOPE_OPENED] = scope_opened,
    [ENGINE_EVENT_SCOPE_SPENT] = scope_spent,
    [ENGINE_EVENT_SCOPE_CLOSED] = scope_closed,
    [ENGINE_EVENT_SCOPE_CLEARED] = scope_cleared,
    [ENGINE_EVENT_CREATED] = created,
    [ENGINE_EVENT_MIGRATED] = migrated,
    [ENGINE_EVENT_SCOPE_INTERRUPTED] = scope_interrupted,
    [ENGINE_EVENT_ENDED] = ended,
    [ENGINE_EVENT_CALLED] = called,
    [ENGINE_EVENT_ANSWERED] = answered,
    [ENGINE_EVENT_COMPENSATED] = compensated,
    [ENGINE_EVENT_CALLBACK] = callback,
    [ENGINE_EVENT_CALLBACK_KEPT] = callback_kept,
};

const char *sim_books_take(struct sim_books *books, const struct engine_catalog *catalog,
                           struct span project, const struct engine_event *event)
{
    struct taking taking = {.books = books, .catalog = catalog, .project = project, .event = event};
    ASSERT(event->type < ENGINE_EVENT_TYPE_COUNT);
    return entries[event->type] == NULL ? NULL : entries[event->type](&taking);
}

const char *sim_books_compare(const struct sim_books *books,
                              const struct engine_execution *execution)
{
    uint32_t joins = 0;
    for (ENGINE_EACH(const struct engine_scope, scope, &execution->scopes, &execution->scope_order,
                     ENGINE_LINK_ALL)) {
        uint32_t held = 0;
        for (ENGINE_EACH(const struct engine_token, token, &execution->tokens, &scope->tokens,
                         ENGINE_LINK_IN_SCOPE)) {
            held += !token->guard;
        }
        for (ENGINE_EACH(const struct engine_join_tokens, join, &execution->joins, &scope->joins,
                         ENGINE_LINK_FIRST)) {
            held += join->count;
            joins += join->count > 0; /* a complex gateway's may be there without a token */
        }
        if (held != held_in(books, scope->slot.id) || held != scope->live) {
            return "a scope does not hold as many tokens as came into it and did not leave";
        }
    }
    return joins == books->join_count && execution->token_count == books->token_count
               ? NULL
               : "there are tokens that the books do not know";
}
