#include "tests/simulate/sim.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int main(int argc, char **argv)
{
    struct sim_options o = {0};
    struct sim_report r;
    unsigned long from = argc > 1 ? strtoul(argv[1], NULL, 10) : 1,
                  n = argc > 2 ? strtoul(argv[2], NULL, 10) : 1;
    o.trace = argc > 3 && strcmp(argv[3], "t") == 0;
    unsigned long fails = 0, steps = 0, crashes = 0, faults = 0, cut = 0, conf = 0;
    for (unsigned long s = from; s < from + n; s++) {
        o.seed = s;
        fprintf(stderr, "seed %lu\r", s);
        sim_run(&o, &r);
        steps += r.steps;
        crashes += r.crashes;
        faults += r.faults;
        cut += r.unexplored;
        conf += r.confluent;
        if (r.failure[0]) {
            fails++;
            printf("seed %lu: %.300s\n", s, r.failure);
            fflush(stdout);
        }
    }
    printf("%lu failed, steps %lu faults %lu crashes %lu cut %lu conf %lu\n", fails, steps, faults,
           crashes, cut, conf);
    return 0;
}
