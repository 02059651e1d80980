/*
 * verbs.h: the verbs that main.c lists, by family.
 */
#ifndef TOOLS_STRIDER_VERBS_H
#define TOOLS_STRIDER_VERBS_H

#include "tools/strider/verb.h"

extern const struct cli_verb cli_run;
extern const struct cli_verb cli_serve;
extern const struct cli_verb cli_validate;
extern const struct cli_verb cli_convert;
extern const struct cli_verb cli_eval;
extern const struct cli_verb cli_test;
extern const struct cli_verb cli_consumer;
extern const struct cli_verb cli_replay;

/* client_verbs.c: requests to a running engine. Ends with a NULL name. */
extern const struct cli_verb cli_client_verbs[];

#endif
