/* audit_columns.c: see audit_columns.h. */
#include "storage/audit_columns.h"

const struct storage_column storage_audit_columns[STORAGE_AUDIT_COLUMN_COUNT] = {
#define X(symbol, field, column, kind) {field, STORAGE_COLUMN_##kind},
    STORAGE_AUDIT_COLUMNS(X)
#undef X
};

const struct storage_column storage_log_columns[STORAGE_LOG_COLUMN_COUNT] = {
#define X(symbol, field, column, kind) {field, STORAGE_COLUMN_##kind},
    STORAGE_LOG_COLUMNS(X)
#undef X
};
