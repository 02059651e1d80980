/* regex_compile.c: from the tree of a pattern to instructions. */
#include "engine/expression/regex_syntax.h"

struct emitter {
    struct arena *arena;
    struct regex_instruction *program; /* room for REGEX_PROGRAM_MAX grows with need */
    uint32_t count;
    uint32_t capacity;
    uint32_t slot_count;
    const char *reason;
};

static void emit_node(struct emitter *emitter, const struct regex_node *node);

/* The place of the new instruction; 0 after a failure, when nobody looks at the program any more.
 */
static uint32_t emit(struct emitter *emitter, struct regex_instruction instruction)
{
    if (emitter->count == emitter->capacity) {
        uint32_t capacity = emitter->capacity == 0 ? 32 : emitter->capacity * 2;
        struct regex_instruction *program =
            capacity > REGEX_PROGRAM_MAX
                ? NULL
                : arena_grow(emitter->arena, emitter->program, emitter->capacity * sizeof *program,
                             capacity * sizeof *program);
        if (program == NULL) {
            emitter->reason = "pattern too large";
            emitter->count = 0;
            return 0;
        }
        emitter->program = program;
        emitter->capacity = capacity;
    }
    emitter->program[emitter->count] = instruction;
    return emitter->count++;
}

static uint32_t emit_split(struct emitter *emitter)
{
    return emit(emitter, (struct regex_instruction){.operation = REGEX_SPLIT});
}

/* A split goes on behind itself, or where `out` is; reluctant ones prefer to leave. */
static void set_split(struct emitter *emitter, uint32_t split, uint32_t out, bool reluctant)
{
    if (emitter->reason == NULL) {
        emitter->program[split].x = reluctant ? out : split + 1;
        emitter->program[split].y = reluctant ? split + 1 : out;
    }
}

static void emit_loop(struct emitter *emitter, const struct regex_node *repeat)
{
    uint32_t slot = emitter->slot_count++;
    uint32_t split = emit_split(emitter);
    emit(emitter, (struct regex_instruction){.operation = REGEX_SAVE, .x = slot});
    emit_node(emitter, repeat->child);
    uint32_t progress =
        emit(emitter, (struct regex_instruction){.operation = REGEX_PROGRESS, .x = slot});
    emit(emitter, (struct regex_instruction){.operation = REGEX_JUMP, .x = split});
    set_split(emitter, split, emitter->count, repeat->reluctant);
    if (emitter->reason == NULL) {
        emitter->program[progress].y = emitter->count;
    }
}

static void emit_repeat(struct emitter *emitter, const struct regex_node *repeat)
{
    for (uint32_t i = 0; i < repeat->min && emitter->reason == NULL; i++) {
        uint32_t before = emitter->count;
        emit_node(emitter, repeat->child);
        if (emitter->count == before) {
            return; /* nothing, however often */
        }
    }
    if (repeat->max == REGEX_FOREVER) {
        emit_loop(emitter, repeat);
        return;
    }
    /* Each optional copy may leave for the end: chained by y until the end is known. */
    uint32_t chain = UINT32_MAX;
    for (uint32_t i = repeat->min; i < repeat->max && emitter->reason == NULL; i++) {
        uint32_t split = emit_split(emitter);
        if (emitter->reason == NULL) {
            emitter->program[split].y = chain;
            chain = split;
        }
        emit_node(emitter, repeat->child);
    }
    while (chain != UINT32_MAX && emitter->reason == NULL) {
        uint32_t next = emitter->program[chain].y;
        set_split(emitter, chain, emitter->count, repeat->reluctant);
        chain = next;
    }
}

static void emit_choice(struct emitter *emitter, const struct regex_node *choice)
{
    uint32_t chain = UINT32_MAX; /* jumps to the end, by x */
    for (const struct regex_node *way = choice->child; way != NULL && emitter->reason == NULL;
         way = way->next) {
        if (way->next == NULL) {
            emit_node(emitter, way);
            break;
        }
        uint32_t split = emit_split(emitter);
        emit_node(emitter, way);
        uint32_t jump =
            emit(emitter, (struct regex_instruction){.operation = REGEX_JUMP, .x = chain});
        chain = jump;
        set_split(emitter, split, emitter->count, false);
    }
    while (chain != UINT32_MAX && emitter->reason == NULL) {
        uint32_t next = emitter->program[chain].x;
        emitter->program[chain].x = emitter->count;
        chain = next;
    }
}

static void emit_group(struct emitter *emitter, const struct regex_node *group)
{
    if (group->number > 0) {
        emit(emitter, (struct regex_instruction){.operation = REGEX_SAVE, .x = 2 * group->number});
    }
    emit_node(emitter, group->child);
    if (group->number > 0) {
        emit(emitter,
             (struct regex_instruction){.operation = REGEX_SAVE, .x = 2 * group->number + 1});
    }
}

static void emit_node(struct emitter *emitter, const struct regex_node *node)
{
    switch (node->kind) {
    case REGEX_NODE_STEP:
        emit(emitter, (struct regex_instruction){.operation = node->operation,
                                                 .x = node->number,
                                                 .point = node->point,
                                                 .set = node->set});
        break;
    case REGEX_NODE_GROUP:
        emit_group(emitter, node);
        break;
    case REGEX_NODE_REPEAT:
        emit_repeat(emitter, node);
        break;
    case REGEX_NODE_SEQUENCE:
        for (const struct regex_node *child = node->child; child != NULL; child = child->next) {
            emit_node(emitter, child);
        }
        break;
    case REGEX_NODE_CHOICE:
        emit_choice(emitter, node);
        break;
    }
}

static bool read_flags(struct span text, struct regex_flags *flags)
{
    *flags = (struct regex_flags){0};
    for (size_t i = 0; i < text.count; i++) {
        uint8_t letter = text.bytes[i];
        flags->dot_all |= letter == 's';
        flags->multiline |= letter == 'm';
        flags->ignores_case |= letter == 'i';
        flags->spaced |= letter == 'x';
        flags->literal |= letter == 'q';
        if (letter == 0 || strchr("smixq", letter) == NULL) {
            return false;
        }
    }
    return true;
}

const struct regex *expression_regex_compile(struct arena *arena, struct span pattern,
                                             struct span flags_text, const char **reason)
{
    struct regex_flags flags;
    struct regex *regex = arena_zero(arena, sizeof *regex);
    *reason = "unknown flag";
    if (regex == NULL || !read_flags(flags_text, &flags)) {
        return NULL;
    }
    struct regex_node *root = expression_regex_parse(arena, pattern, flags, &regex->group_count,
                                                     &regex->has_back_references, reason);
    if (root == NULL || arena->overflowed) {
        return NULL;
    }
    struct emitter emitter = {.arena = arena, .slot_count = 2 * regex->group_count};
    emit(&emitter, (struct regex_instruction){.operation = REGEX_SAVE, .x = 0});
    emit_node(&emitter, root);
    emit(&emitter, (struct regex_instruction){.operation = REGEX_SAVE, .x = 1});
    emit(&emitter, (struct regex_instruction){.operation = REGEX_MATCH});
    *reason = emitter.reason;
    regex->program = emitter.program;
    regex->count = emitter.count;
    regex->slot_count = emitter.slot_count;
    regex->ignores_case = flags.ignores_case;
    return emitter.reason == NULL ? regex : NULL;
}
