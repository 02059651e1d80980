/* regex_set.c: sets of code points: ranges, categories, blocks and the classes of XML Schema. */
#include "engine/expression/regex.h"
#include "engine/expression/text.h"

struct item {
    const struct item *next;
    enum {
        ITEM_RANGE, /* what a class names one by one or as a range */
        ITEM_BLOCK,
        ITEM_CATEGORIES,
        ITEM_SPACE,
        ITEM_NAME_START,
        ITEM_NAME_PART,
    } kind;
    bool negated;
    uint32_t first;
    uint32_t last;
    uint32_t categories; /* a bit for each */
};

struct regex_set {
    const struct item *items;
    const struct regex_set *minus;
    bool negated;
};

/* Blocks as XML Schema Part 2, appendix F.1.1 names them, with the larger ones since. */
static const struct {
    const char *name;
    uint32_t first;
    uint32_t last;
} blocks[] = {
    {"BasicLatin", 0x0000, 0x007f},
    {"Latin-1Supplement", 0x0080, 0x00ff},
    {"LatinExtended-A", 0x0100, 0x017f},
    {"LatinExtended-B", 0x0180, 0x024f},
    {"IPAExtensions", 0x0250, 0x02af},
    {"SpacingModifierLetters", 0x02b0, 0x02ff},
    {"CombiningDiacriticalMarks", 0x0300, 0x036f},
    {"Greek", 0x0370, 0x03ff},
    {"GreekandCoptic", 0x0370, 0x03ff},
    {"Cyrillic", 0x0400, 0x04ff},
    {"CyrillicSupplement", 0x0500, 0x052f},
    {"Armenian", 0x0530, 0x058f},
    {"Hebrew", 0x0590, 0x05ff},
    {"Arabic", 0x0600, 0x06ff},
    {"Syriac", 0x0700, 0x074f},
    {"Thaana", 0x0780, 0x07bf},
    {"Devanagari", 0x0900, 0x097f},
    {"Bengali", 0x0980, 0x09ff},
    {"Gurmukhi", 0x0a00, 0x0a7f},
    {"Gujarati", 0x0a80, 0x0aff},
    {"Oriya", 0x0b00, 0x0b7f},
    {"Tamil", 0x0b80, 0x0bff},
    {"Telugu", 0x0c00, 0x0c7f},
    {"Kannada", 0x0c80, 0x0cff},
    {"Malayalam", 0x0d00, 0x0d7f},
    {"Sinhala", 0x0d80, 0x0dff},
    {"Thai", 0x0e00, 0x0e7f},
    {"Lao", 0x0e80, 0x0eff},
    {"Tibetan", 0x0f00, 0x0fff},
    {"Myanmar", 0x1000, 0x109f},
    {"Georgian", 0x10a0, 0x10ff},
    {"HangulJamo", 0x1100, 0x11ff},
    {"Ethiopic", 0x1200, 0x137f},
    {"Cherokee", 0x13a0, 0x13ff},
    {"UnifiedCanadianAboriginalSyllabics", 0x1400, 0x167f},
    {"Ogham", 0x1680, 0x169f},
    {"Runic", 0x16a0, 0x16ff},
    {"Khmer", 0x1780, 0x17ff},
    {"Mongolian", 0x1800, 0x18af},
    {"PhoneticExtensions", 0x1d00, 0x1d7f},
    {"LatinExtendedAdditional", 0x1e00, 0x1eff},
    {"GreekExtended", 0x1f00, 0x1fff},
    {"GeneralPunctuation", 0x2000, 0x206f},
    {"SuperscriptsandSubscripts", 0x2070, 0x209f},
    {"CurrencySymbols", 0x20a0, 0x20cf},
    {"CombiningMarksforSymbols", 0x20d0, 0x20ff},
    {"LetterlikeSymbols", 0x2100, 0x214f},
    {"NumberForms", 0x2150, 0x218f},
    {"Arrows", 0x2190, 0x21ff},
    {"MathematicalOperators", 0x2200, 0x22ff},
    {"MiscellaneousTechnical", 0x2300, 0x23ff},
    {"ControlPictures", 0x2400, 0x243f},
    {"OpticalCharacterRecognition", 0x2440, 0x245f},
    {"EnclosedAlphanumerics", 0x2460, 0x24ff},
    {"BoxDrawing", 0x2500, 0x257f},
    {"BlockElements", 0x2580, 0x259f},
    {"GeometricShapes", 0x25a0, 0x25ff},
    {"MiscellaneousSymbols", 0x2600, 0x26ff},
    {"Dingbats", 0x2700, 0x27bf},
    {"BraillePatterns", 0x2800, 0x28ff},
    {"CJKRadicalsSupplement", 0x2e80, 0x2eff},
    {"KangxiRadicals", 0x2f00, 0x2fdf},
    {"IdeographicDescriptionCharacters", 0x2ff0, 0x2fff},
    {"CJKSymbolsandPunctuation", 0x3000, 0x303f},
    {"Hiragana", 0x3040, 0x309f},
    {"Katakana", 0x30a0, 0x30ff},
    {"Bopomofo", 0x3100, 0x312f},
    {"HangulCompatibilityJamo", 0x3130, 0x318f},
    {"Kanbun", 0x3190, 0x319f},
    {"BopomofoExtended", 0x31a0, 0x31bf},
    {"EnclosedCJKLettersandMonths", 0x3200, 0x32ff},
    {"CJKCompatibility", 0x3300, 0x33ff},
    {"CJKUnifiedIdeographsExtensionA", 0x3400, 0x4dbf},
    {"CJKUnifiedIdeographs", 0x4e00, 0x9fff},
    {"YiSyllables", 0xa000, 0xa48f},
    {"YiRadicals", 0xa490, 0xa4cf},
    {"HangulSyllables", 0xac00, 0xd7af},
    {"PrivateUse", 0xe000, 0xf8ff},
    {"CJKCompatibilityIdeographs", 0xf900, 0xfaff},
    {"AlphabeticPresentationForms", 0xfb00, 0xfb4f},
    {"ArabicPresentationForms-A", 0xfb50, 0xfdff},
    {"CombiningHalfMarks", 0xfe20, 0xfe2f},
    {"CJKCompatibilityForms", 0xfe30, 0xfe4f},
    {"SmallFormVariants", 0xfe50, 0xfe6f},
    {"ArabicPresentationForms-B", 0xfe70, 0xfeff},
    {"HalfwidthandFullwidthForms", 0xff00, 0xffef},
    {"Specials", 0xfff0, 0xffff},
    {"MusicalSymbols", 0x1d100, 0x1d1ff},
    {"MathematicalAlphanumericSymbols", 0x1d400, 0x1d7ff},
    {"MiscellaneousSymbolsandPictographs", 0x1f300, 0x1f5ff},
    {"Emoticons", 0x1f600, 0x1f64f},
    {"CJKUnifiedIdeographsExtensionB", 0x20000, 0x2a6df},
    {"CJKCompatibilityIdeographsSupplement", 0x2f800, 0x2fa1f},
    {"Tags", 0xe0000, 0xe007f},
};

