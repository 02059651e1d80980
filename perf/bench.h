/*
 * bench.h: `strider bench`: the load harness (interfaces.md 8). Every figure is printed beside a
 * ceiling that was measured in the same run, in alternating rounds, so that a slow or busy machine
 * slows both.
 */
#ifndef PERF_BENCH_H
#define PERF_BENCH_H

/* argv[0] is the verb. Returns the exit code: 0 measured, 1 failed, 2 usage. */
int bench_main(int argc, char **argv);

#endif
