/*
 * servers_main.h: the main function of a test program whose tests share a server: it starts the
 * server once, before the tests' processes, and ends it behind them.
 */
#ifndef TESTS_CONTRACT_SERVERS_MAIN_H
#define TESTS_CONTRACT_SERVERS_MAIN_H

#include <criterion/criterion.h>
#include <criterion/options.h>
#include <stdio.h>

#include "tests/servers/server.h"

/* Runs all tests with `server`, published by that name; where it is installed it has to start. */
static inline int contract_servers_main(int argc, char *argv[], const char *name,
                                        bool (*installed)(void), bool (*start)(struct server *))
{
    int failed = 0;
    struct server server = {0};
    struct criterion_test_set *tests = criterion_initialize();
    if (criterion_handle_args(argc, argv, true)) {
        if (!installed()) {
            fprintf(stderr, "%s is not installed\n", name);
            criterion_options.logging_threshold = CRITERION_INFO; /* names what is skipped */
        } else if (start(&server)) {
            server_publish(name, &server);
        } else {
            failed = 1;
        }
        failed |= criterion_run_all_tests(tests) ? 0 : 1;
        server_remove(&server);
    }
    criterion_finalize(tests);
    return failed;
}

/* In a test: skips it by the server's name where that is not installed. */
#define CONTRACT_NEEDS(name)                                                                       \
    do {                                                                                           \
        if (server_published(name) == 0) {                                                         \
            cr_skip_test("%s is not installed", name);                                             \
        }                                                                                          \
    } while (0)

#endif