struct range {
    uint32_t first;
    uint32_t last;
};

/* XML 1.0 (fifth edition) productions 4 and 4a. */
static const struct range name_starts[] = {
    {':', ':'},       {'A', 'Z'},       {'_', '_'},       {'a', 'z'},
    {0xc0, 0xd6},     {0xd8, 0xf6},     {0xf8, 0x2ff},    {0x370, 0x37d},
    {0x37f, 0x1fff},  {0x200c, 0x200d}, {0x2070, 0x218f}, {0x2c00, 0x2fef},
    {0x3001, 0xd7ff}, {0xf900, 0xfdcf}, {0xfdf0, 0xfffd}, {0x10000, 0xeffff},
};
static const struct range name_parts[] = {
    {'-', '.'}, {'0', '9'}, {0xb7, 0xb7}, {0x300, 0x36f}, {0x203f, 0x2040},
};

static bool in_ranges(uint32_t point, const struct range *ranges, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (point >= ranges[i].first && point <= ranges[i].last) {
            return true;
        }
    }
    return false;
}

#define IN_RANGES(point, ranges) in_ranges(point, ranges, sizeof(ranges) / sizeof *(ranges))

struct regex_set *expression_regex_set_new(struct arena *arena)
{
    return arena_zero(arena, sizeof(struct regex_set));
}

static void add(struct arena *arena, struct regex_set *set, struct item item)
{
    struct item *kept = arena_alloc(arena, sizeof *kept);
    if (set != NULL && kept != NULL) {
        *kept = item;
        kept->next = set->items;
        set->items = kept;
    }
}

void expression_regex_set_add_range(struct arena *arena, struct regex_set *set, uint32_t first,
                                    uint32_t last)
{
    add(arena, set, (struct item){.kind = ITEM_RANGE, .first = first, .last = last});
}

