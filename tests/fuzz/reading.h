/*
 * reading.h: a fuzzed definition file as the engine reads it, and what holds of every reading: a
 * definition or errors, never both and never neither.
 */
#ifndef TESTS_FUZZ_READING_H
#define TESTS_FUZZ_READING_H

#include "engine/read/read.h"
#include "tests/fuzz/fuzz.h"

struct reading {
    enum result result;
    struct engine_report report;
    struct engine_definition *definition;
};

static inline struct reading reading_of(const char *name, struct span content, bool lenient)
{
    struct reading reading = {0};
    engine_report_init(&reading.report, span_text(name));
    reading.result = (lenient ? engine_read_lenient : engine_read)(
        span_text(name), content, &reading.report, &reading.definition);
    MUST(reading.result == RESULT_OK || reading.result == RESULT_INVALID ||
         reading.result == RESULT_LIMIT);
    MUST((reading.definition != NULL) == (reading.result == RESULT_OK));
    MUST((reading.result == RESULT_OK) == (reading.report.errors == 0));
    return reading;
}

static inline void reading_release(struct reading *reading)
{
    engine_definition_free(reading->definition);
    engine_report_release(&reading->report);
}

#endif