/* All categories whose names begin so: one letter means a whole group. */
static uint32_t categories_named(struct span name)
{
    uint32_t categories = 0;
    for (unsigned i = 0; name.count >= 1 && name.count <= 2 && i < UNICODE_CATEGORY_COUNT; i++) {
        if (memcmp(expression_unicode_names[i], name.bytes, name.count) == 0) {
            categories |= 1u << i;
        }
    }
    return categories;
}

static void add_categories(struct arena *arena, struct regex_set *set, const char *names,
                           bool negated)
{
    uint32_t categories = 0;
    for (; *names != '\0'; names += 2) {
        size_t count = names[1] == ' ' ? 1 : 2;
        categories |= categories_named(span_of((const uint8_t *)names, count));
    }
    add(arena, set,
        (struct item){.kind = ITEM_CATEGORIES, .categories = categories, .negated = negated});
}

void expression_regex_set_add_class(struct arena *arena, struct regex_set *set, uint8_t letter)
{
    bool negated = letter < 'a';
    switch (letter | 0x20) {
    case 's':
        add(arena, set, (struct item){.kind = ITEM_SPACE, .negated = negated});
        break;
    case 'i':
        add(arena, set, (struct item){.kind = ITEM_NAME_START, .negated = negated});
        break;
    case 'c':
        add(arena, set, (struct item){.kind = ITEM_NAME_PART, .negated = negated});
        break;
    case 'd':
        add_categories(arena, set, "Nd", negated);
        break;
    default: /* 'w': all but punctuation, separators and others */
        add_categories(arena, set, "P Z C ", !negated);
        break;
    }
}

bool expression_regex_set_add_property(struct arena *arena, struct regex_set *set, struct span name,
                                       bool negated)
{
    struct item item = {.kind = ITEM_CATEGORIES, .negated = negated};
    item.categories = categories_named(name);
    bool found = item.categories != 0;
    if (!found && name.count > 2 && memcmp(name.bytes, "Is", 2) == 0) {
        struct span block = span_of(name.bytes + 2, name.count - 2);
        for (size_t i = 0; !found && i < sizeof blocks / sizeof *blocks; i++) {
            found = span_is(block, blocks[i].name);
            item.kind = ITEM_BLOCK;
            item.first = blocks[i].first;
            item.last = blocks[i].last;
        }
    }
    add(arena, set, item);
    return found;
}

void expression_regex_set_negate(struct regex_set *set)
{
    set->negated = true;
}

void expression_regex_set_subtract(struct regex_set *set, const struct regex_set *minus)
{
    set->minus = minus;
}

static bool item_holds(const struct item *item, uint32_t point)
{
    bool holds = false;
    switch (item->kind) {
    case ITEM_RANGE:
    case ITEM_BLOCK:
        holds = point >= item->first && point <= item->last;
        break;
    case ITEM_CATEGORIES:
        holds = (item->categories >> expression_unicode_category(point) & 1) != 0;
        break;
    case ITEM_SPACE:
        holds = point == ' ' || point == '\t' || point == '\n' || point == '\r';
        break;
    case ITEM_NAME_START:
        holds = IN_RANGES(point, name_starts);
        break;
    case ITEM_NAME_PART:
        holds = IN_RANGES(point, name_starts) || IN_RANGES(point, name_parts);
        break;
    }
    return holds != item->negated;
}

static bool any_item_holds(const struct regex_set *set, uint32_t point, bool is_other_case)
{
    for (const struct item *item = set->items; item != NULL; item = item->next) {
        if ((item->kind == ITEM_RANGE || !is_other_case) && item_holds(item, point)) {
            return true;
        }
    }
    return false;
}

/* The other cases of what the set names one by one or as a range are in it, too; "\\p{Lu}" and the
 * like mean what they mean (XPath and XQuery Functions 3.1 §5.6.1.1). */
static bool other_case_holds(const struct regex_set *set, uint32_t point)
{
    for (uint32_t other = expression_point_next_case(point); other != point;
         other = expression_point_next_case(other)) {
        if (any_item_holds(set, other, true)) {
            return true;
        }
    }
    return false;
}

/* In any of its cases: a negated set lacks what it names in any case. */
bool expression_regex_set_holds(const struct regex_set *set, uint32_t point, bool ignores_case)
{
    bool holds =
        any_item_holds(set, point, false) || (ignores_case && other_case_holds(set, point));
    return holds != set->negated &&
           (set->minus == NULL || !expression_regex_set_holds(set->minus, point, ignores_case));
}

uint32_t expression_regex_fold(uint32_t point)
{
    uint32_t least = point;
    for (uint32_t other = expression_point_next_case(point); other != point;
         other = expression_point_next_case(other)) {
        least = other < least ? other : least;
    }
    return least;
}
